"""The rate of perft: against another generator, on threads, with a table of counts.

    python bench/perft.py [--twin DIR] [--threads N] [--hash-mb MB]

Each position is counted in alternating rounds and by CPU time, so that what else the machine does
falls on both sides alike; compare ratios of one run, not rates of two.
"""

import argparse
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from core.counting import CountTable, count_lines
from core.position import Position
from core.record import Record

PERFT_FILES = Path(__file__).resolve().parent.parent / "tests" / "perft"
SOURCE_VARIABLE = "TILEWARP_TWIN_SOURCE"
BINARY_VARIABLE = "TILEWARP_TWIN"
MIN_ROUNDS = 9
MILLION = 10**6
_TOTAL = re.compile(r"^perft \d+ = (\d+)\b.*\bcpu ([\d.]+) s", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A position of a perft file, and the depth that takes about a second."""

    variant: str
    name: str
    depth: int

    @property
    def fen(self) -> str:
        return find_fen(self.variant, self.name)


@dataclass(frozen=True)
class Count:
    """What one round counted, and the seconds it took."""

    nodes: int
    cpu: float
    wall: float


# The other variants of Caissa share its generator.
CASES = (
    Case("chakra", "start", 6),
    Case("chakra", "chakra-2", 5),
    Case("chakra-mindsports", "start", 6),
    Case("chakra-mindsports", "chakra-mindsports-2", 5),
    Case("chakra-pritchard", "start", 6),
    Case("chakra-pritchard", "chakra-pritchard-2", 5),
    Case("caissa", "start", 6),
    Case("caissa", "caissa-1", 6),
)

Counter = Callable[[], Count]


def find_fen(variant: str, name: str) -> str:
    """Return the FEN of a position in the variant's perft file."""
    text = (PERFT_FILES / f"{variant}.perft").read_text()
    found = re.search(rf"^id {re.escape(name)}\nfen (.+)$", text, re.MULTILINE)
    if found is None:
        raise LookupError(f"no position {name} in {variant}.perft")
    return found[1]


def parse_total(output: str) -> tuple[int, float]:
    """Return the nodes and the CPU seconds that the other generator printed."""
    found = _TOTAL.search(output)
    if found is None:
        raise ValueError(f"no line `perft D = NODES … cpu SECONDS s` in {output!r}")
    return int(found[1]), float(found[2])


def describe_processor() -> str:
    """Return the processor's name, family and model as the system gives them."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    fields = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)$", text, re.MULTILINE))
    name = fields.get("model name", platform.machine())
    return f"{name}, family {fields.get('cpu family', '?')} model {fields.get('model', '?')}"


def count_in_kernel(case: Case) -> Counter:
    """Return a counter that calls the kernel itself: one thread, no table, last ply in bulk."""
    position = Position(case.variant, case.fen)
    game = position.game
    record = Record(game)
    position.write_state(record)
    R, TR, depth = record.array, game.rules.TABLES, np.uint64(case.depth)
    return lambda: measure(lambda: int(game.entry.count_lines(R, TR, depth)))


def count_in_units(case: Case, threads: int, megabytes: int) -> Counter:
    """Return a counter that does what `tilewarp perft` does; the table is empty at first."""
    position = Position(case.variant, case.fen)

    def count() -> int:
        table = CountTable(megabytes) if megabytes else None
        return count_lines(position, case.depth, threads, table)

    return lambda: measure(count)


def count_in_twin(case: Case, binary: Path, megabytes: int) -> Counter:
    """Return a counter that runs the other generator, whose own CPU time counts."""
    command = [str(binary), case.variant, "perft", str(case.depth), case.fen]
    command += ["--hash", str(megabytes)] if megabytes else []

    def count() -> Count:
        begin = time.perf_counter()
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        nodes, cpu = parse_total(run.stdout)
        return Count(nodes, cpu, time.perf_counter() - begin)

    return count


def measure(count: Callable[[], int]) -> Count:
    """Count once, and take the time of this process and of the clock."""
    wall, cpu = time.perf_counter(), time.process_time()
    nodes = count()
    return Count(nodes, time.process_time() - cpu, time.perf_counter() - wall)


def alternate(counters: list[Counter], rounds: int) -> list[list[Count]]:
    """Run the counters in turn, the first one changing from round to round; return their counts.

    Each runs once before, uncounted. All must find the same number of nodes.
    """
    for counter in counters:
        counter()
    counts: list[list[Count]] = [[] for _ in counters]
    for number in range(rounds):
        order = list(range(len(counters)))
        for index in order if number % 2 == 0 else reversed(order):
            counts[index].append(counters[index]())
    nodes = {count.nodes for series in counts for count in series}
    if len(nodes) > 1:
        raise SystemExit(f"the counts differ: {sorted(nodes)}")
    return counts


def rates(series: list[Count]) -> tuple[float, float]:
    """Return millions of nodes per CPU second: the median and the best of the rounds."""
    cpu = [count.cpu for count in series]
    nodes = series[0].nodes / MILLION
    return nodes / statistics.median(cpu), nodes / min(cpu)


def compare_with_twin(cases: list[Case], rounds: int, binary: Path | None, megabytes: int) -> None:
    """Print the rates of both sides and the ratio, which is above 1 where ours is faster."""
    print("million nodes per CPU second, median (best); ratio of medians (of bests)")
    for case in cases:
        ours = count_in_units(case, 1, megabytes) if megabytes else count_in_kernel(case)
        counters = [ours] + ([count_in_twin(case, binary, megabytes)] if binary else [])
        counts = alternate(counters, rounds)
        median, best = rates(counts[0])
        cells = [f"tilewarp {median:.0f} ({best:.0f})"]
        if binary:
            twin_median, twin_best = rates(counts[1])
            cells.append(f"twin {twin_median:.0f} ({twin_best:.0f})")
            cells.append(f"ratio {median / twin_median:.2f} ({best / twin_best:.2f})")
        print_row(case, counts[0][0].nodes, cells)


def compare_threads(cases: list[Case], rounds: int, threads: int, megabytes: int) -> None:
    """Print how much faster many threads are than one, by the clock, and what they cost in CPU."""
    print(f"{threads} threads against one, medians: times as fast by the clock; CPU time of all")
    print("threads together, over that of one (1.00: they share nothing that slows them down)")
    for case in cases:
        counters = [count_in_units(case, n, megabytes) for n in (1, threads)]
        one, many = alternate(counters, rounds)
        speedup = median_ratio([c.wall for c in one], [c.wall for c in many])
        cost = median_ratio([c.cpu for c in many], [c.cpu for c in one])
        wall = statistics.median(c.wall for c in many)
        cells = [f"clock {speedup:.2f} times as fast ({wall:.2f} s)", f"CPU time {cost:.2f}"]
        print_row(case, one[0].nodes, cells)


def median_ratio(above: list[float], below: list[float]) -> float:
    """Return the ratio of the medians."""
    return statistics.median(above) / statistics.median(below)


def print_row(case: Case, nodes: int, cells: list[str]) -> None:
    name = "start" if case.name == "start" else case.name.removeprefix(f"{case.variant}-")
    print(f"{case.variant:<18} {name:<6} depth {case.depth} {nodes:>14}", *cells, sep="  ")
    sys.stdout.flush()


def build_twin(source: Path, directory: Path) -> Path:
    """Copy the other generator's sources into a directory, build them there, return the binary."""
    copy = directory / "twin"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("*.o", "oracle"))
    subprocess.run(["make", "--silent", "-C", str(copy)], check=True)
    return copy / "oracle"


