"""The gateway beside its services: health, reflection, metrics, tickets and its start."""

import asyncio
import time
import urllib.request
from dataclasses import replace
from typing import Any

import grpc
import grpc.aio
import pytest
import redis
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from gateway.client import Client
from gateway.embedded import EmbeddedServer
from gateway.server import SERVICES, Gateway
from tests.gateway.work import claim, create, hand_in, refuses
from worker.settings import Settings
from worker.store import EvictingPolicyError, Store, WorkerInfo
from worker.store.keys import BROKER_PREFIX, TICKET_QUEUE

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def test_health_is_told_for_the_whole_and_each_service(running: Gateway) -> None:
    async with grpc.aio.insecure_channel(running.address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        for name in ("", *SERVICES):
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=name))
            assert answer.status == SERVING


async def test_health_turns_before_calls_end(settings: Settings) -> None:
    gateway = Gateway(settings)
    await gateway.__aenter__()
    async with grpc.aio.insecure_channel(gateway.address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        watch = stub.Watch(health_pb2.HealthCheckRequest())
        assert (await watch.read()).status == SERVING
        stopping = asyncio.create_task(gateway.__aexit__(None, None, None))
        assert (await watch.read()).status == NOT_SERVING
        async with Client(gateway.address) as client:
            assert await client.list_variants()
        watch.cancel()
        await stopping


async def test_a_gateway_that_loads_its_kernels_is_not_said_to_serve() -> None:
    server = grpc.aio.server()
    told = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(told, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    await told.set("", NOT_SERVING)
    async with Client(f"127.0.0.1:{port}") as client:
        assert not await client.is_serving()
        await told.set("", SERVING)
        assert await client.is_serving()
        await server.stop(0)
        with pytest.raises(grpc.aio.AioRpcError):
            await client.is_serving()


async def test_reflection_names_the_services(running: Gateway) -> None:
    async with grpc.aio.insecure_channel(running.address) as channel:
        stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        async for answer in stub.ServerReflectionInfo(iter([request])):
            names = {service.name for service in answer.list_services_response.service}
            assert set(SERVICES) <= names


async def test_metrics_are_the_stores_exact_counts(settings: Settings, store: Store) -> None:
    async with (
        Gateway(replace(settings, gateway_metrics="127.0.0.1:0")) as running,
        Client(running.address) as client,
    ):
        await create(client, 4, wrong=[1])
        claims = claim(store)
        hand_in(store, claims, [0, 2])
        await create(client, 2)
        await client.cancel_job((await create(client, 1)).name)
        with refuses(grpc.StatusCode.NOT_FOUND, ""):
            await client.get_job("jobs/x")
        text = await asyncio.to_thread(_scrape, running)
    for line in (
        "tilewarp_store_up 1.0",
        "tilewarp_store_memory_limit_bytes 0.0",
        'tilewarp_jobs{kind="analysis",state="RUNNING"} 1.0',
        'tilewarp_jobs{kind="analysis",state="QUEUED"} 1.0',
        'tilewarp_ended_jobs_total{kind="analysis",state="CANCELLED"} 1.0',
        'tilewarp_claimable_units{class="BULK"} 2.0',
        'tilewarp_claimed_units{class="BULK"} 1.0',
        'tilewarp_paused_units{class="BULK"} 0.0',
        "tilewarp_positions_total 2.0",
        "tilewarp_nodes_total 20.0",
        "tilewarp_search_seconds_total 1.0",
        "tilewarp_attempts_total 2.0",
        "tilewarp_rejected_total 1.0",
        'code="NOT_FOUND",method="/tilewarp.v1.JobService/GetJob"} 1.0',
        "process_resident_memory_bytes ",
    ):
        assert line in text


async def test_metrics_say_when_the_store_is_away(settings: Settings) -> None:
    server = EmbeddedServer()
    server.start()
    metered = replace(settings, redis_url=server.url, gateway_metrics="127.0.0.1:0")
    async with Gateway(metered) as running:
        server.close()
        assert "tilewarp_store_up 0.0" in await asyncio.to_thread(_scrape, running)


def _scrape(gateway: Gateway) -> str:
    url = f"http://127.0.0.1:{gateway.metrics_port}/metrics"
    with urllib.request.urlopen(url, timeout=5) as answer:
        text: str = answer.read().decode()
        return text


async def test_new_work_has_tickets_at_once_for_every_idle_slot(
    settings: Settings, store: Store, server: EmbeddedServer
) -> None:
    store.announce(WorkerInfo("host:1", "host", 1, 3, "1", "1"))
    async with (
        Gateway(replace(settings, sweep_interval=60)) as running,
        Client(running.address) as client,
    ):
        await create(client, 10)
        with redis.Redis.from_url(server.url) as connection:
            await _until(lambda: connection.llen(BROKER_PREFIX + TICKET_QUEUE) == 3)


async def test_a_lost_claim_is_swept(settings: Settings, store: Store, server: Any) -> None:
    quick = Store(replace(settings, lease=0.2))
    async with Gateway(settings) as running, Client(running.address) as client:
        await create(client, 1)
        (lost,) = claim(quick)
        await _until(store.has_work)
        (again,) = claim(store)
        assert again.token > lost.token
        assert again.units[0].attempt == 2
    quick.close()


async def _until(is_so: Any) -> None:
    deadline = time.monotonic() + 5
    while not is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def test_an_evicting_store_is_refused(settings: Settings, server: EmbeddedServer) -> None:
    with redis.Redis.from_url(server.url) as connection:
        connection.config_set("maxmemory-policy", "allkeys-lru", "maxmemory", "1gb")
        try:
            with pytest.raises(EvictingPolicyError):
                await Gateway(settings).__aenter__()
        finally:
            connection.config_set("maxmemory-policy", "noeviction", "maxmemory", "0")


async def test_a_port_in_use_is_refused(running: Gateway, settings: Settings) -> None:
    with pytest.raises(RuntimeError):
        await Gateway(replace(settings, listen=running.address)).__aenter__()
