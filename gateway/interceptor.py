"""What every call passes through: the door, its status, the bound on streams, and the clock."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, contextmanager
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from grpc_status import rpc_status
from opentelemetry.trace import Span
from prometheus_client import Gauge, Histogram

from gateway.auth import Door
from gateway.callers import api_key
from gateway.status import FieldFault, InvalidRequest, TooManyStreams, find_status
from worker.tracing import begin_call

# Services of other packages (health, reflection) answer for themselves.
OWN_METHODS = "/tilewarp."


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Lets calls in, turns exceptions into statuses, bounds streams, times and traces each call.

    A streaming call above `max_streams` ends with TooManyStreams; other calls, and those of other
    packages such as health, are not bounded.

    Args:
        door: lets calls in by their API keys; `callers` knows those of running calls.
        latency: seconds by the labels `method` and `code`.
        open_streams: streaming calls that are open.
        max_streams: the most of them.
    """

    def __init__(
        self, door: Door, latency: Histogram, open_streams: Gauge, max_streams: int
    ) -> None:
        self._door = door
        self._latency = latency
        self._streams = 0
        self._max_streams = max_streams
        open_streams.set_function(lambda: self._streams)

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """Return the method's handler with errors and time taken care of."""
        handler: Any = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or not method.startswith(OWN_METHODS):
            return handler
        read = _Reader(handler)
        if handler.response_streaming:
            make = (
                grpc.stream_stream_rpc_method_handler
                if handler.request_streaming
                else grpc.unary_stream_rpc_method_handler
            )
            inner = handler.stream_stream or handler.unary_stream
            behaviour = self._wrap_stream(method, inner, read)
        else:
            make = (
                grpc.stream_unary_rpc_method_handler
                if handler.request_streaming
                else grpc.unary_unary_rpc_method_handler
            )
            admit = self._admit_stream if handler.request_streaming else self._admit
            inner = handler.stream_unary or handler.unary_unary
            behaviour = self._wrap_unary(method, inner, read, admit)
        return make(behaviour, None, handler.response_serializer)

    def _wrap_unary(
        self,
        method: str,
        behaviour: Any,
        read: "_Reader",
        admit: Callable[[str, Any], AbstractAsyncContextManager[None]],
    ) -> Any:
        async def call(request: Any, context: Any) -> Any:
            began, span = time.perf_counter(), _begin_span(method, context)
            code = grpc.StatusCode.OK
            try:
                async with admit(method, context):
                    return await behaviour(read(request), context)
            except asyncio.CancelledError:
                code = grpc.StatusCode.CANCELLED
                raise
            except Exception as error:
                status = rpc_status.to_status(find_status(error))
                code = status.code
                await context.abort_with_status(status)
            finally:
                self._observe(method, code, began, span)

        return call

    def _wrap_stream(self, method: str, behaviour: Any, read: "_Reader") -> Any:
        async def call(request: Any, context: Any) -> AsyncIterator[Any]:
            began, span = time.perf_counter(), _begin_span(method, context)
            code = grpc.StatusCode.OK
            try:
                # Closed here, not whenever it is collected: what it has begun ends with the call.
                async with (
                    self._admit_stream(method, context),
                    aclosing(behaviour(read(request), context)) as responses,
                ):
                    async for response in responses:
                        yield response
            except (asyncio.CancelledError, GeneratorExit):
                code = grpc.StatusCode.CANCELLED
                raise
            except Exception as error:
                status = rpc_status.to_status(find_status(error))
                code = status.code
                await context.abort_with_status(status)
            finally:
                self._observe(method, code, began, span)

        return call

    @asynccontextmanager
    async def _admit(self, method: str, context: Any) -> AsyncIterator[None]:
        api_key.set(await self._door.admit(method, context))
        yield

    @asynccontextmanager
    async def _admit_stream(self, method: str, context: Any) -> AsyncIterator[None]:
        with self._hold_stream():
            async with self._admit(method, context):
                key = api_key.get()
                if key is None:
                    yield
                    return
                async with self._door.hold_stream(key, context):
                    yield

    @contextmanager
    def _hold_stream(self) -> Iterator[None]:
        if self._streams >= self._max_streams:
            raise TooManyStreams(self._streams)
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1

    def _observe(self, method: str, code: grpc.StatusCode, began: float, span: Span) -> None:
        self._latency.labels(method, code.name).observe(time.perf_counter() - began)
        span.set_attribute("rpc.grpc.status_code", code.value[0])
        span.end()


def _begin_span(method: str, context: Any) -> Span:
    return begin_call(method.removeprefix("/"), dict(context.invocation_metadata()))


class _Reader:
    """Reads what a method is sent, once its caller is let in.

    gRPC itself would read it before, and tell a caller of Python's classes.
    """

    def __init__(self, handler: Any) -> None:
        self._is_stream = handler.request_streaming
        self._deserialize = handler.request_deserializer

    def __call__(self, request: Any) -> Any:
        """Return the message of bytes, or the messages of a stream of them.

        Raises InvalidRequest, in a stream when its turn comes.
        """
        return self._read_all(request) if self._is_stream else self._read(request)

    def _read(self, data: bytes) -> Any:
        try:
            return self._deserialize(data)
        except DecodeError:
            raise InvalidRequest([FieldFault("request", "not a message of this method")]) from None

    async def _read_all(self, stream: AsyncIterator[bytes]) -> AsyncIterator[Any]:
        async for data in stream:
            yield self._read(data)
