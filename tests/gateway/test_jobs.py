"""JobService through real calls; the test does the workers' part."""

import asyncio
import time
from dataclasses import replace
from typing import Any

import grpc
import grpc.aio
import pytest
import redis

from gateway.client import Client, parse_line
from gateway.embedded import EmbeddedServer
from gateway.server import Gateway
from gateway.services.jobs import WATCH_PAUSE
from tests.gateway.work import START, claim, collect, create, hand_in, refuses, specification
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2
from worker.settings import Settings
from worker.store import Finished, Store, WorkerInfo

FINISHED = jobs_pb2.RESULT_ORDER_FINISHED
INPUT = jobs_pb2.RESULT_ORDER_INPUT


async def test_a_job_is_queued_with_what_was_asked(client: Client) -> None:
    asked = specification(nodes=500)
    asked.labels["event"] = "final"
    job = await client.create_job(asked, [START, START])
    assert job.name.startswith("jobs/")
    assert job.kind == jobs_pb2.JOB_KIND_ANALYSIS
    assert job.state == jobs_pb2.JOB_STATE_QUEUED
    assert job.specification.analysis.limits.nodes == 500
    assert job.specification.job_class == jobs_pb2.JOB_CLASS_BULK
    assert job.specification.labels == {"event": "final"}
    assert job.counts == jobs_pb2.JobCounts(total=2)
    assert job.HasField("create_time")
    assert not job.HasField("start_time")
    assert await client.get_job(job.name) == job


async def test_a_job_runs_to_its_end(client: Client, store: Store) -> None:
    job = await create(client, 3)
    claimed = claim(store)
    assert (await client.get_job(job.name)).state == jobs_pb2.JOB_STATE_RUNNING
    hand_in(store, claimed)
    ended = await client.get_job(job.name)
    assert ended.state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert ended.counts == jobs_pb2.JobCounts(total=3, done=3)
    assert ended.nodes == 30
    assert ended.HasField("end_time")
    kept = ended.expire_time.ToSeconds() - ended.end_time.ToSeconds()
    assert abs(kept - 86_400) <= 1


async def test_a_wrong_position_is_a_row_with_all_its_faults(client: Client, store: Store) -> None:
    lines = ["K3K3/8/8/8/8/8/8/4k2p w - - 0 x", "startpos", "startpos moves b2b9", "\x1b[2J" * 100]
    job = await client.create_job(specification(), [parse_line("chakra", line) for line in lines])
    assert job.counts == jobs_pb2.JobCounts(total=4, rejected=3)
    hand_in(store, claim(store))
    rows = await collect(client.stream_results(job.name))
    assert [row.WhichOneof("outcome") for row in rows] == [
        "rejection",
        "analysis",
        "rejection",
        "rejection",
    ]
    assert len(rows[0].rejection.faults) >= 2
    assert rows[0].fen == lines[0]
    assert "move 1" in rows[2].rejection.faults[0]
    assert "\x1b" not in rows[3].fen
    assert len(rows[3].fen) == 200


async def test_a_job_of_wrong_positions_alone_has_succeeded(client: Client) -> None:
    job = await create(client, 2, wrong=[0, 1])
    assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert len(await collect(client.stream_results(job.name, FINISHED))) == 2


def _limits(**given: Any) -> jobs_pb2.JobSpecification:
    work = jobs_pb2.AnalysisWork(limits=analysis_pb2.Limits(**given))
    return jobs_pb2.JobSpecification(analysis=work)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (jobs_pb2.JobSpecification(), ["specification.work: "]),
        (_limits(), ["specification.analysis.limits: one of"]),
        (_limits(nodes=-1), ["limits.nodes: -1 is negative"]),
        (_limits(nodes=10**12), ["limits.nodes: 1000000000000", "max_nodes"]),
        (_limits(depth=1000, nodes=10**12), ["limits.nodes", "limits.depth", "max_depth"]),
        (_limits(time={"seconds": 10**6}), ["limits.time", "max_time"]),
        (_limits(time={"nanos": -1}), ["limits.time"]),
    ],
)
async def test_a_wrong_specification_names_fields_and_settings(
    client: Client, asked: jobs_pb2.JobSpecification, told: list[str]
) -> None:
    for text in told:
        with refuses(grpc.StatusCode.INVALID_ARGUMENT, text):
            await client.create_job(asked, [START])


