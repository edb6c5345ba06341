"""AnalysisService: one position, analysed by a worker while its caller listens."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import redis

from core.version import ENGINE_VERSION, RULES_VERSION
from gateway.callers import find_client
from gateway.events import JobEvents, JobWaiter
from gateway.kinds import analysis
from gateway.limits import find_limit_faults
from gateway.positions import PositionFaults, check_position
from gateway.status import FieldFault, GivenUp, InvalidRequest, NoWorker, StoreAway
from tilewarp.v1 import analysis_pb2, analysis_pb2_grpc, jobs_pb2, position_pb2
from worker.settings import Settings
from worker.store import AsyncStore, JobClass, JobId, NewJob, Row, RowKind, RowOrder

KEEP_SECONDS = 10.0
"""Time to fetch the final result; it is removed as soon as that is done."""
LOOK_SECONDS = 1.0
"""Between signs of the caller, and looks whether somebody is there to do the work."""


class AnalysisService(analysis_pb2_grpc.AnalysisServiceServicer):
    """Analyses positions as jobs of one unit that live no longer than their call.

    Args:
        issue_ticket: has a worker look for work, at once.
    """

    def __init__(
        self,
        store: AsyncStore,
        events: JobEvents,
        settings: Settings,
        issue_ticket: Callable[[], Awaitable[None]],
    ) -> None:
        self._store = store
        self._events = events
        self._settings = settings
        self._issue_ticket = issue_ticket

    async def Analyse(
        self, request: analysis_pb2.AnalyseRequest, context: Any
    ) -> AsyncIterator[analysis_pb2.AnalyseResponse]:
        """Send what is known as it grows, and at last the result; nothing stays when it ends."""
        client = find_client(context, self._settings)
        await asyncio.to_thread(self._check, request)
        job = _make_job(request, client)
        with self._events.follow(job.job_id) as waiter:
            submission = asyncio.create_task(self._submit(job, request.position))
            try:
                await asyncio.shield(submission)
                async for result in self._follow(job.job_id, waiter):
                    yield analysis_pb2.AnalyseResponse(result=result)
            finally:
                await asyncio.wait([submission])  # or it might come after its removal
                with suppress(redis.RedisError):  # then the sweep removes it
                    await self._store.remove(job.job_id)

    def _check(self, request: analysis_pb2.AnalyseRequest) -> None:
        faults = find_limit_faults(request.limits, "limits", self._settings)
        if faults:
            raise InvalidRequest(faults)
        try:
            check_position(request.position, self._settings, request.limits.searchmoves)
        except PositionFaults as error:
            faults = [FieldFault("position", fault) for fault in error.faults]
            raise InvalidRequest(faults) from error

    async def _submit(self, job: NewJob, position: position_pb2.Position) -> None:
        if not await self._store.ask(job, position.SerializeToString()):
            raise NoWorker
        await self._issue_ticket()

    async def _follow(
        self, job_id: JobId, waiter: JobWaiter
    ) -> AsyncIterator[analysis_pb2.AnalysisResult]:
        """Yield what the worker tells, and at last its result."""
        clock = asyncio.get_running_loop().time
        look_at = clock() + LOOK_SECONDS
        while True:
            progress = None
            with suppress(TimeoutError):
                async with asyncio.timeout_at(look_at):
                    progress = await waiter.wait()
            if progress is not None:
                yield analysis_pb2.AnalysisResult.FromString(progress)
            page = await self._store.rows(job_id, RowOrder.FINISHED, 0, 1)
            if page.rows:
                yield _read_result(page.rows[0])
                return
            if clock() >= look_at:
                if not await self._store.attend(job_id):
                    raise StoreAway  # it was, and has lost the job or missed the signs
                if not await self._store.workers():
                    raise NoWorker
                look_at = clock() + LOOK_SECONDS


def _make_job(request: analysis_pb2.AnalyseRequest, client: str) -> NewJob:
    specification = jobs_pb2.JobSpecification(
        analysis=jobs_pb2.AnalysisWork(limits=request.limits),
        job_class=jobs_pb2.JOB_CLASS_INTERACTIVE,
    )
    return NewJob(
        job_id=JobId(f"attended-{secrets.token_hex(8)}"),  # no name: nobody asks for it
        kind=analysis.NAME,
        spec=specification.SerializeToString(),
        job_class=JobClass.INTERACTIVE,
        client=client,
        total=1,
        keep=KEEP_SECONDS,
        engine_version=ENGINE_VERSION,
        rules_version=RULES_VERSION,
    )


def _read_result(row: Row) -> analysis_pb2.AnalysisResult:
    """Return the result in a row.

    Raises:
        GivenUp: it is none.
    """
    if row.kind is not RowKind.RESULT:
        raise GivenUp(f"the position was given up after {len(row.workers)} attempts: {row.cause}")
    return jobs_pb2.ResultRow.FromString(row.payload).analysis
