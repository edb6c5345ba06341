"""What SIGTERM does to a gateway and to a worker: nothing is cut off, counted or lost."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.integration.cluster import (
    HARMLESS,
    POISON,
    Cluster,
    client_of,
    finish,
    is_gone,
    nodes,
    seconds,
    units,
    until,
)
from tilewarp.v1 import analysis_pb2, jobs_pb2, jobs_pb2_grpc
from worker.store import Finished, Store

Start = Callable[..., Cluster]
Record = Callable[[str, Any], None]
METADATA = (("x-tilewarp-client", "ann"),)
GRACE = 30.0
"""Seconds that an orchestrator gives a process to end."""


async def test_a_stopping_gateway_says_so_first_and_finishes_what_it_has(
    start_cluster: Start,
) -> None:
    cluster = start_cluster()
    gateway = cluster.start_gateway()
    told = asyncio.Event()

    async def submission() -> AsyncIterator[jobs_pb2.CreateJobRequest]:
        yield jobs_pb2.CreateJobRequest(specification=nodes(100))
        for _ in range(2):
            batch = jobs_pb2.PositionBatch(positions=units(HARMLESS))
            yield jobs_pb2.CreateJobRequest(positions=batch)
            await told.wait()

    async with grpc.aio.insecure_channel(gateway.address) as channel:
        health: Any = health_pb2_grpc.HealthStub(channel)
        jobs: Any = jobs_pb2_grpc.JobServiceStub(channel)
        watch = health.Watch(health_pb2.HealthCheckRequest())
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        creating = asyncio.ensure_future(jobs.CreateJob(submission(), metadata=METADATA))
        await jobs.ListJobs(jobs_pb2.ListJobsRequest(), metadata=METADATA)
        gateway.terminate()
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert gateway.process.poll() is None
        told.set()
        job = (await asyncio.wait_for(creating, 10)).job
    assert job.counts.total == 20
    assert await gateway.wait(GRACE) == 0


@pytest.mark.parametrize("is_reading", [True, False])
async def test_streams_of_a_stopping_gateway_go_on_at_another_by_their_token(
    start_cluster: Start, is_reading: bool, record_property: Record
) -> None:
    cluster = start_cluster(max_page=5)
    first, second = cluster.start_gateway(), cluster.start_gateway()
    async with client_of(first) as client, grpc.aio.insecure_channel(first.address) as channel:
        job = await client.create_job(nodes(100), units(HARMLESS * 100))
        _hand_in_long_rows(cluster)
        cluster.start_worker()
        later = await client.create_job(seconds(0.5), units(HARMLESS[:5]))
        jobs: Any = jobs_pb2_grpc.JobServiceStub(channel)
        stream = jobs.StreamResults(_request(job), metadata=METADATA)
        waiting = jobs.StreamResults(_request(later), metadata=METADATA)
        watch = jobs.WatchJob(jobs_pb2.WatchJobRequest(name=later.name), metadata=METADATA)
        pages = [await stream.read()]
        await waiting.read()
        began = time.monotonic()
        first.terminate()
        if not is_reading:  # the stream fills all buffers, and the gateway does not wait for it
            assert await first.wait(GRACE) == 0
            record_property("seconds until it has ended", time.monotonic() - began)
        told = "the gateway is stopping"
        pages += await _read_until_unavailable(stream, told if is_reading else "")
        for call in (waiting, watch):
            await _read_until_unavailable(call, told)
        assert await first.wait(GRACE) == 0
    rows = [row for page in pages for row in page.rows]
    assert len(rows) < 1000
    async with client_of(second) as client:
        token = pages[-1].resume_token
        rows += [row async for row in client.stream_results(job.name, resume_token=token)]
        assert [row.index for row in rows] == list(range(1000))
        later = await finish(client, later, 60)
    assert later.counts.done == 5
    await cluster.check_counts()


async def _read_until_unavailable(call: Any, told: str) -> list[Any]:
    """Return what a stream sends until it ends UNAVAILABLE and tells why, which it must.

    Read slowly, so that the gateway stops while there is more to send.
    """
    pages = []
    try:
        while (page := await call.read()) is not grpc.aio.EOF:
            pages.append(page)
            await asyncio.sleep(0.05)
    except grpc.aio.AioRpcError as error:
        assert error.code() is grpc.StatusCode.UNAVAILABLE  # noqa: PT017
        assert told in (error.details() or "")  # noqa: PT017
        return pages
    raise AssertionError("it ended as if all had been sent")


def _hand_in_long_rows(cluster: Cluster) -> None:
    """Do all the work there is, with ten megabytes of results: more than any buffer holds."""
    store = Store(cluster.settings)
    while claim := store.claim("test"):
        store.hand_in(
            claim,
            [
                Finished(
                    unit.index,
                    jobs_pb2.ResultRow(
                        index=unit.index,
                        fen="x" * 10_000,
                        analysis=analysis_pb2.AnalysisResult(nodes=1),
                    ).SerializeToString(),
                    nodes=1,
                    seconds=0.001,
                )
                for unit in claim.units
            ],
        )
    store.close()


def _request(job: jobs_pb2.Job) -> jobs_pb2.StreamResultsRequest:
    return jobs_pb2.StreamResultsRequest(
        name=job.name, order=jobs_pb2.RESULT_ORDER_INPUT, follow=True
    )


async def test_a_stopping_worker_hands_its_units_back_uncounted(
    start_cluster: Start, record_property: Record
) -> None:
    cluster = start_cluster()
    gateway = cluster.start_gateway()
    first = cluster.start_worker(workers=2)
    async with client_of(gateway) as client:
        job = await client.create_job(seconds(3.0), units(HARMLESS[:3]))
        await until(lambda: len(cluster.ledger()) == 2, 30)
        began = time.monotonic()
        first.terminate()
        took = await until(lambda: len(cluster.ledger("stopped")) == 2, 10)
        record_property("seconds until its units are handed back", took)
        assert await first.wait(GRACE) == 0
        record_property("seconds until it has ended", time.monotonic() - began)
        assert (await cluster.store.totals()).attempts == 0
        other = cluster.start_worker(workers=2)
        job = await finish(client, job, 60)
        rows = [row async for row in client.stream_results(job.name)]
    assert job.counts.done == 3
    assert [row.analysis.provenance.attempt for row in rows] == [1, 1, 1]
    assert {row.analysis.provenance.worker.rpartition(":")[2] for row in rows} == {str(other.pid)}
    assert (await cluster.store.totals()).attempts == 3
    await cluster.check_counts()


@pytest.mark.parametrize("trouble", ["a hung search", "a silent store", "no store"])
async def test_a_worker_in_trouble_stops_within_its_grace(
    start_cluster: Start, trouble: str, record_property: Record
) -> None:
    cluster = start_cluster(lease=2.0)
    gateway = cluster.start_gateway()
    worker = cluster.start_worker()
    worker.fail_on(**{POISON: "hang"})
    async with client_of(gateway) as client:
        move = POISON if trouble == "a hung search" else HARMLESS[0]
        await client.create_job(seconds(20.0), units([move]))
        await until(lambda: len(cluster.ledger()) == 1, 30)
    child = cluster.ledger()[0].pid
    if trouble == "a silent store":
        cluster.server.suspend()
    elif trouble == "no store":
        cluster.server.kill()
    began = time.monotonic()
    worker.terminate()
    await worker.wait(GRACE)
    record_property("seconds until it has ended", time.monotonic() - began)
    assert is_gone(child)