async def test_labels_classes_and_request_ids_are_checked(client: Client) -> None:
    asked = specification()
    asked.job_class = 99  # type: ignore[assignment]
    for number in range(20):
        asked.labels[str(number)] = "x" * 200
    for text in ("max_labels", "max_label_length", "no class 99", "request_id"):
        with refuses(grpc.StatusCode.INVALID_ARGUMENT, text):
            await client.create_job(asked, [START], request_id="ä")


async def test_a_submission_begins_with_its_specification(running: Gateway) -> None:
    from tilewarp.v1 import jobs_pb2_grpc

    async with grpc.aio.insecure_channel(running.address) as channel:
        stub: Any = jobs_pb2_grpc.JobServiceStub(channel)
        batch = jobs_pb2.CreateJobRequest(positions=jobs_pb2.PositionBatch(positions=[START]))
        header = jobs_pb2.CreateJobRequest(specification=specification())
        for requests in ([], [batch], [header], [header, header]):
            with refuses(grpc.StatusCode.INVALID_ARGUMENT, ""):
                await stub.CreateJob(iter(requests))


async def test_a_job_has_so_many_positions_and_no_more(settings: Settings) -> None:
    async with (
        Gateway(replace(settings, max_positions=5)) as running,
        Client(running.address) as client,
    ):
        assert (await create(client, 5)).counts.total == 5
        with refuses(grpc.StatusCode.INVALID_ARGUMENT, "max_positions allows (5)"):
            await create(client, 6)


async def test_a_refused_submission_leaves_nothing(client: Client, server: EmbeddedServer) -> None:
    await create(client, 1)
    with redis.Redis.from_url(server.url) as connection:
        before = connection.dbsize()
        with refuses(grpc.StatusCode.INVALID_ARGUMENT, ""):
            await client.create_job(specification(), [])
        assert connection.dbsize() == before


async def test_a_request_id_names_one_job(client: Client) -> None:
    first = await client.create_job(specification(), [START], request_id="one")
    again = await client.create_job(specification(), [START], request_id="one")
    other = await client.create_job(specification(), [START], request_id="two")
    assert first.name == again.name != other.name
    for asked, positions in (
        (specification(nodes=101), [START]),
        (specification(), [START, START]),
        (specification(), [position_pb2.Position(variant="chakra", moves=["b2b4"])]),
    ):
        with refuses(grpc.StatusCode.ALREADY_EXISTS, "one"):
            await client.create_job(asked, positions, request_id="one")


async def test_jobs_are_seen_by_their_client_alone(client: Client, running: Gateway) -> None:
    job = await create(client, 1)
    async with Client(running.address, name="bob") as bob, Client(running.address) as nobody:
        for other in (bob, nobody):
            assert await collect(other.list_jobs()) == []
            with refuses(grpc.StatusCode.NOT_FOUND, job.name):
                await other.get_job(job.name)
            with refuses(grpc.StatusCode.NOT_FOUND, job.name):
                await other.cancel_job(job.name)
            with refuses(grpc.StatusCode.NOT_FOUND, job.name):
                await collect(other.stream_results(job.name))
            with refuses(grpc.StatusCode.NOT_FOUND, job.name):
                await collect(other.watch_job(job.name))


async def test_a_client_without_a_name_is_known_by_its_address(running: Gateway) -> None:
    async with Client(running.address) as first, Client(running.address) as second:
        job = await create(first, 1)
        assert (await second.get_job(job.name)).name == job.name
    async with Client(running.address, name="x" * 500) as client:
        with refuses(grpc.StatusCode.INVALID_ARGUMENT, "max_client_length"):
            await client.get_job(job.name)


