"""Units that nobody can run are given up, workers that can run nothing end, and each is known."""

import asyncio
import shlex
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

from gateway.supervisor import COMMAND
from tests.integration.cluster import (
    HARMLESS,
    POISON,
    Cluster,
    client_of,
    finish,
    is_gone,
    nodes,
    units,
    until,
)
from tilewarp.v1 import jobs_pb2
from worker.host import UNFIT_EXIT_CODE

SUCCEEDED = jobs_pb2.JOB_STATE_SUCCEEDED
LEASE = 2.0

Start = Callable[..., Cluster]
Record = Callable[[str, Any], None]

NO_SIGN = "its worker died or gave no sign of progress"
CAUSES = {
    "kill": {NO_SIGN},
    "hang": {f"hung: no node was searched in {LEASE:g} s", NO_SIGN},
    "fail": {f"LookupError: no luck with {POISON}"},
}


@pytest.mark.parametrize("fault", CAUSES)
async def test_a_poison_unit_is_tried_on_both_workers_and_given_up(
    start_cluster: Start, fault: str, record_property: Record
) -> None:
    cluster = start_cluster(lease=LEASE)
    gateway = cluster.start_gateway()
    workers = [cluster.start_worker() for _ in range(2)]
    for worker in workers:
        worker.fail_on(**{POISON: fault})
    await cluster.has_workers(2)
    async with client_of(gateway) as client:
        moves = [*HARMLESS[:5], POISON, *HARMLESS[5:]]
        began = time.monotonic()
        job = await finish(client, await client.create_job(nodes(2000), units(moves)), 60)
        record_property("seconds until the job has ended", time.monotonic() - began)
        rows = [row async for row in client.stream_results(job.name)]
    assert job.state == SUCCEEDED
    assert job.counts == jobs_pb2.JobCounts(total=11, done=10, quarantined=1)
    assert [row.index for row in rows if row.WhichOneof("outcome") == "failure"] == [5]
    failure = rows[5].failure
    assert failure.cause in CAUSES[fault]
    assert failure.attempts == len(failure.workers) == 3
    assert len({*failure.workers[:2]}) == 2
    assert failure.command == f"tilewarp search chakra startpos --moves {POISON} --nodes 2000"
    command = [*COMMAND, *shlex.split(failure.command)[1:]]
    again = await asyncio.to_thread(subprocess.run, command, capture_output=True, timeout=60)
    assert again.returncode == 0
    assert len(cluster.ledger(move=POISON)) == 3
    assert [worker.process.poll() for worker in workers] == [None, None]
    await cluster.check_counts()


@pytest.mark.parametrize("fault", ["kill", pytest.param("hang", marks=pytest.mark.soak)])
async def test_a_worker_that_can_run_nothing_ends_and_no_unit_is_given_up(
    start_cluster: Start, fault: str, record_property: Record
) -> None:
    cluster = start_cluster(lease=LEASE)
    gateway = cluster.start_gateway()
    bad = cluster.start_worker(seized=3.0)
    await cluster.has_workers(1)
    async with client_of(gateway) as client:
        job = await client.create_job(nodes(20_000), units(HARMLESS * 20))
        await until(lambda: len(cluster.ledger("done")) > 10, 30)
        bad.fail_on(any=fault)
        began = time.monotonic()
        assert await bad.wait(60) == UNFIT_EXIT_CODE
        record_property("seconds until the host has ended", time.monotonic() - began)
        assert "this host ends" in bad.log()
        assert (await client.get_job(job.name)).counts.quarantined == 0
        good = cluster.start_worker()
        job = await finish(client, job, 60)
    assert job.state == SUCCEEDED
    assert job.counts == jobs_pb2.JobCounts(total=200, done=200)
    assert not is_gone(good.pid)
    await cluster.check_counts()


async def test_many_poison_units_at_once_do_not_end_their_worker(start_cluster: Start) -> None:
    cluster = start_cluster(lease=LEASE, max_attempts=2)
    gateway = cluster.start_gateway()
    worker = cluster.start_worker(workers=2)
    worker.fail_on(**{POISON: "kill"})
    async with client_of(gateway) as client:
        job = await client.create_job(nodes(2000), units([POISON] * 4 + [*HARMLESS]))
        job = await finish(client, job, 90)
    assert job.counts == jobs_pb2.JobCounts(total=14, done=10, quarantined=4)
    assert worker.process.poll() is None
    await cluster.check_counts()
