"""Eight worker hosts that start at once, with nothing compiled, give right answers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from core.engine import Engine
from core.limits import Limits
from core.position import Position
from tests.integration.cluster import HARMLESS, Cluster, client_of, finish, nodes, units, until
from tilewarp.v1 import jobs_pb2

WORKERS = 8
NODES = 5_000
COMPILE_SECONDS = 1800.0
UNWRITABLE = "/proc/none"
"""Not even root makes a directory here."""


@pytest.mark.soak
@pytest.mark.parametrize("place", ["an empty cache", "no writable home"])
async def test_a_cold_start_of_many_workers_gives_right_answers(
    place: str,
    start_cluster: Callable[..., Cluster],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = {move: search(move) for move in HARMLESS}
    is_homeless = place == "no writable home"
    monkeypatch.setenv("TILEWARP_CACHE_DIR", UNWRITABLE if is_homeless else str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", UNWRITABLE)
    monkeypatch.setenv("HOME", UNWRITABLE)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    cluster = start_cluster(store_timeout=10.0)  # the machine has much to do
    workers = [cluster.start_worker() for _ in range(WORKERS)]

    async def are_there() -> bool:
        assert all(worker.process.poll() is None for worker in workers)
        return len(await cluster.store.workers()) == WORKERS

    await until(are_there, COMPILE_SECONDS)
    gateway = cluster.start_gateway()
    async with client_of(gateway) as client:
        job = await client.create_job(nodes(NODES), units(HARMLESS * 16))
        job = await finish(client, job, 300)
        assert job.counts == jobs_pb2.JobCounts(total=160, done=160)
        rows = [row async for row in client.stream_results(job.name)]
    found = {
        (HARMLESS[row.index % 10], row.analysis.best_move, row.analysis.score.centipawns)
        for row in rows
    }
    assert found == {(move, *answer) for move, answer in expected.items()}
    assert {row.analysis.nodes for row in rows} == {NODES}
    assert len({row.analysis.provenance.worker for row in rows}) == WORKERS
    kept = temporary if is_homeless else tmp_path / "cache"
    assert len({mark.parent for mark in kept.rglob("*.warm")}) == 1


def search(move: str) -> tuple[str | None, int | None]:
    """Return the best move after a move of Chakra, and its score, as this process finds them."""
    position = Position("chakra")
    position.push(move)
    found = Engine().search(position, Limits(nodes=NODES))
    return found.bestmove, found.score.cp
