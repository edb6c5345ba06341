"""JobService: submissions, looks, streams, pauses and cancellation, each against the store."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from gateway.callers import find_client
from gateway.events import JobEvents, JobWaiter
from gateway.jobs import (
    PREFIX,
    STATES,
    find_job,
    find_number,
    show_job,
    show_lost_job,
    show_row,
    submit,
)
from gateway.outlook import Outlook, find_outlook
from gateway.status import FieldFault, InvalidRequest, UnknownJob, WrongState
from tilewarp.v1 import jobs_pb2, jobs_pb2_grpc
from worker.settings import Settings
from worker.store import AsyncStore, Job, JobId, JobLostError, JobNotFoundError, RowOrder

WATCH_PAUSE = 0.25
"""Seconds between messages of progress, unless the job's state changes."""
LOOK_SECONDS = 1.0
"""Between looks at what comes before a job of which nothing is heard."""

ORDERS = {
    jobs_pb2.RESULT_ORDER_UNSPECIFIED: RowOrder.FINISHED,
    jobs_pb2.RESULT_ORDER_FINISHED: RowOrder.FINISHED,
    jobs_pb2.RESULT_ORDER_INPUT: RowOrder.INPUT,
}


class JobService(jobs_pb2_grpc.JobServiceServicer):
    """The jobs of all clients.

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

    async def CreateJob(
        self, request_iterator: AsyncIterator[jobs_pb2.CreateJobRequest], context: Any
    ) -> jobs_pb2.CreateJobResponse:
        """Commit a submission; the answer is sent when it can no longer be lost."""
        client = find_client(context, self._settings)
        job_id = await submit(request_iterator, client, self._store, self._settings)
        self._announce()
        return jobs_pb2.CreateJobResponse(job=await self._show(await self._store.job(job_id)))

    async def GetJob(
        self, request: jobs_pb2.GetJobRequest, context: Any
    ) -> jobs_pb2.GetJobResponse:
        """Return a job as it stands."""
        try:
            job = await find_job(request.name, find_client(context, self._settings), self._store)
        except JobLostError:
            return jobs_pb2.GetJobResponse(job=show_lost_job(request.name))
        return jobs_pb2.GetJobResponse(job=await self._show(job))

    async def ListJobs(
        self, request: jobs_pb2.ListJobsRequest, context: Any
    ) -> jobs_pb2.ListJobsResponse:
        """Return a page of the caller's jobs."""
        client = find_client(context, self._settings)
        if request.page_size < 0:
            fault = f"{request.page_size} is negative"
            raise InvalidRequest([FieldFault("page_size", fault)])
        size = min(request.page_size or self._settings.max_page, self._settings.max_page)
        cursor = _parse_count(request.page_token, "page_token") if request.page_token else None
        page = await self._store.jobs(client, size, cursor)
        outlooks = await self._find_outlooks(page.jobs)
        wanted = [
            show_job(job, outlook)
            for job, outlook in zip(page.jobs, outlooks, strict=True)
            if request.state in (jobs_pb2.JOB_STATE_UNSPECIFIED, STATES[job.state])
            and request.kind in (jobs_pb2.JOB_KIND_UNSPECIFIED, find_number(job))
        ]
        token = "" if page.cursor is None else str(page.cursor)
        return jobs_pb2.ListJobsResponse(jobs=wanted, next_page_token=token)

    async def WatchJob(
        self, request: jobs_pb2.WatchJobRequest, context: Any
    ) -> AsyncIterator[jobs_pb2.WatchJobResponse]:
        """Send the job whenever it changed, until it has ended or is lost."""
        client = find_client(context, self._settings)
        try:
            job = await find_job(request.name, client, self._store)
            with self._events.follow(job.job_id) as waiter:
                (outlook,) = await self._find_outlooks([job])
                yield jobs_pb2.WatchJobResponse(job=show_job(job, outlook))
                clock = asyncio.get_running_loop().time
                sent, sent_at = (job, outlook), clock()
                while not job.state.is_ended:
                    await _wait(waiter, LOOK_SECONDS)
                    state, job = job.state, await self._look(job)
                    # Progress may wait a little for more of it; another state may not.
                    while job.state == state and (rest := sent_at + WATCH_PAUSE - clock()) > 0:
                        await _wait(waiter, rest)
                        job = await self._look(job)
                    (outlook,) = await self._find_outlooks([job])
                    if (job, outlook) != sent:
                        yield jobs_pb2.WatchJobResponse(job=show_job(job, outlook))
                        sent, sent_at = (job, outlook), clock()
        except JobLostError:
            yield jobs_pb2.WatchJobResponse(job=show_lost_job(request.name))

    async def StreamResults(
        self, request: jobs_pb2.StreamResultsRequest, context: Any
    ) -> AsyncIterator[jobs_pb2.StreamResultsResponse]:
        """Send the rows there are, and with `follow` those to come."""
        if request.order not in ORDERS:
            raise InvalidRequest([FieldFault("order", f"{request.order} is not an order")])
        order = ORDERS[request.order]
        offset = _parse_resume_token(request.resume_token, order)
        client = find_client(context, self._settings)
        try:
            job = await find_job(request.name, client, self._store)
            with self._events.follow(job.job_id) as waiter:
                while True:
                    self._events.check_open()
                    page = await self._store.rows(
                        job.job_id, order, offset, self._settings.max_page
                    )
                    if page.offset > offset:
                        offset = page.offset
                        if page.rows:
                            yield jobs_pb2.StreamResultsResponse(
                                rows=[show_row(row, job) for row in page.rows],
                                resume_token=f"{order}:{offset}",
                            )
                    elif job.state.is_ended or not request.follow:
                        await self._look(job)  # or a store that was emptied would seem the end
                        return
                    else:
                        # The job is looked at before its rows: once it has ended, none can be
                        # missed.
                        await waiter.wait()
                        job = await self._look(job)
        except JobLostError:
            raise _lost(request.name) from None

    async def CancelJob(
        self, request: jobs_pb2.CancelJobRequest, context: Any
    ) -> jobs_pb2.CancelJobResponse:
        """Cancel a job; one that has ended stays as it is."""
        job = await self._move(self._store.cancel, request.name, context)
        return jobs_pb2.CancelJobResponse(job=await self._show(job))

    async def PauseJob(
        self, request: jobs_pb2.PauseJobRequest, context: Any
    ) -> jobs_pb2.PauseJobResponse:
        """Hold a job back; a paused one stays as it is."""
        job = await self._move(self._store.pause, request.name, context)
        _refuse_ended(job)
        return jobs_pb2.PauseJobResponse(job=await self._show(job))

    async def ResumeJob(
        self, request: jobs_pb2.ResumeJobRequest, context: Any
    ) -> jobs_pb2.ResumeJobResponse:
        """Let a paused job go on; one that waits or runs stays as it is."""
        job = await self._move(self._store.resume, request.name, context)
        _refuse_ended(job)
        self._announce()
        return jobs_pb2.ResumeJobResponse(job=await self._show(job))

    async def _move(self, move: Callable[[JobId], Awaitable[Job]], name: str, context: Any) -> Job:
        """Change the state of a caller's job and return it."""
        try:
            job = await find_job(name, find_client(context, self._settings), self._store)
            return await move(job.job_id)
        except JobLostError:
            raise _lost(name) from None
        except JobNotFoundError:
            raise UnknownJob(name) from None

    async def _show(self, job: Job) -> jobs_pb2.Job:
        (outlook,) = await self._find_outlooks([job])
        return show_job(job, outlook)

    async def _find_outlooks(self, jobs: Sequence[Job]) -> list[Outlook]:
        """Return what lies before each of a client's jobs."""
        if all(job.state.is_ended for job in jobs):
            return [Outlook()] * len(jobs)
        queue = await self._store.queue(jobs[0].client)
        return [find_outlook(job, queue) for job in jobs]

    async def _look(self, job: Job) -> Job:
        """Return the job as it stands now."""
        try:
            return await self._store.job(job.job_id)
        except JobNotFoundError:
            raise UnknownJob(PREFIX + job.job_id) from None


async def _wait(waiter: JobWaiter, seconds: float) -> None:
    """Wait for what happens to a job, for so long at most."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await waiter.wait()


def _refuse_ended(job: Job) -> None:
    if job.state.is_ended:
        raise WrongState(f"{PREFIX}{job.job_id} is {job.state}")


def _lost(name: str) -> WrongState:
    return WrongState(f"{name} is LOST: the store that held it has since been emptied")


def _parse_resume_token(token: str, order: RowOrder) -> int:
    if not token:
        return 0
    name, _, offset = token.partition(":")
    if name != order:
        fault = f"not a token of the order {order.name}"
        raise InvalidRequest([FieldFault("resume_token", fault)])
    return _parse_count(offset, "resume_token")


def _parse_count(text: str, field: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise InvalidRequest([FieldFault(field, "not a token that this server gave")])
    return int(text)
