"""AnalyseMany through real calls; the test does the worker's part."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import grpc
import grpc.aio
import pytest
import redis

from gateway.client import Client, find_retry_delay
from gateway.embedded import EmbeddedServer
from gateway.feed import OPEN_COUNT
from gateway.server import Gateway
from tests.gateway.work import START, WRONG, collect, refuses, specification
from tilewarp.v1 import analysis_pb2, analysis_pb2_grpc, jobs_pb2, position_pb2
from worker.settings import Settings
from worker.store import Claim, ClaimState, Finished, Store, WorkerInfo

LIMITS = analysis_pb2.Limits(nodes=1000)
WINDOW = 20
WORKER = WorkerInfo("w", "host", 1, 0, "1", "1")  # no slot: no ticket is issued


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings with a window that a test can fill; its worker stays, however slow the test is."""
    return replace(settings, max_unfinished=WINDOW, worker_ttl=600.0)


@pytest.fixture
def worker(store: Store) -> Store:
    """The store's workers' side, of a worker that has said that it is there."""
    store.announce(WORKER)
    return store


@pytest.fixture
def keys(server: EmbeddedServer) -> Iterator[Callable[[], set[bytes]]]:
    """Return the keys that are there, apart from those that always are."""
    stay = (
        b"tw:epoch",
        b"tw:counter",
        b"tw:totals",
        b"tw:load",
        b"tw:sweep",
        b"tw:worker",
        b"tw:gateway",
    )
    with redis.Redis.from_url(server.url) as connection:
        yield lambda: {
            key for key in connection.keys("*") if not key.startswith((*stay, b"tw:broker:"))
        }


async def wait_until(is_so: Callable[[], Any]) -> None:
    """Wait until something is so, or fail."""
    for _ in range(2000):
        if is_so():
            return
        await asyncio.sleep(0.005)
    raise AssertionError


def count_unfinished(store: Store) -> int:
    """Return the positions that are submitted and have no row."""
    fields = store._redis.hgetall("tw:load")
    return sum(int(fields.get(b"%s:BULK" % word, 0)) for word in (b"claimable", b"claimed"))


def run_claims(store: Store, size: int = 1) -> int:
    """Do the work there is; return the number of positions. A result has about so many bytes."""
    count = 0
    while (claim := store.claim("w")) is not None:
        store.hand_in(claim, [finish(claim, place, size) for place in range(len(claim.units))])
        count += len(claim.units)
    return count


def finish(claim: Claim, place: int, size: int) -> Finished:
    """Return a result whose first move is that which was played in the position."""
    unit = claim.units[place]
    position = position_pb2.Position.FromString(unit.unit)
    line = analysis_pb2.Line(rank=1, moves=["x" * size])
    result = analysis_pb2.AnalysisResult(best_move="".join(position.moves), lines=[line])
    row = jobs_pb2.ResultRow(index=unit.index, fen="a fen", analysis=result)
    return Finished(unit.index, row.SerializeToString(), nodes=10, seconds=0.001)


async def work(store: Store, size: int = 1) -> None:
    """Do the work that comes, until cancelled."""
    while True:
        run_claims(store, size)
        await asyncio.sleep(0.005)


@pytest.fixture
async def at_work(worker: Store) -> AsyncIterator[None]:
    """Work is done as it comes."""
    task = asyncio.create_task(work(worker))
    yield
    task.cancel()
    await asyncio.wait([task])


MOVES = ["b2b4", "c2c4", "d2d4"]
MOVED = [(move, position_pb2.Position(variant="chakra", moves=[move])) for move in MOVES]


@pytest.mark.usefixtures("at_work")
async def test_each_position_has_its_result_under_its_id(
    client: Client, keys: Callable[[], set[bytes]]
) -> None:
    results = await collect(client.analyse_many(MOVED * 30, LIMITS))
    assert sorted(result.id for result in results) == sorted(MOVES * 30)
    assert all(result.analysis.best_move == result.id for result in results)
    assert await collect(client.list_jobs()) == []
    await wait_until(lambda: keys() == set())


