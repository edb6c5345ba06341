"""Jobs between the wire and the store: submissions, names, clients, and how a job is shown."""

import logging
import string
from collections.abc import AsyncIterator
from contextlib import suppress

import redis
from google.protobuf import timestamp_pb2
from google.protobuf.message import DecodeError

from core.notation import escape_text
from core.version import ENGINE_VERSION, RULES_VERSION
from gateway.cached import read_cached
from gateway.callers import find_key_id, is_printable_ascii, may_see
from gateway.kinds import KINDS, Submission, find_kind, perft
from gateway.outlook import Outlook
from gateway.status import FieldFault, InvalidRequest, RequestIdReused, UnknownJob
from tilewarp.v1 import jobs_pb2
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
)
from worker.store.parse import UNREADABLE_ROW
from worker.tracing import show_trace

PREFIX = "jobs/"
ID_CHARACTERS = frozenset(string.ascii_letters + string.digits + "-")
MAX_ID_LENGTH = 64
MAX_REQUEST_ID_LENGTH = 128

CLASSES = {
    jobs_pb2.JOB_CLASS_UNSPECIFIED: JobClass.BULK,
    jobs_pb2.JOB_CLASS_INTERACTIVE: JobClass.INTERACTIVE,
    jobs_pb2.JOB_CLASS_BULK: JobClass.BULK,
    jobs_pb2.JOB_CLASS_BACKGROUND: JobClass.BACKGROUND,
}
STATES = {
    JobState.QUEUED: jobs_pb2.JOB_STATE_QUEUED,
    JobState.RUNNING: jobs_pb2.JOB_STATE_RUNNING,
    JobState.PAUSED: jobs_pb2.JOB_STATE_PAUSED,
    JobState.SUCCEEDED: jobs_pb2.JOB_STATE_SUCCEEDED,
    JobState.CANCELLED: jobs_pb2.JOB_STATE_CANCELLED,
    JobState.FAILED: jobs_pb2.JOB_STATE_FAILED,
}

logger = logging.getLogger(__name__)


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
        InvalidRequest: the specification or what follows it is refused as a whole.
        RequestIdReused: the client used the request id before, with other content.
        StoreFullError: there is no room for it.
        QuotaError: the caller's API key allows no more today.
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
    kind = find_kind(specification)
    assert kind is not None  # or that would be a fault
    job_id = await store.new_job_id()
    submission = Submission(specification, requests, job_id, store, settings)
    try:
        await KINDS[kind].stage(submission)
    except BaseException:
        with suppress(redis.RedisError):  # then it is dropped after its time
            await store.discard(job_id)
        raise
    try:
        committed = await store.commit(
            NewJob(
                job_id=job_id,
                kind=kind,
                spec=specification.SerializeToString(deterministic=True),
                job_class=CLASSES[specification.job_class],
                client=client,
                total=submission.total,
                cached=submission.cached,
                labels=dict(specification.labels),
                request_id=first.request_id,
                digest=submission.digest.hexdigest(),
                keep=settings.result_ttl,
                needs_all=submission.needs_all,
                engine_version=ENGINE_VERSION,
                rules_version=RULES_VERSION,
                api_key=find_key_id(),
                trace=show_trace(),
            )
        )
    except RequestConflictError:
        raise RequestIdReused(first.request_id) from None
    return committed.job_id


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
    kind = find_kind(specification)
    if kind is None:
        faults.append(FieldFault("specification.work", "the kind of work is missing"))
        return faults
    return faults + KINDS[kind].find_faults(specification, settings)


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
    if not may_see(client, job.client):
        raise UnknownJob(name)
    return job


def show_job(job: Job, outlook: Outlook) -> jobs_pb2.Job:
    """Return the job, and what lies before it, as it is shown to its client."""
    return jobs_pb2.Job(
        name=PREFIX + job.job_id,
        kind=find_number(job),
        specification=_read_specification(job),
        state=STATES[job.state],
        counts=jobs_pb2.JobCounts(
            total=job.total,
            done=job.done,
            cached=job.cached,
            rejected=job.rejected,
            quarantined=job.quarantined,
        ),
        nodes=job.nodes,
        create_time=_show_time(job.created_ms),
        start_time=_show_time(job.started_ms),
        end_time=_show_time(job.ended_ms),
        expire_time=_show_time(job.expires_ms),
        error=job.error,
        perft_count=str(job.sum) if _has_perft_count(job) else "",
        wait_reason=outlook.wait_reason,
        place=outlook.place,
        units_before=outlook.units_before,
        expected_end_time=_show_time(outlook.end_ms),
    )


def show_lost_job(name: str) -> jobs_pb2.Job:
    """Return what is left of a job whose store was emptied: its name and that it is lost."""
    return jobs_pb2.Job(
        name=name,
        state=jobs_pb2.JOB_STATE_LOST,
        error="the store that held it has since been emptied",
    )


def show_row(row: Row, job: Job) -> jobs_pb2.ResultRow:
    """Return a job's stored row as it is shown; one that cannot be read is a failure."""
    try:
        shown = _read_row(row, job)
        if shown.WhichOneof("outcome") is not None:
            return shown
    except Exception as error:  # whatever was left there in its place, the other rows are shown
        logger.warning("row %d of job %s cannot be read: %s", row.index, job.job_id, error)
    return jobs_pb2.ResultRow(index=row.index, failure=jobs_pb2.Failure(cause=UNREADABLE_ROW))


def _read_row(row: Row, job: Job) -> jobs_pb2.ResultRow:
    if row.kind is RowKind.CONFIRMED:
        return perft.show_confirmed(row)
    if row.kind is not RowKind.QUARANTINED:
        read = read_cached if row.kind is RowKind.CACHED else jobs_pb2.ResultRow.FromString
        shown = read(row.payload)
        shown.index = row.index
        return shown
    shown = KINDS[job.kind].show_failure(row, job)
    shown.index = row.index
    failure = jobs_pb2.Failure(attempts=len(row.workers), cause=row.cause, workers=row.workers)
    shown.failure.MergeFrom(failure)
    return shown


def find_number(job: Job) -> jobs_pb2.JobKind.ValueType:
    """Return the number of a job's kind, unspecified for one that only later versions know."""
    return KINDS[job.kind].NUMBER if job.kind in KINDS else jobs_pb2.JOB_KIND_UNSPECIFIED


def _read_specification(job: Job) -> jobs_pb2.JobSpecification:
    """Return what was asked for; nothing if that cannot be read."""
    try:
        return jobs_pb2.JobSpecification.FromString(job.spec)
    except DecodeError:
        logger.warning("the specification of job %s cannot be read", job.job_id)
        return jobs_pb2.JobSpecification()


def _has_perft_count(job: Job) -> bool:
    return job.kind == perft.NAME and job.state is JobState.SUCCEEDED


def _show_time(milliseconds: int | None) -> timestamp_pb2.Timestamp | None:
    if milliseconds is None:
        return None
    timestamp = timestamp_pb2.Timestamp()
    timestamp.FromMilliseconds(milliseconds)
    return timestamp
