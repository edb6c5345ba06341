"""Another engine comes while jobs are under way; a store is moved from server to server."""

import asyncio
import shutil
from collections.abc import Callable

import pytest
import redis

from core.version import ENGINE_VERSION
from gateway.client import Client
from tests.integration.cluster import (
    HARMLESS,
    Cluster,
    client_of,
    finish,
    nodes,
    seconds,
    units,
    until,
)
from tilewarp.v1 import jobs_pb2

Start = Callable[..., Cluster]
OLD = "0"


async def _read_engines(client: Client, job: jobs_pb2.Job) -> set[str]:
    """Return the versions of the engines that found the rows of a job that has ended."""
    rows = [row async for row in client.stream_results(job.name)]
    assert len(rows) == job.counts.total
    return {row.analysis.provenance.engine_version for row in rows}


async def test_an_upgrade_with_jobs_in_flight_mixes_no_results(start_cluster: Start) -> None:
    cluster = start_cluster()
    old_gateway = cluster.start_gateway(engine=OLD)
    old_worker = cluster.start_worker(engine=OLD)
    new_gateway = cluster.start_gateway()
    cluster.start_worker()
    await cluster.has_workers(2)
    async with client_of(old_gateway) as client:
        before = await client.create_job(seconds(0.4), units(HARMLESS))
        await until(lambda: len(cluster.ledger("done")) > 1, 60)
    old_gateway.terminate()
    old_worker.terminate()
    async with client_of(new_gateway) as client:
        after = await client.create_job(nodes(100), units(HARMLESS[:3]))
        ended = await finish(client, after, 60)
        assert await _read_engines(client, ended) == {ENGINE_VERSION}
        # With the old worker gone, its job waits, and says for whom.
        await old_worker.wait(30)
        await cluster.has_workers(1)
        waiting = await client.get_job(before.name)
        assert 0 < waiting.counts.done < waiting.counts.total
        assert waiting.wait_reason == jobs_pb2.WAIT_REASON_OTHER_VERSIONS
        await asyncio.sleep(1.5)  # in which tickets are issued for it
        assert (await client.get_job(before.name)).counts.done == waiting.counts.done
        cluster.start_worker(engine=OLD)
        ended = await finish(client, before, 60)
        assert ended.state == jobs_pb2.JOB_STATE_SUCCEEDED
        assert await _read_engines(client, ended) == {OLD}
    await cluster.check_counts()


@pytest.mark.soak
async def test_a_copy_of_the_file_is_the_store_as_it_was(start_cluster: Start) -> None:
    source = start_cluster("--appendonly", "yes", "--appendfsync", "always")
    gateway = source.start_gateway()
    source.start_worker()
    async with client_of(gateway) as client:
        done = await client.create_job(nodes(100), units(HARMLESS[:3]))
        done = await finish(client, done, 60)
        rows = [row async for row in client.stream_results(done.name)]
        open_job = await client.create_job(seconds(0.3), units(HARMLESS))
        await until(lambda: len(source.ledger("done")) > 4, 60)
    source.stop_parts()
    target = start_cluster()
    target.server.stop()
    with redis.Redis.from_url(source.server.url) as connection:
        connection.config_set("auto-aof-rewrite-percentage", 0)  # as the docs have it
        shutil.copytree(
            source.server.folder / "appendonlydir", target.server.folder / "appendonlydir"
        )
    target.server.start("--appendonly", "yes")
    gateway = target.start_gateway()
    target.start_worker()
    async with client_of(gateway) as client:
        assert await client.get_job(done.name) == done
        assert [row async for row in client.stream_results(done.name)] == rows
        ended = await finish(client, open_job, 60)
        assert ended.state == jobs_pb2.JOB_STATE_SUCCEEDED
        assert len([row async for row in client.stream_results(ended.name)]) == len(HARMLESS)
    await target.check_counts()
