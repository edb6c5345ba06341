"""The table of error kinds and statuses."""

import logging

import grpc
import pytest
import redis
from google.rpc import error_details_pb2

from gateway.status import (
    CODES,
    CallError,
    Draining,
    FieldFault,
    InvalidRequest,
    OverQuota,
    StoreAway,
    UnknownJob,
    find_status,
)
from worker.store import StagingLostError, StoreFullError


def test_every_kind_of_error_has_a_code() -> None:
    assert set(CODES) == set(CallError.__subclasses__())


def test_an_invalid_request_names_every_field_and_fault() -> None:
    faults = [FieldFault("limits.nodes", "too many"), FieldFault("request_id", "too long")]
    status = find_status(InvalidRequest(faults))
    assert status.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert status.message == "limits.nodes: too many; request_id: too long"
    detail = error_details_pb2.BadRequest()
    assert status.details[0].Unpack(detail)
    told = [(each.field, each.description) for each in detail.field_violations]
    assert told == [("limits.nodes", "too many"), ("request_id", "too long")]


@pytest.mark.parametrize(
    "error",
    [
        StoreAway(),
        Draining(),
        redis.ConnectionError("refused"),
        redis.TimeoutError("slow"),
        StagingLostError("gone"),
    ],
)
def test_what_passes_by_itself_says_when_to_try_again(error: Exception) -> None:
    status = find_status(error)
    assert status.code == grpc.StatusCode.UNAVAILABLE.value[0]
    detail = error_details_pb2.RetryInfo()
    assert status.details[0].Unpack(detail)
    assert detail.retry_delay.seconds == 1


@pytest.mark.parametrize(
    "error", [OverQuota("store", "full"), redis.OutOfMemoryError("maxmemory"), StoreFullError("id")]
)
def test_a_full_store_is_a_quota(error: Exception) -> None:
    status = find_status(error)
    assert status.code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    detail = error_details_pb2.QuotaFailure()
    assert status.details[0].Unpack(detail)
    assert detail.violations[0].subject == "store"


def test_an_unknown_error_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        status = find_status(ZeroDivisionError("a secret"))
    assert status.code == grpc.StatusCode.INTERNAL.value[0]
    assert "secret" not in status.message
    assert "a secret" in caplog.text


def test_an_error_without_details_has_none() -> None:
    assert not find_status(UnknownJob("jobs/x")).details
