"""Judges audits: whether two worker hosts that were asked the same found the same."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from google.protobuf import json_format

from tilewarp.v1 import jobs_pb2
from worker.store import AsyncStore, Audit, Verdict

UNLIKE = ("time", "provenance")
"""Fields of a result in which equal searches may differ."""

logger = logging.getLogger(__name__)


async def judge_audits(store: AsyncStore) -> None:
    """Judge what has been found again since the last call; log and keep what differs."""
    for audit in await store.audits.answered():
        verdict, text = judge(audit)
        if await store.audits.judge(audit, verdict) and verdict is Verdict.DIFFERED:
            logger.error("two workers disagree: %s", text)


def judge(audit: Audit) -> tuple[Verdict, str]:
    """Return what becomes of an audit, and where the results differ the text that says so.

    Results of different versions of the engine or the rules need not be equal.
    """
    if audit.second is None:
        return Verdict.UNCHECKED, ""
    first, second = map(jobs_pb2.ResultRow.FromString, (audit.first, audit.second))
    versions = [
        (row.analysis.provenance.engine_version, row.analysis.provenance.rules_version)
        for row in (first, second)
    ]
    if versions[0] != versions[1]:
        return Verdict.UNCHECKED, ""
    if find_differences(first, second):
        return Verdict.DIFFERED, describe_disagreement(first, second)
    return Verdict.AGREED, ""


def find_differences(
    first: jobs_pb2.ResultRow, second: jobs_pb2.ResultRow
) -> Mapping[str, tuple[Any, Any]]:
    """Return the fields in which two results differ, with both values."""
    values = [_comparable(row) for row in (first, second)]
    names = sorted(values[0].keys() | values[1].keys())
    pairs = {name: (values[0].get(name), values[1].get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def describe_disagreement(first: jobs_pb2.ResultRow, second: jobs_pb2.ResultRow) -> str:
    """Return who found what, and the command that shows what is right, on one line."""
    differences = find_differences(first, second)
    found = [
        f"{row.analysis.provenance.worker} found "
        + json.dumps({name: pair[place] for name, pair in differences.items()}, sort_keys=True)
        for place, row in enumerate((first, second))
    ]
    return f"{' and '.join(found)}; to see it: {first.analysis.provenance.command}"


def _comparable(row: jobs_pb2.ResultRow) -> dict[str, Any]:
    fields: dict[str, Any] = json_format.MessageToDict(
        row.analysis, preserving_proto_field_name=True
    )
    return {"fen": row.fen, **{name: fields[name] for name in fields if name not in UNLIKE}}
