"""Clients that vanish, crowd in, or ask for one thing many times at once."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
import redis
from grpc_health.v1 import health_pb2, health_pb2_grpc

from gateway.client import Client
from gateway.processes import end, spawn
from tests.gateway.work import refuses
from tests.integration.cluster import (
    HARMLESS,
    Cluster,
    GatewayProcess,
    client_of,
    environment,
    finish,
    nodes,
    seconds,
    units,
    until,
)
from tests.integration.proxy import Proxy
from tilewarp.v1 import jobs_pb2, position_pb2
from worker.settings import Settings
from worker.store import JobClass
from worker.store.aio import CONNECTIONS

STREAMS = 200
ESTABLISHED = "01"
CROWD = (sys.executable, "-P", "-m", "tests.integration.crowd")
WRONG = position_pb2.Position(variant="chakra", fen="no position")

Start = Callable[..., Cluster]
Record = Callable[[str, Any], None]
StartProxy = Callable[[str], Proxy]
StartCrowd = Callable[[str, jobs_pb2.Job], "subprocess.Popen[bytes]"]


@pytest.fixture
def start_crowd() -> Iterator[StartCrowd]:
    """Start processes that hold `STREAMS` streams of a job each."""
    crowds = []

    def start(address: str, job: jobs_pb2.Job) -> "subprocess.Popen[bytes]":
        crowds.append(
            spawn(
                [*CROWD, address, job.name, str(STREAMS)],
                environment=environment(Settings()),
                stdout=subprocess.PIPE,
            )
        )
        return crowds[-1]

    yield start
    for crowd in crowds:
        end(crowd, 0)


@pytest.mark.parametrize("way", ["killed", "silent"])
async def test_nothing_is_held_for_streams_whose_clients_vanish(
    start_cluster: Start,
    start_crowd: StartCrowd,
    start_proxy: StartProxy,
    way: str,
    record_property: Record,
) -> None:
    cluster = start_cluster()
    gateway = cluster.start_gateway()
    proxy = start_proxy(gateway.address)
    address = f"127.0.0.1:{proxy.port}"
    async with Client(address) as client:
        job = await client.create_job(nodes(100), [WRONG, *units(HARMLESS)])
    base = _count_files(gateway)
    for _ in range(2 if way == "killed" else 1):
        crowd = start_crowd(address, job)
        assert crowd.stdout is not None
        assert await asyncio.to_thread(crowd.stdout.readline) == b"open\n"
        assert _count_streams(gateway) == STREAMS
        if way == "killed":
            crowd.kill()
        else:
            proxy.silence()
        took = await until(lambda: _count_streams(gateway) == 0, 60)
        record_property("seconds until no stream is held", took)
        await until(lambda: _count_connections(gateway) == 0, 10)
        # A few idle connections to the store may stay, however great the crowd was.
        assert _count_files(gateway) <= base + CONNECTIONS


def _count_streams(gateway: GatewayProcess) -> int:
    return int(gateway.scrape()["tilewarp_open_streams"])


def _count_files(gateway: GatewayProcess) -> int:
    return len(os.listdir(f"/proc/{gateway.pid}/fd"))


def _count_connections(gateway: GatewayProcess) -> int:
    """Return how many connections of clients it has, dead ones that it has not noticed included."""
    port = f"{int(gateway.address.rpartition(':')[2]):04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    ends = [(line.split()[1].rpartition(":")[2], line.split()[3]) for line in lines]
    return ends.count((port, ESTABLISHED))


@pytest.mark.soak
async def test_a_stream_whose_gateway_falls_silent_goes_on(
    start_cluster: Start, start_proxy: StartProxy, record_property: Record
) -> None:
    cluster = start_cluster()
    gateway = cluster.start_gateway()
    cluster.start_worker()
    proxy = start_proxy(gateway.address)
    async with Client(f"127.0.0.1:{proxy.port}", name="ann") as client:
        job = await client.create_job(seconds(1.0), units(HARMLESS))
        rows = client.stream_results(job.name)
        indices = [(await anext(rows)).index]
        proxy.silence()
        began = time.monotonic()
        async with asyncio.timeout(60):
            indices += [row.index async for row in rows]
        record_property("seconds until the rest is there", time.monotonic() - began)
    assert indices == list(range(10))


async def test_nothing_is_held_for_a_flood_of_positions_whose_client_vanishes(
    start_cluster: Start, record_property: Record
) -> None:
    cluster = start_cluster()
    gateway = cluster.start_gateway()
    cluster.start_worker()
    await cluster.has_workers(1)
    flood = spawn(
        [sys.executable, "-P", "-m", "tests.integration.flood", gateway.address],
        environment=environment(Settings()),
        stdout=subprocess.PIPE,
    )
    try:
        assert flood.stdout is not None
        assert await asyncio.to_thread(flood.stdout.readline) == b"open\n"
        load = (await cluster.store.load())[JobClass.BULK]
        assert 0 < load.open_units <= Settings().max_unfinished
    finally:
        end(flood, 0)

    async def is_at_base() -> bool:
        load = (await cluster.store.load())[JobClass.BULK]
        with redis.Redis.from_url(cluster.settings.redis_url) as connection:
            return load.open_units == 0 and not connection.keys("tw:job:*")

    record_property("seconds until nothing is held", await until(is_at_base, 15))
    async with client_of(gateway) as client:
        await finish(client, await client.create_job(nodes(100), units(HARMLESS)), 30)


async def test_streams_at_the_limit_starve_no_other_call(
    start_cluster: Start, start_crowd: StartCrowd
) -> None:
    cluster = start_cluster(max_streams=STREAMS)
    gateway = cluster.start_gateway()
    async with Client(gateway.address, patience=0.0) as client:
        job = await client.create_job(nodes(100), [WRONG, *units(HARMLESS)])
        crowd = start_crowd(gateway.address, job)
        assert crowd.stdout is not None
        assert await asyncio.to_thread(crowd.stdout.readline) == b"open\n"
        for call in (anext(client.watch_job(job.name)), client.create_job(nodes(100), [WRONG])):
            with refuses(grpc.StatusCode.RESOURCE_EXHAUSTED, f"max_streams allows ({STREAMS})"):
                await call
        async with asyncio.timeout(10), grpc.aio.insecure_channel(gateway.address) as channel:
            health: Any = health_pb2_grpc.HealthStub(channel)
            for _ in range(50):
                answer = await health.Check(health_pb2.HealthCheckRequest())
                assert answer.status == health_pb2.HealthCheckResponse.SERVING
                assert (await client.get_job(job.name)).name == job.name
        crowd.kill()
        client.patience = 30.0
        assert (await anext(client.watch_job(job.name))).name == job.name


async def test_fifty_simultaneous_submissions_of_one_request_are_one_job(
    start_cluster: Start,
) -> None:
    cluster = start_cluster()
    gateways = [cluster.start_gateway(), cluster.start_gateway()]
    async with client_of(gateways[0]) as first, client_of(gateways[1]) as second:
        work = units(HARMLESS * 20)
        answers = await asyncio.gather(
            *(
                client.create_job(nodes(100 + number % 2), work, request_id="one")
                for number in range(25)
                for client in (first, second)
            ),
            return_exceptions=True,
        )
        jobs = [answer for answer in answers if isinstance(answer, jobs_pb2.Job)]
        refused = [answer for answer in answers if isinstance(answer, grpc.aio.AioRpcError)]
        assert len({job.name for job in jobs}) == 1
        assert len(jobs) + len(refused) == 50
        # Of two contents the first to come has the id.
        assert len({job.specification.analysis.limits.nodes for job in jobs}) == 1
        assert {error.code() for error in refused} == {grpc.StatusCode.ALREADY_EXISTS}
        assert 24 <= len(jobs) <= 26
        assert [job.name async for job in first.list_jobs()] == [jobs[0].name]
    load = await cluster.store.load()
    assert load[JobClass.BULK].claimable == len(work)
