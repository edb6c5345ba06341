"""One real service for all tests that do not break it, and services in parts for those that do."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cluster import Cluster
from tests.integration.proxy import Proxy
from tests.integration.stack import Service


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with two worker processes; it must stop cleanly at the end."""
    service = Service(tmp_path_factory.mktemp("serve") / "log", "--workers", "2")
    yield service
    assert service.stop() == 0, service.log()


@pytest.fixture
async def start_cluster(tmp_path: Path) -> AsyncIterator[Callable[..., Cluster]]:
    """Start services in parts; all is ended after the test, whatever it did to them."""
    clusters: list[Cluster] = []

    def start(*options: str, **given: Any) -> Cluster:
        directory = tmp_path / str(len(clusters))
        directory.mkdir()
        clusters.append(Cluster(directory, options, **given))
        return clusters[-1]

    yield start
    for cluster in clusters:
        await cluster.close()


@pytest.fixture
def start_proxy() -> Iterator[Callable[[str], Proxy]]:
    """Start relays in front of servers."""
    proxies: list[Proxy] = []

    def start(target: str) -> Proxy:
        proxies.append(Proxy(target))
        return proxies[-1]

    yield start
    for proxy in proxies:
        proxy.close()
