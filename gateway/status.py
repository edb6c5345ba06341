"""The errors a call may end with, and the one table that gives each kind its gRPC status."""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
import redis.exceptions
from google.protobuf import any_pb2, duration_pb2, message
from google.rpc import error_details_pb2, status_pb2

from worker.store import (
    JobDamagedError,
    KeyRevokedError,
    QuotaError,
    StagingLostError,
    StoreFullError,
)

RETRY_SECONDS = 1
STORE_FULL = "its memory is full, or promised to the results of accepted jobs"

logger = logging.getLogger(__name__)


class CallError(Exception):
    """Ends a call; the text is for the caller. The subclasses are the kinds the table knows."""


@dataclass(frozen=True)
class FieldFault:
    """What is wrong with one field of a request, named as in the proto."""

    field: str
    fault: str


class InvalidRequest(CallError):
    """The request is wrong, whatever the state of the service; carries every fault."""

    def __init__(self, faults: list[FieldFault]) -> None:
        super().__init__("; ".join(f"{fault.field}: {fault.fault}" for fault in faults))
        self.faults = faults


class UnknownJob(CallError):
    """There is no such job, or it is another client's."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no job {name}")


class UnknownBook(CallError):
    """There is no such book, or the position is not in it; the text tells which."""


class RequestIdReused(CallError):
    """The request id was used before, with other content."""

    def __init__(self, request_id: str) -> None:
        super().__init__(f"the request id {request_id} was used with other content")


class WrongState(CallError):
    """The state of the job or book does not allow the call; the text names it."""


class Unauthenticated(CallError):
    """The call needs an API key and has none that is worth anything."""


class Forbidden(CallError):
    """The API key does not allow the call."""


class OverQuota(CallError):
    """The service takes no more of this now; worth another try after `retry_seconds`, if told."""

    def __init__(self, subject: str, description: str, retry_seconds: float | None = None) -> None:
        super().__init__(f"{subject}: {description}")
        self.subject = subject
        self.description = description
        self.retry_seconds = retry_seconds


class TooManyStreams(CallError):
    """As many streaming calls are open as the gateway takes; worth another try."""

    def __init__(self, count: int) -> None:
        super().__init__(f"no more streaming calls than max_streams allows ({count})")


class NoWorker(CallError):
    """Nobody is there to do the work now; worth another try."""

    def __init__(self) -> None:
        super().__init__("no worker is up")


class GivenUp(CallError):
    """A position was given up, as all attempts at it failed; the text is their number and cause."""


class DamagedJob(CallError):
    """What the store holds of the job cannot be read."""

    def __init__(self) -> None:
        super().__init__("what the store holds of the job cannot be read")


class StoreAway(CallError):
    """The store does not answer; worth another try."""

    def __init__(self) -> None:
        super().__init__("the store does not answer")


class Draining(CallError):
    """The gateway is stopping; another one, or this one restarted, will answer."""

    def __init__(self) -> None:
        super().__init__("the gateway is stopping")


def _over_day(error: QuotaError) -> CallError:
    description = f"the API key allows {error.allowed} a day, until midnight UTC"
    return OverQuota(error.quota, description, error.seconds)


FOREIGN: dict[type[Exception], Callable[[Any], CallError]] = {
    redis.exceptions.ConnectionError: lambda _: StoreAway(),
    redis.exceptions.TimeoutError: lambda _: StoreAway(),
    redis.exceptions.OutOfMemoryError: lambda _: OverQuota("store", STORE_FULL),
    StoreFullError: lambda _: OverQuota("store", STORE_FULL),
    StagingLostError: lambda _: StoreAway(),
    JobDamagedError: lambda _: DamagedJob(),
    QuotaError: _over_day,
    KeyRevokedError: lambda _: Unauthenticated("the API key was revoked"),
}
"""Errors of the store that end calls: what they mean to the caller."""

CODES: dict[type[CallError], grpc.StatusCode] = {
    InvalidRequest: grpc.StatusCode.INVALID_ARGUMENT,
    UnknownJob: grpc.StatusCode.NOT_FOUND,
    UnknownBook: grpc.StatusCode.NOT_FOUND,
    RequestIdReused: grpc.StatusCode.ALREADY_EXISTS,
    WrongState: grpc.StatusCode.FAILED_PRECONDITION,
    Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    Forbidden: grpc.StatusCode.PERMISSION_DENIED,
    OverQuota: grpc.StatusCode.RESOURCE_EXHAUSTED,
    TooManyStreams: grpc.StatusCode.RESOURCE_EXHAUSTED,
    GivenUp: grpc.StatusCode.INTERNAL,
    NoWorker: grpc.StatusCode.UNAVAILABLE,
    DamagedJob: grpc.StatusCode.DATA_LOSS,
    StoreAway: grpc.StatusCode.UNAVAILABLE,
    Draining: grpc.StatusCode.UNAVAILABLE,
}


def find_status(error: Exception) -> status_pb2.Status:
    """Return the status, with its details, that a call ends with after `error`.

    What the table does not know is INTERNAL: it is logged whole and told to nobody.
    """
    for kind, make in FOREIGN.items():
        if isinstance(error, kind):
            error = make(error)
    if not isinstance(error, CallError):
        logger.error("a call failed", exc_info=error)
        return status_pb2.Status(code=_number(grpc.StatusCode.INTERNAL), message="internal error")
    details = [_pack(detail) for detail in _find_details(error)]
    return status_pb2.Status(code=_number(CODES[type(error)]), message=str(error), details=details)


def _find_details(error: CallError) -> list[message.Message]:
    match error:
        case InvalidRequest():
            violations = [
                error_details_pb2.BadRequest.FieldViolation(field=f.field, description=f.fault)
                for f in error.faults
            ]
            return [error_details_pb2.BadRequest(field_violations=violations)]
        case OverQuota():
            violation = error_details_pb2.QuotaFailure.Violation(
                subject=error.subject, description=error.description
            )
            failure = error_details_pb2.QuotaFailure(violations=[violation])
            if error.retry_seconds is None:
                return [failure]
            return [failure, _retry_after(error.retry_seconds)]
        case TooManyStreams() | NoWorker() | StoreAway() | Draining():
            return [_retry_after(RETRY_SECONDS)]
        case _:
            return []


def _retry_after(seconds: float) -> error_details_pb2.RetryInfo:
    delay = duration_pb2.Duration()
    delay.FromMilliseconds(math.ceil(1000 * seconds))
    return error_details_pb2.RetryInfo(retry_delay=delay)


def _pack(detail: message.Message) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(detail)
    return packed


def _number(code: grpc.StatusCode) -> int:
    number: int = code.value[0]
    return number
