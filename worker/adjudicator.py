"""From a unit of an adjudication job, a game, to its verdict, by the engine of this process."""

from core.adjudication import adjudicate
from core.engine import Analysis, Engine
from core.limits import Limits
from core.position import Position
from tilewarp.v1 import adjudication_pb2, jobs_pb2
from worker.command import format_command
from worker.engine import renew
from worker.games import find_last_position, format_verdict, read_game, read_terms
from worker.limits import read_limits
from worker.results import format_provenance
from worker.store import ClaimedUnit, Finished


class _Stopped(Exception):
    """A search was stopped before its limits."""


class Adjudicator:
    """Adjudicates the games of adjudication jobs, one at a time."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._engine = Engine()
        # Of the searches that are finished in the unit that runs.
        self._nodes = 0
        self._seconds = 0.0

    @property
    def nodes(self) -> int:
        """Nodes searched for the game that runs."""
        return self._nodes + self._engine.nodes

    def take_progress(self) -> bytes | None:
        """Return None: nothing is told of a game before its verdict."""
        return None

    def stop(self) -> None:
        """End the game that runs now, at its search."""
        self._engine.stop()

    def run(self, spec: bytes, unit: ClaimedUnit) -> Finished | None:
        """Adjudicate a game; None when a search was stopped before its limits."""
        work = jobs_pb2.JobSpecification.FromString(spec).adjudication
        limits = read_limits(work.limits) if work.HasField("limits") else None
        game = adjudication_pb2.Game.FromString(unit.unit)
        record = read_game(game)

        def search(position: Position) -> Analysis:
            assert limits is not None
            return self._search(position, limits)

        self._nodes, self._seconds = 0, 0.0
        try:
            verdict = adjudicate(record, read_terms(work.terms), search if limits else None)
        except _Stopped:
            return None
        result = format_verdict(verdict)
        result.nodes = self._nodes
        result.time.FromMicroseconds(round(self._seconds * 1_000_000))
        threads = limits.threads if limits else 0
        result.provenance.MergeFrom(
            format_provenance(self._worker, threads=threads, attempt=unit.attempt)
        )
        if limits and verdict.evidence:
            result.provenance.command = format_command(find_last_position(game), limits)
        row = jobs_pb2.ResultRow(index=unit.index, fen=verdict.fen, adjudication=result)
        return Finished(unit.index, row.SerializeToString(), self._nodes, self._seconds)

    def _search(self, position: Position, limits: Limits) -> Analysis:
        """Search a position; its nodes and time are added to the game's."""
        try:
            found = self._engine.search(position, limits)
        finally:
            self._engine = renew(self._engine, limits)
        if found.ended == "stopped":
            raise _Stopped
        self._nodes += found.nodes
        self._seconds += found.seconds
        return found
