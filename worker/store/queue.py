"""What waits for workers, read at one go, however many units there are."""

from collections.abc import Sequence
from typing import Any

from worker.store import keys
from worker.store.parse import MICROSECONDS, parse_load
from worker.store.types import JobClass, JobId, Queue, WorkerInfo

MAX_JOBS = 256
"""Jobs of a client and class that are looked at, at most."""


async def read_queue(connection: Any, client: str, workers: Sequence[WorkerInfo]) -> Queue:
    """Return what waits for the workers, which are known already, as a client sees it."""
    pipe = connection.pipeline(transaction=False)
    pipe.time()
    pipe.zcard(keys.CLAIMS)
    pipe.hgetall(keys.LOAD)
    for job_class in JobClass:
        pipe.zcard(keys.turns(job_class))
        # In the order of the sorted set. A full server answers SORT_RO, but not SORT, which is what
        # the client's own method sends.
        wanted = ("BY", "nosort", "LIMIT", 0, MAX_JOBS, "GET", "#", "GET", "tw:job:*->claimable")
        pipe.execute_command("SORT_RO", keys.queue(job_class, client), *wanted)
    (seconds, microseconds), claims, fields, *found = await pipe.execute()
    return Queue(
        now_ms=seconds * 1000 + microseconds // 1000,
        slots=sum(worker.slots for worker in workers),
        versions=frozenset(worker.versions for worker in workers),
        claims=claims,
        load=parse_load(fields),
        unit_seconds={
            job_class: int(fields[name]) / MICROSECONDS
            for job_class in JobClass
            if (name := f"unit_us:{job_class}".encode()) in fields
        },
        client_counts=dict(zip(JobClass, found[::2], strict=True)),
        waiting={
            job_class: [
                (JobId(job.decode()), int(count or 0))
                for job, count in zip(flat[::2], flat[1::2], strict=True)
            ]
            for job_class, flat in zip(JobClass, found[1::2], strict=True)
        },
    )
