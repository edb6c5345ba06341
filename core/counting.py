"""Counting lines exactly: split into units, on many threads, with or without a table of counts."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.games import Game
from core.lead import SHARED_WORDS, STOP
from core.perft import WORDS_PER_BUCKET
from core.record import Record, borrow_record

if TYPE_CHECKING:
    from core.position import Position

# A kernel counts at most so many plies: its sum stays far below 2**64, and an interrupt need not
# wait for long.
KERNEL_DEPTH = 5
# So many plies are made before a unit is handed out, to have enough of them for all threads.
SPLIT_DEPTH = 2

# Of so many plies a kernel's sum is exact in 64 bits, whatever the position: 512 moves at most.
MAX_EXACT_DEPTH = 7

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


class Counter:
    """Counts lines of a game on one record, one position at a time.

    Another thread may look at `nodes` and stop it, while it counts with a table.

    Args:
        game: the game.
        record: to work on.
        table: of counts; None: each line is counted.
        has_other_keys: whether the two keys change places, so that the table is used otherwise.
    """

    def __init__(
        self,
        game: Game,
        record: Record,
        table: CountTable | None = None,
        has_other_keys: bool = False,
    ) -> None:
        self._game = game
        self._record = record
        self._table = table
        self._has_other_keys = has_other_keys
        tables: NDArray[Any] = game.rules.TABLES
        self._tables = _exchange_keys(tables) if has_other_keys else tables
        self._shared = np.zeros(SHARED_WORDS, dtype=np.uint64)
        record.array["shared_address"] = self._shared.ctypes.data
        record.array["nodes"] = record.array["stopped"] = 0

    @property
    def nodes(self) -> int:
        """Positions that were not found in the table, so far."""
        return int(self._record.array["nodes"][0])

    def stop(self) -> None:
        """End the counting, soon and for good."""
        self._shared[STOP] = 1

    def count(self, position: "Position", depth: int) -> int | None:
        """Return the number of lines from a position, exact at any size; None when stopped."""
        if depth <= MAX_EXACT_DEPTH:
            count = self.count_snapshot(position.snapshot(), depth)
            return None if self._shared[STOP] else count
        total = 0
        for move in position.legal_moves:
            position.push(move)
            below = self.count(position, depth - 1)
            position.pop()
            if below is None:
                return None
            total += below
        return total

    def count_snapshot(self, snapshot: bytes, depth: int) -> int:
        """Return the number of lines from a position's bytes, modulo 2**64."""
        record, entry, plies = self._record, self._game.entry, np.uint64(depth)
        record.write_position(snapshot)
        if self._has_other_keys:
            key, key2 = record.array["key"][0], record.array["key2"][0]
            record.array["key"], record.array["key2"] = key2, key
        if self._table is None:
            return int(entry.count_lines(record.array, self._tables, plies))
        address, mask = self._table.address, self._table.mask
        return int(entry.count_lines_hashed(record.array, self._tables, plies, address, mask))


def _exchange_keys(tables: NDArray[Any]) -> NDArray[Any]:
    """Return a game's tables with the two sets of hash keys in each other's place."""
    exchanged = tables.copy()
    for name in exchanged.dtype.names or ():
        if name.endswith("_keys"):
            exchanged[name][0] = tables[name][0][::-1]
    return exchanged


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
    counter = Counter(position.game, borrow_record(position.game), table)

    def count(unit: Unit) -> int:
        _, snapshot, depth = unit
        return counter.count_snapshot(snapshot, depth)

    return count
