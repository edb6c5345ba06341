"""Every count equals the work done, after faults of every kind."""

import asyncio
from collections.abc import Callable

from gateway.client import Client
from tests.integration.cluster import (
    HARMLESS,
    POISON,
    Cluster,
    client_of,
    finish,
    nodes,
    seconds,
    units,
    until,
)
from tests.integration.proxy import Proxy
from tilewarp.v1 import jobs_pb2

FAILING = "b1a2"
CUTS = 15

Start = Callable[..., Cluster]
StartProxy = Callable[[str], Proxy]


async def test_counts_equal_the_work_done_after_kills_failures_and_shutdowns(
    start_cluster: Start,
) -> None:
    # One unit a claim, so that the ledger shows every attempt.
    cluster = start_cluster(lease=2.0, max_claim=1)
    gateway = cluster.start_gateway()
    first, second = cluster.start_worker(), cluster.start_worker()
    for worker in (first, second):
        worker.fail_on(**{POISON: "kill", FAILING: "fail"})
    await cluster.has_workers(2)
    async with client_of(gateway) as client:
        faulty = await client.create_job(nodes(3000), units([POISON, FAILING, *HARMLESS * 5]))
        faulty = await finish(client, faulty, 90)
        assert faulty.counts == jobs_pb2.JobCounts(total=52, done=50, quarantined=2)

        cancelled = await client.create_job(seconds(60.0), units(HARMLESS[:4]))
        await until(lambda: len(cluster.ledger()) == 50 + 6 + 2, 30)
        await client.cancel_job(cancelled.name)
        await until(lambda: len(cluster.ledger("stopped")) == 2, 30)

        handed_back = await client.create_job(seconds(3.0), units(HARMLESS[:2]))
        await until(lambda: len(cluster.ledger()) == 60, 30)
        first.terminate()
        await until(lambda: len(cluster.ledger("stopped")) == 3, 30)
        cluster.start_worker()
        assert (await finish(client, handed_back, 60)).counts.done == 2

        killed = await client.create_job(seconds(3.0), units(HARMLESS[:2]))
        await until(lambda: len(cluster.ledger()) == 61 + 2, 30)
        second.kill()
        assert (await finish(client, killed, 60)).counts.done == 2

    await cluster.check_counts()
    totals = await cluster.store.totals()
    done = cluster.ledger("done")
    assert totals.positions == len(done) == 54
    assert totals.nodes == sum(entry.nodes for entry in done)
    assert totals.attempts == len(cluster.ledger()) - len(cluster.ledger("stopped")) == 61
    assert totals.quarantined == 2
    assert totals.lost_claims == 3 + 1
    shown = await asyncio.to_thread(gateway.scrape)
    assert {
        "tilewarp_positions_total": totals.positions,
        "tilewarp_nodes_total": totals.nodes,
        "tilewarp_attempts_total": totals.attempts,
        "tilewarp_quarantined_total": totals.quarantined,
        "tilewarp_lost_claims_total": totals.lost_claims,
    }.items() <= shown.items()


async def test_results_are_exact_while_every_connection_is_cut_again_and_again(
    start_cluster: Start, start_proxy: StartProxy
) -> None:
    cluster = start_cluster(lease=2.0)
    to_store = start_proxy(str(cluster.server.socket))
    url = f"redis://127.0.0.1:{to_store.port}/0"
    gateway = cluster.start_gateway(redis_url=url)
    to_gateway = start_proxy(gateway.address)
    for _ in range(2):
        cluster.start_worker(redis_url=url)
    await cluster.has_workers(2)

    async def cut() -> None:
        cuts = {to_store: 0, to_gateway: 0}
        for _ in range(CUTS):
            await asyncio.sleep(0.4)
            for proxy in cuts:
                cuts[proxy] += proxy.cut()
        assert min(cuts.values()) > CUTS // 2

    async with Client(f"127.0.0.1:{to_gateway.port}", name="ann", patience=60.0) as client:
        cutting = asyncio.create_task(cut())
        jobs = []
        while not cutting.done():
            job = await client.create_job(nodes(20_000), units(HARMLESS * 8))
            rows = [row async for row in client.stream_results(job.name)]
            assert [row.index for row in rows] == list(range(80))
            assert all(row.analysis.nodes <= 20_000 for row in rows)
            jobs.append(job.name)
        await cutting
        assert [job.name async for job in client.list_jobs()] == jobs[::-1]
    await cluster.check_counts()