@pytest.mark.usefixtures("at_work")
async def test_results_come_while_the_input_goes_on(client: Client) -> None:
    answered = asyncio.Event()

    async def positions() -> AsyncIterator[tuple[str, position_pb2.Position]]:
        yield MOVED[0]
        await answered.wait()
        yield MOVED[1]

    results = []
    async with asyncio.timeout(10):
        async for result in client.analyse_many(positions(), LIMITS):
            results.append(result.id)
            answered.set()
    assert results == MOVES[:2]


async def test_without_positions_it_ends(client: Client) -> None:
    assert await collect(client.analyse_many([], LIMITS)) == []


@pytest.mark.usefixtures("at_work")
async def test_a_wrong_position_is_its_own_error(client: Client) -> None:
    results = await collect(client.analyse_many([("a", START), ("b", WRONG), ("", START)], LIMITS))
    found = {result.id: result for result in results}
    assert set(found) == {"a", "b", ""}
    assert found["b"].WhichOneof("outcome") == "error"
    assert len(found["b"].error.faults) >= 1
    assert found["a"].WhichOneof("outcome") == found[""].WhichOneof("outcome") == "analysis"


@pytest.mark.usefixtures("at_work")
async def test_limits_hold_until_others_come_and_wrong_ones_are_errors(running: Gateway) -> None:
    def message(limits: analysis_pb2.Limits | None, *ids: str) -> Any:
        items = [analysis_pb2.AnalyseManyItem(id=name, position=START) for name in ids]
        return analysis_pb2.AnalyseManyRequest(limits=limits, items=items)

    wrong = analysis_pb2.Limits(nodes=-1, threads=99)
    requests = [
        message(None, "none"),
        message(LIMITS, "a"),
        message(None, "b"),
        message(wrong, "c", "d"),
        message(analysis_pb2.Limits(depth=3, searchmoves=["a1a1"]), "e"),
        message(LIMITS, "f"),
    ]
    async with grpc.aio.insecure_channel(running.address) as channel:
        stub: Any = analysis_pb2_grpc.AnalysisServiceStub(channel)
        responses = await collect(stub.AnalyseMany(iter(requests)))
    faults = {r.id: list(r.error.faults) for response in responses for r in response.results}
    assert faults["a"] == faults["b"] == faults["f"] == []
    assert faults["none"] == ["limits: one of nodes, depth, time, mate is required"]
    assert faults["c"] == faults["d"]
    assert [fault.partition(":")[0] for fault in faults["c"]] == ["limits.nodes", "limits.threads"]
    assert "a1a1" in faults["e"][0]


@pytest.mark.usefixtures("at_work")
async def test_what_was_finished_before_an_error_of_the_call_is_sent(running: Gateway) -> None:
    def requests() -> Iterator[Any]:
        for name in ("good", "x" * 129):
            item = analysis_pb2.AnalyseManyItem(id=name, position=WRONG)
            yield analysis_pb2.AnalyseManyRequest(limits=LIMITS, items=[item])

    async with grpc.aio.insecure_channel(running.address) as channel:
        stub: Any = analysis_pb2_grpc.AnalysisServiceStub(channel)
        with refuses(grpc.StatusCode.INVALID_ARGUMENT, "items.id: 129 characters"):
            await collect(stub.AnalyseMany(requests()))


async def test_a_given_up_position_is_its_own_error(client: Client, worker: Store) -> None:
    asking = asyncio.create_task(collect(client.analyse_many([("a", START)], LIMITS)))
    for _ in range(3):
        await wait_until(lambda: count_unfinished(worker))
        claim = worker.claim("w")
        assert claim is not None
        assert not claim.is_attended  # nobody listens to its progress
        worker.hand_in(claim, [Finished(claim.units[0].index, b"it broke", is_failure=True)])
    (result,) = await asking
    assert (result.id, result.error.attempts, result.error.cause) == ("a", 3, "it broke")
    assert result.error.command == "tilewarp search chakra startpos --nodes 1000"


