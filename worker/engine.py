"""From a unit of an analysis job to its result row, by the engine of this process."""

import time
from functools import lru_cache

from core.engine import Engine
from core.limits import Limits, size_table
from core.position import STARTPOS, Position
from tilewarp.v1 import jobs_pb2, position_pb2
from worker.cache import CacheKeys
from worker.command import format_command
from worker.limits import read_limits
from worker.results import format_analysis, format_progress, format_provenance
from worker.store import ClaimedUnit, Finished

MAX_KEPT_ENTRIES = 1 << 20
"""The largest table, 16 MB, that is kept for the next search."""


def renew(engine: Engine, limits: Limits) -> Engine:
    """Return an engine for the next search: nothing is told of the last, no large table kept."""
    engine.forget()
    return Engine() if size_table(limits) > MAX_KEPT_ENTRIES else engine


class Analyst:
    """Analyses the units of analysis jobs, one at a time."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._engine = Engine()
        self._begin = 0.0
        self._told_depth = 0

    @property
    def nodes(self) -> int:
        """Nodes of the search that runs; 0 when none does."""
        return self._engine.nodes

    def take_progress(self) -> bytes | None:
        """Return what is known once another depth is finished."""
        progress = self._engine.read_progress()
        if progress is None or progress.depth == self._told_depth:
            return None
        self._told_depth = progress.depth
        return format_progress(progress, time.monotonic() - self._begin).SerializeToString()

    def stop(self) -> None:
        """End the search that runs now."""
        self._engine.stop()

    def run(self, spec: bytes, unit: ClaimedUnit) -> Finished | None:
        """Analyse a position; None when the search was stopped before its limits."""
        wanted = position_pb2.Position.FromString(unit.unit)
        limits, cache_keys = _read_specification(spec)
        position = Position(wanted.variant, wanted.fen or STARTPOS)
        for move in wanted.moves:
            position.push(move)
        self._begin = time.monotonic()
        try:
            analysis = self._engine.search(position, limits)
        finally:
            self._told_depth = 0
            self._engine = renew(self._engine, limits)
        if analysis.ended == "stopped":
            return None
        result = format_analysis(analysis, limits)
        result.provenance.MergeFrom(
            format_provenance(
                self._worker,
                threads=limits.threads,
                attempt=unit.attempt,
                command=format_command(wanted, limits),
            )
        )
        row = jobs_pb2.ResultRow(fen=position.fen(), analysis=result)
        return Finished(
            unit.index,
            row.SerializeToString(),
            analysis.nodes,
            analysis.seconds,
            cache_key=cache_keys.find(unit.unit),
        )


@lru_cache(maxsize=8)
def _read_specification(spec: bytes) -> tuple[Limits, CacheKeys]:
    """Return what the units of a job have in common; the next unit mostly is of the same job."""
    limits = read_limits(jobs_pb2.JobSpecification.FromString(spec).analysis.limits)
    return limits, CacheKeys(limits)
