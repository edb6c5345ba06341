"""One call of AnalyseMany: positions are read, batched into attended jobs, and answered.

A position has room from when it is read until its result is sent, and there is room for
`max_unfinished`: that is the flow control of both ways.
"""

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from gateway.attended import LOOK_SECONDS, attend, give_sign, make_job
from gateway.cached import CachedResults
from gateway.events import JobEvents
from gateway.limits import find_limit_faults
from gateway.positions import PositionFaults, check_position
from gateway.status import FieldFault, InvalidRequest
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2
from worker.command import format_command
from worker.limits import read_limits
from worker.settings import Settings
from worker.store import AsyncStore, JobClass, JobId, NewJob, Row, RowKind, RowOrder

MAX_ID_LENGTH = 128
BATCH_COUNT = 200
"""Positions that are checked and submitted in one go, at most."""
RESULT_COUNT = 100
"""Results in one response, about: of many lines they are large."""


@dataclass(frozen=True)
class _Limits:
    """Limits as they came, whether cached results will do, and what is wrong with them."""

    message: analysis_pb2.Limits
    no_cache: bool
    faults: list[str]


@dataclass(frozen=True)
class _Item:
    """A position that was read."""

    id: str
    position: position_pb2.Position
    limits: _Limits


@dataclass(frozen=True)
class _Batch:
    """Positions after the door, of the same limits."""

    job: NewJob
    ids: list[str]
    units: list[bytes]


