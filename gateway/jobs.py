"""Jobs between the wire and the store: submissions, names, clients, and how a job is shown."""

import asyncio
import hashlib
import string
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import redis
from google.protobuf import timestamp_pb2

from core.notation import escape_text
from core.version import ENGINE_VERSION, RULES_VERSION
from gateway.callers import is_printable_ascii
from gateway.limits import find_limit_faults
from gateway.positions import PositionFaults, check_position, read_position
from gateway.status import FieldFault, InvalidRequest, RequestIdReused, UnknownJob
from tilewarp.v1 import jobs_pb2, position_pb2
from worker.command import format_command
from worker.limits import read_limits
from worker.settings import Settings
from worker.store import (
    AsyncStore,
    Job,
    JobClass,
    JobId,
    JobNotFoundError,
    JobState,
    NewJob,
    RequestConflictError,
    Row,
    RowKind,
    UnitIndex,
)

PREFIX = "jobs/"
ID_CHARACTERS = frozenset(string.ascii_letters + string.digits + "-")
MAX_ID_LENGTH = 64
MAX_REQUEST_ID_LENGTH = 128
# Positions checked in one go in the thread: some tens of milliseconds.
CHECK_COUNT = 200
ANALYSIS = "analysis"

CLASSES = {
    jobs_pb2.JOB_CLASS_UNSPECIFIED: JobClass.BULK,
    jobs_pb2.JOB_CLASS_INTERACTIVE: JobClass.INTERACTIVE,
    jobs_pb2.JOB_CLASS_BULK: JobClass.BULK,
    jobs_pb2.JOB_CLASS_BACKGROUND: JobClass.BACKGROUND,
}
KINDS = {ANALYSIS: jobs_pb2.JOB_KIND_ANALYSIS}
STATES = {
    JobState.QUEUED: jobs_pb2.JOB_STATE_QUEUED,
    JobState.RUNNING: jobs_pb2.JOB_STATE_RUNNING,
    JobState.SUCCEEDED: jobs_pb2.JOB_STATE_SUCCEEDED,
    JobState.CANCELLED: jobs_pb2.JOB_STATE_CANCELLED,
}


@dataclass(frozen=True)
class CheckedBatch:
    """Positions after the door, as the store stages them."""

    units: list[bytes]
    """One for each position; empty where it was refused."""
    rejected: dict[UnitIndex, bytes]
    """The rows of those refused."""


async def submit(
    requests: AsyncIterator[jobs_pb2.CreateJobRequest],
    client: str,
    store: AsyncStore,
    settings: Settings,
) -> JobId:
    """Read a whole submission, stage it and commit it in one step; return the job's id.

    What is staged and not committed is dropped, at the latest by the store itself; after the commit
    the same request id finds the job.

    Raises:
        InvalidRequest: the specification or the count of positions is refused.
        RequestIdReused: the client used the request id before, with other content.
        StoreFullError: there is no room for it.
    """
    first = await anext(aiter(requests), None)
    if first is None:
        raise InvalidRequest([FieldFault("specification", "the first message must carry it")])
    faults = _find_header_faults(first, settings)
    if faults:
        raise InvalidRequest(faults)
    specification = first.specification
    if specification.job_class == jobs_pb2.JOB_CLASS_UNSPECIFIED:
        specification.job_class = jobs_pb2.JOB_CLASS_BULK
    spec = specification.SerializeToString(deterministic=True)
    digest = hashlib.sha256(spec)
    job_id = await store.new_job_id()
    searchmoves = specification.analysis.limits.searchmoves
    try:
        total = await _stage(requests, job_id, digest, searchmoves, store, settings)
    except BaseException:
        with suppress(redis.RedisError):  # then it is dropped after its time
            await store.discard(job_id)
        raise
    try:
        committed = await store.commit(
            NewJob(
                job_id=job_id,
                kind=ANALYSIS,
                spec=spec,
                job_class=CLASSES[specification.job_class],
                client=client,
                total=total,
                labels=dict(specification.labels),
                request_id=first.request_id,
                digest=digest.hexdigest(),
                keep=settings.result_ttl,
                engine_version=ENGINE_VERSION,
                rules_version=RULES_VERSION,
            )
        )
    except RequestConflictError:
        raise RequestIdReused(first.request_id) from None
    return committed.job_id


async def _stage(
    requests: AsyncIterator[jobs_pb2.CreateJobRequest],
    job_id: JobId,
    digest: "hashlib._Hash",
    searchmoves: Sequence[str],
    store: AsyncStore,
    settings: Settings,
) -> int:
    total = 0
    async for request in requests:
        if request.WhichOneof("content") != "positions":
            fault = "every message after the first must carry positions"
            raise InvalidRequest([FieldFault("positions", fault)])
        positions = request.positions.positions
        if total + len(positions) > settings.max_positions:
            fault = f"more positions than max_positions allows ({settings.max_positions})"
            raise InvalidRequest([FieldFault("positions", fault)])
        for start in range(0, len(positions), CHECK_COUNT):
            chunk = positions[start : start + CHECK_COUNT]
            batch = await asyncio.to_thread(
                _check_batch, chunk, total, digest, searchmoves, settings
            )
            await store.stage(job_id, batch.units, batch.rejected)
            total += len(chunk)
    if total == 0:
        raise InvalidRequest([FieldFault("positions", "a job needs at least one position")])
    return total


