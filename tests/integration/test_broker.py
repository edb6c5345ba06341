"""A store that asks for a user, a password and TLS, and what a stranger may leave in it."""

import asyncio
import ssl
import urllib.request
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
import redis
import trustme

from tests.integration.cluster import (
    HARMLESS,
    Cluster,
    client_of,
    find_free_address,
    finish,
    nodes,
    units,
    until,
)
from tests.integration.relay import TlsRelay
from tests.integration.stack import find_children
from tests.worker.forged import dress, forge
from tests.worker.jobs import staged
from tilewarp.v1 import jobs_pb2
from worker.store import AsyncStore
from worker.tickets import TAKE_TICKET

RIGHTS = "~tw:* %R~* &tw:events &tw:progress:* +@all -@dangerous -@admin +info +config|get +sort_ro"


@pytest.fixture
async def guarded(start_cluster: Callable[..., Cluster], tmp_path: Path) -> AsyncIterator[Cluster]:
    """A cluster whose store is reached by TLS alone, as a user of few rights."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca"))
    cluster = start_cluster(lease=2.0)
    with redis.Redis.from_url(cluster.server.url) as connection:
        connection.execute_command("ACL", "SETUSER", "tilewarp", "on", ">s3cr3t", *RIGHTS.split())
    relay = TlsRelay(cluster.server.socket, context)
    place = f"127.0.0.1:{relay.port}/0?ssl_cert_reqs=required&ssl_ca_certs={tmp_path / 'ca'}"
    url = f"rediss://tilewarp:s3cr3t@{place}"
    cluster.settings = replace(cluster.settings, redis_url=url)
    yield cluster
    cluster.stop_parts()
    relay.close()


async def test_work_goes_through_a_guarded_store_and_what_is_forged_does_nothing(
    guarded: Cluster, tmp_path: Path
) -> None:
    gateway = guarded.start_gateway()
    metrics = find_free_address()
    worker = guarded.start_worker(worker_metrics=metrics)
    await guarded.sing(60)
    pool = find_children(worker.pid)
    trap = tmp_path / "trap"
    forged = forge(trap)
    with redis.Redis.from_url(guarded.server.url) as admin:
        admin.lpush("tw:broker:tickets", *forged, *dress(TAKE_TICKET))
        admin.hset("tw:broker:unacked", mapping={"a": b"\xff", "b": b"[]", "c": b"[7, 8, 9]"})
        admin.zadd("tw:broker:unacked_index", {"a": 1, "b": 2, "c": 3})
        await until(lambda: not admin.llen("tw:broker:tickets"), 30)
        await until(lambda: not admin.exists("tw:broker:unacked"), 30)
    async with client_of(gateway) as client:
        job = await client.create_job(nodes(100), units(HARMLESS[:3]))
        assert (await finish(client, job, 60)).state == jobs_pb2.JOB_STATE_SUCCEEDED
        for kind, spec, unit in (
            ("analysis", nodes(100).SerializeToString(), b"\xff"),
            ("analysis", b"\xff", units(HARMLESS[:1])[0].SerializeToString()),
            ("nonsense", b"", b""),
        ):
            job = await _leave(guarded, kind, spec, unit)
            ended = await finish(client, job, 60)
            assert (ended.counts.done, ended.counts.quarantined) == (0, 1)
            (row,) = [row async for row in client.stream_results(job.name)]
            assert row.WhichOneof("outcome") == "failure"
    assert find_children(worker.pid) == pool and worker.process.poll() is None
    assert not trap.exists()
    page = await asyncio.to_thread(_fetch, f"http://{metrics}/metrics")
    assert f"tilewarp_worker_forged_tickets_total {len(forged) + 2:.1f}" in page


async def _leave(cluster: Cluster, kind: str, spec: bytes, unit: bytes) -> jobs_pb2.Job:
    """Leave a job of one unit in the store that has not come through the door."""
    job = await staged(cluster.store, 0, kind=kind, spec=spec, client="name:ann")
    await cluster.store.stage(job.job_id, [unit], {})
    await cluster.store.commit(replace(job, total=1))
    return jobs_pb2.Job(name=f"jobs/{job.job_id}")


def _fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        page: str = answer.read().decode()
        return page


def test_the_rights_are_those_of_the_docs() -> None:
    docs = Path(__file__).parents[2] / "docs" / "security.md"
    assert RIGHTS in docs.read_text()


async def test_a_wrong_password_or_authority_reaches_no_store(guarded: Cluster) -> None:
    url = guarded.settings.redis_url
    for wrong, error in (
        (url.replace("s3cr3t", "guess"), redis.AuthenticationError),
        (url.partition("?")[0].replace("rediss:", "redis:"), redis.ConnectionError),
        (url.partition("&ssl_ca_certs")[0], redis.ConnectionError),
    ):
        store = AsyncStore(replace(guarded.settings, redis_url=wrong))
        with pytest.raises(error):
            await store.ping()
        await store.close()