class Flow:
    """The positions of one call. `run` is called once.

    Args:
        announce: called, without waiting, when there is new work.
    """

    def __init__(
        self,
        store: AsyncStore,
        events: JobEvents,
        settings: Settings,
        announce: Callable[[], None],
        client: str,
    ) -> None:
        self._store = store
        self._events = events
        self._settings = settings
        self._announce = announce
        self._client = client
        self._room = asyncio.Semaphore(settings.max_unfinished)
        self._limits = self._check_limits(analysis_pb2.Limits(), no_cache=False)
        self._unsubmitted: deque[_Item] = deque()
        self._is_all_read = False
        self._has_read = asyncio.Event()
        self._jobs: set[JobId] = set()
        """The jobs that must be there."""
        self._results: asyncio.Queue[list[analysis_pb2.AnalyseManyResult] | None] = asyncio.Queue()
        """Bounded by the room; None comes last."""

    async def run(
        self, requests: AsyncIterator[analysis_pb2.AnalyseManyRequest]
    ) -> AsyncGenerator[analysis_pb2.AnalyseManyResponse, None]:
        """Yield the results as they are finished, until all that was sent is answered.

        Nothing is left when it ends or is closed. What was finished before an error is sent first.

        Raises:
            InvalidRequest: an id is too long.
            NoWorker: no worker is up.
            StoreAway: the store was away, or is.
            Draining: the gateway is stopping.
        """
        working = asyncio.create_task(self._work(requests))
        working.add_done_callback(lambda _: self._results.put_nowait(None))
        try:
            while (results := await self._results.get()) is not None:
                while len(results) < RESULT_COUNT and not self._results.empty():
                    more = self._results.get_nowait()
                    if more is None:
                        self._results.put_nowait(None)
                        break
                    results += more
                yield analysis_pb2.AnalyseManyResponse(results=results)
                for _ in results:
                    self._room.release()
            await working
        except BaseExceptionGroup as group:
            raise _find_cause(group) from None
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)  # raised above, if heard

    async def _work(self, requests: AsyncIterator[analysis_pb2.AnalyseManyRequest]) -> None:
        async with asyncio.TaskGroup() as group:
            looking = group.create_task(self._look())
            reading = group.create_task(self._read(requests))
            async with asyncio.TaskGroup() as batches:
                while items := await self._take_items():
                    await self._submit(items, batches)
            await reading
            looking.cancel()

    async def _read(self, requests: AsyncIterator[analysis_pb2.AnalyseManyRequest]) -> None:
        """Read positions while there is room."""
        async for request in requests:
            given, known = (request.limits, request.no_cache), self._limits
            if request.HasField("limits") and given != (known.message, known.no_cache):
                self._limits = self._check_limits(request.limits, no_cache=request.no_cache)
            for item in request.items:
                if len(item.id) > MAX_ID_LENGTH:
                    fault = f"{len(item.id)} characters are more than {MAX_ID_LENGTH}"
                    raise InvalidRequest([FieldFault("items.id", fault)])
                await self._room.acquire()
                self._unsubmitted.append(_Item(item.id, item.position, self._limits))
                self._has_read.set()
        self._is_all_read = True
        self._has_read.set()

    async def _take_items(self) -> list[_Item]:
        """Return the next positions of the same limits, all there are; none after the last."""
        while not self._unsubmitted:
            if self._is_all_read:
                return []
            self._has_read.clear()
            await self._has_read.wait()
        limits = self._unsubmitted[0].limits
        alike = itertools.takewhile(lambda item: item.limits is limits, self._unsubmitted)
        items = list(itertools.islice(alike, BATCH_COUNT))
        for _ in items:
            self._unsubmitted.popleft()
        return items

    async def _submit(self, items: Sequence[_Item], batches: asyncio.TaskGroup) -> None:
        """Submit what has no cached result; what is read meanwhile is the next batch."""
        items = await self._answer(items)
        if not items:
            return
        batch, refused = await asyncio.to_thread(self._check, items)
        if refused:
            self._results.put_nowait(refused)
        if batch.units:
            await self._store.check_room(batch.job.job_id, len(batch.units))
            submitted = asyncio.Event()
            batches.create_task(self._run_batch(batch, submitted))
            await submitted.wait()

    async def _answer(self, items: Sequence[_Item]) -> Sequence[_Item]:
        """Answer positions from cached results; return the others."""
        limits = items[0].limits
        if limits.faults:
            return items
        results = CachedResults(
            self._store, self._settings, limits.message, no_cache=limits.no_cache
        )
        answers = await results.answer([_unit(item) for item in items])
        found = [
            analysis_pb2.AnalyseManyResult(id=item.id, analysis=answer)
            for item, answer in zip(items, answers, strict=True)
            if answer is not None
        ]
        if found:
            self._results.put_nowait(found)
        return [item for item, answer in zip(items, answers, strict=True) if answer is None]

    async def _run_batch(self, batch: _Batch, submitted: asyncio.Event) -> None:
        """Have a batch analysed, and take its results as they come."""
        job_id, ready = batch.job.job_id, 0
        async with attend(
            self._store, self._events, batch.job, batch.units, is_told=False
        ) as waiter:
            self._announce()
            self._jobs.add(job_id)
            submitted.set()
            try:
                while ready < len(batch.units):
                    page = await self._store.rows(job_id, RowOrder.FINISHED, ready, RESULT_COUNT)
                    ready = page.offset
                    if page.rows:
                        self._results.put_nowait([_show_row(row, batch) for row in page.rows])
                    else:
                        await waiter.wait()
            finally:
                self._jobs.discard(job_id)

    async def _look(self) -> None:
        """Give signs of the caller, and look whether the work can be done."""
        while True:
            self._events.check_open()
            if self._jobs:
                await give_sign(self._store, self._jobs)
            await asyncio.sleep(LOOK_SECONDS)

    def _check_limits(self, limits: analysis_pb2.Limits, *, no_cache: bool) -> _Limits:
        faults = find_limit_faults(limits, "limits", self._settings)
        return _Limits(limits, no_cache, [f"{fault.field}: {fault.fault}" for fault in faults])

    def _check(self, items: Sequence[_Item]) -> tuple[_Batch, list[analysis_pb2.AnalyseManyResult]]:
        """Return the good positions as a batch, and the results of the refused ones."""
        limits = items[0].limits
        ids, units, refused = [], [], []
        for item in items:
            faults = limits.faults or self._find_faults(item)
            if faults:
                error = analysis_pb2.AnalysisError(faults=faults)
                refused.append(analysis_pb2.AnalyseManyResult(id=item.id, error=error))
            else:
                ids.append(item.id)
                units.append(_unit(item))
        job = make_job(limits.message, JobClass.BULK, self._client, len(units))
        return _Batch(job, ids, units), refused

    def _find_faults(self, item: _Item) -> list[str]:
        try:
            check_position(item.position, self._settings, item.limits.message.searchmoves)
        except PositionFaults as error:
            return error.faults
        return []


def _unit(item: _Item) -> bytes:
    return item.position.SerializeToString(deterministic=True)


def _show_row(row: Row, batch: _Batch) -> analysis_pb2.AnalyseManyResult:
    shown = analysis_pb2.AnalyseManyResult(id=batch.ids[row.index])
    if row.kind is RowKind.RESULT:
        shown.analysis.CopyFrom(jobs_pb2.ResultRow.FromString(row.payload).analysis)
    else:
        limits = jobs_pb2.JobSpecification.FromString(batch.job.spec).analysis.limits
        position = position_pb2.Position.FromString(row.payload)
        shown.error.attempts = len(row.workers)
        shown.error.cause = row.cause
        shown.error.command = format_command(position, read_limits(limits))
    return shown


def _find_cause(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
