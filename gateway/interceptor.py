"""What every call passes through: its errors get their status, and its time is observed."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import grpc
import grpc.aio
from grpc_status import rpc_status
from prometheus_client import Histogram

from gateway.status import find_status

# Services of other packages (health, reflection) answer for themselves.
OWN_METHODS = "/tilewarp."


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Turns the exceptions of the services into statuses and times each call.

    Args:
        latency: seconds by the labels `method` and `code`.
    """

    def __init__(self, latency: Histogram) -> None:
        self._latency = latency

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
        if handler.response_streaming:
            make = (
                grpc.stream_stream_rpc_method_handler
                if handler.request_streaming
                else grpc.unary_stream_rpc_method_handler
            )
            behaviour = self._wrap_stream(method, handler.stream_stream or handler.unary_stream)
        else:
            make = (
                grpc.stream_unary_rpc_method_handler
                if handler.request_streaming
                else grpc.unary_unary_rpc_method_handler
            )
            behaviour = self._wrap_unary(method, handler.stream_unary or handler.unary_unary)
        return make(behaviour, handler.request_deserializer, handler.response_serializer)

    def _wrap_unary(self, method: str, behaviour: Any) -> Any:
        async def call(request: Any, context: Any) -> Any:
            began = time.perf_counter()
            code = grpc.StatusCode.OK
            try:
                return await behaviour(request, context)
            except asyncio.CancelledError:
                code = grpc.StatusCode.CANCELLED
                raise
            except Exception as error:
                status = rpc_status.to_status(find_status(error))
                code = status.code
                await context.abort_with_status(status)
            finally:
                self._observe(method, code, began)

        return call

    def _wrap_stream(self, method: str, behaviour: Any) -> Any:
        async def call(request: Any, context: Any) -> AsyncIterator[Any]:
            began = time.perf_counter()
            code = grpc.StatusCode.OK
            try:
                # Closed here, not whenever it is collected: what it has begun ends with the call.
                async with aclosing(behaviour(request, context)) as responses:
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
                self._observe(method, code, began)

        return call

    def _observe(self, method: str, code: grpc.StatusCode, began: float) -> None:
        self._latency.labels(method, code.name).observe(time.perf_counter() - began)
