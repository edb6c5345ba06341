"""Every unit is run until it has its one result, whatever becomes of the processes that run it."""

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.cluster import (
    HARMLESS,
    POISON,
    Cluster,
    client_of,
    finish,
    is_gone,
    nodes,
    seconds,
    units,
    until,
)
from tilewarp.v1 import jobs_pb2

SUCCEEDED = jobs_pb2.JOB_STATE_SUCCEEDED
LEASE = 2.0
LOST = 15.0
"""Seconds within which the units of a killed worker run elsewhere."""

Start = Callable[..., Cluster]
Record = Callable[[str, Any], None]


@pytest.mark.parametrize("fault", ["hang", "seize"])
async def test_a_hung_search_loses_its_claim_and_its_process(
    start_cluster: Start, fault: str, record_property: Record
) -> None:
    cluster = start_cluster(lease=LEASE)
    gateway = cluster.start_gateway()
    workers = [cluster.start_worker(seized=3.0) for _ in range(2)]
    await cluster.has_workers(2)
    workers[0].fail_on(**{POISON: fault})
    workers[1].fail_on(**{POISON: fault})
    async with client_of(gateway) as client:
        job = await client.create_job(nodes(2000), units([POISON, *HARMLESS]))
        await until(lambda: len(cluster.ledger(move=POISON)) == 1, 30)
        hung = cluster.ledger(move=POISON)[0]
        took = await until(lambda: len(cluster.ledger(move=POISON)) == 2, 30)
        record_property("seconds until its unit runs elsewhere", took)
        took += await until(lambda: is_gone(hung.pid), 30)
        record_property("seconds until its process has ended", took)
        for worker in workers:
            worker.fail_on()
        job = await finish(client, job, 60)
    assert job.state == SUCCEEDED
    assert job.counts == jobs_pb2.JobCounts(total=11, done=11)
    await cluster.check_counts()


async def test_what_a_suspended_process_hands_in_late_is_refused(start_cluster: Start) -> None:
    cluster = start_cluster(lease=LEASE)
    gateway = cluster.start_gateway()
    cluster.start_worker()
    async with client_of(gateway) as client:
        job = await client.create_job(seconds(1.0), units(HARMLESS[:1]))
        await until(lambda: len(cluster.ledger()) == 1, 30)
        late = cluster.ledger()[0].pid
        os.kill(late, signal.SIGSTOP)
        other = cluster.start_worker()
        job = await finish(client, job, 30)
        os.kill(late, signal.SIGCONT)
        await until(lambda: len(cluster.ledger("done") + cluster.ledger("stopped")) == 2, 10)
        again = await client.create_job(nodes(100), units(HARMLESS))
        again = await finish(client, again, 30)
        assert await client.get_job(job.name) == job
    assert {entry.pid for entry in cluster.ledger()} >= {late, *other.children}
    assert job.counts == jobs_pb2.JobCounts(total=1, done=1)
    (row,) = await cluster.rows(job)
    result = jobs_pb2.ResultRow.FromString(row.payload)
    assert result.analysis.provenance.worker.endswith(f":{other.pid}")
    assert result.analysis.provenance.attempt == 2
    assert (await cluster.store.totals()).attempts == 2 + len(HARMLESS)
    await cluster.check_counts()


async def test_a_unit_longer_than_every_timeout_runs_once(start_cluster: Start) -> None:
    cluster = start_cluster(lease=LEASE, worker_ttl=1.0)
    gateway = cluster.start_gateway()
    cluster.start_worker()
    cluster.start_worker()
    async with client_of(gateway) as client:
        # Above the broker's own time to give a message out again, 8 s.
        job = await client.create_job(seconds(10.0), units(HARMLESS[:1]))
        job = await finish(client, job, 60)
    assert job.state == SUCCEEDED
    assert len(cluster.ledger()) == len(cluster.ledger("done")) == 1
    assert (await cluster.store.totals()).lost_claims == 0
    await cluster.check_counts()


async def test_the_units_of_a_killed_worker_run_elsewhere(
    start_cluster: Start, record_property: Record
) -> None:
    cluster = start_cluster()
    gateway = cluster.start_gateway()
    victim, other = cluster.start_worker(), cluster.start_worker()
    await cluster.has_workers(2)
    async with client_of(gateway) as client:
        job = await client.create_job(seconds(1.5), units(HARMLESS[:3]))
        await until(lambda: victim.pid in {entry.host for entry in cluster.ledger()}, 30)
        (running,) = [entry for entry in cluster.ledger() if entry.host == victim.pid]
        child = running.pid
        victim.kill()
        await until(lambda: is_gone(child), 5)

        def is_run_again() -> bool:
            hosts = [entry.host for entry in cluster.ledger(move=running.move)]
            return hosts == [victim.pid, other.pid]

        record_property("seconds until its unit runs elsewhere", await until(is_run_again, LOST))
        job = await finish(client, job, 60)
    assert job.counts == jobs_pb2.JobCounts(total=3, done=3)
    await cluster.check_counts()
