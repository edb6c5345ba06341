"""What lies before a job, by tables: its place, why it waits and when it will have ended."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.outlook import Outlook, find_outlook
from tilewarp.v1 import jobs_pb2
from worker.store import ClassLoad, Job, JobClass, JobId, JobState, Queue

NO_WORKER = jobs_pb2.WAIT_REASON_NO_WORKER
PAUSED = jobs_pb2.WAIT_REASON_PAUSED
BEHIND = jobs_pb2.WAIT_REASON_BEHIND
NEXT = jobs_pb2.WAIT_REASON_NEXT
LEFT = jobs_pb2.WAIT_REASON_LEFT_TO_OTHERS
OTHER_VERSIONS = jobs_pb2.WAIT_REASON_OTHER_VERSIONS
NONE = jobs_pb2.WAIT_REASON_UNSPECIFIED

INTERACTIVE, BULK, BACKGROUND = JobClass
NOW = 1_000_000
MINE = JobId("mine")

JOB = Job(
    job_id=MINE,
    kind="analysis",
    spec=b"",
    job_class=BULK,
    client="ann",
    labels={},
    request_id="",
    engine_version="1",
    rules_version="1",
    state=JobState.QUEUED,
    error="",
    sum=0,
    total=10,
    done=0,
    cached=0,
    rejected=0,
    quarantined=0,
    claimable=10,
    nodes=0,
    attempts=0,
    search_seconds=0.0,
    created_ms=1,
    started_ms=None,
    ended_ms=None,
    expires_ms=None,
)
BEGUN: dict[str, Any] = {"state": JobState.RUNNING, "done": 4, "attempts": 4, "search_seconds": 8.0}


def queue(
    interactive: int = 0,
    bulk: int = 10,
    *,
    jobs: tuple[tuple[str, int], ...] = (("mine", 10),),
    clients: int = 1,
    slots: int = 2,
    version: str = "1",
    claims: int = 2,
    means: dict[JobClass, float] | None = None,
) -> Queue:
    """Return what waits: units of two classes, and the client's own jobs of the class BULK."""
    return Queue(
        now_ms=NOW,
        slots=slots,
        versions=frozenset({(version, "1")} if slots else ()),
        claims=claims,
        load={
            INTERACTIVE: ClassLoad(interactive, 0),
            BULK: ClassLoad(bulk, 0),
            BACKGROUND: ClassLoad(99, 0),
        },
        unit_seconds=means or {},
        client_counts={INTERACTIVE: int(interactive > 0), BULK: clients, BACKGROUND: 1},
        waiting={
            INTERACTIVE: [],
            BULK: [(JobId(name), count) for name, count in jobs],
            BACKGROUND: [],
        },
    )


