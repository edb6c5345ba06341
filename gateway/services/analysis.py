"""AnalysisService: positions analysed by workers while their caller listens."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any

from gateway.attended import LOOK_SECONDS, attend, give_sign, make_job
from gateway.cached import CachedResults
from gateway.callers import find_client
from gateway.events import JobEvents, JobWaiter
from gateway.flow import Flow
from gateway.limits import find_limit_faults
from gateway.positions import PositionFaults, check_position
from gateway.status import FieldFault, GivenUp, InvalidRequest
from tilewarp.v1 import analysis_pb2, analysis_pb2_grpc, jobs_pb2
from worker.settings import Settings
from worker.store import AsyncStore, JobClass, JobId, Row, RowKind, RowOrder


class AnalysisService(analysis_pb2_grpc.AnalysisServiceServicer):
    """Analyses positions as jobs that live no longer than their call.

    Args:
        issue_ticket: has a worker look for work, at once.
        announce: called, without waiting, when there is new work for many.
    """

    def __init__(
        self,
        store: AsyncStore,
        events: JobEvents,
        settings: Settings,
        issue_ticket: Callable[[], Awaitable[None]],
        announce: Callable[[], None],
    ) -> None:
        self._store = store
        self._events = events
        self._settings = settings
        self._issue_ticket = issue_ticket
        self._announce = announce

    async def Analyse(
        self, request: analysis_pb2.AnalyseRequest, context: Any
    ) -> AsyncIterator[analysis_pb2.AnalyseResponse]:
        """Send what is known as it grows, and at last the result; nothing stays when it ends."""
        client = find_client(context, self._settings)
        await asyncio.to_thread(self._check, request)
        unit = request.position.SerializeToString(deterministic=True)
        results = CachedResults(
            self._store, self._settings, request.limits, no_cache=request.no_cache
        )
        (cached,) = await results.answer([unit])
        if cached is not None:
            yield analysis_pb2.AnalyseResponse(result=cached)
            return
        job = make_job(request.limits, JobClass.INTERACTIVE, client, 1)
        async with attend(self._store, self._events, job, [unit], is_told=True) as waiter:
            await self._issue_ticket()
            async for result in self._follow(job.job_id, waiter):
                yield analysis_pb2.AnalyseResponse(result=result)

    async def AnalyseMany(
        self, request_iterator: AsyncIterator[analysis_pb2.AnalyseManyRequest], context: Any
    ) -> AsyncIterator[analysis_pb2.AnalyseManyResponse]:
        """Send the results of the positions that come, as they are finished."""
        client = find_client(context, self._settings)
        flow = Flow(self._store, self._events, self._settings, self._announce, client)
        async with aclosing(flow.run(request_iterator)) as responses:
            async for response in responses:
                yield response

    def _check(self, request: analysis_pb2.AnalyseRequest) -> None:
        faults = find_limit_faults(request.limits, "limits", self._settings)
        if faults:
            raise InvalidRequest(faults)
        try:
            check_position(request.position, self._settings, request.limits.searchmoves)
        except PositionFaults as error:
            faults = [FieldFault("position", fault) for fault in error.faults]
            raise InvalidRequest(faults) from error

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
                await give_sign(self._store, {job_id})
                look_at = clock() + LOOK_SECONDS


def _read_result(row: Row) -> analysis_pb2.AnalysisResult:
    """Return the result in a row.

    Raises:
        GivenUp: it is none.
    """
    if row.kind is not RowKind.RESULT:
        raise GivenUp(f"the position was given up after {len(row.workers)} attempts: {row.cause}")
    return jobs_pb2.ResultRow.FromString(row.payload).analysis