async def test_no_more_positions_are_read_than_there_is_room_for(
    client: Client, worker: Store
) -> None:
    taken = itertools.count()
    positions = ((str(next(taken)), START) for _ in range(20_000))
    async with aclosing(client.analyse_many(positions, LIMITS)) as results:
        first = asyncio.create_task(anext(results))
        await wait_until(lambda: count_unfinished(worker) == WINDOW)
        claim = worker.claim("w")
        assert claim is not None
        worker.hand_in(claim, [finish(claim, 0, 1)])
        await first
        await wait_until(lambda: count_unfinished(worker) == WINDOW)
        await asyncio.sleep(0.2)
        assert count_unfinished(worker) == WINDOW
    assert next(taken) <= OPEN_COUNT + 2  # the caller's iterator is held up, too


async def test_a_client_that_does_not_read_stops_the_reading_of_its_positions(
    client: Client, worker: Store
) -> None:
    count = 1000
    async with aclosing(client.analyse_many([("a", START)] * count, LIMITS)) as results:
        first = asyncio.create_task(anext(results))
        done, idle = 0, 0
        async with asyncio.timeout(60):
            while idle < 100:  # looks without work: half a second
                found = run_claims(worker, size=20_000)
                if first.done() or done == 0:
                    done += found
                idle = 0 if found else idle + 1
                await asyncio.sleep(0.005)
        assert WINDOW < done < count
        await first
        working = asyncio.create_task(work(worker, size=20_000))
        rest = [result async for result in results]
        working.cancel()
        await asyncio.wait([working])
    assert len(rest) == count - 1


async def test_leaving_ends_the_searches_and_leaves_nothing(
    client: Client, worker: Store, keys: Callable[[], set[bytes]]
) -> None:
    async with aclosing(client.analyse_many([("a", START)] * 100, LIMITS)) as results:
        first = asyncio.create_task(anext(results))
        await wait_until(lambda: count_unfinished(worker) == WINDOW)
        claim = worker.claim("w")
        assert claim is not None
        first.cancel()
        await asyncio.wait([first])
    await wait_until(lambda: worker.renew(claim) is ClaimState.LOST)
    await wait_until(lambda: keys() == set())
    assert count_unfinished(worker) == 0


async def test_leaving_at_any_moment_leaves_nothing(
    client: Client, worker: Store, keys: Callable[[], set[bytes]]
) -> None:
    async def leave(moment: float) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(moment):
                await collect(client.analyse_many([("a", START)] * 100, LIMITS))

    for _ in range(3):
        await asyncio.gather(*(leave(moment / 1000) for moment in range(1, 40, 2)))
        run_claims(worker)
    await wait_until(lambda: keys() == set())
    assert count_unfinished(worker) == 0


async def test_without_a_worker_it_is_unavailable_for_now(running: Gateway) -> None:
    async with Client(running.address, patience=0.0) as client:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await collect(client.analyse_many([("a", START)], LIMITS))
    assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
    assert "no worker" in (raised.value.details() or "")
    assert find_retry_delay(raised.value) == 1


async def test_the_last_worker_that_goes_is_noticed(
    running: Gateway, worker: Store, keys: Callable[[], set[bytes]]
) -> None:
    async with Client(running.address, patience=0.0) as client:
        asking = asyncio.create_task(collect(client.analyse_many([("a", START)], LIMITS)))
        await wait_until(lambda: count_unfinished(worker))
        worker.withdraw(WORKER)
        with refuses(grpc.StatusCode.UNAVAILABLE, "no worker"):
            await asking
    await wait_until(lambda: keys() == set())


