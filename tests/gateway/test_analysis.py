"""AnalysisService through real calls; the test does the worker's part."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any

import grpc
import grpc.aio
import pytest
import redis
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from core.rules import MAX_MOVES
from gateway.client import Client, find_retry_delay
from gateway.embedded import EmbeddedServer
from gateway.server import Gateway
from tests.gateway.work import START, collect, refuses
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2
from worker.settings import Settings
from worker.store import Claim, ClaimState, Finished, Store, WorkerInfo

LIMITS = analysis_pb2.Limits(nodes=1000)
FINAL = analysis_pb2.AnalysisResult(
    best_move="b2b4", depth=9, nodes=10, stop_reason=analysis_pb2.STOP_REASON_LIMIT
)


@pytest.fixture
def worker(store: Store) -> Store:
    """The store's workers' side, of a worker that has said that it is there."""
    store.announce(WorkerInfo("w", "host", 1, 0, "1", "1"))  # no slot: no ticket is issued
    return store


async def claim_one(store: Store) -> Claim:
    """Return the claim of the one unit that is asked for, once it is there."""
    claims: list[Claim] = []
    await wait_until(lambda: claims.extend(filter(None, [store.claim("w")])) or claims)
    return claims[0]


def tell(store: Store, claim: Claim, depth: int) -> None:
    """Tell that a depth is finished."""
    result = analysis_pb2.AnalysisResult(best_move="b2b4", depth=depth)
    store.tell_progress(claim, result.SerializeToString())


def hand_in(store: Store, claim: Claim) -> None:
    """Hand in the final result."""
    row = jobs_pb2.ResultRow(index=0, fen="a fen", analysis=FINAL)
    finished = Finished(claim.units[0].index, row.SerializeToString(), nodes=10, seconds=0.5)
    assert store.hand_in(claim, [finished]).accepted == 1


async def wait_until(is_so: Callable[[], Any]) -> None:
    """Wait until something is so, or fail."""
    for _ in range(2000):
        if is_so():
            return
        await asyncio.sleep(0.005)
    raise AssertionError


@pytest.fixture
def keys(server: EmbeddedServer) -> Callable[[], set[bytes]]:
    """Return the keys that are there, apart from those that always are."""
    connection = redis.Redis.from_url(server.url)
    stay = (
        b"tw:epoch",
        b"tw:counter",
        b"tw:totals",
        b"tw:load",
        b"tw:sweep",
        b"tw:worker",
        b"tw:gateway",
    )
    return lambda: {
        key for key in connection.keys("*") if not key.startswith((*stay, b"tw:broker:"))
    }


async def test_lines_deepen_and_the_last_is_the_result(
    client: Client, worker: Store, keys: Callable[[], set[bytes]]
) -> None:
    results: list[analysis_pb2.AnalysisResult] = []
    async with asyncio.timeout(10):
        stream = client.analyse(START, LIMITS)
        first = asyncio.create_task(anext(stream))
        claim = await claim_one(worker)
        assert claim.is_attended
        assert position_pb2.Position.FromString(claim.units[0].unit) == START
        spec = jobs_pb2.JobSpecification.FromString(claim.spec)
        assert spec.analysis.limits == LIMITS
        assert spec.job_class == jobs_pb2.JOB_CLASS_INTERACTIVE
        tell(worker, claim, 1)
        results.append(await first)
        for depth in (2, 3):
            tell(worker, claim, depth)
            results.append(await anext(stream))
        hand_in(worker, claim)
        results += [result async for result in stream]
    assert [result.depth for result in results] == [1, 2, 3, 9]
    assert results[-1] == FINAL
    assert {result.stop_reason for result in results[:-1]} == {0}
    assert keys() == set()


async def test_an_analysis_is_no_job_of_its_caller(client: Client, worker: Store) -> None:
    first = asyncio.create_task(collect(client.analyse(START, LIMITS)))
    claim = await claim_one(worker)
    assert await collect(client.list_jobs()) == []
    hand_in(worker, claim)
    await first
    assert await collect(client.list_jobs()) == []


async def test_it_comes_before_bulk_work(client: Client, worker: Store) -> None:
    specification = jobs_pb2.JobSpecification(analysis=jobs_pb2.AnalysisWork(limits=LIMITS))
    job = await client.create_job(specification, [START] * 3)
    first = asyncio.create_task(collect(client.analyse(START, LIMITS)))
    await wait_until(lambda: worker._redis.zcard("tw:attended"))
    claim = await claim_one(worker)
    assert claim.job_id not in job.name
    hand_in(worker, claim)
    await first
    other = await claim_one(worker)
    assert other.job_id in job.name
    assert not other.is_attended


async def test_it_takes_turns_with_urgent_jobs_of_its_own_client(
    client: Client, worker: Store
) -> None:
    specification = jobs_pb2.JobSpecification(
        analysis=jobs_pb2.AnalysisWork(limits=LIMITS), job_class=jobs_pb2.JOB_CLASS_INTERACTIVE
    )
    await client.create_job(specification, [START] * 100)
    await claim_one(worker)
    asking = asyncio.create_task(collect(client.analyse(START, LIMITS)))
    await wait_until(lambda: worker._redis.zcard("tw:attended"))
    claims = [await claim_one(worker) for _ in range(2)]
    (own,) = [claim for claim in claims if claim.is_attended]
    hand_in(worker, own)
    assert await asking == [FINAL]


@pytest.mark.parametrize("is_begun", [False, True])
async def test_leaving_ends_the_search_and_leaves_nothing(
    client: Client, worker: Store, keys: Callable[[], set[bytes]], is_begun: bool
) -> None:
    async with aclosing(client.analyse(START, LIMITS)) as stream:
        first = asyncio.create_task(anext(stream))
        claim = await claim_one(worker)
        if is_begun:
            tell(worker, claim, 1)
            await first
        else:
            first.cancel()
            await asyncio.wait([first])
    began = time.monotonic()
    await wait_until(lambda: worker.renew(claim) is ClaimState.LOST)
    assert time.monotonic() - began < 1
    await wait_until(lambda: keys() == set())


async def test_leaving_before_it_is_claimed_leaves_nothing(
    client: Client, worker: Store, keys: Callable[[], set[bytes]]
) -> None:
    stream = client.analyse(START, LIMITS)
    first = asyncio.create_task(anext(stream))
    await wait_until(keys)
    first.cancel()
    await wait_until(lambda: keys() == set())
    assert worker.claim("w") is None


async def test_leaving_at_any_moment_leaves_nothing(
    client: Client, worker: Store, keys: Callable[[], set[bytes]]
) -> None:
    async def leave(moment: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(moment):
                await collect(client.analyse(START, LIMITS))

    for _ in range(5):
        leaving = asyncio.gather(*(leave(moment / 1000) for moment in range(20)))
        for _ in range(5):
            if (claim := worker.claim("w")) is not None:
                tell(worker, claim, 1)
            await asyncio.sleep(0.003)
        await leaving
    began = time.monotonic()
    await wait_until(lambda: keys() == set())
    assert time.monotonic() - began < 1
    assert worker._redis.zcard("tw:claims") == 0


async def test_a_deadline_keeps_what_was_found(
    client: Client, worker: Store, keys: Callable[[], set[bytes]]
) -> None:
    stream = client.analyse(START, LIMITS, timeout=1.0)
    first = asyncio.create_task(anext(stream))
    claim = await claim_one(worker)
    tell(worker, claim, 4)
    assert (await first).depth == 4
    with refuses(grpc.StatusCode.DEADLINE_EXCEEDED, ""):
        await anext(stream)
    await wait_until(lambda: keys() == set())


async def test_without_a_worker_it_is_unavailable_for_now(running: Gateway) -> None:
    async with Client(running.address, patience=0.0) as client:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await collect(client.analyse(START, LIMITS))
    assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
    assert "no worker" in (raised.value.details() or "")
    assert find_retry_delay(raised.value) == 1


async def test_the_last_worker_that_goes_is_noticed(
    running: Gateway, worker: Store, keys: Callable[[], set[bytes]]
) -> None:
    async with Client(running.address, patience=0.0) as client:
        first = asyncio.create_task(collect(client.analyse(START, LIMITS)))
        await claim_one(worker)
        worker.withdraw(WorkerInfo("w", "host", 1, 0, "1", "1"))
        with refuses(grpc.StatusCode.UNAVAILABLE, "no worker"):
            await first
    assert keys() == set()


async def test_a_store_that_is_away_is_said(settings: Settings) -> None:
    server = EmbeddedServer()
    server.start()
    try:
        settings = replace(settings, redis_url=server.url)
        async with (
            Gateway(settings) as running,
            Client(running.address, patience=0.0) as client,
        ):
            store = Store(settings)
            store.announce(WorkerInfo("w", "host", 1, 0, "1", "1"))
            first = asyncio.create_task(collect(client.analyse(START, LIMITS)))
            await claim_one(store)
            store.close()
            server.stop()
            for call in (first, collect(client.analyse(START, LIMITS))):
                with pytest.raises(grpc.aio.AioRpcError) as raised:
                    await call
                assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
                assert find_retry_delay(raised.value) == 1
    finally:
        server.close()


async def test_a_stopping_gateway_ends_it(settings: Settings, worker: Store) -> None:
    async with Gateway(settings) as running:
        client = Client(running.address, patience=0.0)
        first = asyncio.create_task(collect(client.analyse(START, LIMITS)))
        claim = await claim_one(worker)
    with refuses(grpc.StatusCode.UNAVAILABLE, "stopping"):
        await first
    assert worker.renew(claim) is ClaimState.LOST
    await client.__aexit__(None, None, None)


async def test_a_given_up_position_is_said_with_its_cause(client: Client, worker: Store) -> None:
    first = asyncio.create_task(collect(client.analyse(START, LIMITS)))
    for _ in range(3):
        claim = await claim_one(worker)
        worker.hand_in(claim, [Finished(claim.units[0].index, b"it broke", is_failure=True)])
    with refuses(grpc.StatusCode.INTERNAL, "3 attempts: it broke"):
        await first


@pytest.mark.parametrize(
    ("position", "limits", "told"),
    [
        ({"variant": "chakra"}, {}, [("limits", "one of nodes, depth, time, mate is required")]),
        (
            {"variant": "chakra"},
            {"nodes": -1, "threads": 9, "hash_mb": 257, "multipv": 33, "mate": 33},
            [
                ("limits.nodes", "-1 is negative"),
                ("limits.mate", "33 is more than max_mate allows (32)"),
                ("limits.threads", "9 is more than max_threads allows (8)"),
                ("limits.hash_mb", "257 is more than max_hash_mb allows (256)"),
                ("limits.multipv", "33 is more than max_multipv allows (32)"),
            ],
        ),
        ({"variant": "chakra"}, {"nodes": 2, "threads": 4}, [("limits", "fewer than threads 4")]),
        ({"variant": "chess"}, {"nodes": 2}, [("position", "unknown variant 'chess'")]),
        (
            {"variant": "chakra", "fen": "K3K3/8/8/8/8/8/8/4k2p w - - 0 x"},
            {"nodes": 2},
            [("position", "")] * 3,
        ),
        (
            {"variant": "chakra"},
            {"nodes": 2, "searchmoves": ["b2b4", "b2b5", "zz"]},
            [("position", "searchmoves that are not legal: b2b5 zz")],
        ),
        (
            {"variant": "chakra"},
            {"nodes": 2, "searchmoves": ["x" * 100] * (MAX_MOVES + 1)},
            [("limits.searchmoves", "than any position has"), ("limits.searchmoves", "characters")],
        ),
    ],
)
async def test_every_fault_is_told_by_its_field(
    client: Client,
    worker: Store,
    position: dict[str, Any],
    limits: dict[str, Any],
    told: list[tuple[str, str]],
) -> None:
    asked = position_pb2.Position(**position), analysis_pb2.Limits(**limits)
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await collect(client.analyse(*asked))
    assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    status: Any = rpc_status.from_call(raised.value)
    request = error_details_pb2.BadRequest()
    assert status.details[0].Unpack(request)
    violations = request.field_violations
    assert [violation.field for violation in violations] == [field for field, _ in told]
    for violation, (_, text) in zip(violations, told, strict=True):
        assert text in violation.description
    assert worker.claim("w") is None


async def test_a_client_goes_on_when_the_service_is_back(settings: Settings, worker: Store) -> None:
    results: AsyncIterator[analysis_pb2.AnalysisResult]
    async with Gateway(settings) as running:
        client = Client(running.address, patience=10.0)
        results = client.analyse(START, LIMITS)
        first = asyncio.create_task(anext(results))
        tell(worker, await claim_one(worker), 5)
        assert (await first).depth == 5
    async with Gateway(replace(settings, listen=running.address)):
        rest = asyncio.create_task(collect(results))
        hand_in(worker, await claim_one(worker))
        assert await rest == [FINAL]
    await client.__aexit__(None, None, None)
