"""Quotas of API keys: exact under a race, refused with when to come again, forgotten in time."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import grpc
import grpc.aio
import pytest
import redis
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from gateway.client import Client, find_retry_delay
from gateway.embedded import EmbeddedServer
from gateway.server import Gateway
from tests.gateway.work import START, claim, collect, create, hand_in, specification
from tests.worker.jobs import staged
from tilewarp.v1 import analysis_pb2
from worker.settings import Settings
from worker.store import AsyncStore, KeyRevokedError, NewApiKey, Scope, Store, WorkerInfo

DAY = 86_400
LIMITS = analysis_pb2.Limits(nodes=1)


@pytest.fixture
async def api_keys(settings: Settings) -> AsyncIterator[Any]:
    """The keys of the store."""
    store = AsyncStore(settings)
    yield store.api_keys
    await store.close()


async def _make_key(api_keys: Any, **quotas: int) -> str:
    scopes = frozenset({Scope.SUBMIT, Scope.READ})
    text: str = await api_keys.create(NewApiKey(owner="ann", scopes=scopes, **quotas))
    return text


def _check_refusal(error: grpc.aio.AioRpcError, quota: str) -> float:
    """Check that a call was refused by a quota; return the seconds it is told to wait."""
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    status = rpc_status.from_call(error)
    assert status is not None
    failure = error_details_pb2.QuotaFailure()
    assert status.details[0].Unpack(failure)
    (violation,) = failure.violations
    assert violation.subject == quota
    told = find_retry_delay(error)
    assert told is not None
    return told


async def _refuse(call: Any, quota: str) -> float:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return _check_refusal(caught.value, quota)


async def _until(holds: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 5
    while True:
        answer = holds()
        if answer if isinstance(answer, bool) else await answer:
            return
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def test_jobs_and_positions_of_a_day_are_bounded(running: Gateway, api_keys: Any) -> None:
    key = await _make_key(api_keys, max_jobs=2, max_positions=10)
    async with Client(running.address, key=key) as client:
        await create(client, 6)
        assert 0 < await _refuse(create(client, 5), "positions") <= DAY
        await create(client, 4)
        assert 0 < await _refuse(create(client, 1), "jobs") <= DAY
    assert (await api_keys.usage(key.split("-")[1])).positions == 10
    async with Client(running.address, key=await _make_key(api_keys)) as client:
        await create(client, 11)


async def test_what_is_refused_or_repeated_is_not_counted(running: Gateway, api_keys: Any) -> None:
    key = await _make_key(api_keys, max_jobs=2)
    async with Client(running.address, key=key) as client:
        for _ in range(3):
            await client.create_job(specification(), [START], request_id="one")
        with pytest.raises(grpc.aio.AioRpcError):
            await client.create_job(specification(), [])
        assert (await api_keys.usage(key.split("-")[1])).jobs == 1


async def test_a_quota_is_exact_under_a_race(settings: Settings, api_keys: Any) -> None:
    key = await _make_key(api_keys, max_positions=30)
    async with (
        Gateway(settings) as one,
        Gateway(settings) as two,
        Client(one.address, key=key) as first,
        Client(two.address, key=key) as second,
    ):
        answers = await asyncio.gather(
            *(create(client, 3) for client in (first, second) * 10), return_exceptions=True
        )
    refused = [answer for answer in answers if isinstance(answer, grpc.aio.AioRpcError)]
    assert len(refused) == 10
    for error in refused:
        _check_refusal(error, "positions")


async def test_nodes_are_counted_as_they_are_searched(
    running: Gateway, api_keys: Any, store: Store
) -> None:
    key = await _make_key(api_keys, max_nodes=30)
    async with Client(running.address, key=key) as client:
        await create(client, 2)
        hand_in(store, claim(store))  # of 10 nodes each
        await create(client, 3)
        hand_in(store, claim(store))
        assert (await api_keys.usage(key.split("-")[1])).nodes == 50
        await _refuse(create(client, 1), "nodes")


async def test_positions_of_calls_count_too(running: Gateway, api_keys: Any, store: Store) -> None:
    store.announce(WorkerInfo("host:1", "host", 1, 1, "1", "1"))
    key = await _make_key(api_keys, max_positions=1)
    async with Client(running.address, key=key) as client:
        first = asyncio.create_task(collect(client.analyse(START, LIMITS)))
        await _until(store.has_work)
        hand_in(store, claim(store))
        assert await first
        await _refuse(collect(client.analyse(START, LIMITS)), "positions")


async def test_streams_are_counted_over_all_gateways_and_given_back(
    settings: Settings, api_keys: Any
) -> None:
    key = await _make_key(api_keys, max_streams=2)
    async with (
        Gateway(settings) as one,
        Gateway(settings) as two,
        Client(one.address, key=key, patience=0) as first,
        Client(two.address, key=key, patience=0) as second,
    ):
        job = await create(first, 1)
        async with aclosing(first.watch_job(job.name)) as watch:
            await anext(watch)
            async with aclosing(second.watch_job(job.name)) as other:
                await anext(other)
                for client in (first, second):
                    assert await _refuse(anext(client.watch_job(job.name)), "streams") == 1
                assert await first.get_job(job.name)

        async def are_closed() -> bool:
            return (await api_keys.usage(key.split("-")[1])).streams == 0

        await _until(are_closed)


async def test_streams_of_a_dead_gateway_are_forgotten(
    api_keys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.store.api_keys.STREAM_MS", 50)
    key = await api_keys.find(await _make_key(api_keys, max_streams=1))
    assert await api_keys.open_stream(key, "one")
    assert not await api_keys.open_stream(key, "two")
    await _until(lambda: api_keys.open_stream(key, "two"))


async def test_what_was_used_is_forgotten_when_the_day_ends(
    running: Gateway, api_keys: Any, server: EmbeddedServer
) -> None:
    key = await _make_key(api_keys, max_jobs=1)
    async with Client(running.address, key=key) as client:
        await create(client, 1)
        told = await _refuse(create(client, 1), "jobs")
        with redis.Redis.from_url(server.url) as connection:
            (usage,) = connection.scan_iter(f"tw:api_key:{key.split('-')[1]}:day:*")
            assert abs(connection.pttl(usage) / 1000 - told) < 10
            seconds, _ = connection.time()
            assert abs(connection.expiretime(usage) - (seconds - seconds % DAY + DAY)) == 0
            connection.delete(usage)
        await create(client, 1)


async def test_a_key_revoked_while_its_job_is_submitted_makes_none(
    settings: Settings, api_keys: Any
) -> None:
    store = AsyncStore(settings)
    key = await api_keys.find(await _make_key(api_keys))
    job = await staged(store, 1, api_key=key.key_id)
    await api_keys.revoke(key.key_id)
    with pytest.raises(KeyRevokedError):
        await store.commit(job)
    await store.close()