def _check_batch(
    positions: Sequence[position_pb2.Position],
    first_index: int,
    digest: "hashlib._Hash",
    searchmoves: Sequence[str],
    settings: Settings,
) -> CheckedBatch:
    """Check positions, the first of them at `first_index`, and write them into `digest`."""
    batch = CheckedBatch([], {})
    for index, position in enumerate(positions, first_index):
        unit = position.SerializeToString(deterministic=True)
        digest.update(len(unit).to_bytes(8))
        digest.update(unit)
        try:
            check_position(position, settings, searchmoves)
        except PositionFaults as error:
            row = jobs_pb2.ResultRow(
                index=index,
                fen=escape_text(position.fen),
                rejection=jobs_pb2.Rejection(faults=error.faults),
            )
            batch.rejected[UnitIndex(index)] = row.SerializeToString()
            batch.units.append(b"")
        else:
            batch.units.append(unit)
    return batch


def _find_header_faults(header: jobs_pb2.CreateJobRequest, settings: Settings) -> list[FieldFault]:
    faults = []
    request_id = header.request_id
    if len(request_id) > MAX_REQUEST_ID_LENGTH or not is_printable_ascii(request_id):
        fault = f"not up to {MAX_REQUEST_ID_LENGTH} printable ASCII characters"
        faults.append(FieldFault("request_id", fault))
    if header.WhichOneof("content") != "specification":
        faults.append(FieldFault("specification", "the first message must carry it"))
        return faults
    specification = header.specification
    if specification.job_class not in CLASSES:
        fault = f"there is no class {specification.job_class}"
        faults.append(FieldFault("specification.job_class", fault))
    faults += _find_label_faults(specification, settings)
    if specification.WhichOneof("work") == "analysis":
        limits = specification.analysis.limits
        faults += find_limit_faults(limits, "specification.analysis.limits", settings)
    else:
        faults.append(FieldFault("specification.work", "the kind of work is missing"))
    return faults


def _find_label_faults(
    specification: jobs_pb2.JobSpecification, settings: Settings
) -> list[FieldFault]:
    faults = []
    if len(specification.labels) > settings.max_labels:
        fault = (
            f"{len(specification.labels)} labels are more than max_labels allows "
            f"({settings.max_labels})"
        )
        faults.append(FieldFault("specification.labels", fault))
    longest = max((len(text) for pair in specification.labels.items() for text in pair), default=0)
    if longest > settings.max_label_length:
        fault = (
            f"a key or value of {longest} characters is longer than max_label_length allows "
            f"({settings.max_label_length})"
        )
        faults.append(FieldFault("specification.labels", fault))
    return faults


def parse_job_name(name: str) -> JobId:
    """Return the id in a job's name `jobs/ID`.

    Raises:
        InvalidRequest: it is not of that form.
    """
    job_id = name.removeprefix(PREFIX)
    if not (
        name.startswith(PREFIX)
        and 0 < len(job_id) <= MAX_ID_LENGTH
        and set(job_id) <= ID_CHARACTERS
    ):
        raise InvalidRequest(
            [FieldFault("name", f"{escape_text(name)} is not of the form jobs/ID")]
        )
    return JobId(job_id)


async def find_job(name: str, client: str, store: AsyncStore) -> Job:
    """Return a client's job by name.

    Raises:
        InvalidRequest: the name is not of the form `jobs/ID`.
        UnknownJob: there is none, or it is another client's.
        JobLostError: it belonged to a store that has since been emptied.
    """
    job_id = parse_job_name(name)
    try:
        job = await store.job(job_id)
    except JobNotFoundError:
        raise UnknownJob(name) from None
    if job.client != client:
        raise UnknownJob(name)
    return job


def show_job(job: Job) -> jobs_pb2.Job:
    """Return the job as it is shown to its client."""
    return jobs_pb2.Job(
        name=PREFIX + job.job_id,
        kind=KINDS[job.kind],
        specification=jobs_pb2.JobSpecification.FromString(job.spec),
        state=STATES[job.state],
        counts=jobs_pb2.JobCounts(
            total=job.total, done=job.done, rejected=job.rejected, quarantined=job.quarantined
        ),
        nodes=job.nodes,
        create_time=_show_time(job.created_ms),
        start_time=_show_time(job.started_ms),
        end_time=_show_time(job.ended_ms),
        expire_time=_show_time(job.expires_ms),
        error=job.error,
    )


def show_lost_job(name: str) -> jobs_pb2.Job:
    """Return what is left of a job whose store was emptied: its name and that it is lost."""
    return jobs_pb2.Job(
        name=name,
        state=jobs_pb2.JOB_STATE_LOST,
        error="the store that held it has since been emptied",
    )


def show_row(row: Row, job: Job) -> jobs_pb2.ResultRow:
    """Return a job's stored row as it is shown."""
    if row.kind is not RowKind.QUARANTINED:
        return jobs_pb2.ResultRow.FromString(row.payload)
    position = position_pb2.Position.FromString(row.payload)
    limits = read_limits(jobs_pb2.JobSpecification.FromString(job.spec).analysis.limits)
    return jobs_pb2.ResultRow(
        index=row.index,
        fen=read_position(position).fen(),
        failure=jobs_pb2.Failure(
            attempts=len(row.workers),
            cause=row.cause,
            workers=row.workers,
            command=format_command(position, limits),
        ),
    )


def _show_time(milliseconds: int | None) -> timestamp_pb2.Timestamp | None:
    if milliseconds is None:
        return None
    timestamp = timestamp_pb2.Timestamp()
    timestamp.FromMilliseconds(milliseconds)
    return timestamp
