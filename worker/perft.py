"""From a prefix of a perft job to its count, by the kernels of this process."""

import hashlib
import time

from core.counting import Counter, CountTable
from core.position import Position
from core.record import Record
from core.version import RULES_VERSION
from tilewarp.v1 import jobs_pb2
from worker.store import ClaimedUnit, Finished

TABLE_MB = 64
"""Of a process's table of counts, which all units of one variant share."""


class PerftRunner:
    """Counts the lines from prefixes, one at a time.

    A unit is its row with the count left out. One that is to be counted again is handed in so that
    another worker has to agree; each count after the first is by the keys in another order.
    """

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._counter: Counter | None = None
        self._variant = ""
        self._table: CountTable | None = None

    @property
    def nodes(self) -> int:
        """Nodes of the count that runs; 0 when none does."""
        counter = self._counter
        return counter.nodes if counter is not None else 0

    def take_progress(self) -> bytes | None:
        """Return None: nobody attends to a perft."""
        return None

    def stop(self) -> None:
        """End the count that runs now."""
        counter = self._counter
        if counter is not None:
            counter.stop()

    def run(self, spec: bytes, unit: ClaimedUnit) -> Finished | None:
        """Count a prefix; None when the count was stopped."""
        work = jobs_pb2.JobSpecification.FromString(spec).perft
        row = jobs_pb2.ResultRow.FromString(unit.unit)
        began = time.monotonic()
        position = Position(work.position.variant, row.fen)
        table = self._find_table(position.variant.name)
        has_other_keys = unit.counted % 2 == 1
        counter = Counter(position.game, Record(position.game), table, has_other_keys)
        self._counter = counter
        try:
            count = counter.count(position, row.perft.depth)
        finally:
            self._counter = None
        if count is None:
            return None
        seconds = time.monotonic() - began
        row.index = unit.index
        row.perft.count = str(count)
        row.perft.nodes = counter.nodes
        row.perft.time.FromMicroseconds(round(seconds * 1_000_000))
        row.perft.rules_version = RULES_VERSION
        row.perft.workers.append(self._worker)
        return Finished(
            unit.index,
            row.SerializeToString(),
            counter.nodes,
            seconds,
            amount=count * int(row.perft.multiplicity),
            needs_agreement=is_counted_again(row.fen, work.verify_share),
        )

    def _find_table(self, variant: str) -> CountTable:
        """Return the table of this variant's counts; only one variant's is kept."""
        if self._table is None or self._variant != variant:
            self._table, self._variant = None, variant  # the old one goes first
            self._table = CountTable(TABLE_MB)
        return self._table


def is_counted_again(fen: str, share: float) -> bool:
    """Return whether a prefix is among the share of all that is verified.

    The choice is by a digest of its text: the same for everybody, and like one at random.
    """
    digest = hashlib.sha256(fen.encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64
