"""The service on three hosts, of which one is cut off while it works."""

import asyncio
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gateway.processes import end, spawn
from gateway.supervisor import COMMAND
from tests.integration.cluster import HARMLESS, Cluster, Worker, until
from tests.integration.hosts import Hosts, HostsNotAllowed

POSITIONS = 150
UNIT_MS = 150
STORE = ("--port", "6379", "--bind", "0.0.0.0", "--protected-mode", "no")


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    """Two hosts around a hub."""
    try:
        hosts = Hosts("first", "second")
    except HostsNotAllowed as error:
        pytest.skip(f"network namespaces cannot be made here: {error}")
    yield hosts
    hosts.close()


async def test_a_worker_cut_off_and_joined_again_loses_nothing_and_does_nothing_twice(
    hosts: Hosts, start_cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    hub = hosts.within("hub")
    cluster = start_cluster(*STORE, within=hub, lease=1.0, worker_ttl=2.0)
    gateway = cluster.start_gateway(within=hub)
    first, second = (
        cluster.start_worker(
            within=hosts.within(name), redis_url=f"redis://{hosts.addresses[name]}:6379/0"
        )
        for name in ("first", "second")
    )
    await cluster.has_workers(2)
    file = tmp_path / "positions"
    file.write_text("".join(f"startpos moves {HARMLESS[n % 10]}\n" for n in range(POSITIONS)))
    command = [*hub, *COMMAND, "analyse", "chakra", str(file), "--movetime", str(UNIT_MS), "--json"]
    client = spawn([*command, "--gateway", gateway.address], stdout=subprocess.PIPE)
    try:
        for worker in (first, second, first):
            await _begins_a_unit(cluster, worker)

        hosts.cut("first")
        await cluster.has_workers(1)
        await until(lambda: _has_lost_a_claim(cluster), 10)
        await _begins_a_unit(cluster, second)

        hosts.join("first")
        await cluster.has_workers(2)
        await _begins_a_unit(cluster, first)
        assert client.poll() is None

        output, _ = await asyncio.to_thread(client.communicate, timeout=60)
    finally:
        end(client, 1)
    assert client.returncode == 0
    rows = [json.loads(line) for line in output.splitlines()]
    assert [row["index"] for row in rows] == list(range(POSITIONS))
    assert all(row["bestmove"] for row in rows)
    assert len({row["provenance"]["worker"] for row in rows}) == 2
    await cluster.check_counts()
    assert (await cluster.store.totals()).positions == POSITIONS


async def _has_lost_a_claim(cluster: Cluster) -> bool:
    return (await cluster.store.totals()).lost_claims >= 1


async def _begins_a_unit(cluster: Cluster, worker: Worker) -> None:
    """Wait until a worker begins another unit."""

    def begun() -> int:
        return sum(entry.host == worker.pid for entry in cluster.ledger())

    before = begun()
    await until(lambda: begun() > before, 30)
