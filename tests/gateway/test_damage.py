"""What somebody wrote over jobs and rows in the store: it is told, and harms nothing else."""

import grpc
import pytest
import redis

from gateway.client import Client
from gateway.embedded import EmbeddedServer
from tests.gateway.work import claim, collect, create, hand_in, refuses
from tilewarp.v1 import jobs_pb2
from worker.store import Store

UNREADABLE = "the stored row cannot be read"
ROWS = (b"", b"R", b"R\xff", b"\xff", b"Z", b"Q", b"Qworker", b"C\xff", b"J\xff", b"V", b"Rx\n\n")


async def test_damaged_rows_are_failures_among_the_others(
    client: Client, store: Store, server: EmbeddedServer
) -> None:
    count = len(ROWS) + 1
    job = await create(client, count)
    while store.has_work():
        hand_in(store, claim(store))
    with redis.Redis.from_url(server.url) as connection:
        key = f"tw:job:{job.name.removeprefix('jobs/')}:rows"
        connection.hset(key, mapping=dict(enumerate(ROWS)))
    for order in (jobs_pb2.RESULT_ORDER_INPUT, jobs_pb2.RESULT_ORDER_FINISHED):
        rows = await collect(client.stream_results(job.name, order))
        by_index = {row.index: row for row in rows}
        assert sorted(by_index) == list(range(count)) and len(rows) == count
        whole = by_index.pop(count - 1)
        assert whole.WhichOneof("outcome") == "analysis"
        assert {row.failure.cause for row in by_index.values()} == {UNREADABLE}


@pytest.mark.parametrize(
    ("field", "value"),
    [("total", "many"), ("class", "x"), ("state", "x"), ("labels", "["), ("client", b"\xff")],
)
async def test_a_damaged_job_hides_no_other(
    client: Client, server: EmbeddedServer, field: str, value: bytes | str
) -> None:
    whole, damaged = await create(client, 1), await create(client, 1)
    with redis.Redis.from_url(server.url) as connection:
        connection.hset(f"tw:job:{damaged.name.removeprefix('jobs/')}", field, value)
    assert [job.name for job in await collect(client.list_jobs())] == [whole.name]
    with refuses(grpc.StatusCode.DATA_LOSS, "cannot be read"):
        await client.get_job(damaged.name)
    with refuses(grpc.StatusCode.DATA_LOSS, "cannot be read"):
        await collect(client.watch_job(damaged.name))


@pytest.mark.parametrize(("field", "value"), [("kind", "of later versions"), ("spec", b"\xff")])
async def test_what_cannot_be_told_of_a_job_is_left_out(
    client: Client, server: EmbeddedServer, field: str, value: bytes | str
) -> None:
    job = await create(client, 1)
    with redis.Redis.from_url(server.url) as connection:
        connection.hset(f"tw:job:{job.name.removeprefix('jobs/')}", field, value)
    shown = await client.get_job(job.name)
    assert (shown.name, shown.counts) == (job.name, job.counts)
    assert shown.kind == jobs_pb2.JOB_KIND_UNSPECIFIED or not shown.specification.ListFields()
    assert [each.name for each in await collect(client.list_jobs())] == [job.name]
