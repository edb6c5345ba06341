"""What the store takes and gives: ids, states, jobs, claims, rows and counts, and its errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

JobId = NewType("JobId", str)
"""`<epoch>-<random>`; the epoch is the store's, written when it was first used."""

UnitIndex = NewType("UnitIndex", int)
"""The place of a unit in its job's submission, from 0."""


class StoreError(Exception):
    """A request that the store refuses. Connection trouble is `redis.RedisError`, as it comes."""


class JobNotFoundError(StoreError):
    """No job has this id: it never was, or its time to be kept has passed."""


class JobLostError(StoreError):
    """The job belonged to a store that has since been emptied; nothing of it is left."""


class JobDamagedError(StoreError):
    """What the store holds of the job is not what was written there."""


class RequestConflictError(StoreError):
    """The client used this request id before, with other content."""


class StagingLostError(StoreError):
    """The staged units are not all there: they expired, or the store was emptied meanwhile."""


class StoreFullError(StoreError):
    """The server's memory is nearly full, or promised to the results of accepted jobs."""


class QuotaError(StoreError):
    """The quotas of the API key do not allow it before the day ends."""

    def __init__(self, quota: str, allowed: int, seconds: float) -> None:
        super().__init__(f"{quota}: {allowed} a day are allowed")
        self.quota = quota
        self.allowed = allowed
        self.seconds = seconds
        """Until the day ends, and what was used is forgotten."""


class KeyRevokedError(StoreError):
    """The API key was revoked meanwhile."""


class EvictingPolicyError(StoreError):
    """The server may throw keys away when its memory is full, which loses jobs."""


class JobClass(StrEnum):
    """How urgent a job is; the most urgent first."""

    INTERACTIVE = "INTERACTIVE"
    BULK = "BULK"
    BACKGROUND = "BACKGROUND"


class JobState(StrEnum):
    """Where a job of the store stands."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    SUCCEEDED = "SUCCEEDED"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"

    @property
    def is_ended(self) -> bool:
        """Whether nothing will change any more."""
        return self in (JobState.SUCCEEDED, JobState.CANCELLED, JobState.FAILED)


@dataclass(frozen=True, kw_only=True)
class NewJob:
    """A job to commit; its units are staged under the same id."""

    job_id: JobId
    kind: str
    spec: bytes
    job_class: JobClass
    client: str
    total: int
    cached: int = 0
    """How many of the staged rows are cached results."""
    labels: Mapping[str, str] = field(default_factory=dict)
    request_id: str = ""
    """The client's id of the submission; empty: none."""
    digest: str = ""
    """A digest of the whole content, compared when the request id is used again."""
    keep: float
    """Seconds to keep the job after its end."""
    needs_all: bool = False
    """Whether it has failed once a unit of it is given up."""
    engine_version: str
    rules_version: str
    api_key: str = ""
    """The id of the API key whose quotas it counts against; empty: none."""
    trace: str = ""
    """The span of the call that made it, as W3C's `traceparent`; empty: none."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """A committed job as it stands. Times are milliseconds of the Unix epoch."""

    job_id: JobId
    kind: str
    spec: bytes
    job_class: JobClass
    client: str
    labels: Mapping[str, str]
    request_id: str
    engine_version: str
    rules_version: str
    state: JobState
    error: str
    sum: int
    """Of the amounts of its rows."""
    total: int
    done: int
    """Units with a result."""
    cached: int
    """Units among them with a cached result."""
    rejected: int
    quarantined: int
    claimable: int
    """Units that wait for a worker, or for the job to be resumed."""
    nodes: int
    attempts: int
    """Attempts at its units that ended: with a result, a failure or a lost claim."""
    search_seconds: float
    created_ms: int
    started_ms: int | None
    ended_ms: int | None
    expires_ms: int | None


@dataclass(frozen=True)
class Committed:
    """What a commit led to."""

    job_id: JobId
    is_new: bool
    """False: the request id already named this job, with the same content."""


@dataclass(frozen=True)
class JobPage:
    """Some jobs of a client, the newest first."""

    jobs: Sequence[Job]
    cursor: int | None
    """Leads to the next page; None on the last."""


@dataclass(frozen=True)
class JobEvent:
    """Something that happened to a job."""

    job_id: JobId
    progress: bytes | None
    """What its worker told of it; None: it has new rows or another state."""


class RowKind(StrEnum):
    """What became of a unit. The value is the first byte of its stored row."""

    RESULT = "R"
    CACHED = "C"
    """A result too, of an earlier equal request."""
    CONFIRMED = "V"
    """A result that was counted again."""
    REJECTED = "J"
    QUARANTINED = "Q"


@dataclass(frozen=True)
class Row:
    """The final row of a unit; there is never a second one."""

    index: UnitIndex
    kind: RowKind
    payload: bytes
    """The serialized ResultRow, without its index; when quarantined, the unit."""
    workers: Sequence[str] = ()
    """When quarantined: those that attempted it, in order."""
    cause: str = ""
    """When quarantined: what happened at the last attempt."""
    counts: Sequence[tuple[str, int]] = ()
    """When confirmed: workers and the amounts they came to, in order; the last one holds."""


class RowOrder(StrEnum):
    """The order of rows: as they were finished, or by index."""

    FINISHED = "finished"
    INPUT = "input"


@dataclass(frozen=True)
class RowPage:
    """Some rows of a job."""

    rows: Sequence[Row]
    offset: int
    """Leads to the rows after these, in the same order."""


@dataclass(frozen=True)
class ClaimedUnit:
    """One unit in a claim."""

    index: UnitIndex
    unit: bytes
    attempt: int
    """1 unless workers died on it before."""
    counted: int = 0
    """How often an amount was handed in for it that waits to be confirmed."""


@dataclass(frozen=True)
class Claim:
    """Units of one job that one worker process may run until the claim's deadline passes."""

    token: int
    """Greater than the token of every claim before."""
    job_id: JobId
    kind: str
    spec: bytes
    units: Sequence[ClaimedUnit]
    worker: str
    is_attended: bool
    """Whether somebody waits to be told of its progress."""
    is_audit: bool
    """Whether it finds a result again: that is neither cached nor audited."""
    trace: str
    """The trace its job belongs to, as `NewJob` says."""


