"""From a unit of an analysis job to its result row, by the engine of this process."""

import shlex
from typing import Protocol

from core.engine import Analysis, Engine
from core.limits import Limits
from core.position import STARTPOS, Position
from core.version import ENGINE_VERSION, RULES_VERSION
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2
from worker.outcomes import OUTCOMES
from worker.store import ClaimedUnit, Finished


class UnitRunner(Protocol):
    """Runs one unit at a time; another thread may look at it and stop it."""

    @property
    def nodes(self) -> int:
        """Nodes searched so far: moves while a search makes progress."""

    def run(self, spec: bytes, unit: ClaimedUnit) -> Finished | None:
        """Run a unit to its end; None when it was stopped."""

    def stop(self) -> None:
        """End the unit that runs now, soon. From another thread."""


class Analyst:
    """Analyses the units of analysis jobs, one at a time, with one engine."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._engine = Engine()

    @property
    def nodes(self) -> int:
        """Nodes of the search that runs, or ran last."""
        return self._engine.nodes

    def stop(self) -> None:
        """End the search that runs now."""
        self._engine.stop()

    def run(self, spec: bytes, unit: ClaimedUnit) -> Finished | None:
        """Analyse a position; None when the search was stopped before its limits."""
        wanted = position_pb2.Position.FromString(unit.unit)
        limits = read_limits(jobs_pb2.JobSpecification.FromString(spec).analysis.limits)
        position = Position(wanted.variant, wanted.fen or STARTPOS)
        for move in wanted.moves:
            position.push(move)
        analysis = self._engine.search(position, limits)
        if analysis.stopped:
            return None
        result = format_analysis(analysis)
        result.stop_reason = find_stop_reason(analysis, limits)
        result.provenance.MergeFrom(
            analysis_pb2.Provenance(
                engine_version=ENGINE_VERSION,
                rules_version=RULES_VERSION,
                worker=self._worker,
                threads=1,
                command=format_command(wanted, limits),
                attempt=unit.attempt,
            )
        )
        result.provenance.finish_time.GetCurrentTime()
        row = jobs_pb2.ResultRow(index=unit.index, fen=position.fen(), analysis=result)
        return Finished(unit.index, row.SerializeToString(), analysis.nodes, analysis.seconds)


def read_limits(limits: analysis_pb2.Limits) -> Limits:
    """Return the engine's limits; what the message leaves at zero does not limit."""
    return Limits(
        nodes=limits.nodes or None,
        depth=limits.depth or None,
        movetime=limits.time.ToMilliseconds() or None,
    )


def format_analysis(analysis: Analysis) -> analysis_pb2.AnalysisResult:
    """Return the message of an analysis, stop reason and provenance left out."""
    result = analysis_pb2.AnalysisResult(
        best_move=analysis.bestmove or "",
        score=format_score(analysis.score.cp, analysis.score.mate),
        lines=[
            analysis_pb2.Line(
                rank=line.rank, score=format_score(line.score.cp, line.score.mate), moves=line.pv
            )
            for line in analysis.lines
        ],
        depth=analysis.depth,
        nodes=analysis.nodes,
        outcome=OUTCOMES[analysis.result],
    )
    result.time.FromMicroseconds(round(analysis.seconds * 1_000_000))
    return result


def find_stop_reason(analysis: Analysis, limits: Limits) -> "analysis_pb2.StopReason.ValueType":
    """Return LIMIT if the search reached one of its limits, else FINISHED."""
    is_limited = (
        (limits.nodes is not None and analysis.nodes >= limits.nodes)
        or (limits.depth is not None and analysis.depth >= limits.depth)
        or (limits.movetime is not None and analysis.seconds * 1000 >= limits.movetime)
    )
    if is_limited and analysis.result is None:
        return analysis_pb2.STOP_REASON_LIMIT
    return analysis_pb2.STOP_REASON_FINISHED


def format_score(cp: int | None, mate: int | None) -> analysis_pb2.Score:
    """Return the message of an exact score: centipawns or moves to mate."""
    if mate is not None:
        return analysis_pb2.Score(mate=mate, bound=analysis_pb2.BOUND_EXACT)
    return analysis_pb2.Score(centipawns=cp or 0, bound=analysis_pb2.BOUND_EXACT)


def format_command(position: position_pb2.Position, limits: Limits) -> str:
    """Return the command line that searches this position within these limits."""
    words = ["tilewarp", "search", position.variant, position.fen or STARTPOS]
    if position.moves:
        words += ["--moves", " ".join(position.moves)]
    for name, limit in vars(limits).items():
        if limit is not None:
            words += [f"--{name}", str(limit)]
    return shlex.join(words)