async def test_an_emptied_store_is_said(
    running: Gateway, worker: Store, server: EmbeddedServer
) -> None:
    async with Client(running.address, patience=0.0) as client:
        asking = asyncio.create_task(collect(client.analyse_many([("a", START)], LIMITS)))
        await wait_until(lambda: count_unfinished(worker))
        with redis.Redis.from_url(server.url) as connection:
            connection.flushall()
        with refuses(grpc.StatusCode.UNAVAILABLE, "store"):
            await asking


async def test_a_store_without_room_is_said(
    client: Client, worker: Store, server: EmbeddedServer, keys: Callable[[], set[bytes]]
) -> None:
    with redis.Redis.from_url(server.url) as connection:
        connection.config_set("maxmemory", "1mb")
        try:
            with refuses(grpc.StatusCode.RESOURCE_EXHAUSTED, "store"):
                await collect(client.analyse_many([("a", START)], LIMITS))
        finally:
            connection.config_set("maxmemory", "0")
    assert keys() == set()


@pytest.mark.parametrize("is_idle", [True, False])
async def test_a_stopping_gateway_ends_it(settings: Settings, worker: Store, is_idle: bool) -> None:
    async def positions() -> AsyncIterator[tuple[str, position_pb2.Position]]:
        if not is_idle:
            yield "a", START
        await asyncio.sleep(60)

    async with Gateway(settings) as running:
        client = Client(running.address, patience=0.0)
        asking = asyncio.create_task(collect(client.analyse_many(positions(), LIMITS)))
        await wait_until(lambda: is_idle or count_unfinished(worker))
        await asyncio.sleep(0.05)
    with refuses(grpc.StatusCode.UNAVAILABLE, "stopping"):
        await asking
    await client.__aexit__(None, None, None)


async def test_a_client_goes_on_when_the_service_is_back(settings: Settings, worker: Store) -> None:
    client: Client
    positions = [(str(number), START) for number in range(100)]
    async with Gateway(settings) as running:
        client = Client(running.address, patience=20.0)
        results = client.analyse_many(positions, LIMITS)
        first = asyncio.create_task(anext(results))
        await wait_until(lambda: count_unfinished(worker))
        claim = worker.claim("w")
        assert claim is not None
        worker.hand_in(claim, [finish(claim, 0, 1)])
        found = [(await first).id]
    working = asyncio.create_task(work(worker))
    async with Gateway(replace(settings, listen=running.address)):
        found += [result.id for result in await collect(results)]
    working.cancel()
    await asyncio.wait([working])
    assert sorted(found, key=int) == [name for name, _ in positions]
    await client.__aexit__(None, None, None)


@pytest.mark.usefixtures("at_work")
async def test_an_error_of_the_positions_is_raised_after_their_results(client: Client) -> None:
    def positions() -> Iterator[tuple[str, position_pb2.Position]]:
        yield from MOVED
        raise ValueError("no more")

    results = client.analyse_many(positions(), LIMITS)
    assert sorted([(await anext(results)).id for _ in MOVED]) == MOVES
    with pytest.raises(ValueError, match="no more"):
        await anext(results)


@pytest.mark.parametrize("name", ["ann", "bob"])
async def test_a_call_takes_turns_with_jobs_also_of_its_own_client(
    running: Gateway, client: Client, worker: Store, name: str
) -> None:
    async with Client(running.address, name=name) as other:
        job = await other.create_job(specification(), [START] * 100)
        asking = asyncio.create_task(collect(client.analyse_many([("a", START)] * 3, LIMITS)))
        await wait_until(lambda: count_unfinished(worker) == 103)
        order = []
        while count_unfinished(worker):
            claim = worker.claim("w")
            assert claim is not None
            order.append(claim.job_id in job.name)
            rows = [finish(claim, place, 1) for place in range(len(claim.units))]
            worker.hand_in(claim, rows)
        assert len(await asking) == 3
    assert order[:4] in ([True, False, True, False], [False, True, False, True])
