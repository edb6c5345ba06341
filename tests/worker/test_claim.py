"""One claim as it runs: handing in, renewing, stopping, failing, hanging; with a puppet engine."""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import redis
from prometheus_client import CollectorRegistry

from core.version import ENGINE_VERSION, RULES_VERSION
from tests.worker.jobs import ask, submit
from tests.worker.puppet import Puppet
from tests.worker.server import Server
from worker.claim import HUNG_EXIT_CODE, ClaimRun
from worker.metrics import WorkerMetrics
from worker.settings import Settings
from worker.store import (
    AsyncStore,
    Claim,
    JobClass,
    JobId,
    JobState,
    RowKind,
    RowOrder,
    Store,
    WorkerInfo,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture
def settings(server: Server) -> Settings:
    return replace(
        Settings(), redis_url=server.url, lease=0.4, flush_interval=0.05, sweep_interval=0.1
    )


@pytest.fixture
def metrics() -> WorkerMetrics:
    return WorkerMetrics(CollectorRegistry())


class Runs:
    """Makes claims and runs them."""

    def __init__(self, store: Store, settings: Settings, metrics: WorkerMetrics) -> None:
        self.store = store
        self.settings = settings
        self.metrics = metrics
        self.is_stopping = False

    async def prepare(self, gateway: AsyncStore, units: int) -> tuple[JobId, Claim]:
        """Return a job and a claim of its units 1 to `units`, the first being done."""
        job_id = await submit(gateway, 2 * units + 1)
        self.run(self.claim(), Puppet(0))
        claim = self.claim()
        assert [int(unit.index) for unit in claim.units] == list(range(1, units + 1))
        return job_id, claim

    def claim(self) -> Claim:
        claim = self.store.claim("w")
        assert claim is not None
        return claim

    def run(self, claim: Claim, puppet: Puppet) -> None:
        """Run a claim to its end."""
        ClaimRun(
            self.store, puppet, self.metrics, self.settings, lambda: self.is_stopping, claim
        ).run()


@pytest.fixture
def runs(store: Store, settings: Settings, metrics: WorkerMetrics) -> Runs:
    return Runs(store, settings, metrics)


def later(seconds: float, call: Callable[[], object]) -> threading.Timer:
    timer = threading.Timer(seconds, call)
    timer.start()
    return timer


async def test_rows_are_handed_in_while_the_rest_runs(gateway: AsyncStore, runs: Runs):
    job_id, claim = await runs.prepare(gateway, 4)
    running = asyncio.create_task(asyncio.to_thread(runs.run, claim, Puppet(0.15)))
    await asyncio.sleep(0.4)
    assert 1 < (await gateway.job(job_id)).done < 5
    await running
    job = await gateway.job(job_id)
    assert (job.done, job.nodes, job.attempts) == (5, 25, 5)
    assert runs.metrics.positions._value.get() == 5


async def test_the_log_has_one_line_a_unit(
    gateway: AsyncStore, runs: Runs, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("DEBUG", "worker.claim")
    job_id, claim = await runs.prepare(gateway, 4)
    caplog.clear()
    await asyncio.to_thread(runs.run, claim, Puppet(0))
    assert [(record.job, record.unit) for record in caplog.records] == [
        (job_id, index) for index in range(1, 5)
    ]
    assert all(record.nodes == 5 for record in caplog.records)


@pytest.mark.parametrize("is_attended", [True, False])
async def test_progress_is_told_where_somebody_attends(
    gateway: AsyncStore, runs: Runs, is_attended: bool
):
    runs.store.announce(WorkerInfo("w", "host", 1, 1, ENGINE_VERSION, RULES_VERSION))
    job_id = await (ask(gateway) if is_attended else submit(gateway, 1))
    events = gateway.events()
    assert await anext(events) is None
    running = asyncio.create_task(asyncio.to_thread(runs.run, runs.claim(), Puppet(0.3)))
    told = []
    async for event in events:
        if event is None:
            break
        told.append(event)
    await running
    await events.aclose()
    assert {event.job_id for event in told} == {job_id}
    progress = [event.progress for event in told if event.progress is not None]
    assert (len(progress) >= 3) is is_attended
    assert told[-1].progress is None  # the row
    assert (await gateway.job(job_id)).done == 1


async def test_a_unit_longer_than_every_lease_runs_once(
    gateway: AsyncStore, runs: Runs, settings: Settings
):
    job_id = await submit(gateway, 1)
    puppet = Puppet(3 * settings.lease)
    running = asyncio.create_task(asyncio.to_thread(runs.run, runs.claim(), puppet))
    while not running.done():
        assert (await gateway.sweep()).lost_claims == 0
        await asyncio.sleep(0.05)
    assert (await gateway.job(job_id)).state is JobState.SUCCEEDED
    assert len(puppet.ran) == 1


async def test_cancelling_stops_the_unit_that_runs(gateway: AsyncStore, runs: Runs):
    job_id, claim = await runs.prepare(gateway, 2)
    puppet = Puppet(30)
    began = time.monotonic()
    running = asyncio.create_task(asyncio.to_thread(runs.run, claim, puppet))
    await asyncio.sleep(0.1)
    await gateway.cancel(job_id)
    await running
    assert time.monotonic() - began < 1
    assert len(puppet.ran) == 1
    assert runs.metrics.lost_claims._value.get() == 1
    assert (await gateway.job(job_id)).done == 1


async def test_stopping_hands_in_what_is_done_and_the_rest_back(gateway: AsyncStore, runs: Runs):
    job_id, claim = await runs.prepare(gateway, 4)
    timer = later(0.3, lambda: setattr(runs, "is_stopping", True))
    began = time.monotonic()
    runs.run(claim, Puppet(0.2))
    timer.join()
    assert time.monotonic() - began < 0.6
    job = await gateway.job(job_id)
    assert (job.done, job.attempts, job.claimable) == (2, 2, 7)
    assert (await gateway.load())[JobClass.BULK].claimed == 0
    assert runs.claim().units[0].attempt == 1


async def test_a_failing_unit_does_not_harm_its_neighbours(gateway: AsyncStore, runs: Runs):
    job_id, claim = await runs.prepare(gateway, 3)
    runs.run(claim, Puppet(0, fails=b"unit 2"))
    job = await gateway.job(job_id)
    assert (job.done, job.attempts, job.claimable) == (3, 4, 4)
    again = runs.claim()
    assert [(unit.index, unit.attempt) for unit in again.units] == [(2, 2)]
    runs.run(again, Puppet(0))
    row = (await gateway.rows(job_id, RowOrder.INPUT, 2, 1)).rows[0]
    assert row.kind is RowKind.RESULT


async def test_a_hung_unit_ends_the_process_and_is_named(gateway: AsyncStore, settings: Settings):
    job_id = await submit(gateway, 1)
    for _ in range(3):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.worker.puppet"),
            env={**os.environ, **settings.environment()},
            cwd=ROOT,
        )
        assert await asyncio.wait_for(process.wait(), 20) == HUNG_EXIT_CODE
    job = await gateway.job(job_id)
    assert (job.state, job.quarantined) == (JobState.SUCCEEDED, 1)
    row = (await gateway.rows(job_id, RowOrder.INPUT, 0, 1)).rows[0]
    assert (row.workers, row.cause) == (["w"] * 3, "hung: no node was searched in 0.4 s")


async def test_rows_wait_for_a_store_that_is_away(metrics: WorkerMetrics, settings: Settings):
    server = Server()
    server.start("--appendonly", "yes")
    there = replace(settings, redis_url=server.url, lease=5.0)
    store, gateway = Store(there), AsyncStore(there)
    try:
        job_id = await submit(gateway, 1)
        claim = store.claim("w")
        assert claim is not None
        server.stop()
        run = ClaimRun(store, Puppet(0.3), metrics, there, lambda: False, claim)
        running = asyncio.create_task(asyncio.to_thread(run.run))
        await asyncio.sleep(1.0)
        server.start("--appendonly", "yes")
        await running
        assert (await gateway.job(job_id)).state is JobState.SUCCEEDED
    finally:
        await gateway.close()
        store.close()
        server.remove()


async def test_stopping_does_not_wait_for_a_store_that_is_away(
    metrics: WorkerMetrics, settings: Settings, redis_client: redis.Redis, gateway: AsyncStore
):
    await submit(gateway, 1)
    store = Store(settings)
    claim = store.claim("w")
    assert claim is not None
    away = Store(replace(settings, redis_url="redis://127.0.0.1:1/0"))
    began = time.monotonic()
    ClaimRun(away, Puppet(0.1), metrics, settings, lambda: True, claim).run()
    assert time.monotonic() - began < 2
    store.close()
