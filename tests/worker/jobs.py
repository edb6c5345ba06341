"""Short ways to submit jobs and to hand in their units, for the store's tests."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.version import ENGINE_VERSION, RULES_VERSION
from worker.store import AsyncStore, Claim, Finished, JobClass, JobId, NewJob, UnitIndex


async def submit(
    gateway: AsyncStore,
    units: int,
    *,
    rejected: Mapping[int, bytes] | None = None,
    cached: Mapping[int, bytes] | None = None,
    **given: Any,
) -> JobId:
    """Commit a job of so many units, named b"unit 0" and so on; return its id."""
    job = await staged(gateway, units, rejected=rejected, cached=cached, **given)
    return (await gateway.commit(job)).job_id


async def ask(gateway: AsyncStore) -> JobId:
    """Make a job of one unit for a caller that attends to it; return its id."""
    job = await staged(gateway, 0, job_class=JobClass.INTERACTIVE)
    job = replace(job, job_id=JobId("attended-1"), total=1)
    assert await gateway.ask(job, [b"unit 0"], is_told=True)
    return job.job_id


async def staged(
    gateway: AsyncStore,
    units: int,
    *,
    rejected: Mapping[int, bytes] | None = None,
    cached: Mapping[int, bytes] | None = None,
    **given: Any,
) -> NewJob:
    """Stage a job of so many units and return what is to be committed."""
    job_id = await gateway.new_job_id()
    rows = [
        {UnitIndex(index): row for index, row in (given_rows or {}).items()}
        for given_rows in (rejected, cached)
    ]
    await gateway.stage(job_id, [f"unit {index}".encode() for index in range(units)], *rows)
    fields: dict[str, Any] = {
        "kind": "analysis",
        "spec": b"\x00spec\xff",
        "job_class": JobClass.BULK,
        "client": "ann",
        "keep": 60,
        "engine_version": ENGINE_VERSION,
        "rules_version": RULES_VERSION,
    }
    return NewJob(job_id=job_id, total=units, cached=len(rows[1]), **{**fields, **given})


def finish(claim: Claim, *, nodes: int = 10, seconds: float = 0.001) -> list[Finished]:
    """Return results for every unit of a claim."""
    return [Finished(unit.index, b"row of " + unit.unit, nodes, seconds) for unit in claim.units]


def indices(claim: Claim | None) -> list[int]:
    """Return the indices of a claim's units; none when there is no claim."""
    return [] if claim is None else [int(unit.index) for unit in claim.units]
