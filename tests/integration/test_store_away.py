"""The store stops, falls silent, comes back with its data or without, is full, or may evict."""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

import grpc
import grpc.aio
import pytest
import redis

from gateway.client import Client
from gateway.supervisor import COMMAND
from tests.gateway.work import refuses
from tests.integration.cluster import (
    HARMLESS,
    START_SECONDS,
    Cluster,
    client_of,
    finish,
    nodes,
    seconds,
    units,
    until,
)
from tests.worker.server import Server
from tilewarp.v1 import jobs_pb2

SUCCEEDED = jobs_pb2.JOB_STATE_SUCCEEDED
LOST = jobs_pb2.JOB_STATE_LOST
OUTAGE = 20.0
BACK = 15.0
"""Seconds after an outage within which workers work again."""
SOON = 2.0
"""Seconds within which a call says that the store is away."""
APPEND_ONLY = ("--appendonly", "yes")

Start = Callable[..., Cluster]
Record = Callable[[str, Any], None]


async def _refused_meanwhile(address: str) -> float:
    """Submit and look until the outage is over: every call must say soon that the store is away.

    Return the seconds that the slowest took.
    """
    end, slowest = time.monotonic() + OUTAGE, 0.0
    async with Client(address, name="ann", patience=0.0) as client:
        while time.monotonic() < end:
            for call in (client.create_job(nodes(100), units(HARMLESS)), client.get_job("jobs/1")):
                began = time.monotonic()
                with refuses(grpc.StatusCode.UNAVAILABLE, "store"):
                    await call
                slowest = max(slowest, time.monotonic() - began)
            await asyncio.sleep(1)
    assert slowest < SOON
    return slowest


@pytest.mark.parametrize(
    "outage",
    [
        "stopped",
        pytest.param("killed", marks=pytest.mark.soak),
        pytest.param("silent", marks=pytest.mark.soak),
    ],
)
async def test_after_an_outage_of_a_store_with_its_file_jobs_go_on_and_no_attempt_is_lost(
    start_cluster: Start, outage: str, record_property: Record
) -> None:
    cluster = start_cluster(*APPEND_ONLY)
    gateway = cluster.start_gateway()
    cluster.start_worker()
    async with client_of(gateway) as client:
        job = await client.create_job(seconds(3.0), units(HARMLESS[:3]))
        results = asyncio.create_task(_collect(client, job))
        await until(lambda: len(cluster.ledger()) == 1, 30)
        await asyncio.sleep(1.1)  # by then the file has it
        if outage == "stopped":
            cluster.server.stop()
        elif outage == "killed":
            cluster.server.kill()
        else:
            cluster.server.suspend()
        slowest = await _refused_meanwhile(gateway.address)
        record_property("seconds until a call says that the store is away", slowest)
        if outage == "silent":
            cluster.server.resume()
        else:
            cluster.server.start(*APPEND_ONLY)
        record_property("seconds until a canary is answered", await cluster.sing(BACK))
        job = await finish(client, job, 60)
        assert [row.index for row in await results] == [0, 1, 2]
    assert job.counts == jobs_pb2.JobCounts(total=3, done=3)
    assert (await cluster.store.totals()).attempts == len(cluster.ledger()) == 3
    await cluster.check_counts()


async def test_after_an_outage_of_a_store_without_a_file_jobs_are_lost_and_work_goes_on(
    start_cluster: Start, record_property: Record
) -> None:
    cluster = start_cluster()
    gateway = cluster.start_gateway()
    cluster.start_worker()
    async with client_of(gateway) as client:
        job = await client.create_job(seconds(3.0), units(HARMLESS))
        results = asyncio.create_task(_collect(client, job))
        watch = asyncio.create_task(finish(client, job, 60))
        await until(lambda: len(cluster.ledger()) == 1, 30)
        cluster.server.stop()
        slowest = await _refused_meanwhile(gateway.address)
        record_property("seconds until a call says that the store is away", slowest)
        cluster.server.start()
        record_property("seconds until a canary is answered", await cluster.sing(BACK))
        with refuses(grpc.StatusCode.FAILED_PRECONDITION, "LOST"):
            await results
        assert (await watch).state == (await client.get_job(job.name)).state == LOST
        again = await client.create_job(nodes(1000), units(HARMLESS))
        again = await finish(client, again, 30)
    assert again.counts == jobs_pb2.JobCounts(total=10, done=10)
    await cluster.check_counts()


async def _collect(client: Client, job: jobs_pb2.Job) -> list[jobs_pb2.ResultRow]:
    return [row async for row in client.stream_results(job.name)]


@pytest.mark.parametrize("is_full", [False, True])
async def test_a_nearly_full_or_full_store_refuses_jobs_and_finishes_those_it_has(
    start_cluster: Start, is_full: bool
) -> None:
    limit = 100 << 20
    cluster = start_cluster("--maxmemory", str(limit))
    gateway = cluster.start_gateway()
    cluster.start_worker()
    async with client_of(gateway) as client:
        job = await client.create_job(seconds(0.3), units(HARMLESS))
        await until(lambda: len(cluster.ledger()) == 1, 30)
        with redis.Redis.from_url(cluster.settings.redis_url) as connection:
            _fill(connection, int(limit * 0.85))
            if is_full:
                connection.config_set("maxmemory", int(limit * 0.7))
                with pytest.raises(redis.exceptions.OutOfMemoryError):
                    connection.lpush("filling", "more")
            with refuses(grpc.StatusCode.RESOURCE_EXHAUSTED, "store: its memory is full"):
                await client.create_job(nodes(100), units(HARMLESS))
            assert (await client.get_job(job.name)).counts.total == 10
            job = await finish(client, job, 60)
            assert job.counts == jobs_pb2.JobCounts(total=10, done=10)
            connection.delete("filling")
        again = await client.create_job(nodes(100), units(HARMLESS))
        assert (await finish(client, again, 60)).state == SUCCEEDED
    await cluster.check_counts()


def _fill(connection: "redis.Redis", used: int) -> None:
    """Fill the server's memory up to so many bytes."""
    while connection.info("memory")["used_memory"] < used:
        connection.rpush("filling", os.urandom(1 << 20))


@pytest.mark.parametrize("part", ["gateway", "worker"])
async def test_an_evicting_store_is_refused_at_the_start(part: str) -> None:
    server = Server()
    server.start("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
    try:
        process = await asyncio.create_subprocess_exec(
            *(*COMMAND, part, "--redis", server.url), stderr=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(START_SECONDS):
            _, errors = await process.communicate()
    finally:
        server.remove()
    assert process.returncode == 1
    assert b"the store's maxmemory-policy is allkeys-lru" in errors
    assert b"noeviction" in errors
    assert b"Traceback" not in errors