def find_twin(source: Path | None, stack: ExitStack) -> Path | None:
    """Return the binary of the other generator: built from its source, or ready, or none named."""
    named = os.environ.get(SOURCE_VARIABLE)
    source = source or (Path(named) if named else None)
    if source is not None:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="tilewarp-twin-"))
        return build_twin(source, Path(directory))
    ready = os.environ.get(BINARY_VARIABLE)
    return Path(ready) if ready else None


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure perft: our rate, and its ratio to another generator's, on one thread "
        "and without a table of counts. Both count in alternating rounds; every rate is per CPU "
        "second.",
        epilog="Without --twin and both variables, only our own rate is measured. "
        "docs/performance.md has figures and what they mean.",
    )
    parser.add_argument(
        "--twin",
        type=Path,
        metavar="DIR",
        help="source directory of the other generator, copied and built by its Makefile "
        f"(default: ${SOURCE_VARIABLE}; or name the ready program by ${BINARY_VARIABLE})",
    )
    parser.add_argument(
        "--variant",
        action="append",
        choices=list(dict.fromkeys(case.variant for case in CASES)),
        help="measure this variant alone; may be repeated (default: all)",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=MIN_ROUNDS,
        metavar="N",
        help=f"rounds of each side (default and least: {MIN_ROUNDS})",
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        metavar="N",
        help="compare N threads with one, instead of us with the other generator",
    )
    parser.add_argument(
        "--hash-mb",
        type=int,
        default=0,
        metavar="MB",
        help="count one ply deeper, each side with an empty table of this size",
    )
    return parser


def main() -> None:
    parser = make_parser()
    args = parser.parse_args()
    if args.rounds < MIN_ROUNDS or args.threads < 1 or args.hash_mb < 0:
        parser.error(f"at least {MIN_ROUNDS} rounds, 1 thread and 0 MB")
    deeper = 1 if args.hash_mb else 0
    cases = [
        Case(case.variant, case.name, case.depth + deeper)
        for case in CASES
        if args.variant is None or case.variant in args.variant
    ]
    print(f"{describe_processor()}; {date.today()}; {args.rounds} rounds")
    with ExitStack() as stack:
        if args.threads > 1:
            compare_threads(cases, args.rounds, args.threads, args.hash_mb)
        else:
            twin = find_twin(args.twin, stack)
            compare_with_twin(cases, args.rounds, twin, args.hash_mb)


if __name__ == "__main__":
    main()
