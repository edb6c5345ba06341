"""The gateway process: the gRPC server with health and reflection, its sweeper and exporter."""

import asyncio
import logging
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc.aio
import redis
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from prometheus_client import CollectorRegistry, ProcessCollector

from core.games import VARIANTS
from core.position import Position
from gateway.auth import Door
from gateway.events import JobEvents
from gateway.interceptor import CallInterceptor
from gateway.listening import bind
from gateway.metrics import Exporter, StoreCollector, make_latency, make_open_streams
from gateway.services.analysis import AnalysisService
from gateway.services.books import BookService
from gateway.services.jobs import JobService
from gateway.services.rules import RulesService
from gateway.shelf import Shelf
from gateway.sweeper import Sweeper
from tilewarp.v1 import (
    analysis_pb2,
    analysis_pb2_grpc,
    books_pb2,
    books_pb2_grpc,
    jobs_pb2,
    jobs_pb2_grpc,
    rules_pb2,
    rules_pb2_grpc,
)
from worker.app import make_app, publish_tickets
from worker.settings import Settings
from worker.store import AsyncStore

SERVICES = (
    rules_pb2.DESCRIPTOR.services_by_name["RulesService"].full_name,
    analysis_pb2.DESCRIPTOR.services_by_name["AnalysisService"].full_name,
    jobs_pb2.DESCRIPTOR.services_by_name["JobService"].full_name,
    books_pb2.DESCRIPTOR.services_by_name["BookService"].full_name,
)
# A client that has vanished without a word is noticed within 15 seconds. Clients may ping every 30
# seconds (gateway.client); the server's minimum stays below that.
KEEPALIVE_OPTIONS = [
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
]
NOTICE_SECONDS = 0.5
"""Time for those who look at the health service to turn away before calls end."""
GRACE_SECONDS = 5.0
CANCEL_SECONDS = 0.1

logger = logging.getLogger(__name__)


class Gateway:
    """A gateway in the running event loop; an async context manager serves and stops it.

    Raises on entry `EvictingPolicyError` when the store may throw jobs away, `ListenError` when the
    address would be open to strangers, and `RuntimeError` when it cannot be had. A store that is
    away only fails the calls, until it is back.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._store = AsyncStore(settings)
        self._events = JobEvents(self._store)
        self._door = Door(self._store.api_keys, is_key_needed=settings.access == "keys")
        app = make_app(settings)
        self._sweeper = Sweeper(
            self._store, lambda count: publish_tickets(app, count), settings.sweep_interval
        )
        self._shelf = (
            Shelf(Path(settings.books_dir), settings.max_books) if settings.books_dir else None
        )
        self._health = health.aio.HealthServicer()
        self._closing = AsyncExitStack()
        self.address = settings.listen
        """HOST:PORT, with the port that was found once it serves."""
        self.metrics_port: int | None = None
        """The port of /metrics once it serves; None for nowhere."""

    async def __aenter__(self) -> "Gateway":
        """Start to serve."""
        async with AsyncExitStack() as closing:
            closing.push_async_callback(self._store.close)
            await self._start(closing)
            self._closing = closing.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, in the reverse order of starting."""
        await self._closing.aclose()

    async def _start(self, closing: AsyncExitStack) -> None:
        try:
            await self._store.check()
        except redis.RedisError as error:
            logger.warning("the store does not answer yet: %s", error)
        registry = CollectorRegistry()
        server = self._make_server(registry)
        port = bind(server, self._settings)
        self.address = f"{self._settings.listen.rpartition(':')[0]}:{port}"
        if self._settings.gateway_metrics:
            registry.register(StoreCollector(self._store, asyncio.get_running_loop()))
            ProcessCollector(registry=registry)
            exporter = Exporter(self._settings.gateway_metrics, registry)
            closing.push_async_callback(asyncio.to_thread, exporter.close)
            self.metrics_port = exporter.port
        await self._set_health(health_pb2.HealthCheckResponse.NOT_SERVING)
        if self._shelf is not None:
            closing.push_async_callback(asyncio.to_thread, self._shelf.close)
        await server.start()
        closing.push_async_callback(server.stop, GRACE_SECONDS)
        await asyncio.to_thread(_load_kernels)
        for work in (self._events.run(), self._sweeper.run(), self._door.run()):
            closing.push_async_callback(_cancel, asyncio.create_task(work))
        await self._set_health(health_pb2.HealthCheckResponse.SERVING)
        closing.push_async_callback(self._drain)

    async def _drain(self) -> None:
        """Say that it stops, then end the streams so that they can be resumed elsewhere."""
        await self._health.enter_graceful_shutdown()
        await asyncio.sleep(NOTICE_SECONDS)
        self._events.close()

    def _make_server(self, registry: CollectorRegistry) -> Any:
        interceptor = CallInterceptor(
            self._door,
            make_latency(registry),
            make_open_streams(registry),
            self._settings.max_streams,
        )
        server = grpc.aio.server(
            interceptors=[interceptor],
            options=[
                ("grpc.max_receive_message_length", self._settings.max_message),
                # A second gateway on the same port must fail, not take a share of the calls.
                ("grpc.so_reuseport", 0),
                *KEEPALIVE_OPTIONS,
            ],
        )
        rules_pb2_grpc.add_RulesServiceServicer_to_server(RulesService(self._settings), server)
        parts = self._store, self._events, self._settings
        analysis = AnalysisService(*parts, self._sweeper.issue_now, self._sweeper.announce)
        analysis_pb2_grpc.add_AnalysisServiceServicer_to_server(analysis, server)
        jobs = JobService(*parts, self._sweeper.announce)
        jobs_pb2_grpc.add_JobServiceServicer_to_server(jobs, server)
        books = BookService(*parts, self._sweeper.announce, self._shelf)
        books_pb2_grpc.add_BookServiceServicer_to_server(books, server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        names = (*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, server)
        return server

    async def _set_health(self, status: health_pb2.HealthCheckResponse.ServingStatus) -> None:
        for name in (health.OVERALL_HEALTH, *SERVICES):
            await self._health.set(name, status)


async def run_gateway(settings: Settings, tell_address: Callable[[str], None]) -> int:
    """Serve until SIGTERM or SIGINT and return its number.

    `tell_address` is called with HOST:PORT once it serves. Raises as `Gateway` does.
    """
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[int] = loop.create_future()

    def stop(number: int) -> None:
        if not stopped.done():
            stopped.set_result(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    async with Gateway(settings) as gateway:
        tell_address(gateway.address)
        return await stopped


async def _cancel(task: asyncio.Task[None]) -> None:
    # A single cancellation may be lost: before Python 3.12 `asyncio.wait_for`, by which the store's
    # client sends, can swallow it.
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_SECONDS)


def _load_kernels() -> None:
    """Load the kernels, so that no call waits for it; the first process compiles them."""
    for variant in VARIANTS:
        Position(variant).outcome()
