"""What each part of the service needs: processor time and store for each position, and memory.

    python bench/sizing.py [--positions N] [--workers N] [--seed N]

Starts a service of its own on loopback and ends it. A job of random positions, each searched for
one node only: what is measured is the service, not the search. Memory is the most that a process
had. `TILEWARP_MAX_CLAIM=1` makes each position a claim of its own, as long searches are.
"""

import argparse
import asyncio
import os
import random
import re
import socket
import urllib.request
from pathlib import Path

from service import (
    choose_positions,
    list_processes,
    read_processor_seconds,
    run_job,
    running_service,
)

from tilewarp.v1 import position_pb2

PARTS = ("gateway", "store", "worker host", "worker processes")


def find_parts(root: int) -> dict[str, list[int]]:
    """Return the processes of each part of a service, by the command they run."""
    parts: dict[str, list[int]] = {name: [] for name in PARTS}
    hosts = []
    for pid in list_processes(root)[1:]:
        words = Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        if parent in hosts:
            parts["worker processes"].append(pid)
        elif words[-1] == "worker":
            hosts.append(pid)
            parts["worker host"].append(pid)
        elif words[-1] == "gateway":
            parts["gateway"].append(pid)
        else:
            parts["store"].append(pid)
    return parts


def read_most_memory(pid: int) -> float:
    """Return the most memory that a process had resident, in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.M)
    assert found is not None
    return int(found[1]) / 1024


def read_store_bytes(metrics: str) -> float:
    """Return the memory that the store's server uses, as the gateway shows it."""
    with urllib.request.urlopen(f"http://{metrics}/metrics") as answer:
        text = answer.read().decode()
    found = re.search(r"^tilewarp_store_memory_bytes (\S+)", text, re.M)
    assert found is not None
    return float(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bench/sizing.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--positions", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        metrics = f"127.0.0.1:{free.getsockname()[1]}"
    os.environ |= {"TILEWARP_GATEWAY_METRICS": metrics, "TILEWARP_CACHE_MB": "0"}
    chosen = choose_positions(args.positions, random.Random(args.seed))
    positions = [position_pb2.Position(variant=variant, fen=fen) for variant, fen in chosen]
    with running_service(args.workers) as (pid, address):
        asyncio.run(run_job(address, positions[:200], 1))
        parts = find_parts(pid)
        seconds = {name: read_processor_seconds(pids) for name, pids in parts.items()}
        store = read_store_bytes(metrics)
        asyncio.run(run_job(address, positions, 1))
        print(f"{args.positions} positions, {args.workers} worker processes")
        for name, pids in parts.items():
            spent = read_processor_seconds(pids) - seconds[name]
            memory = max(map(read_most_memory, pids))
            print(f"{name:18}{1e6 * spent / args.positions:8.0f} us CPU a position", end="")
            print(f"{memory:8.0f} MB a process")
        kept = (read_store_bytes(metrics) - store) / args.positions
        print(f"{'the store keeps':18}{kept:8.0f} bytes a position")


if __name__ == "__main__":
    main()
