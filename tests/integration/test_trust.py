"""Results are found again on another worker host: a host that lies is found, and told by doctor."""

import asyncio
import json
from collections.abc import Callable

from gateway.supervisor import COMMAND
from tests.integration.cluster import (
    HARMLESS,
    Cluster,
    client_of,
    environment,
    finish,
    nodes,
    units,
    until,
)
from worker.store import Verdict

COUNT = 8

Start = Callable[..., Cluster]


async def test_a_host_that_lies_is_found_and_an_honest_one_is_not_blamed(
    start_cluster: Start,
) -> None:
    cluster = start_cluster(audit_share=1.0, cache_mb=1)
    gateway = cluster.start_gateway()
    first, second = cluster.start_worker(), cluster.start_worker()
    await cluster.has_workers(2)

    async def are_judged(**wanted: int) -> None:
        counts = {Verdict(name): count for name, count in wanted.items()}

        async def holds() -> bool:
            audits = (await cluster.store.totals()).audits
            return counts.items() <= audits.items()

        await until(holds, 60)

    async with client_of(gateway) as client:
        honest = await client.create_job(nodes(2000), units(HARMLESS[:COUNT]))
        await finish(client, honest, 60)
        await are_judged(agreed=COUNT, differed=0, unchecked=0)
        assert (await _doctor(cluster))["audits"]["health"] == "ok"
        second.fail_on(any="lie")
        asked = await client.create_job(nodes(2001), units(HARMLESS[:COUNT]))
        asked = await finish(client, asked, 60)
        await are_judged(agreed=COUNT, differed=COUNT, unchecked=0)
        # What the work of clients counts is not changed by it.
        assert len(cluster.ledger("done")) == 4 * COUNT
        totals = await cluster.store.totals()
        assert totals.positions == totals.attempts == 2 * COUNT
        rows = [row async for row in client.stream_results(asked.name)]
        assert asked.nodes == sum(row.analysis.nodes for row in rows)
        assert [job.name async for job in client.list_jobs()] == [asked.name, honest.name]
        # What differed is not cached, what agreed is.
        again = await client.create_job(nodes(2001), units(HARMLESS[:COUNT]))
        assert again.counts.cached == 0
        assert (await client.create_job(nodes(2000), units(HARMLESS))).counts.cached == COUNT
    log = gateway.log()
    assert log.count("two workers disagree") >= COUNT
    told = (await _doctor(cluster, code=1))["audits"]
    commands = {row.analysis.provenance.command for row in rows}
    for place in (log, told["seen"]):
        assert "score" in place
        for worker in (first, second):
            assert f":{worker.pid} found" in place
        assert any(command in place for command in commands)


async def _doctor(cluster: Cluster, code: int = 0) -> dict[str, dict[str, str]]:
    """Run the doctor on a cluster's store; return its last finding of each check."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *("doctor", "--redis", cluster.settings.redis_url, "--json"),
        stdout=asyncio.subprocess.PIPE,
        env=environment(cluster.settings),
    )
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == code, output
    findings = map(json.loads, output.splitlines())
    return {finding["check"]: finding for finding in findings}
