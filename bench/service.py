"""What the service costs: beside a bare pool of processes, from its cache, and a single call.

    python bench/service.py [--positions N] [--nodes N] [--workers N] [--rounds N]
                            [--cached N] [--calls N] [--seed N]

Starts a service of its own on loopback and ends it. Bulk: the same random positions are analysed as
a job and by a bare pool of as many processes, in turn; wall-clock seconds are from the first byte
sent to the last row read, processor seconds those of all processes that do the work, the client
left out. Cache: a job whose positions all have been analysed before. Calls: one `Analyse` after
another, its time by the client's clock less the time of its search.
"""

import argparse
import asyncio
import multiprocessing
import os
import random
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.pool import Pool

from core.engine import Engine
from core.games import VARIANTS
from core.limits import Limits
from core.position import Position
from gateway.client import Client
from gateway.processes import end, spawn
from gateway.supervisor import COMMAND
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2

STOP_SECONDS = 60.0
MAX_PLIES = 40
CHUNK = 8
"""Positions that a process of the bare pool takes at once."""
CACHED_NODES = 500
TICKS = os.sysconf("SC_CLK_TCK")


def choose_positions(count: int, rng: random.Random) -> list[tuple[str, str]]:
    """Return so many positions of random games, none twice, each as its variant and its text."""
    names, chosen = list(VARIANTS), dict[tuple[str, str], None]()
    while len(chosen) < count:
        position = Position(rng.choice(names))
        for _ in range(rng.randint(1, MAX_PLIES)):
            if not position.legal_moves:
                break
            position.push(rng.choice(position.legal_moves))
        chosen[position.variant.name, position.fen()] = None
    return list(chosen)


# The bare pool


def start_process() -> None:
    """Compile nothing later: load both games. Runs in each process of the pool."""
    global engine
    engine = Engine()
    for name in VARIANTS:
        engine.search(Position(name), Limits(nodes=1000))


def analyse(task: tuple[str, str, int]) -> int:
    """Analyse a position as a worker does and return the nodes."""
    variant, fen, nodes = task
    return engine.search(Position(variant, fen), Limits(nodes=nodes)).nodes


@contextmanager
def bare_pool(workers: int) -> Iterator[Pool]:
    """Run a pool of processes that are ready to search."""
    with multiprocessing.get_context("spawn").Pool(workers, start_process) as pool:
        pool.map(analyse, [("chakra", "startpos", 1000)] * CHUNK * workers, CHUNK)
        yield pool


# The service


@contextmanager
def running_service(workers: int) -> Iterator[tuple[int, str]]:
    """Run a service and yield its process id and its address."""
    service = spawn(
        [*COMMAND, "serve", "--listen", "127.0.0.1:0", "--workers", str(workers)],
        death_signal=signal.SIGTERM,
        environment={"TILEWARP_LOG_LEVEL": "WARNING", **os.environ},
        stdout=subprocess.PIPE,
    )
    try:
        assert service.stdout is not None
        word, _, address = service.stdout.readline().decode().strip().partition(" ")
        if word != "ready":
            raise SystemExit("the service does not start")
        yield service.pid, address
    finally:
        end(service, STOP_SECONDS)


def list_processes(root: int) -> list[int]:
    """Return a process and all that descend from it."""
    parents = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def read_processor_seconds(pids: Sequence[int]) -> float:
    """Return the processor time of processes so far."""
    ticks = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat") as file:
            ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
    return ticks / TICKS


async def run_job(
    address: str, positions: Sequence[position_pb2.Position], nodes: int
) -> list[jobs_pb2.ResultRow]:
    """Analyse positions as a job and return its rows."""
    work = jobs_pb2.AnalysisWork(limits=analysis_pb2.Limits(nodes=nodes))
    specification = jobs_pb2.JobSpecification(analysis=work)
    async with Client(address) as client:
        job = await client.create_job(specification, positions)
        return [row async for row in client.stream_results(job.name)]