async def test_a_name_of_another_store_is_lost_and_an_unknown_one_not_found(client: Client) -> None:
    job = await create(client, 1)
    epoch, _, number = job.name.removeprefix("jobs/").partition("-")
    unknown = f"jobs/{epoch}-{number[::-1]}"
    with refuses(grpc.StatusCode.NOT_FOUND, unknown):
        await client.get_job(unknown)
    other = f"jobs/{epoch[::-1]}-{number}"
    lost = await client.get_job(other)
    assert lost.state == jobs_pb2.JOB_STATE_LOST
    assert lost.error
    assert [job.state for job in await collect(client.watch_job(other))] == [lost.state]
    with refuses(grpc.StatusCode.FAILED_PRECONDITION, "LOST"):
        await collect(client.stream_results(other))
    with refuses(grpc.StatusCode.FAILED_PRECONDITION, "LOST"):
        await client.cancel_job(other)
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, "jobs/ID"):
        await client.get_job("job/1")


async def test_a_stream_of_an_emptied_store_does_not_end_as_if_all_were_sent(
    settings: Settings, store: Store, server: EmbeddedServer
) -> None:
    async with (
        Gateway(replace(settings, max_page=1)) as running,
        Client(running.address, name="ann") as client,
    ):
        job = await create(client, 4000)
        hand_in(store, claim(store))
        rows = client.stream_results(job.name)
        await anext(rows)
        with redis.Redis.from_url(server.url) as connection:
            connection.flushall()
        with refuses(grpc.StatusCode.FAILED_PRECONDITION, "LOST"):
            async for _ in rows:
                pass


async def test_a_watch_of_an_emptied_store_ends_with_the_job_lost(
    client: Client, server: EmbeddedServer
) -> None:
    job = await create(client, 1)
    watch = client.watch_job(job.name)
    await anext(watch)
    with redis.Redis.from_url(server.url) as connection:
        connection.flushall()
    (lost,) = await collect(watch)
    assert lost.state == jobs_pb2.JOB_STATE_LOST


async def test_jobs_are_listed_the_newest_first_by_state_and_in_pages(
    settings: Settings, store: Store
) -> None:
    async with (
        Gateway(replace(settings, max_page=2)) as running,
        Client(running.address, name="ann") as client,
    ):
        names = [(await create(client, 1)).name]
        hand_in(store, claim(store))
        names += [(await create(client, 1)).name for _ in range(4)]
        listed = await collect(client.list_jobs())
        assert [job.name for job in listed] == names[::-1]
        queued = await collect(client.list_jobs(jobs_pb2.JOB_STATE_QUEUED))
        assert [job.name for job in queued] == names[:0:-1]
        ended = await collect(client.list_jobs(jobs_pb2.JOB_STATE_SUCCEEDED))
        assert [job.name for job in ended] == names[:1]


async def test_results_come_in_either_order(client: Client, store: Store) -> None:
    job = await create(client, 5, wrong=[3])
    claimed = claim(store)
    hand_in(store, claimed, [4])
    hand_in(store, claimed, [0])
    rows = await collect(client.stream_results(job.name, FINISHED, follow=False))
    assert [row.index for row in rows] == [3, 4, 0]
    rows = await collect(client.stream_results(job.name, INPUT, follow=False))
    assert [row.index for row in rows] == [0]
    hand_in(store, claimed, [1, 2])
    rows = await collect(client.stream_results(job.name, INPUT))
    assert [row.index for row in rows] == list(range(5))


async def test_results_follow_a_running_job_and_go_on_from_a_token(
    running: Gateway, client: Client, store: Store
) -> None:
    from tilewarp.v1 import jobs_pb2_grpc

    job = await create(client, 4)
    claimed = claim(store)
    hand_in(store, claimed, [0, 1])
    metadata = (("x-tilewarp-client", "ann"),)
    async with grpc.aio.insecure_channel(running.address) as channel:
        stub: Any = jobs_pb2_grpc.JobServiceStub(channel)
        request = jobs_pb2.StreamResultsRequest(name=job.name, order=INPUT, follow=True)
        call = stub.StreamResults(request, metadata=metadata)
        response = await call.read()
        assert [row.index for row in response.rows] == [0, 1]
        call.cancel()
        request.resume_token = response.resume_token
        call = stub.StreamResults(request, metadata=metadata)
        reading = asyncio.create_task(call.read())
        await asyncio.sleep(0.05)
        assert not reading.done()
        hand_in(store, claimed, [2, 3])
        assert [row.index for row in (await reading).rows] == [2, 3]
        assert await call.read() is grpc.aio.EOF
        for order, token in ((FINISHED, response.resume_token), (INPUT, "x"), (INPUT, "input:-1")):
            request = jobs_pb2.StreamResultsRequest(name=job.name, order=order, resume_token=token)
            with refuses(grpc.StatusCode.INVALID_ARGUMENT, "resume_token"):
                await stub.StreamResults(request, metadata=metadata).read()


