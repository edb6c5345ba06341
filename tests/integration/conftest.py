"""One real service for all tests that do not break it."""

from collections.abc import Iterator

import pytest

from tests.integration.stack import Service


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with two worker processes; it must stop cleanly at the end."""
    service = Service(tmp_path_factory.mktemp("serve") / "log", "--workers", "2")
    yield service
    assert service.stop() == 0, service.log()
