"""A real worker host: Celery, a pool, the engine and a server; killed, told to stop, restarted."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import redis
from celery import Celery

from tests.worker.server import Server
from tilewarp.v1 import jobs_pb2, position_pb2
from worker.app import make_app, publish_canary, publish_tickets
from worker.settings import Settings
from worker.store import AsyncStore, Job, JobClass, JobId, JobState, NewJob, RowKind, RowOrder

ROOT = Path(__file__).parents[2]
RUN = "import sys; from worker.host import run; from worker.settings import Settings; "
RUN += "sys.exit(run(Settings.read()))"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


class Host:
    """A worker host of two slots, and what a gateway does for it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.app: Celery = make_app(settings)
        environment = {**os.environ, **settings.environment()}
        self.process = subprocess.Popen([sys.executable, "-c", RUN], env=environment, cwd=ROOT)

    def list_children(self) -> list[int]:
        pid = self.process.pid
        return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    async def sing(self, gateway: AsyncStore, seconds: float) -> str | None:
        """Send a canary through and return the name of the worker that answered."""
        nonce = os.urandom(4).hex()
        await asyncio.to_thread(publish_canary, self.app, nonce)
        for _ in range(int(seconds)):
            if name := await gateway.await_canary(nonce, 1):
                return name
            assert self.process.poll() is None, "the host has ended"
        return None

    async def finish(self, gateway: AsyncStore, job_id: JobId, seconds: float = 60) -> Job:
        """Sweep and issue tickets as a gateway does until a job has ended."""
        async with asyncio.timeout(seconds):
            while True:
                await gateway.sweep()
                needed = await gateway.tickets_needed()
                await asyncio.to_thread(publish_tickets, self.app, needed)
                job = await gateway.job(job_id)
                if job.state.is_ended:
                    return job
                await asyncio.sleep(0.1)


async def analyse(gateway: AsyncStore, count: int, nodes: int) -> JobId:
    """Submit starting positions of both games."""
    spec = jobs_pb2.JobSpecification()
    spec.analysis.limits.nodes = nodes
    job_id = await gateway.new_job_id()
    units = [
        position_pb2.Position(variant=("chakra", "caissa")[index % 2]).SerializeToString()
        for index in range(count)
    ]
    await gateway.stage(job_id, units, {})
    job = NewJob(
        job_id=job_id,
        kind="analysis",
        spec=spec.SerializeToString(),
        job_class=JobClass.BULK,
        client="ann",
        total=count,
        keep=60,
        engine_version="1",
        rules_version="1",
    )
    return (await gateway.commit(job)).job_id


async def until(holds: Callable[[], Awaitable[bool]], seconds: float) -> None:
    """Return once something holds; fail if it does not within so many seconds."""
    for _ in range(int(seconds / 0.02)):
        if await holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"not within {seconds} s")


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def is_claimed(gateway: AsyncStore, count: int) -> bool:
    return (await gateway.load())[JobClass.BULK].claimed == count


def fetch(url: str) -> str:
    with urllib.request.urlopen(url) as answer:
        return str(answer.read().decode())


@pytest.fixture
def own_server() -> Iterator[Server]:
    server = Server()
    server.start("--appendonly", "yes")
    yield server
    server.remove()


@pytest.fixture
def settings(own_server: Server) -> Settings:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        metrics = f"127.0.0.1:{free.getsockname()[1]}"
    return replace(
        Settings(),
        redis_url=own_server.url,
        workers=2,
        lease=1.0,
        sweep_interval=0.2,
        worker_metrics=metrics,
    )


@pytest.fixture
async def gateway(settings: Settings) -> AsyncIterator[AsyncStore]:
    gateway = AsyncStore(settings)
    yield gateway
    await gateway.close()


@pytest.fixture
async def host(settings: Settings, gateway: AsyncStore) -> AsyncIterator[Host]:
    """A host that has answered a canary."""
    host = Host(settings)
    try:
        name = await host.sing(gateway, 100)
        assert name is not None
        assert [(info.name, info.slots) for info in await gateway.workers()] == [(name, 2)]
        yield host
    finally:
        host.process.kill()
        host.process.wait()
        host.app.close()


async def test_a_job_through_a_pool_whose_child_is_killed(
    host: Host, gateway: AsyncStore, settings: Settings
):
    job_id = await analyse(gateway, 400, 20_000)
    running = asyncio.create_task(host.finish(gateway, job_id))

    async def is_halfway() -> bool:
        return (await gateway.job(job_id)).done >= 100

    await until(is_halfway, 30)
    before = host.list_children()
    os.kill(before[0], signal.SIGKILL)
    job = await running
    assert (job.done, job.quarantined, job.nodes) == (400, 0, 400 * 20_000)
    page = await gateway.rows(job_id, RowOrder.INPUT, 0, 500)
    assert [row.index for row in page.rows] == list(range(400))
    assert {row.kind for row in page.rows} == {RowKind.RESULT}
    finished = await gateway.rows(job_id, RowOrder.FINISHED, 0, 500)
    assert sorted(row.index for row in finished.rows) == list(range(400))
    lines = {
        str(jobs_pb2.ResultRow.FromString(row.payload).analysis.lines) for row in page.rows[::2]
    }
    assert len(lines) == 1
    totals = await gateway.totals()
    assert (totals.positions, totals.nodes) == (400, 400 * 20_000)
    assert totals.attempts == job.attempts >= 400

    async def is_replaced() -> bool:
        children = host.list_children()
        return len(children) == 2 and before[0] not in children

    await until(is_replaced, 15)
    text = await asyncio.to_thread(fetch, f"http://{settings.worker_metrics}/metrics")
    counts = dict(line.split(" ") for line in text.splitlines() if not line.startswith("#"))
    assert float(counts["tilewarp_worker_positions_total"]) >= 400
    assert float(counts["tilewarp_worker_tickets_total"]) >= 2


async def test_sigterm_hands_running_units_back(host: Host, gateway: AsyncStore):
    job_id = await analyse(gateway, 4, 10**12)
    await asyncio.to_thread(publish_tickets, host.app, 2)
    await until(lambda: is_claimed(gateway, 2), 10)
    children = host.list_children()
    began = time.monotonic()
    host.process.terminate()
    await until(lambda: is_claimed(gateway, 0), 10)
    assert await asyncio.to_thread(host.process.wait, 15) == 0
    assert time.monotonic() - began < 10
    assert not any(is_alive(pid) for pid in children)
    job = await gateway.job(job_id)
    assert (job.state, job.claimable, job.attempts) == (JobState.RUNNING, 4, 0)
    assert await gateway.workers() == []


async def test_a_host_refuses_a_store_that_evicts(redis_client: redis.Redis, server: Server):
    redis_client.config_set("maxmemory-policy", "allkeys-lru")
    redis_client.config_set("maxmemory", "1gb")
    settings = replace(Settings(), redis_url=server.url)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", RUN),
        env={**os.environ, **settings.environment()},
        cwd=ROOT,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(30):
            _, errors = await process.communicate()
    finally:
        redis_client.config_set("maxmemory", "0")
        redis_client.config_set("maxmemory-policy", "noeviction")
    assert process.returncode == 1
    assert b"EvictingPolicyError: the store's maxmemory-policy is allkeys-lru" in errors
