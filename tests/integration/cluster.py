"""The service in its parts, each a process that a test may kill, suspend, stop and start again."""

import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import redis

from gateway.client import Client
from gateway.processes import end, spawn
from tests.integration.faulty import TRIAL, Entry, read_ledger
from tests.integration.stack import find_children, is_alive
from tests.worker.server import Server
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2
from worker.alarm import SEIZED_SECONDS
from worker.app import make_app, publish_canary
from worker.settings import Settings
from worker.store import AsyncStore, JobId, Row, RowKind, RowOrder

START_SECONDS = 60.0
ROOT = Path(__file__).parents[2]
FAULTY = "tests.integration.faulty"
AS_ENGINE = """
import runpy, sys
import core.version
_, core.version.ENGINE_VERSION, *sys.argv = sys.argv
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""

# Moves that are legal in the first position of Chakra: units by their own names.
HARMLESS = ("b2b3", "b2b4", "c2c3", "c2c4", "e2e3", "e2e4", "f2f3", "f2f4", "g2g3", "g2g4")
POISON = "a1b3"


class Part:
    """A process of the service, with a log of its own."""

    def __init__(
        self, command: Sequence[str], environment: dict[str, str], log: Path, **given: Any
    ) -> None:
        self._log = log
        with log.open("ab") as stderr:
            self.process = spawn(command, environment=environment, stderr=stderr, **given)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def children(self) -> list[int]:
        return find_children(self.pid)

    def log(self) -> str:
        """Return what it logged."""
        return self._log.read_text(errors="replace")

    def kill(self) -> None:
        """Kill it at once, and wait until it is gone."""
        self.process.kill()
        end(self.process, 0)

    def terminate(self) -> None:
        """Ask it to end, without waiting."""
        self.process.terminate()

    async def wait(self, seconds: float) -> int:
        """Wait until it has ended; return its exit code."""
        await until(lambda: self.process.poll() is not None, seconds)
        return int(self.process.returncode)


class Worker(Part):
    """A worker host, with faults told by `fail_on`."""

    def __init__(
        self, program: Sequence[str], settings: Settings, files: Path, ledger: Path, seized: float
    ) -> None:
        self._faults = files.with_suffix(".faults")
        super().__init__(
            [*program, str(self._faults), str(ledger), str(seized)],
            environment(settings),
            files.with_suffix(".log"),
        )

    def fail_on(self, **faults: str) -> None:
        """Let units fail from now on, by their first move; `any` is every unit."""
        lines = [f"{'*' if move == 'any' else move} {fault}\n" for move, fault in faults.items()]
        temporary = self._faults.with_suffix(".new")
        temporary.write_text("".join(lines))
        temporary.replace(self._faults)


class GatewayProcess(Part):
    """A gateway; it serves when it is there."""

    def __init__(self, program: Sequence[str], settings: Settings, log: Path) -> None:
        command = [*program, "gateway"]
        super().__init__(command, environment(settings), log, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        word, _, self.address = self.process.stdout.readline().decode().strip().partition(" ")
        assert word == "listening", self.log()
        self._metrics = settings.gateway_metrics

    def scrape(self) -> dict[str, float]:
        """Return what it shows on /metrics."""
        with urllib.request.urlopen(f"http://{self._metrics}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        samples = (line.partition(" ") for line in lines if not line.startswith("#"))
        return {name: float(value) for name, _, value in samples}


class Cluster:
    """A store, and the gateways and worker hosts that a test starts on it.

    Args:
        directory: for logs.
        options: of the store's server.
        within: the words before the server's command, which run it elsewhere.
        given: settings of every part; unless told, nothing is cached or audited.
    """

    def __init__(
        self,
        directory: Path,
        options: Sequence[str] = (),
        *,
        within: Sequence[str] = (),
        **given: Any,
    ) -> None:
        self._directory = directory
        self.ledger_file = directory / "ledger"
        self.options = options
        self.server = Server(within)
        self.server.start(*options)
        self.settings = replace(
            Settings(),
            redis_url=self.server.url,
            listen="127.0.0.1:0",
            workers=1,
            **{"cache_mb": 0, "audit_share": 0.0, **given},
        )
        self.store = AsyncStore(self.settings)
        self._parts: list[Part] = []

    async def close(self) -> None:
        """End every process, and leave nothing behind."""
        self.stop_parts()
        await self.store.close()
        self.server.remove()

    def stop_parts(self) -> None:
        """End the gateways and worker hosts."""
        for part in reversed(self._parts):
            part.kill()
        self._parts.clear()

    def start_gateway(
        self, *, within: Sequence[str] = (), engine: str | None = None, **given: Any
    ) -> GatewayProcess:
        """Start a gateway, maybe of another engine's version, and wait until it serves."""
        given["gateway_metrics"] = find_free_address()
        log = self._directory / f"gateway{len(self._parts)}.log"
        program = [*within, *_program("gateway.cli", engine)]
        part = GatewayProcess(program, replace(self.settings, **given), log)
        self._parts.append(part)
        return part

    def start_worker(
        self,
        *,
        seized: float = SEIZED_SECONDS,
        within: Sequence[str] = (),
        engine: str | None = None,
        **given: Any,
    ) -> Worker:
        """Start a worker host, of one process unless told otherwise."""
        files = self._directory / f"worker{len(self._parts)}"
        given["metrics_dir"] = str(files.with_suffix(".metrics"))  # not left behind when killed
        program = [*within, *_program(FAULTY, engine)]
        settings = replace(self.settings, **given)
        part = Worker(program, settings, files, self.ledger_file, seized)
        self._parts.append(part)
        return part

    def ledger(self, event: str = "begun", move: str | None = None) -> list[Entry]:
        """Return what workers wrote of an event, of all units or those with a first move."""
        return [
            entry
            for entry in read_ledger(self.ledger_file)
            if entry.event == event and move in (None, entry.move) and entry.move != TRIAL
        ]

    async def has_workers(self, count: int) -> None:
        """Wait until so many worker hosts are there, and no other."""

        async def are_there() -> bool:
            return len(await self.store.workers()) == count

        await until(are_there, START_SECONDS)

    async def sing(self, seconds: float) -> float:
        """Send canaries until a worker has answered one; return the seconds it took."""
        began = time.monotonic()
        app = make_app(self.settings)

        async def is_answered() -> bool:
            nonce = os.urandom(4).hex()
            await asyncio.to_thread(publish_canary, app, nonce)
            return await self.store.await_canary(nonce, 1.0) is not None

        await until(is_answered, seconds)
        app.close()
        return time.monotonic() - began

    async def rows(self, job: jobs_pb2.Job) -> list[Row]:
        """Return the rows of a job by index."""
        page = await self.store.rows(job_id(job), RowOrder.INPUT, 0, job.counts.total)
        return list(page.rows)

    async def check_counts(self) -> None:
        """Compare the counts of every job, and the totals, with the rows that can be seen."""
        done = nodes = quarantined = attempts = 0
        for key in _connect(self.settings).scan_iter("tw:job:*", count=1000):
            found = JobId(key.decode().removeprefix("tw:job:"))
            if ":" in found:
                continue
            job = await self.store.job(found)
            page = await self.store.rows(found, RowOrder.FINISHED, 0, job.total)
            assert len({row.index for row in page.rows}) == len(page.rows)
            results = [
                jobs_pb2.ResultRow.FromString(row.payload).analysis
                for row in page.rows
                if row.kind is RowKind.RESULT
            ]
            given_up = [row for row in page.rows if row.kind is RowKind.QUARANTINED]
            assert job.done == len(results)
            assert job.nodes == sum(result.nodes for result in results)
            assert job.quarantined == len(given_up)
            done += job.done
            nodes += job.nodes
            quarantined += job.quarantined
            attempts += job.attempts
        totals = await self.store.totals()
        assert (totals.positions, totals.nodes) == (done, nodes)
        assert (totals.quarantined, totals.attempts) == (quarantined, attempts)