async def test_a_given_up_position_is_a_row_with_its_cause(client: Client, store: Store) -> None:
    job = await create(client, 1)
    for _ in range(3):
        (claimed,) = claim(store)
        store.hand_in(claimed, [Finished(claimed.units[0].index, b"it broke", is_failure=True)])
    (row,) = await collect(client.stream_results(job.name))
    assert row.failure.cause == "it broke"
    assert row.failure.attempts == 3
    assert row.failure.workers == ["worker"] * 3
    assert row.failure.command == "tilewarp search chakra startpos --nodes 100"
    assert row.fen.startswith("acmqksca/")
    ended = await client.get_job(job.name)
    assert ended.state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert ended.counts.quarantined == 1


async def test_cancelling_keeps_the_rows_and_can_be_repeated(client: Client, store: Store) -> None:
    job = await create(client, 4)
    claimed = claim(store)
    hand_in(store, claimed, [2])
    following = asyncio.create_task(collect(client.stream_results(job.name)))
    await asyncio.sleep(0.05)
    for _ in range(2):
        cancelled = await client.cancel_job(job.name)
        assert cancelled.state == jobs_pb2.JOB_STATE_CANCELLED
    assert [row.index for row in await following] == [2]
    assert [row.index for row in await collect(client.stream_results(job.name, FINISHED))] == [2]
    done = await create(client, 1)
    hand_in(store, claim(store))
    assert (await client.cancel_job(done.name)).state == jobs_pb2.JOB_STATE_SUCCEEDED


async def test_a_job_says_why_it_waits_and_when_it_ends(client: Client, store: Store) -> None:
    first, second = await create(client, 2), await create(client, 3)
    assert first.wait_reason == jobs_pb2.WAIT_REASON_NO_WORKER
    store.announce(WorkerInfo("w", "host", 1, 1, "1", "1"))
    job = await client.get_job(second.name)
    assert (job.wait_reason, job.place, job.units_before) == (jobs_pb2.WAIT_REASON_BEHIND, 2, 2)
    assert not job.HasField("expected_end_time")
    claimed = store.claim("w")
    assert claimed is not None
    hand_in(store, [claimed])  # half a second a unit
    listed = {job.name: job for job in await collect(client.list_jobs())}
    reasons = [listed[name].wait_reason for name in (first.name, second.name)]
    assert reasons == [jobs_pb2.WAIT_REASON_NEXT, jobs_pb2.WAIT_REASON_BEHIND]
    ends = [listed[job.name].expected_end_time.ToMilliseconds() for job in (first, second)]
    assert ends[1] - ends[0] == 1500
    paused = await client.pause_job(first.name)
    assert paused.wait_reason == jobs_pb2.WAIT_REASON_PAUSED
    assert not paused.HasField("expected_end_time")
    hand_in(store, claim(store))
    ended = await client.get_job(second.name)
    assert (ended.wait_reason, ended.place, ended.units_before) == (0, 0, 0)
    assert not ended.HasField("expected_end_time")


async def test_a_watch_tells_that_the_wait_has_another_reason(client: Client, store: Store) -> None:
    job = await create(client, 1)
    async with asyncio.timeout(10):
        watch = client.watch_job(job.name)
        assert (await anext(watch)).wait_reason == jobs_pb2.WAIT_REASON_NO_WORKER
        store.announce(WorkerInfo("w", "host", 1, 1, "1", "1"))
        assert (await anext(watch)).wait_reason == jobs_pb2.WAIT_REASON_NEXT
        hand_in(store, claim(store))
        last = [job async for job in watch][-1]
    assert (last.state, last.wait_reason) == (jobs_pb2.JOB_STATE_SUCCEEDED, 0)


