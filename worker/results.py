"""From the engine's answers to the wire's."""

import time

from core.engine import Analysis, Line, Progress
from core.limits import Limits
from core.score import Score
from core.version import ENGINE_VERSION, RULES_VERSION
from tilewarp.v1 import analysis_pb2, position_pb2
from worker.outcomes import OUTCOMES

_LIMIT = analysis_pb2.STOP_REASON_LIMIT
ENDS = {
    "nodes": (_LIMIT, analysis_pb2.REACHED_LIMIT_NODES),
    "depth": (_LIMIT, analysis_pb2.REACHED_LIMIT_DEPTH),
    "movetime": (_LIMIT, analysis_pb2.REACHED_LIMIT_TIME),
    "mate": (_LIMIT, analysis_pb2.REACHED_LIMIT_MATE),
    "solved": (analysis_pb2.STOP_REASON_FINISHED, analysis_pb2.REACHED_LIMIT_UNSPECIFIED),
    "over": (analysis_pb2.STOP_REASON_FINISHED, analysis_pb2.REACHED_LIMIT_UNSPECIFIED),
}
"""How core names what a search ended by, and how the wire does."""
VERDICTS = {
    "proved": analysis_pb2.MATE_VERDICT_PROVED,
    "refuted": analysis_pb2.MATE_VERDICT_REFUTED,
    "unknown": analysis_pb2.MATE_VERDICT_UNKNOWN,
}


def format_analysis(analysis: Analysis, limits: Limits) -> analysis_pb2.AnalysisResult:
    """Return the message of an analysis, provenance left out."""
    reason, reached = ENDS[analysis.ended]
    result = analysis_pb2.AnalysisResult(
        best_move=analysis.bestmove or "",
        score=format_score(analysis.score, analysis.wdl),
        lines=map(format_line, analysis.lines),
        depth=analysis.depth,
        selective_depth=analysis.seldepth,
        nodes=analysis.nodes,
        stop_reason=reason,
        reached_limit=reached,
        outcome=OUTCOMES[analysis.result],
    )
    result.time.FromMicroseconds(round(analysis.seconds * 1_000_000))
    if limits.mate is not None and analysis.mate_verdict is not None:
        result.mate.within = limits.mate
        result.mate.verdict = VERDICTS[analysis.mate_verdict]
    return result


def format_progress(progress: Progress, seconds: float) -> analysis_pb2.AnalysisResult:
    """Return the message of a search that has run for some seconds, and goes on."""
    best = progress.lines[0]
    result = analysis_pb2.AnalysisResult(
        best_move=best.pv[0],
        score=format_score(best.score, best.wdl),
        lines=map(format_line, progress.lines),
        depth=progress.depth,
        selective_depth=progress.seldepth,
        nodes=progress.nodes,
        outcome=position_pb2.OUTCOME_ONGOING,
    )
    result.time.FromMicroseconds(round(seconds * 1_000_000))
    return result


def format_line(line: Line) -> analysis_pb2.Line:
    """Return the message of a line."""
    return analysis_pb2.Line(
        rank=line.rank, score=format_score(line.score, line.wdl), moves=line.pv
    )


def format_score(score: Score, wdl: tuple[int, int, int] | None = None) -> analysis_pb2.Score:
    """Return the message of an exact score, centipawns or moves to mate, and its chances if known.

    `read_score` reads it.
    """
    message = analysis_pb2.Score(bound=analysis_pb2.BOUND_EXACT)
    if wdl is not None:
        win, draw, loss = wdl
        message.wdl.CopyFrom(analysis_pb2.WinDrawLoss(win=win, draw=draw, loss=loss))
    if score.mate is not None:
        message.mate = score.mate
    else:
        message.centipawns = score.cp or 0
    return message


def read_score(score: analysis_pb2.Score) -> Score | None:
    """Return the score of a message; None if it has none."""
    match score.WhichOneof("value"):
        case "mate":
            return Score(mate=score.mate)
        case "centipawns":
            return Score(cp=score.centipawns)
        case _:
            return None


def format_provenance(
    worker: str, *, threads: int, attempt: int, command: str = ""
) -> analysis_pb2.Provenance:
    """Return where a result comes from that this process, of a worker of this name, finds now."""
    provenance = analysis_pb2.Provenance(
        engine_version=ENGINE_VERSION,
        rules_version=RULES_VERSION,
        worker=worker,
        threads=threads,
        command=command,
        attempt=attempt,
    )
    provenance.finish_time.FromNanoseconds(time.time_ns())
    return provenance
