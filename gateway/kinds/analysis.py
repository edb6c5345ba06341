"""Analysis: each position of the submission is a unit, and a wrong one a row of its own."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from core.notation import escape_text
from gateway.cached import CachedResults
from gateway.kinds.kind import Submission
from gateway.limits import find_limit_faults
from gateway.positions import PositionFaults, check_position, read_position
from gateway.status import FieldFault
from tilewarp.v1 import jobs_pb2, position_pb2
from worker.command import format_command
from worker.limits import read_limits
from worker.settings import Settings
from worker.store import Job, Row, UnitIndex

NAME = "analysis"
NUMBER = jobs_pb2.JOB_KIND_ANALYSIS


@dataclass(frozen=True)
class CheckedBatch:
    """Positions after the door, as the store stages them."""

    units: list[bytes]
    """One for each position; empty where it has a row."""
    rejected: dict[UnitIndex, bytes]
    """The rows of those refused."""
    cached: dict[UnitIndex, bytes]
    """The rows of those with a cached result."""


def find_faults(specification: jobs_pb2.JobSpecification, settings: Settings) -> list[FieldFault]:
    """Return what is wrong with the limits."""
    limits = specification.analysis.limits
    return find_limit_faults(limits, "specification.analysis.limits", settings)


async def stage(submission: Submission) -> None:
    """Stage the positions of the submission."""
    work = submission.specification.analysis
    results = CachedResults(
        submission.store, submission.settings, work.limits, no_cache=work.no_cache
    )
    async for positions, units in submission.read("positions"):
        found = await results.find(units)
        batch = await asyncio.to_thread(_check_batch, positions, units, found, submission)
        await submission.stage(batch.units, batch.rejected, batch.cached)


def show_failure(row: Row, job: Job) -> jobs_pb2.ResultRow:
    """Return the row of a position that was given up, with the command that searches it."""
    position = position_pb2.Position.FromString(row.payload)
    limits = read_limits(jobs_pb2.JobSpecification.FromString(job.spec).analysis.limits)
    command = format_command(position, limits)
    return jobs_pb2.ResultRow(
        fen=read_position(position).fen(), failure=jobs_pb2.Failure(command=command)
    )


def _check_batch(
    positions: Sequence[position_pb2.Position],
    units: Sequence[bytes],
    found: Sequence[bytes | None],
    submission: Submission,
) -> CheckedBatch:
    """Check the next positions of a submission.

    `units` are they as bytes, `found` their cached results: a position that has one was checked
    when it was searched.
    """
    searchmoves = submission.specification.analysis.limits.searchmoves
    batch = CheckedBatch([], {}, {})
    for index, (position, unit, row) in enumerate(
        zip(positions, units, found, strict=True), submission.total
    ):
        if row is not None:
            batch.cached[UnitIndex(index)] = row
            batch.units.append(b"")
            continue
        try:
            check_position(position, submission.settings, searchmoves)
        except PositionFaults as error:
            rejected = jobs_pb2.ResultRow(
                fen=escape_text(position.fen), rejection=jobs_pb2.Rejection(faults=error.faults)
            )
            batch.rejected[UnitIndex(index)] = rejected.SerializeToString()
            batch.units.append(b"")
        else:
            batch.units.append(unit)
    return batch
