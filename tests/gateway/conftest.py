"""A gateway in this process on a real server, a client, and the workers' side of its store."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
import redis

import gateway.server
from gateway.client import Client
from gateway.embedded import EmbeddedServer
from gateway.server import Gateway
from worker.settings import Settings
from worker.store import Store


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    """One server for the session; each test finds it empty."""
    server = EmbeddedServer()
    server.start()
    yield server
    server.close()


@pytest.fixture
def settings(server: EmbeddedServer) -> Settings:
    """Settings of a gateway on the emptied server, on any free port."""
    with redis.Redis.from_url(server.url) as connection:
        connection.flushall()
    return replace(Settings(), redis_url=server.url, listen="127.0.0.1:0", sweep_interval=0.1)


@pytest.fixture
async def running(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Gateway]:
    """A gateway that serves."""
    monkeypatch.setattr(gateway.server, "NOTICE_SECONDS", 0.0)
    async with Gateway(settings) as running:
        yield running


@pytest.fixture
async def client(running: Gateway) -> AsyncIterator[Client]:
    """A client named ann."""
    async with Client(running.address, name="ann") as client:
        yield client


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    """The workers' side of the emptied store."""
    store = Store(settings)
    yield store
    store.close()
