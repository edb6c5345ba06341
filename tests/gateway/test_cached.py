"""Equal requests are answered from cached results, and tell so; the test does the worker's part."""

from collections.abc import AsyncIterator
from dataclasses import replace

import grpc
import pytest
import redis

from core.version import ENGINE_VERSION
from gateway.client import Client
from gateway.embedded import EmbeddedServer
from gateway.server import Gateway
from tests.gateway.work import START, WRONG, claim, collect, refuses
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2
from worker.engine import Analyst
from worker.settings import Settings
from worker.store import AsyncStore, Store

LIMITS = analysis_pb2.Limits(nodes=200)
TIMED = analysis_pb2.Limits(nodes=200)
TIMED.time.FromMilliseconds(60_000)
OTHER = position_pb2.Position(variant="chakra", moves=["b2b4"])


@pytest.fixture
async def totals(settings: Settings) -> AsyncIterator[AsyncStore]:
    """A look at the store's totals."""
    store = AsyncStore(settings)
    yield store
    await store.close()


def ask(
    limits: analysis_pb2.Limits = LIMITS, *, no_cache: bool = False
) -> jobs_pb2.JobSpecification:
    """Return the specification of an analysis."""
    work = jobs_pb2.AnalysisWork(limits=limits, no_cache=no_cache)
    return jobs_pb2.JobSpecification(analysis=work)


def search(store: Store) -> int:
    """Search what waits, and hand it in as a worker does; return how many positions that were."""
    analyst = Analyst("host:1")
    count = 0
    for claimed in claim(store):
        rows = [analyst.run(claimed.spec, unit) for unit in claimed.units]
        done = [row for row in rows if row is not None]
        assert store.hand_in(claimed, done).accepted == len(rows)
        store.remember(done)
        count += len(rows)
    return count


async def rows_of(client: Client, job: jobs_pb2.Job) -> list[jobs_pb2.ResultRow]:
    return await collect(client.stream_results(job.name))


async def test_a_job_asked_again_has_its_rows_at_once(
    client: Client, store: Store, totals: AsyncStore
) -> None:
    first = await client.create_job(ask(), [START, WRONG, OTHER])
    assert search(store) == 2
    fresh = await rows_of(client, first)
    assert not any(row.analysis.provenance.from_cache for row in fresh)
    again = await client.create_job(ask(), [START, WRONG, OTHER])
    assert again.state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert again.counts == jobs_pb2.JobCounts(total=3, done=2, cached=2, rejected=1)
    assert again.nodes == 0
    cached = await rows_of(client, again)
    assert [row.analysis.provenance.from_cache for row in cached] == [True, False, True]
    assert cached[0].analysis.provenance.worker == "host:1"
    for row in cached:
        row.analysis.provenance.from_cache = False
    fresh[1].analysis.provenance.from_cache = False
    assert cached == fresh
    assert (await client.get_job(first.name)).counts.cached == 0
    counts = await totals.totals()
    assert (counts.positions, counts.cached, counts.rejected) == (2, 2, 2)
    assert counts.nodes == sum(row.analysis.nodes for row in fresh)


async def test_only_what_is_not_cached_is_searched(client: Client, store: Store) -> None:
    await client.create_job(ask(), [OTHER])
    search(store)
    job = await client.create_job(ask(), [START, OTHER, START, OTHER, OTHER])
    assert job.state == jobs_pb2.JOB_STATE_QUEUED
    assert job.counts == jobs_pb2.JobCounts(total=5, done=3, cached=3)
    assert search(store) == 2
    job = await client.get_job(job.name)
    assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert job.counts == jobs_pb2.JobCounts(total=5, done=5, cached=3)
    rows = await rows_of(client, job)
    assert [row.index for row in rows] == [0, 1, 2, 3, 4]
    assert [row.analysis.provenance.from_cache for row in rows] == [False, True, False, True, True]
    assert job.nodes == rows[0].analysis.nodes + rows[2].analysis.nodes


