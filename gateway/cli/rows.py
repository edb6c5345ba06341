"""Result rows and jobs as the command line shows them: JSON objects, or lines of a table."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from google.protobuf import json_format, timestamp_pb2

from gateway.cli.pairs import pair_object, pair_text
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2

ROW_HEADER = (
    f"{'line':>6} {'best':<7} {'score':>7} {'depth':>7} {'nodes':>9} {'ended':<8}  "
    "position and line"
)
JOB_HEADER = (
    f"{'name':<32} {'state':<10} {'done':>7} {'wrong':>6} {'total':>7} {'nodes':>13}  "
    f"{'created':<24}  why it waits, when it ends"
)
DAY = timedelta(days=1)
SHOWN_MOVES = 6
"""Moves of a line in the table; JSON has them all."""


def row_object(row: jobs_pb2.ResultRow, line: int | None) -> dict[str, Any]:
    """Return a row as its JSON object; `line` is its line in the file, None when not known."""
    place = {"index": row.index} if line is None else {"index": row.index, "line": line}
    error = find_error(row)
    if error is not None:
        return {**place, "fen": row.fen, "error": error}
    if row.HasField("perft"):
        return {**place, "fen": row.fen, **_perft_object(row.perft)}
    if row.HasField("pair"):
        return {**place, "fen": row.fen, **pair_object(row.pair)}
    provenance = provenance_object(row.analysis.provenance)
    return {**place, "fen": row.fen, **analysis_object(row.analysis), "provenance": provenance}


def _perft_object(perft: jobs_pb2.PerftCount) -> dict[str, Any]:
    wrong = [{"worker": one.worker, "count": int(one.count)} for one in perft.wrong_counts]
    return {
        "depth": perft.depth,
        "count": int(perft.count),
        "multiplicity": int(perft.multiplicity),
        "workers": list(perft.workers),
        "wrong": wrong,
    }


def provenance_object(provenance: analysis_pb2.Provenance) -> dict[str, Any]:
    """Return where a result comes from, as its JSON object."""
    return json_format.MessageToDict(
        provenance, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )


def analysis_object(result: analysis_pb2.AnalysisResult) -> dict[str, Any]:
    """Return an analysis as its JSON object, where it comes from left out."""
    lines = [
        {
            "rank": line.rank,
            "score": score_object(line.score),
            "wdl": _wdl(line.score),
            "pv": list(line.moves),
        }
        for line in result.lines
    ]
    fields: dict[str, Any] = {
        "bestmove": result.best_move or None,
        "score": score_object(result.score),
        "wdl": _wdl(result.score),
        "depth": result.depth,
        "seldepth": result.selective_depth,
        "nodes": result.nodes,
        "seconds": _seconds(result),
        "nps": _speed(result),
        "pv": lines[0]["pv"] if lines else [],
        "lines": lines,
        "ended": end_name(result),
        "result": outcome_name(result.outcome),
    }
    if result.HasField("mate"):
        fields["mate"] = {"within": result.mate.within, "verdict": _verdict(result)}
    return fields


def analysis_text(result: analysis_pb2.AnalysisResult) -> str:
    """Return an analysis as text: its lines, then what it took and how it ended."""
    outcome = outcome_name(result.outcome)
    if outcome is not None:
        return f"the game is over: {outcome}"
    lines = [
        f"{line.moves[0]}  {_chances_text(line.score)}  {_depth_text(result)}  "
        f"{' '.join(line.moves)}"
        for line in result.lines
    ]
    if result.HasField("mate"):
        lines.append(f"mate in {result.mate.within}: {_verdict(result)}")
    spent = f"{result.nodes} nodes in {_seconds(result):.3f} s, {_speed(result)} nodes/s"
    return "\n".join([*lines, f"{spent}, ended: {end_name(result)}"])


def progress_text(result: analysis_pb2.AnalysisResult) -> str:
    """Return what a running search has found, a line of text for each of its lines."""
    return "\n".join(
        f"{_depth_text(result)}  {line.rank}. {_chances_text(line.score)}  {result.nodes} nodes  "
        f"{_speed(result)} nodes/s  {' '.join(line.moves)}"
        for line in result.lines
    )


def row_text(row: jobs_pb2.ResultRow, line: int) -> str:
    """Return a row as a line of the table under ROW_HEADER."""
    error = find_error(row)
    if error is not None:
        return f"{line:>6} error: {error}"
    if row.HasField("perft"):
        return f"{line:>6} {row.perft.multiplicity} x {row.perft.count}: {row.fen}"
    if row.HasField("pair"):
        return f"{line:>6} {pair_text(row.pair)}: {row.fen}"
    result = row.analysis
    said = [" ".join(one.moves[:SHOWN_MOVES]) for one in result.lines]
    first = said[0] if said else outcome_name(result.outcome) or ""
    depth = f"{result.depth}/{result.selective_depth}"
    rows = [
        f"{line:>6} {result.best_move or '-':<7} {score_text(result.score):>7} {depth:>7} "
        f"{result.nodes:>9} {end_name(result) or '-':<8}  {row.fen}: {first}"
    ]
    rows += [
        f"{'':>6} {one.moves[0]:<7} {score_text(one.score):>7} {'':>27} {text}"
        for one, text in zip(result.lines[1:], said[1:], strict=True)
    ]
    return "\n".join(rows)


def find_error(row: jobs_pb2.ResultRow) -> str | None:
    """Return why a row has no result, all faults in one text; None when it has one."""
    match row.WhichOneof("outcome"):
        case "rejection":
            return "; ".join(row.rejection.faults)
        case "failure":
            failure = row.failure
            tried = ", ".join(failure.workers)
            return (
                f"given up after {failure.attempts} attempts ({tried}): {failure.cause}; "
                f"to see it: {failure.command}"
            )
        case _:
            return None


def outcome_name(outcome: position_pb2.Outcome.ValueType) -> str | None:
    """Return how a finished game ended, such as `move-limit`; None when it goes on."""
    if outcome in (position_pb2.OUTCOME_UNSPECIFIED, position_pb2.OUTCOME_ONGOING):
        return None
    return _plain_name(position_pb2.Outcome.Name(outcome), "OUTCOME_")


def end_name(result: analysis_pb2.AnalysisResult) -> str | None:
    """Return what a search ended by, such as `nodes`; None while it runs."""
    if result.stop_reason == analysis_pb2.STOP_REASON_UNSPECIFIED:
        return None
    if result.stop_reason == analysis_pb2.STOP_REASON_FINISHED:
        return "solved" if outcome_name(result.outcome) is None else "over"
    if result.reached_limit == analysis_pb2.REACHED_LIMIT_TIME:
        return "movetime"
    if result.reached_limit != analysis_pb2.REACHED_LIMIT_UNSPECIFIED:
        return _plain_name(analysis_pb2.ReachedLimit.Name(result.reached_limit), "REACHED_LIMIT_")
    return _plain_name(analysis_pb2.StopReason.Name(result.stop_reason), "STOP_REASON_")


def score_text(score: analysis_pb2.Score) -> str:
    """Return a score in pawns, or `#N` for mate in N moves."""
    if score.WhichOneof("value") == "mate":
        return f"#{score.mate}"
    return f"{score.centipawns / 100:+.2f}"


def score_object(score: analysis_pb2.Score) -> dict[str, int]:
    """Return a score as its JSON object."""
    if score.WhichOneof("value") == "mate":
        return {"mate": score.mate}
    return {"cp": score.centipawns}


def job_object(job: jobs_pb2.Job) -> dict[str, Any]:
    """Return a job as its JSON object; times are ISO 8601, null before they come."""
    specification = job.specification
    is_of_games = specification.HasField("adjudication")
    work = specification.adjudication if is_of_games else specification.analysis
    limits = json_format.MessageToDict(work.limits)
    terms = json_format.MessageToDict(specification.adjudication.terms)
    return {
        "name": job.name,
        "kind": _plain_name(jobs_pb2.JobKind.Name(job.kind), "JOB_KIND_"),
        "state": state_name(job),
        "class": _plain_name(jobs_pb2.JobClass.Name(job.specification.job_class), "JOB_CLASS_"),
        "limits": limits,
        **({"terms": terms} if is_of_games else {}),
        **(_perft_job_object(job) if specification.HasField("perft") else {}),
        **(_match_job_object(job) if specification.HasField("match") else {}),
        "total": job.counts.total,
        "done": job.counts.done,
        "cached": job.counts.cached,
        "rejected": job.counts.rejected,
        "quarantined": job.counts.quarantined,
        "nodes": job.nodes,
        "created": _time(job, "create_time"),
        "started": _time(job, "start_time"),
        "ended": _time(job, "end_time"),
        "expires": _time(job, "expire_time"),
        "error": job.error or None,
        "waits": wait_text(job),
        "place": job.place or None,
        "units_before": job.units_before,
        "expected_end": _time(job, "expected_end_time"),
    }


def _perft_job_object(job: jobs_pb2.Job) -> dict[str, Any]:
    work = job.specification.perft
    asked = json_format.MessageToDict(work, always_print_fields_with_no_presence=True)
    return {"perft": asked, "perft_count": int(job.perft_count) if job.perft_count else None}


def _match_job_object(job: jobs_pb2.Job) -> dict[str, Any]:
    return {"match": json_format.MessageToDict(job.specification.match)}


def job_text(job: jobs_pb2.Job) -> str:
    """Return a job as a line of the table under JOB_HEADER."""
    counts = job.counts
    return (
        f"{job.name:<32} {state_name(job):<10} {counts.done:>7} "
        f"{counts.rejected + counts.quarantined:>6} {counts.total:>7} {job.nodes:>13}  "
        f"{_time(job, 'create_time') or '-':<24}  {outlook_text(job)}"
    )


def wait_text(job: jobs_pb2.Job) -> str | None:
    """Return why a job waits; None when it does not."""
    match job.wait_reason:
        case jobs_pb2.WAIT_REASON_UNSPECIFIED:
            return None
        case jobs_pb2.WAIT_REASON_NO_WORKER:
            return "no worker is up"
        case jobs_pb2.WAIT_REASON_OTHER_VERSIONS:
            return "no worker of its versions is up"
        case jobs_pb2.WAIT_REASON_BEHIND if job.units_before:
            return f"behind {job.units_before} units"
        case jobs_pb2.WAIT_REASON_BEHIND:
            return "behind many jobs"
        case jobs_pb2.WAIT_REASON_LEFT_TO_OTHERS:
            return "what failed is left to other workers for some seconds"
        case reason:
            return _plain_name(jobs_pb2.WaitReason.Name(reason), "WAIT_REASON_")


def outlook_text(job: jobs_pb2.Job) -> str:
    """Return why a job waits and when it is expected to end, as far as that is known."""
    waits, end = wait_text(job), None
    if job.HasField("expected_end_time"):
        moment = job.expected_end_time.ToDatetime(UTC).astimezone()
        end = f"{moment:%H:%M:%S}" if moment - datetime.now(UTC) < DAY else f"{moment:%Y-%m-%d}"
    return ", ".join(filter(None, [waits and f"waits: {waits}", end and f"ends about {end}"]))


def state_name(job: jobs_pb2.Job) -> str:
    """Return a job's state, such as `RUNNING`."""
    return jobs_pb2.JobState.Name(job.state).removeprefix("JOB_STATE_")


