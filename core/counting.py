"""Counting lines exactly: split into units, on many threads, with or without a table of counts."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

import numpy as np

from core.perft import WORDS_PER_BUCKET
from core.record import borrow_record

if TYPE_CHECKING:
    from core.position import Position

# A kernel counts at most so many plies: its sum stays far below 2**64, and an interrupt need not
# wait for long.
KERNEL_DEPTH = 5
# So many plies are made before a unit is handed out, to have enough of them for all threads.
SPLIT_DEPTH = 2

_BYTES_PER_BUCKET = 8 * WORDS_PER_BUCKET
_PROGRESS_SECONDS = 0.1

# The first move of a line, the position after the plies that were split off, and the plies left.
Unit = tuple[str, bytes, int]


class CountTable:
    """A table of counts that all threads share; only positions of one variant may meet in it.

    `megabytes` is rounded down to a power of two.
    """

    def __init__(self, megabytes: int) -> None:
        buckets = 1 << ((megabytes << 20) // _BYTES_PER_BUCKET).bit_length() - 1
        self._words = np.zeros(buckets * WORDS_PER_BUCKET, dtype=np.uint64)
        self.mask = np.uint64(buckets - 1)
        # Where the words lie, for kernels; valid as long as the table lives.
        self.address = np.uint64(self._words.ctypes.data)


def count_lines(
    position: "Position", depth: int, threads: int = 1, table: CountTable | None = None
) -> int:
    """Return the number of legal lines of `depth` plies, exact at any size; 1 for depth 0."""
    if depth <= KERNEL_DEPTH and threads == 1 and table is None:
        return _make_counter(position, None)(("", position.snapshot(), depth))
    return sum(divide(position, depth, threads, table).values()) if depth else 1


def divide(
    position: "Position",
    depth: int,
    threads: int = 1,
    table: CountTable | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> dict[str, int]:
    """Return the number of lines that begin with each legal move; `depth` is at least 1.

    `on_progress` is called with the units done and their number while threads count.
    """
    counts = dict.fromkeys(position.legal_moves, 0)
    plies = max(1, min(SPLIT_DEPTH, depth - 1), depth - KERNEL_DEPTH)
    total = count_lines(position, plies) if on_progress else 0
    units = _split(position.copy(), plies, depth)
    lock = threading.Lock()
    end = threading.Event()
    done = 0

    def work() -> None:
        nonlocal done
        count = _make_counter(position, table)
        while not end.is_set():
            with lock:
                unit = next(units, None)
            if unit is None:
                return
            nodes = count(unit)
            with lock:
                counts[unit[0]] += nodes
                done += 1

    with ThreadPoolExecutor(threads) as pool:
        running = [pool.submit(work) for _ in range(threads)]
        try:
            while wait(running, timeout=_PROGRESS_SECONDS).not_done:
                if on_progress:
                    on_progress(done, total)
        finally:
            end.set()
    for future in running:
        future.result()
    return counts


def _split(position: "Position", plies: int, depth: int, first: str = "") -> Iterator[Unit]:
    """Yield a unit for each line of `plies`; `position` is changed meanwhile."""
    if plies == 0:
        yield first, position.snapshot(), depth
        return
    for move in position.legal_moves:
        position.push(move)
        yield from _split(position, plies - 1, depth - 1, first or move)
        position.pop()


def _make_counter(position: "Position", table: CountTable | None) -> Callable[[Unit], int]:
    """Return a function that counts units, on the record of the thread that calls this."""
    game = position.game
    record = borrow_record(game)
    entry, tables = game.entry, game.rules.TABLES

    def count(unit: Unit) -> int:
        _, snapshot, depth = unit
        record.write_position(snapshot)
        plies = np.uint64(depth)
        if table is None:
            return int(entry.count_lines(record.array, tables, plies))
        return int(entry.count_lines_hashed(record.array, tables, plies, table.address, table.mask))

    return count