async def time_calls(
    address: str, positions: Sequence[position_pb2.Position], nodes: int
) -> list[float]:
    """Return, of one `Analyse` after another, the seconds beyond those of its search."""
    beyond = []
    async with Client(address) as client:
        for position in positions:
            begin = time.monotonic()
            async for result in client.analyse(position, analysis_pb2.Limits(nodes=nodes)):
                last = result
            seconds = time.monotonic() - begin
            beyond.append(seconds - last.time.ToNanoseconds() / 1e9)
    return beyond


def measure_bulk(pid: int, address: str, pool: Pool, args: argparse.Namespace) -> None:
    """Print the times of service and pool, in turn, and their ratios."""
    print(f"bulk: {args.positions} positions, {args.nodes} nodes each, {args.workers} processes")
    print("          service: s   CPU s    pool: s   CPU s    pool/service: s   CPU")
    ratios = []
    for number in range(args.rounds):
        chosen = choose_positions(args.positions, random.Random(f"{args.seed} {number}"))
        positions = [position_pb2.Position(variant=variant, fen=fen) for variant, fen in chosen]
        pids = list_processes(pid)
        before, begin = read_processor_seconds(pids), time.monotonic()
        rows = asyncio.run(run_job(address, positions, args.nodes))
        service = (time.monotonic() - begin, read_processor_seconds(pids) - before)
        tasks = [(variant, fen, args.nodes) for variant, fen in chosen]
        pids = [child.pid for child in multiprocessing.active_children() if child.pid]
        before, begin = read_processor_seconds(pids), time.monotonic()
        nodes = sum(pool.map(analyse, tasks, CHUNK))
        bare = (time.monotonic() - begin, read_processor_seconds(pids) - before)
        if sum(row.analysis.nodes for row in rows) != nodes:
            raise SystemExit("service and pool did not do the same work")
        ratios.append((bare[0] / service[0], bare[1] / service[1]))
        print(
            f"          {service[0]:10.2f} {service[1]:7.2f} {bare[0]:10.2f} {bare[1]:7.2f} "
            f"{ratios[-1][0]:18.3f} {ratios[-1][1]:5.3f}",
            flush=True,
        )
    wall, processor = (statistics.median(column) for column in zip(*ratios, strict=True))
    print(f"median {wall:53.3f} {processor:5.3f}")


def measure_cached(pid: int, address: str, args: argparse.Namespace) -> None:
    """Print how many positions a second are answered that have been analysed before."""
    chosen = choose_positions(args.cached, random.Random(f"{args.seed} cached"))
    positions = [position_pb2.Position(variant=variant, fen=fen) for variant, fen in chosen]
    asyncio.run(run_job(address, positions, CACHED_NODES))
    rates, processor = [], []
    pids = list_processes(pid)
    for _ in range(args.rounds):
        before, begin = read_processor_seconds(pids), time.monotonic()
        rows = asyncio.run(run_job(address, positions, CACHED_NODES))
        rates.append(args.cached / (time.monotonic() - begin))
        processor.append((read_processor_seconds(pids) - before) / args.cached)
        if not all(row.analysis.provenance.from_cache for row in rows):
            raise SystemExit("some positions were searched again")
    print(f"cache: {args.cached} positions, median of {args.rounds} jobs: ", end="")
    print(
        f"{statistics.median(rates):.0f} positions a second, "
        f"{1e6 * statistics.median(processor):.0f} us CPU each",
        flush=True,
    )


def measure_calls(address: str, args: argparse.Namespace) -> None:
    """Print what single calls cost above their searches."""
    chosen = choose_positions(args.calls, random.Random(f"{args.seed} calls"))
    positions = [position_pb2.Position(variant=variant, fen=fen) for variant, fen in chosen]
    beyond = sorted(asyncio.run(time_calls(address, positions, args.nodes)))
    p50, p99 = (1000 * beyond[int(share * len(beyond))] for share in (0.5, 0.99))
    print(f"calls: {args.calls}, {args.nodes} nodes each, beyond the search: ", end="")
    print(f"median {p50:.1f} ms, 99 % within {p99:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bench/service.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--positions", type=int, default=2000)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cached", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with bare_pool(args.workers) as pool, running_service(args.workers) as (pid, address):
        measure_bulk(pid, address, pool, args)
        measure_cached(pid, address, args)
        measure_calls(address, args)


if __name__ == "__main__":
    main()