def dump(fields: Mapping[str, Any]) -> str:
    """Return one JSON object on one line."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _wdl(score: analysis_pb2.Score) -> list[int] | None:
    return [score.wdl.win, score.wdl.draw, score.wdl.loss] if score.HasField("wdl") else None


def _chances_text(score: analysis_pb2.Score) -> str:
    return "  ".join([score_text(score), "/".join(map(str, _wdl(score) or ()))])


def _depth_text(result: analysis_pb2.AnalysisResult) -> str:
    return f"depth {result.depth}/{result.selective_depth}"


def _verdict(result: analysis_pb2.AnalysisResult) -> str:
    return _plain_name(analysis_pb2.MateVerdict.Name(result.mate.verdict), "MATE_VERDICT_")


def _speed(result: analysis_pb2.AnalysisResult) -> int:
    seconds = _seconds(result)
    return round(result.nodes / seconds) if seconds else 0


def _seconds(result: analysis_pb2.AnalysisResult) -> float:
    return result.time.seconds + result.time.nanos / 1e9


def _plain_name(name: str, prefix: str) -> str:
    return name.removeprefix(prefix).lower().replace("_", "-")


def _time(job: jobs_pb2.Job, field: str) -> str | None:
    time: timestamp_pb2.Timestamp = getattr(job, field)
    return time.ToJsonString() if job.HasField(field) else None  # type: ignore[arg-type]