def client_of(gateway: GatewayProcess, name: str = "ann") -> Client:
    """Return a patient client of a gateway."""
    return Client(gateway.address, name=name, patience=60.0)


def units(moves: Sequence[str]) -> list[position_pb2.Position]:
    """Return the positions after one move each, by which faults know them."""
    return [position_pb2.Position(variant="chakra", moves=[move]) for move in moves]


def nodes(count: int) -> jobs_pb2.JobSpecification:
    """Return a specification with a limit of nodes."""
    return _specify(analysis_pb2.Limits(nodes=count))


def seconds(count: float) -> jobs_pb2.JobSpecification:
    """Return a specification with a limit of time."""
    limits = analysis_pb2.Limits()
    limits.time.FromMilliseconds(int(count * 1000))
    return _specify(limits)


def job_id(job: jobs_pb2.Job) -> JobId:
    """Return a job's id in the store."""
    return JobId(job.name.removeprefix("jobs/"))


async def finish(client: Client, job: jobs_pb2.Job, seconds: float) -> jobs_pb2.Job:
    """Wait until a job has ended, and return it."""
    async with asyncio.timeout(seconds):
        async for ended in client.watch_job(job.name):
            job = ended
    return job


async def until(holds: Callable[[], bool] | Callable[[], Awaitable[bool]], seconds: float) -> float:
    """Wait until something holds and return the seconds that took; fail if it does not in time."""
    began = time.monotonic()
    while True:
        answer = holds()
        if answer if isinstance(answer, bool) else await answer:
            return time.monotonic() - began
        assert time.monotonic() - began < seconds, f"not within {seconds} s"
        await asyncio.sleep(0.02)


def is_gone(pid: int) -> bool:
    """Return whether a process has ended."""
    return not is_alive(pid)


def _program(module: str, engine: str | None) -> list[str]:
    """Return how a module is run, by another engine's version if one is named."""
    if engine is None:
        return [sys.executable, "-P", "-m", module]
    return [sys.executable, "-P", "-c", AS_ENGINE, engine, module]


def _specify(limits: analysis_pb2.Limits) -> jobs_pb2.JobSpecification:
    return jobs_pb2.JobSpecification(analysis=jobs_pb2.AnalysisWork(limits=limits))


def find_free_address() -> str:
    """Return an address that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def environment(settings: Settings) -> dict[str, str]:
    """Return the environment of a process of the tests' own, or of the service."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        **settings.environment(),
    }


def _connect(settings: Settings) -> redis.Redis:
    return redis.Redis.from_url(settings.redis_url)
