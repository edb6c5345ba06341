"""Result rows and jobs as the command line shows them: JSON objects, or lines of a table."""

import json
from collections.abc import Mapping
from typing import Any

from google.protobuf import json_format, timestamp_pb2

from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2

ROW_HEADER = f"{'line':>6} {'best':<7} {'score':>7} {'depth':>5} {'nodes':>9}  position and line"
JOB_HEADER = (
    f"{'name':<32} {'state':<10} {'done':>7} {'wrong':>6} {'total':>7} {'nodes':>13}  created"
)
SHOWN_MOVES = 6
"""Moves of a line in the table; JSON has them all."""


def row_object(row: jobs_pb2.ResultRow, line: int | None) -> dict[str, Any]:
    """Return a row as its JSON object; `line` is its line in the file, None when not known."""
    place = {"index": row.index} if line is None else {"index": row.index, "line": line}
    error = find_error(row)
    if error is not None:
        return {**place, "fen": row.fen, "error": error}
    result = row.analysis
    lines = [
        {"rank": one.rank, "score": _score_object(one.score), "pv": list(one.moves)}
        for one in result.lines
    ]
    return {
        **place,
        "fen": row.fen,
        "bestmove": result.best_move or None,
        "score": _score_object(result.score),
        "depth": result.depth,
        "nodes": result.nodes,
        "seconds": _seconds(result),
        "pv": lines[0]["pv"] if lines else [],
        "lines": lines,
        "result": outcome_name(result.outcome),
        "provenance": json_format.MessageToDict(
            result.provenance,
            preserving_proto_field_name=True,
            always_print_fields_with_no_presence=True,
        ),
    }


def row_text(row: jobs_pb2.ResultRow, line: int) -> str:
    """Return a row as a line of the table under ROW_HEADER."""
    error = find_error(row)
    if error is not None:
        return f"{line:>6} error: {error}"
    result = row.analysis
    moves = list(result.lines[0].moves[:SHOWN_MOVES]) if result.lines else []
    said = " ".join(moves) or outcome_name(result.outcome) or ""
    return (
        f"{line:>6} {result.best_move or '-':<7} {score_text(result.score):>7} "
        f"{result.depth:>5} {result.nodes:>9}  {row.fen}: {said}"
    )


def find_error(row: jobs_pb2.ResultRow) -> str | None:
    """Return why a row has no result, all faults in one text; None when it has one."""
    match row.WhichOneof("outcome"):
        case "rejection":
            return "; ".join(row.rejection.faults)
        case "failure":
            return f"given up after {row.failure.attempts} attempts: {row.failure.cause}"
        case _:
            return None


def outcome_name(outcome: position_pb2.Outcome.ValueType) -> str | None:
    """Return how a finished game ended, such as `move-limit`; None when it goes on."""
    if outcome in (position_pb2.OUTCOME_UNSPECIFIED, position_pb2.OUTCOME_ONGOING):
        return None
    return _plain_name(position_pb2.Outcome.Name(outcome), "OUTCOME_")


def score_text(score: analysis_pb2.Score) -> str:
    """Return a score in pawns, or `#N` for mate in N moves."""
    if score.WhichOneof("value") == "mate":
        return f"#{score.mate}"
    return f"{score.centipawns / 100:+.2f}"


def job_object(job: jobs_pb2.Job) -> dict[str, Any]:
    """Return a job as its JSON object; times are ISO 8601, null before they come."""
    limits = json_format.MessageToDict(job.specification.analysis.limits)
    return {
        "name": job.name,
        "kind": _plain_name(jobs_pb2.JobKind.Name(job.kind), "JOB_KIND_"),
        "state": state_name(job),
        "class": _plain_name(jobs_pb2.JobClass.Name(job.specification.job_class), "JOB_CLASS_"),
        "limits": limits,
        "total": job.counts.total,
        "done": job.counts.done,
        "rejected": job.counts.rejected,
        "quarantined": job.counts.quarantined,
        "nodes": job.nodes,
        "created": _time(job, "create_time"),
        "started": _time(job, "start_time"),
        "ended": _time(job, "end_time"),
        "expires": _time(job, "expire_time"),
        "error": job.error or None,
    }


def job_text(job: jobs_pb2.Job) -> str:
    """Return a job as a line of the table under JOB_HEADER."""
    counts = job.counts
    return (
        f"{job.name:<32} {state_name(job):<10} {counts.done:>7} "
        f"{counts.rejected + counts.quarantined:>6} {counts.total:>7} {job.nodes:>13}  "
        f"{_time(job, 'create_time') or '-'}"
    )


def state_name(job: jobs_pb2.Job) -> str:
    """Return a job's state, such as `RUNNING`."""
    return jobs_pb2.JobState.Name(job.state).removeprefix("JOB_STATE_")


def dump(fields: Mapping[str, Any]) -> str:
    """Return one JSON object on one line."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _score_object(score: analysis_pb2.Score) -> dict[str, int]:
    if score.WhichOneof("value") == "mate":
        return {"mate": score.mate}
    return {"cp": score.centipawns}


def _seconds(result: analysis_pb2.AnalysisResult) -> float:
    return result.time.seconds + result.time.nanos / 1e9


def _plain_name(name: str, prefix: str) -> str:
    return name.removeprefix(prefix).lower().replace("_", "-")


def _time(job: jobs_pb2.Job, field: str) -> str | None:
    time: timestamp_pb2.Timestamp = getattr(job, field)
    return time.ToJsonString() if job.HasField(field) else None  # type: ignore[arg-type]