class ClaimState(StrEnum):
    """What a worker learns of its claim."""

    CURRENT = "current"
    CLOSED = "closed"
    """All its units have been handed in."""
    CANCELLED = "cancelled"
    LOST = "lost"


@dataclass(frozen=True)
class Finished:
    """A unit that a worker is done with."""

    index: UnitIndex
    payload: bytes
    """A serialized ResultRow without its index; for a failed attempt, its cause as UTF-8 text."""
    nodes: int = 0
    seconds: float = 0.0
    is_failure: bool = False
    cache_key: bytes = b""
    """Under which the result is cached for equal requests; empty: theirs may be another."""
    amount: int | None = None
    """What its row adds to the job's sum."""
    needs_agreement: bool = False
    """Whether it gets its row only when another worker has come to the same amount."""


@dataclass(frozen=True)
class HandedIn:
    """What became of a hand-in."""

    accepted: int
    state: ClaimState


@dataclass(frozen=True)
class Swept:
    """What a sweep found."""

    lost_claims: int
    retried: int
    quarantined: int
    removed_jobs: int
    is_cut_short: bool
    """Whether there may be more to sweep at once."""


@dataclass(frozen=True)
class ClassLoad:
    """Units of a class, now."""

    claimable: int
    claimed: int
    paused: int = 0
    """Units that wait for their jobs to be resumed."""

    @property
    def open_units(self) -> int:
        """Units without a row."""
        return self.claimable + self.claimed + self.paused


@dataclass(frozen=True, kw_only=True)
class Queue:
    """What waits for workers, as one client sees it."""

    now_ms: int
    slots: int
    """Units that the workers there can run at once."""
    versions: frozenset[tuple[str, str]]
    """The engine and rules versions of the workers there."""
    claims: int
    """Claims that run."""
    load: Mapping[JobClass, ClassLoad]
    unit_seconds: Mapping[JobClass, float]
    """Mean search time of the last units; without a class of which none was handed in yet."""
    client_counts: Mapping[JobClass, int]
    """Clients with claimable units."""
    waiting: Mapping[JobClass, Sequence[tuple[JobId, int]]]
    """The client's jobs with claimable units and the number of these, in order; the first ones."""


class Verdict(StrEnum):
    """What became of an audit."""

    AGREED = "agreed"
    DIFFERED = "differed"
    UNCHECKED = "unchecked"


@dataclass(frozen=True)
class Totals:
    """Exact counts since the store was first used; each is raised where a row is accepted."""

    positions: int
    """Searched; those with cached results are `cached`."""
    cached: int
    cache_damaged: int
    audits: Mapping[Verdict, int]
    nodes: int
    search_seconds: float
    attempts: int
    quarantined: int
    rejected: int
    lost_claims: int
    jobs: Mapping[tuple[str, JobState], int]
    """By kind and state: the jobs now in it, and all that ever ended in it."""


@dataclass(frozen=True)
class WorkerInfo:
    """A worker host as it announced itself."""

    name: str
    host: str
    pid: int
    slots: int
    engine_version: str
    rules_version: str

    @property
    def versions(self) -> tuple[str, str]:
        """Of its engine and its rules: it takes the jobs made by the same."""
        return self.engine_version, self.rules_version


@dataclass(frozen=True)
class GatewayInfo:
    """A gateway as it announced itself."""

    name: str
    engine_version: str
    rules_version: str
