"""Books grown by real workers: from the command line, and through kills."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.book.file import read_book
from gateway.book.tools import find_faults
from tests.integration.cluster import Cluster, client_of
from tests.integration.stack import Service, objects
from tilewarp.v1 import books_pb2, position_pb2

CAISSA = position_pb2.Position(variant="caissa")


def test_a_book_through_the_service(service: Service, tmp_path: Path) -> None:
    grow = ("book", "grow", "small", "caissa", "--nodes", "100", "--positions", "60", "--json")
    told = service.tilewarp(*grow)
    assert told.returncode == 0, told.stderr
    size = objects(told.stdout)[-1]["positions"]
    [listed] = objects(service.tilewarp("book", "list", "--json").stdout)
    assert (listed["name"], listed["positions"]) == ("small", size)
    [probed] = objects(service.tilewarp("book", "probe", "small", "--json").stdout)
    assert probed["value"] == listed["value"]
    lines = tmp_path / "small.jsonl"
    done = service.tilewarp("book", "export", "small", "-o", str(lines))
    assert done.returncode == 0, done.stderr
    done = service.tilewarp("book", "import", "other", str(lines))
    assert done.stdout == f"other: {size} positions, {size} of them new\n".encode()
    missing = service.tilewarp("book", "probe", "missing")
    assert (missing.returncode, missing.stdout) == (2, b"")
    assert b"there is no book books/missing" in missing.stderr


@pytest.mark.soak
async def test_growth_survives_the_death_of_every_part(
    start_cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    """Gateway, worker and store are killed in turn; the client only waits, and nothing is wrong."""
    books = tmp_path / "books"
    cluster = start_cluster("--appendonly", "yes", books_dir=str(books))
    gateway, worker = cluster.start_gateway(), cluster.start_worker()
    await cluster.has_workers(1)
    listen = gateway.address
    told: list[books_pb2.GrowBookResponse] = []

    async def grow() -> None:
        async with client_of(gateway) as client:
            request = books_pb2.GrowBookRequest(
                name="books/a", position=CAISSA, nodes=500, positions=1_500
            )
            async for step in client.grow_book(request):
                told.append(step)

    async def grown(by: int) -> None:
        size = told[-1].positions if told else 0
        while not told or told[-1].positions < size + by:
            assert not growth.done()
            await asyncio.sleep(0.01)

    async with asyncio.timeout(100):
        growth = asyncio.create_task(grow())
        await grown(100)
        gateway.kill()
        known = read_book(books / "a.book")
        assert len(known) >= told[-1].positions
        gateway = cluster.start_gateway(listen=listen)
        await grown(100)
        worker.kill()
        worker = cluster.start_worker()
        await grown(100)
        cluster.server.kill()
        cluster.server.start(*cluster.options)
        await growth
    book = read_book(books / "a.book")
    assert len(book) == told[-1].positions >= 1_500
    assert list(find_faults(book)) == []
    assert {entry.position.key for entry in known.entries} <= {e.position.key for e in book.entries}