async def test_a_job_is_held_back_until_it_is_resumed(client: Client, store: Store) -> None:
    job = await create(client, 4)
    for _ in range(2):
        assert (await client.pause_job(job.name)).state == jobs_pb2.JOB_STATE_PAUSED
    assert store.claim("worker") is None
    paused = await collect(client.list_jobs(jobs_pb2.JOB_STATE_PAUSED))
    assert [each.name for each in paused] == [job.name]
    following = asyncio.create_task(collect(client.stream_results(job.name)))
    for _ in range(2):
        assert (await client.resume_job(job.name)).state == jobs_pb2.JOB_STATE_QUEUED
    hand_in(store, claim(store))
    assert len(await following) == 4


async def test_what_has_ended_is_neither_paused_nor_resumed(client: Client, store: Store) -> None:
    done, cancelled = await create(client, 1), await create(client, 1)
    await client.cancel_job(cancelled.name)
    hand_in(store, claim(store))
    epoch, _, number = done.name.removeprefix("jobs/").partition("-")
    for name, state in (
        (done.name, "SUCCEEDED"),
        (cancelled.name, "CANCELLED"),
        (f"jobs/{epoch[::-1]}-{number}", "LOST"),
    ):
        for move in (client.pause_job, client.resume_job):
            with refuses(grpc.StatusCode.FAILED_PRECONDITION, f"{name} is {state}"):
                await move(name)
    for move in (client.pause_job, client.resume_job):
        with refuses(grpc.StatusCode.NOT_FOUND, "no job"):
            await move(f"jobs/{epoch}-{number[::-1]}")


async def test_progress_is_watched_to_the_end(client: Client, store: Store) -> None:
    job = await create(client, 30)
    submitted = time.monotonic()
    watching = asyncio.create_task(collect(client.watch_job(job.name)))
    await asyncio.sleep(0.05)
    claimed = claim(store)
    for index in range(30):
        hand_in(store, claimed, [index])
        await asyncio.sleep(0.02)
    began = time.monotonic()
    seen = await watching
    assert time.monotonic() - began < 0.2
    assert [job.state for job in seen[:2]] == [
        jobs_pb2.JOB_STATE_QUEUED,
        jobs_pb2.JOB_STATE_RUNNING,
    ]
    assert seen[-1].state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert 4 <= len(seen) <= 4 + (began - submitted) / WATCH_PAUSE
    assert sorted(job.counts.done for job in seen) == [job.counts.done for job in seen]


async def test_a_stopping_gateway_ends_streams_so_that_they_can_go_on_elsewhere(
    settings: Settings, store: Store
) -> None:
    async with Gateway(settings) as first:
        fixed = replace(settings, listen=first.address)
        client = Client(first.address, name="ann")
        job = await create(client, 2)
        claimed = claim(store)
        hand_in(store, claimed, [0])
        following = asyncio.create_task(collect(client.stream_results(job.name)))
        await asyncio.sleep(0.05)
        began = time.monotonic()
    assert time.monotonic() - began < 2
    async with Gateway(fixed):
        hand_in(store, claimed, [1])
        assert [row.index for row in await following] == [0, 1]
    await client._channel.close()


async def test_a_store_that_is_away_is_said_soon(settings: Settings) -> None:
    server = EmbeddedServer()
    server.start()
    try:
        async with (
            Gateway(replace(settings, redis_url=server.url)) as running,
            Client(running.address, patience=0.0) as client,
        ):
            job = await create(client, 1)
            server.stop()
            for call in (client.get_job(job.name), client.cancel_job(job.name), create(client, 1)):
                began = time.monotonic()
                with refuses(grpc.StatusCode.UNAVAILABLE, "store"):
                    await call
                assert time.monotonic() - began < 2
            server.start()
            client.patience = 10
            assert (await client.get_job(job.name)).name == job.name
    finally:
        server.close()