@pytest.mark.parametrize(
    ("job", "waiting", "wanted"),
    [
        ({}, queue(), (NEXT, 1, 0)),
        ({}, queue(version="2"), (OTHER_VERSIONS, 1, 0)),
        (BEGUN, queue(version="2"), (OTHER_VERSIONS, 1, 0)),
        ({}, queue(slots=0), (NO_WORKER, 1, 0)),
        ({"state": JobState.PAUSED}, queue(0, 0, jobs=()), (PAUSED, 0, 0)),
        ({"state": JobState.PAUSED}, queue(slots=0), (PAUSED, 0, 0)),
        ({"state": JobState.SUCCEEDED}, queue(), (NONE, 0, 0)),
        ({"state": JobState.CANCELLED}, queue(slots=0), (NONE, 0, 0)),
        # More urgent work and earlier jobs come first, later ones do not.
        ({}, queue(interactive=7), (BEHIND, 1, 7)),
        ({}, queue(0, 25, jobs=(("a", 3), ("b", 2), ("mine", 10), ("c", 10))), (BEHIND, 3, 5)),
        ({}, queue(7, 15, jobs=(("a", 5), ("mine", 10))), (BEHIND, 2, 12)),
        # Other clients have a turn for each unit before it, as far as they have units.
        ({}, queue(0, 1000, clients=2), (NEXT, 1, 0)),
        ({}, queue(0, 1000, jobs=(("a", 5), ("mine", 10)), clients=3), (BEHIND, 2, 15)),
        ({}, queue(0, 17, jobs=(("a", 5), ("mine", 10)), clients=3), (BEHIND, 2, 7)),
        # A job of which workers have something in hand does not wait.
        ({"claimable": 9}, queue(7), (NONE, 1, 7)),
        ({"claimable": 0}, queue(7, 0, jobs=()), (NONE, 0, 0)),
        ({"claimable": 9}, queue(slots=0), (NO_WORKER, 1, 0)),
        # One beyond those looked at.
        ({}, queue(0, 900, jobs=(("a", 5), ("b", 5))), (BEHIND, 0, 0)),
        # What failed is left to others only while somebody is free.
        ({"attempts": 1}, queue(claims=1), (LEFT, 1, 0)),
        ({"attempts": 1}, queue(claims=2), (NEXT, 1, 0)),
        ({"attempts": 1, "total": 15, "done": 5, "cached": 5}, queue(claims=1), (LEFT, 1, 0)),
        ({**BEGUN, "claimable": 6}, queue(claims=1), (NEXT, 1, 0)),
    ],
)
def test_place_and_reason(
    job: dict[str, Any], waiting: Queue, wanted: tuple[Any, int, int]
) -> None:
    assert find_outlook(replace(JOB, **job), waiting) == Outlook(*wanted)


@pytest.mark.parametrize(
    ("job", "waiting", "seconds"),
    [
        # Nothing is known.
        ({}, queue(), None),
        ({}, queue(means={INTERACTIVE: 1.0}), None),
        ({**BEGUN, "claimable": 6}, queue(slots=0), None),
        ({**BEGUN, "state": JobState.PAUSED}, queue(), None),
        ({**BEGUN, "state": JobState.SUCCEEDED}, queue(), None),
        # By the mean of its class, then by its own: six units of two seconds on two slots.
        ({}, queue(means={BULK: 1.0}), 5.0),
        ({**BEGUN, "claimable": 6}, queue(means={BULK: 9.0}), 6.0),
        ({**BEGUN, "claimable": 0}, queue(jobs=()), 6.0),
        ({**BEGUN, "rejected": 1, "quarantined": 1, "claimable": 3}, queue(), 4.0),
        # Cached results took no time.
        ({**BEGUN, "total": 99, "done": 93, "cached": 89, "claimable": 6}, queue(), 6.0),
        ({"total": 99, "done": 89, "cached": 89}, queue(means={BULK: 1.0}), 5.0),
        # Never sooner than one unit takes.
        ({**BEGUN, "total": 5, "claimable": 0}, queue(slots=64, jobs=()), 2.0),
        # After more urgent work, of which the time must be known.
        ({}, queue(8, means={BULK: 1.0, INTERACTIVE: 0.5}), 7.0),
        ({}, queue(8, means={BULK: 1.0}), None),
        # After an earlier job; with turns of another client, as far as it has units.
        ({}, queue(0, 30, jobs=(("a", 20), ("mine", 10)), means={BULK: 1.0}), 15.0),
        ({}, queue(0, 1000, clients=2, means={BULK: 1.0}), 10.0),
        ({}, queue(0, 14, clients=2, means={BULK: 1.0}), 7.0),
        # One beyond those looked at.
        ({}, queue(0, 900, jobs=(("a", 5),), means={BULK: 1.0}), None),
    ],
)
def test_expected_end(job: dict[str, Any], waiting: Queue, seconds: float | None) -> None:
    end = None if seconds is None else NOW + 1000 * seconds
    assert find_outlook(replace(JOB, **job), waiting).end_ms == end
