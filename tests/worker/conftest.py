"""A real server for the store's tests, and the store's two sides on it."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
import redis

from tests.worker.server import Server
from worker.settings import Settings
from worker.store import AsyncStore, Store


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for the session; each test finds it empty."""
    server = Server()
    server.start()
    yield server
    server.remove()


@pytest.fixture
def redis_client(server: Server) -> Iterator[redis.Redis]:
    """A plain client of the emptied server."""
    with redis.Redis(unix_socket_path=str(server.socket)) as client:
        client.flushall()
        yield client


@pytest.fixture
def settings(server: Server) -> Settings:
    """Settings with a lease that a test can outwait."""
    return replace(Settings(), redis_url=server.url, lease=0.3, sweep_interval=0.1)


@pytest.fixture
def store(settings: Settings, redis_client: redis.Redis) -> Iterator[Store]:
    """The workers' side of the emptied store."""
    store = Store(settings)
    yield store
    store.close()


@pytest.fixture
async def gateway(settings: Settings, redis_client: redis.Redis) -> AsyncIterator[AsyncStore]:
    """The gateway's side of the emptied store."""
    gateway = AsyncStore(settings)
    yield gateway
    await gateway.close()
