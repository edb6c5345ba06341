"""Searches for a book by the workers, as attended jobs of the class BACKGROUND."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from gateway.attended import LOOK_SECONDS, attend, give_sign, make_job
from gateway.book.book import Evidence
from gateway.book.growth import ExpansionFailed
from gateway.book.positions import BookPosition
from gateway.events import JobEvents, JobWaiter
from gateway.scores import read_value
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2
from worker.outcomes import OUTCOMES
from worker.store import AsyncStore, JobClass, JobId, Row, RowKind, RowOrder

_OUTCOME_NAMES = {outcome: name for name, outcome in OUTCOMES.items()}


class QueueExpander:
    """Has each call's positions searched as one job; leaving a call ends it.

    Args:
        variant: of the positions.
        limits: of each search.
        client: in whose name, among the clients that take turns.
        width: calls at the same time, as many as there are workers' processes.
        announce: called when there is new work.
    """

    def __init__(
        self,
        store: AsyncStore,
        events: JobEvents,
        announce: Callable[[], None],
        *,
        variant: str,
        limits: analysis_pb2.Limits,
        client: str,
        width: int,
    ) -> None:
        self._store = store
        self._events = events
        self._announce = announce
        self._variant = variant
        self._limits = limits
        self._client = client
        self.width = width

    async def search(self, positions: Sequence[BookPosition]) -> list[Evidence]:
        """Return for each position what its score is and rests on.

        Raises ExpansionFailed when one is given up, and StoreAway, NoWorker or Draining.
        """
        units = [
            position_pb2.Position(variant=self._variant, fen=position.fen).SerializeToString()
            for position in positions
        ]
        job = make_job(self._limits, JobClass.BACKGROUND, self._client, len(units))
        async with attend(self._store, self._events, job, units, is_told=False) as waiter:
            self._announce()
            rows = await self._collect(job.job_id, waiter, len(units))
        return [_read_evidence(row) for row in sorted(rows, key=lambda row: row.index)]

    async def _collect(self, job_id: JobId, waiter: JobWaiter, count: int) -> list[Row]:
        """Return the rows of a job, once all of them are there."""
        rows: list[Row] = []
        clock = asyncio.get_running_loop().time
        look_at = clock() + LOOK_SECONDS
        while True:
            page = await self._store.rows(job_id, RowOrder.FINISHED, len(rows), count)
            rows += page.rows
            if len(rows) == count:
                return rows
            with suppress(TimeoutError):
                async with asyncio.timeout_at(look_at):
                    await waiter.wait()
            if clock() >= look_at:
                await give_sign(self._store, {job_id})
                look_at = clock() + LOOK_SECONDS


def _read_evidence(row: Row) -> Evidence:
    if row.kind is not RowKind.RESULT:
        raise ExpansionFailed(f"a position was given up: {row.cause}")
    result = jobs_pb2.ResultRow.FromString(row.payload).analysis
    return Evidence(
        score=read_value(result.score),
        depth=result.depth,
        nodes=result.nodes,
        engine=result.provenance.engine_version,
        time=result.provenance.finish_time.seconds,
        outcome=_OUTCOME_NAMES[result.outcome],
    )
