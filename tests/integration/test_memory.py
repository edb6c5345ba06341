"""What the store keeps of jobs is gone after their time, and every key is a documented one."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis

from gateway.client import Client
from tests.integration.cluster import (
    HARMLESS,
    POISON,
    Cluster,
    client_of,
    finish,
    nodes,
    seconds,
    units,
    until,
)
from worker.store import NewApiKey, Scope

KEYS = Path(__file__).parents[2] / "docs" / "redis.md"
AT_ONCE = 50
SPARE = 1 << 20
"""Bytes of memory that may differ: buffers of connections, mostly."""

Start = Callable[..., Cluster]
Record = Callable[[str, Any], None]


def _read_patterns(heading: str) -> list[str]:
    """Return patterns of the keys in the table under a heading."""
    section = KEYS.read_text().partition(f"## {heading}")[2].partition("\n## ")[0]
    patterns = []
    for name, more in re.findall(r"^\| `(tw:[^`]+)`([^|]*)\|", section, re.M):
        pattern = re.sub(r"<\w+>", ".+", name).replace("*", ".*")
        patterns.append(pattern + "(:.+)?" if "parts" in more else pattern)
    assert patterns
    return patterns


def _match(key: str, patterns: list[str]) -> bool:
    return any(re.fullmatch(pattern, key) for pattern in patterns)


async def test_every_key_is_documented_and_expires_as_it_says(start_cluster: Start) -> None:
    expiring, staying = _read_patterns("Keys that expire"), _read_patterns("Keys that stay")
    cluster = start_cluster(lease=2.0, cache_mb=1)
    gateway = cluster.start_gateway()
    worker = cluster.start_worker()
    worker.fail_on(**{POISON: "fail"})
    connection = redis.Redis.from_url(cluster.settings.redis_url)

    def keys() -> set[str]:
        return {key.decode() for key in connection.scan_iter(count=1000)}

    wanted = NewApiKey(owner="ann", scopes=frozenset(Scope))
    api_key = await cluster.store.api_keys.create(wanted)
    async with client_of(gateway) as client, Client(gateway.address, key=api_key) as keyed:
        await cluster.sing(60)
        running = await client.create_job(seconds(60.0), units(HARMLESS[:3]), request_id="one")
        await until(lambda: len(cluster.ledger()) == 1, 30)
        waiting = await keyed.create_job(nodes(100), units([POISON, *HARMLESS]))
        watch = asyncio.create_task(finish(keyed, waiting, 60))
        await until(lambda: any(key.endswith(":streams") for key in keys()), 30)
        await cluster.store.stage(await cluster.store.new_job_id(), [b"unit"], {})
        met = keys()
        assert not [key for key in met if not _match(key, expiring + staying)]
        await client.cancel_job(running.name)
        assert (await watch).counts.quarantined == 1
        met |= keys()
        # Of ended jobs nothing stays without an end.
        jobs = r"tw:(job|request):.+"
        for key in keys():
            if re.fullmatch(jobs, key) or not _match(key, staying):
                assert connection.ttl(key) > 0, key
            assert _match(key, expiring + staying), key
    connection.close()
    # The tables hold nothing that is not met, but for what was never there at a look.
    seldom = {"tw:job:.+:tried", "tw:job:.+:retry", "tw:canary:.+", "tw:attended"}
    seldom |= {"tw:audits", "tw:disagreements", "tw:job:.+:counted"}
    for pattern in {*expiring, *staying} - seldom:
        assert any(re.fullmatch(pattern, key) for key in met), pattern


@pytest.mark.parametrize("count", [400, pytest.param(20_000, marks=pytest.mark.soak)])
async def test_after_many_short_jobs_keys_and_memory_are_back_at_the_base(
    start_cluster: Start, count: int, record_property: Record
) -> None:
    cluster = start_cluster(result_ttl=1.0)
    gateway = cluster.start_gateway()
    worker = cluster.start_worker()
    connection = redis.Redis.from_url(cluster.settings.redis_url)

    def keys() -> set[bytes]:
        return {key for key in connection.scan_iter(count=1000) if b"worker" not in key}

    def memory() -> int:
        return int(connection.info("memory")["used_memory"])

    async with client_of(gateway) as client:
        await _run_jobs(cluster, client, AT_ONCE)
        await until(lambda: not connection.exists("tw:ended"), 60)
        base_keys, base = keys(), memory()
        parts = [gateway.pid, worker.pid]
        resident = [_read_resident(pid) for pid in parts]
        for _ in range(count // AT_ONCE):
            await _run_jobs(cluster, client, AT_ONCE)
        await until(lambda: not connection.exists("tw:ended"), 60)
        await until(lambda: keys() <= base_keys, 60)
        await until(lambda: memory() <= base + SPARE, 60)
    record_property("bytes of the store above the base", memory() - base)
    grown = [
        after - before for after, before in zip(map(_read_resident, parts), resident, strict=True)
    ]
    record_property("bytes of gateway and worker above the base", grown)
    connection.close()
    totals = await cluster.store.totals()
    assert totals.positions == count + AT_ONCE
    assert set(totals.jobs.values()) <= {0, count + AT_ONCE}


async def _run_jobs(cluster: Cluster, client: Client, count: int) -> None:
    """Run so many jobs of one unit at once, each with a request id of its own."""
    work = [units([HARMLESS[number % len(HARMLESS)]]) for number in range(count)]
    done = (await cluster.store.totals()).positions + count
    await asyncio.gather(*(client.create_job(nodes(50), each) for each in work))

    async def are_done() -> bool:
        return (await cluster.store.totals()).positions == done

    await until(are_done, 60)


def _read_resident(pid: int) -> int:
    """Return the bytes of memory that a process has."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024
