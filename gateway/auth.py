"""Who may call what: API keys at the door, and the streams that are open under them."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio
import redis

from gateway.status import RETRY_SECONDS, Forbidden, OverQuota, Unauthenticated
from worker.store import ApiKey, Scope
from worker.store.api_keys import ApiKeys

METADATA = "authorization"
SCHEME = "bearer "
RENEW_SECONDS = 2.0
"""Between looks whether the keys of open streams still stand."""

SCOPES: Mapping[str, Scope | None] = {
    "/tilewarp.v1.RulesService/ListVariants": None,
    "/tilewarp.v1.RulesService/DescribePosition": None,
    "/tilewarp.v1.RulesService/PlayMoves": None,
    "/tilewarp.v1.AnalysisService/Analyse": Scope.SUBMIT,
    "/tilewarp.v1.AnalysisService/AnalyseMany": Scope.SUBMIT,
    "/tilewarp.v1.JobService/CreateJob": Scope.SUBMIT,
    "/tilewarp.v1.JobService/CancelJob": Scope.SUBMIT,
    "/tilewarp.v1.JobService/PauseJob": Scope.SUBMIT,
    "/tilewarp.v1.JobService/ResumeJob": Scope.SUBMIT,
    "/tilewarp.v1.JobService/GetJob": Scope.READ,
    "/tilewarp.v1.JobService/ListJobs": Scope.READ,
    "/tilewarp.v1.JobService/WatchJob": Scope.READ,
    "/tilewarp.v1.JobService/StreamResults": Scope.READ,
    "/tilewarp.v1.BookService/GrowBook": Scope.SUBMIT,
    "/tilewarp.v1.BookService/ImportBook": Scope.SUBMIT,
    "/tilewarp.v1.BookService/ListBooks": Scope.READ,
    "/tilewarp.v1.BookService/ProbeBook": Scope.READ,
    "/tilewarp.v1.BookService/ExportBook": Scope.READ,
}
"""The scope that a key needs for a method; None: any key will do. What is not here needs ADMIN."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _OpenStream:
    """A streaming call under a key."""

    key_id: str
    context: Any
    task: asyncio.Task[Any]


class Door:
    """Lets calls in by their keys.

    Args:
        api_keys: the keys there are.
        is_key_needed: whether a call without a key is refused; one with a wrong key always is.
    """

    def __init__(self, api_keys: ApiKeys, *, is_key_needed: bool) -> None:
        self._api_keys = api_keys
        self._is_key_needed = is_key_needed
        self._streams: dict[str, _OpenStream] = {}

    async def admit(self, method: str, context: Any) -> ApiKey | None:
        """Return the key of a call; None for one that needs none.

        Raises:
            Unauthenticated: the key is missing or wrong, or was revoked.
            Forbidden: the key has not the method's scope.
        """
        given = [value for name, value in context.invocation_metadata() if name == METADATA]
        if not given and not self._is_key_needed:
            return None
        if len(given) != 1:
            raise Unauthenticated("send one API key, as `authorization: Bearer KEY`")
        text = str(given[0])
        if text[: len(SCHEME)].lower() != SCHEME:
            raise Unauthenticated("`authorization` is not of the form `Bearer KEY`")
        key = await self._api_keys.find(text[len(SCHEME) :])
        if key is None:
            raise Unauthenticated("there is no such API key, or it was revoked")
        scope = SCOPES.get(method, Scope.ADMIN)
        if scope is not None and scope not in key.scopes:
            raise Forbidden(f"the API key has not the scope {scope}")
        return key

    @asynccontextmanager
    async def hold_stream(self, key: ApiKey, context: Any) -> AsyncIterator[None]:
        """Count the call that runs as a stream of a key, and end it when the key is revoked.

        Raises:
            OverQuota: as many are open as the key allows.
        """
        stream, task = secrets.token_hex(8), asyncio.current_task()
        assert task is not None
        if not await self._api_keys.open_stream(key, stream):
            fault = f"the API key allows {key.max_streams} at once"
            raise OverQuota("streams", fault, RETRY_SECONDS)
        self._streams[stream] = _OpenStream(key.key_id, context, task)
        try:
            yield
        finally:
            del self._streams[stream]
            with suppress(redis.RedisError):  # then it counts until its time is over
                await self._api_keys.close_stream(key, stream)

    async def run(self) -> None:
        """Renew the open streams until cancelled, and end those whose keys are revoked."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            streams = dict(self._streams)
            if not streams:
                continue
            pairs = [(open_stream.key_id, stream) for stream, open_stream in streams.items()]
            try:
                stand = await self._api_keys.renew_streams(pairs)
            except redis.RedisError as error:
                logger.warning("the keys of open streams cannot be looked at: %s", error)
                continue
            for open_stream, stands in zip(streams.values(), stand, strict=True):
                if not stands:
                    await _end(open_stream)


async def _end(stream: _OpenStream) -> None:
    """End a stream from outside: its caller is told why, then its task is cancelled."""
    with suppress(grpc.aio.AbortError, grpc.aio.UsageError):
        await stream.context.abort(grpc.StatusCode.UNAUTHENTICATED, "the API key was revoked")
    stream.task.cancel()