async def test_other_limits_histories_and_variants_are_other_requests(
    client: Client, store: Store
) -> None:
    await client.create_job(ask(), [START])
    search(store)
    back = ["a1b3", "a8b6", "b3a1", "b6a8"]
    others = [
        position_pb2.Position(variant="chakra", moves=back),
        position_pb2.Position(variant="chakra-pritchard"),
        OTHER,
    ]
    assert (await client.create_job(ask(), others)).counts.cached == 0
    for limits in (
        analysis_pb2.Limits(nodes=201),
        analysis_pb2.Limits(nodes=200, multipv=2),
        analysis_pb2.Limits(nodes=200, searchmoves=["b2b4"]),
    ):
        assert (await client.create_job(ask(limits), [START])).counts.cached == 0
    equal = analysis_pb2.Limits(nodes=200, threads=1, multipv=1)
    assert (await client.create_job(ask(equal), [START])).counts.cached == 1


@pytest.mark.parametrize("limits", [TIMED, analysis_pb2.Limits(nodes=200, threads=2)])
async def test_what_may_have_another_answer_is_searched_again(
    client: Client, store: Store, limits: analysis_pb2.Limits
) -> None:
    for _ in range(2):
        await client.create_job(ask(limits), [START])
        assert search(store) == 1


async def test_no_cache_asks_for_fresh_work_and_refreshes(client: Client, store: Store) -> None:
    await client.create_job(ask(), [START])
    search(store)
    fresh = await client.create_job(ask(no_cache=True), [START])
    assert search(store) == 1
    (newest,) = await rows_of(client, fresh)
    (cached,) = await rows_of(client, await client.create_job(ask(), [START]))
    assert cached.analysis.provenance.finish_time == newest.analysis.provenance.finish_time


async def test_a_damaged_result_is_searched_again(
    client: Client, store: Store, server: EmbeddedServer
) -> None:
    await client.create_job(ask(), [START])
    search(store)
    with redis.Redis.from_url(server.url) as connection:
        (name,) = connection.hkeys("tw:cache")
        value = connection.hget("tw:cache", name)
        connection.hset("tw:cache", name, value[:-3])
    job = await client.create_job(ask(), [START])
    assert job.counts.cached == 0
    assert search(store) == 1


async def test_one_position_is_answered_without_a_worker(
    client: Client, store: Store, totals: AsyncStore
) -> None:
    client.patience = 0
    with refuses(grpc.StatusCode.UNAVAILABLE, "no worker"):
        await collect(client.analyse(START, LIMITS))
    await client.create_job(ask(), [START])
    search(store)
    (result,) = await collect(client.analyse(START, LIMITS))
    assert result.provenance.from_cache
    assert result.provenance.engine_version == ENGINE_VERSION
    assert result.stop_reason == analysis_pb2.STOP_REASON_LIMIT
    assert (await totals.totals()).cached == 1
    with refuses(grpc.StatusCode.UNAVAILABLE, "no worker"):
        await collect(client.analyse(START, LIMITS, no_cache=True))


async def test_a_gateway_without_a_cache_looks_for_nothing(
    settings: Settings, store: Store
) -> None:
    async with (
        Gateway(replace(settings, cache_mb=0)) as gateway,
        Client(gateway.address, name="ann") as client,
    ):
        for _ in range(2):
            await client.create_job(ask(), [START])
            assert search(store) == 1


async def test_of_a_stream_only_what_is_not_cached_is_searched(
    client: Client, store: Store, totals: AsyncStore
) -> None:
    client.patience = 0
    await client.create_job(ask(), [START])
    search(store)
    (result,) = await collect(client.analyse_many([("a", START)], LIMITS))
    assert (result.id, result.analysis.provenance.from_cache) == ("a", True)
    assert (await totals.totals()).cached == 1
    met = []
    with refuses(grpc.StatusCode.UNAVAILABLE, "no worker"):
        async for answer in client.analyse_many([("a", START), ("b", OTHER)], LIMITS):
            met.append(answer.id)
    assert met == ["a"]
    with refuses(grpc.StatusCode.UNAVAILABLE, "no worker"):
        await collect(client.analyse_many([("a", START)], LIMITS, no_cache=True))
