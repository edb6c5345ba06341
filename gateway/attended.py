"""Jobs that live no longer than the call that attends to them."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence, Set
from contextlib import asynccontextmanager, suppress

import redis

from core.version import ENGINE_VERSION, RULES_VERSION
from gateway.callers import find_key_id
from gateway.events import JobEvents, JobWaiter
from gateway.kinds import analysis
from gateway.status import NoWorker, StoreAway
from tilewarp.v1 import analysis_pb2, jobs_pb2
from worker.store import AsyncStore, JobClass, JobId, NewJob
from worker.tracing import show_trace

KEEP_SECONDS = 10.0
"""Time to fetch the last results; the job is removed as soon as that is done."""
LOOK_SECONDS = 1.0
"""Between signs of the caller, and looks whether somebody is there to do the work."""


def make_job(limits: analysis_pb2.Limits, job_class: JobClass, client: str, total: int) -> NewJob:
    """Return a job that analyses so many positions, under an id of its own.

    A client's calls take turns with its own jobs as with other clients: a caller does not wait for
    the end of what it has submitted before.
    """
    specification = jobs_pb2.JobSpecification(
        analysis=jobs_pb2.AnalysisWork(limits=limits),
        job_class=jobs_pb2.JobClass.Value(f"JOB_CLASS_{job_class}"),
    )
    return NewJob(
        job_id=JobId(f"attended-{secrets.token_hex(8)}"),  # no name: nobody asks for it
        kind=analysis.NAME,
        spec=specification.SerializeToString(),
        job_class=job_class,
        client=f"calls:{client}",
        total=total,
        keep=KEEP_SECONDS,
        engine_version=ENGINE_VERSION,
        rules_version=RULES_VERSION,
        api_key=find_key_id(),
        trace=show_trace(),
    )


@asynccontextmanager
async def attend(
    store: AsyncStore, events: JobEvents, job: NewJob, units: Sequence[bytes], *, is_told: bool
) -> AsyncIterator[JobWaiter]:
    """Let a job be there for the time of the context, and nothing of it after; yield its waiter.

    Signs of the caller are the context's own task. Raises NoWorker when no worker is up.
    """
    with events.follow(job.job_id) as waiter:
        asking = asyncio.create_task(store.ask(job, units, is_told=is_told))
        try:
            if not await asyncio.shield(asking):
                raise NoWorker
            yield waiter
        finally:
            await asyncio.wait([asking])  # or it might come after its removal
            with suppress(redis.RedisError):  # then the sweep removes it
                await store.remove(job.job_id)


async def give_sign(store: AsyncStore, jobs: Set[JobId]) -> None:
    """Give a sign of the caller of jobs, of which some may end meanwhile.

    To be called every `LOOK_SECONDS`. Raises StoreAway when one that must be there is not: the
    store was away, and has lost it or missed the signs. Raises NoWorker when no worker is up.
    """
    missing = await store.attend(jobs)
    if missing & jobs:
        raise StoreAway
    if not await store.has_worker():
        raise NoWorker
