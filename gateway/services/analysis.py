"""AnalysisService: one position, analysed by a worker while its caller listens."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import redis

from core.version import ENGINE_VERSION, RULES_VERSION
from gateway.callers import find_client
from gateway.events import JobEvents, JobWaiter
from gateway.jobs import ANALYSIS
from gateway.limits import find_limit_faults
from gateway.positions import PositionFaults, check_position
from gateway.status import FieldFault, GivenUp, InvalidRequest, NoWorker, StoreAway
from tilewarp.v1 import analysis_pb2, analysis_pb2_grpc, jobs_pb2
from worker.settings import Settings
from worker.store import AsyncStore, JobClass, JobId, NewJob, Row, RowKind, RowOrder

KEEP_SECONDS = 10.0
"""Time to fetch the final result; it is removed as soon as that is done."""
LOOK_SECONDS = 1.0
"""Between looks whether somebody is there to do the work, while nothing is told."""


class AnalysisService(analysis_pb2_grpc.AnalysisServiceServicer):
    """Analyses positions as jobs of one unit that live no longer than their call.

    Args:
        announce: called, without waiting, when there is new work.
    """

    def __init__(
        self,
        store: AsyncStore,
        events: JobEvents,
        settings: Settings,
        announce: Callable[[], None],
    ) -> None:
        self._store = store
        self._events = events
        self._settings = settings
        self._announce = announce

    async def Analyse(
        self, request: analysis_pb2.AnalyseRequest, context: Any
    ) -> AsyncIterator[analysis_pb2.AnalyseResponse]:
        """Send what is known as it grows, and at last the result; nothing stays when it ends."""
        client = find_client(context, self._settings)
        await asyncio.to_thread(self._check, request)
        if not await self._store.workers():
            raise NoWorker
        job_id = await self._store.new_job_id()
        with self._events.follow(job_id) as waiter:
            submission = asyncio.create_task(self._submit(job_id, request, client))
            try:
                await asyncio.shield(submission)
                async for result in self._follow(job_id, waiter):
                    yield analysis_pb2.AnalyseResponse(result=result)
            finally:
                await asyncio.wait([submission])  # or it might come after its removal
                with suppress(redis.RedisError):  # then the sweep removes it
                    await self._store.remove(job_id)

    def _check(self, request: analysis_pb2.AnalyseRequest) -> None:
        faults = find_limit_faults(request.limits, "limits", self._settings)
        if faults:
            raise InvalidRequest(faults)
        try:
            check_position(request.position, self._settings, request.limits.searchmoves)
        except PositionFaults as error:
            faults = [FieldFault("position", fault) for fault in error.faults]
            raise InvalidRequest(faults) from error

    async def _submit(
        self, job_id: JobId, request: analysis_pb2.AnalyseRequest, client: str
    ) -> None:
        specification = jobs_pb2.JobSpecification(
            analysis=jobs_pb2.AnalysisWork(limits=request.limits),
            job_class=jobs_pb2.JOB_CLASS_INTERACTIVE,
        )
        await self._store.stage(job_id, [request.position.SerializeToString()], {})
        await self._store.commit(
            NewJob(
                job_id=job_id,
                kind=ANALYSIS,
                spec=specification.SerializeToString(),
                job_class=JobClass.INTERACTIVE,
                client=client,
                total=1,
                keep=KEEP_SECONDS,
                engine_version=ENGINE_VERSION,
                rules_version=RULES_VERSION,
                is_attended=True,
            )
        )
        self._announce()

    async def _follow(
        self, job_id: JobId, waiter: JobWaiter
    ) -> AsyncIterator[analysis_pb2.AnalysisResult]:
        """Yield what the worker tells, and at last its result."""
        while True:
            if not await self._store.attend(job_id):
                raise StoreAway  # it was, and has lost the job or the caller's signs
            page = await self._store.rows(job_id, RowOrder.FINISHED, 0, 1)
            if page.rows:
                yield _read_result(page.rows[0])
                return
            progress = await _wait(waiter)
            if progress is not None:
                yield analysis_pb2.AnalysisResult.FromString(progress)
            elif not await self._store.workers():
                raise NoWorker


async def _wait(waiter: JobWaiter) -> bytes | None:
    """Return as the waiter does, but in time to give the next sign of the caller."""
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            return await waiter.wait()
    except TimeoutError:
        return None


def _read_result(row: Row) -> analysis_pb2.AnalysisResult:
    """Return the result in a row.

    Raises:
        GivenUp: it is none.
    """
    if row.kind is not RowKind.RESULT:
        raise GivenUp(f"the position was given up after {len(row.workers)} attempts: {row.cause}")
    return jobs_pb2.ResultRow.FromString(row.payload).analysis
