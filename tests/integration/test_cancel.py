"""A job stays cancelled or paused, whatever state it was in and whatever is started again."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from tests.integration.cluster import (
    HARMLESS,
    Cluster,
    client_of,
    finish,
    nodes,
    seconds,
    units,
    until,
)
from tilewarp.v1 import jobs_pb2, position_pb2
from worker.store import JobClass

CANCELLED = jobs_pb2.JOB_STATE_CANCELLED
APPEND_ONLY = ("--appendonly", "yes")

OVER = position_pb2.Position(variant="caissa", fen="7/4q2/7/7/7/2Q4/7 w - 0 9")
"""Drawn: there is nothing to search."""

Start = Callable[..., Cluster]
Record = Callable[[str, Any], None]
Item = TypeVar("Item")


async def test_a_job_cancelled_before_any_worker_is_up_never_runs(start_cluster: Start) -> None:
    cluster = start_cluster()
    gateway = cluster.start_gateway()
    async with client_of(gateway) as client:
        job = await client.create_job(nodes(100), units(HARMLESS))
        assert (await client.cancel_job(job.name)).state == CANCELLED
        cluster.start_worker()
        await cluster.sing(60)
        after = await finish(client, await client.create_job(nodes(100), units(HARMLESS)), 60)
        assert (await client.get_job(job.name)).state == CANCELLED
    assert after.counts.done == len(cluster.ledger()) == 10
    await cluster.check_counts()


async def test_cancelling_ends_what_runs_and_what_streams_it_and_keeps_the_rows(
    start_cluster: Start, record_property: Record
) -> None:
    cluster = start_cluster()
    gateway = cluster.start_gateway()
    cluster.start_worker()
    async with client_of(gateway) as client:
        # After a unit that takes no time, several are claimed at once, of which one runs.
        job = await client.create_job(seconds(60.0), [OVER, *units(HARMLESS)])
        results = asyncio.create_task(_collect(client.stream_results(job.name)))
        watch = asyncio.create_task(_collect(client.watch_job(job.name)))
        await until(lambda: len(cluster.ledger()) == 1, 30)
        assert (await cluster.store.load())[JobClass.BULK].claimed > 1
        assert (await client.cancel_job(job.name)).state == CANCELLED
        ended = await until(lambda: len(cluster.ledger("stopped")) == 1, 10)
        record_property("seconds until the search has ended", ended)
        assert [row.index for row in await asyncio.wait_for(results, 10)] == [0]
        assert (await asyncio.wait_for(watch, 10))[-1].state == CANCELLED
        done = await client.create_job(nodes(100), units(HARMLESS[:1]))
        done = await finish(client, done, 30)
        assert await client.cancel_job(done.name) == done
    assert len(cluster.ledger()) == 2
    assert (await cluster.store.load())[JobClass.BULK].claimed == 0
    await cluster.check_counts()


async def _collect(stream: AsyncIterator[Item]) -> list[Item]:
    return [item async for item in stream]


async def test_a_cancelled_job_stays_so_when_everything_is_started_again(
    start_cluster: Start,
) -> None:
    cluster = start_cluster(*APPEND_ONLY)
    gateway = cluster.start_gateway()
    asleep, victim = cluster.start_worker(), cluster.start_worker()
    await cluster.has_workers(2)
    async with client_of(gateway) as client:
        running = await client.create_job(seconds(60.0), units(HARMLESS[:4]))
        await until(lambda: len(cluster.ledger()) == 2, 30)
        waiting = await client.create_job(nodes(100), units(HARMLESS[4:]))
        for pid in (asleep.pid, *asleep.children):  # it does not hear of what follows
            os.kill(pid, signal.SIGSTOP)
        for job in (running, waiting):
            await client.cancel_job(job.name)
    cluster.server.kill()
    gateway.kill()
    victim.kill()
    cluster.server.start(*APPEND_ONLY)
    gateway = cluster.start_gateway()
    cluster.start_worker()
    for pid in (*asleep.children, asleep.pid):
        os.kill(pid, signal.SIGCONT)
    await until(lambda: len(cluster.ledger("stopped")) >= 1, 30)
    async with client_of(gateway) as client:
        later = await client.create_job(nodes(100), units(HARMLESS))
        later = await finish(client, later, 60)
        assert later.counts.done == 10
        for job in (running, waiting):
            job = await client.get_job(job.name)
            assert (job.state, job.counts.done) == (CANCELLED, 0)
    assert len(cluster.ledger()) == 2 + 10
    await cluster.check_counts()


async def test_a_paused_job_stays_so_when_everything_is_started_again(
    start_cluster: Start,
) -> None:
    cluster = start_cluster(*APPEND_ONLY)
    gateway, worker = cluster.start_gateway(), cluster.start_worker()
    async with client_of(gateway) as client:
        job = await client.create_job(seconds(1.0), units(HARMLESS[:3]))
        await until(lambda: len(cluster.ledger()) == 1, 30)
        await client.pause_job(job.name)
    cluster.server.kill()
    gateway.kill()
    worker.kill()
    cluster.server.start(*APPEND_ONLY)
    gateway = cluster.start_gateway()
    cluster.start_worker()
    async with client_of(gateway) as client:
        later = await client.create_job(nodes(100), units(HARMLESS))
        assert (await finish(client, later, 60)).counts.done == 10
        assert (await client.get_job(job.name)).state == jobs_pb2.JOB_STATE_PAUSED
        assert len(cluster.ledger()) == 1 + 10
        await client.resume_job(job.name)
        assert (await finish(client, job, 60)).counts.done == 3
    await cluster.check_counts()
