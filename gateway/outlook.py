"""When a job's turn comes, when it ends and why it waits: from counts, however large it is."""

from dataclasses import dataclass, field

from tilewarp.v1 import jobs_pb2
from worker.store import Job, JobClass, JobState, Queue


@dataclass(frozen=True)
class Outlook:
    """What lies before a job; the default is that of one that has ended."""

    wait_reason: jobs_pb2.WaitReason.ValueType = jobs_pb2.WAIT_REASON_UNSPECIFIED
    place: int = 0
    """Among its client's waiting jobs of the class, from 1; 0: it does not wait, or is far off."""
    units_before: int = 0
    """Units that are taken before its next one."""
    end_ms: int | None = field(default=None, compare=False)
    """When it will have ended; None when that cannot be told."""


@dataclass(frozen=True)
class _Before:
    """Units that are taken before a job's next one, or its last one, by class."""

    next_one: dict[JobClass, int]
    last_one: dict[JobClass, int]


def find_outlook(job: Job, queue: Queue) -> Outlook:
    """Return what lies before a job.

    All work of more urgent classes comes first, its client's earlier jobs of the class, and for
    each of their units and its own one of every other client there. What is still to be submitted
    is not known, and the share of less urgent classes is left out.
    """
    if job.state.is_ended:
        return Outlook()
    if job.state is JobState.PAUSED:
        return Outlook(jobs_pb2.WAIT_REASON_PAUSED)
    jobs = queue.waiting[job.job_class]
    place = next((n for n, (job_id, _) in enumerate(jobs, 1) if job_id == job.job_id), 0)
    earlier = sum(claimable for _, claimable in jobs[: place - 1]) if place else 0
    before = _find_before(job, queue, earlier)
    units_before = sum(before.next_one.values()) if place else 0
    is_far = job.claimable > 0 and place == 0
    return Outlook(
        _find_reason(job, queue, is_behind=units_before > 0 or is_far),
        place,
        units_before,
        None if is_far else _find_end(job, queue, before),
    )


def _find_before(job: Job, queue: Queue, earlier: int) -> _Before:
    if job.claimable == 0:
        return _Before({}, {})
    urgent: dict[JobClass, int] = {}
    for job_class in JobClass:  # the most urgent first
        if job_class is job.job_class:
            break
        urgent[job_class] = queue.load[job_class].claimable
    rivals = max(0, queue.client_counts[job.job_class] - 1)
    theirs = max(0, queue.load[job.job_class].claimable - earlier - job.claimable)
    return _Before(
        {**urgent, job.job_class: earlier + min(theirs, rivals * earlier)},
        {**urgent, job.job_class: earlier + min(theirs, rivals * (earlier + job.claimable))},
    )


def _find_reason(job: Job, queue: Queue, *, is_behind: bool) -> jobs_pb2.WaitReason.ValueType:
    if queue.slots == 0:
        return jobs_pb2.WAIT_REASON_NO_WORKER
    if not _is_taken(job, queue):
        return jobs_pb2.WAIT_REASON_OTHER_VERSIONS
    if job.claimable == 0 or job.claimable < _count_open(job):
        return jobs_pb2.WAIT_REASON_UNSPECIFIED  # workers have some of it in hand
    if is_behind:
        return jobs_pb2.WAIT_REASON_BEHIND
    has_failed = job.attempts > _count_searched(job) + job.quarantined
    if has_failed and queue.claims < queue.slots:
        return jobs_pb2.WAIT_REASON_LEFT_TO_OTHERS
    return jobs_pb2.WAIT_REASON_NEXT


def _is_taken(job: Job, queue: Queue) -> bool:
    """Return whether workers of the job's versions are there."""
    return (job.engine_version, job.rules_version) in queue.versions


def _find_end(job: Job, queue: Queue, before: _Before) -> int | None:
    means = queue.unit_seconds
    searched = _count_searched(job)
    own = job.search_seconds / searched if searched else means.get(job.job_class)
    if queue.slots == 0 or not _is_taken(job, queue) or own is None:
        return None
    seconds = own * _count_open(job)
    for job_class, count in before.last_one.items():
        if count and job_class not in means:
            return None
        seconds += count and count * means[job_class]
    return queue.now_ms + round(1000 * max(own, seconds / queue.slots))


def _count_searched(job: Job) -> int:
    return job.done - job.cached


def _count_open(job: Job) -> int:
    return job.total - job.done - job.rejected - job.quarantined
