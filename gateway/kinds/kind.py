"""What a kind of job is to the gateway: what it refuses, what its units are, how they are shown.

On the workers' side a kind is a `UnitRunner`, named alike in `worker/tasks.py`.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Protocol

from gateway.status import FieldFault, InvalidRequest
from tilewarp.v1 import jobs_pb2
from worker.settings import Settings
from worker.store import AsyncStore, Job, JobId, Row, UnitIndex

# Positions or games checked in one go in a thread: some tens of milliseconds.
CHECK_COUNT = 200


class Submission:
    """The rest of a submission after its header, and the way of its units into the store."""

    def __init__(
        self,
        specification: jobs_pb2.JobSpecification,
        requests: AsyncIterator[jobs_pb2.CreateJobRequest],
        job_id: JobId,
        store: AsyncStore,
        settings: Settings,
    ) -> None:
        self.specification = specification
        self.requests = requests
        """The messages after the first."""
        self.settings = settings
        self.digest = hashlib.sha256(specification.SerializeToString(deterministic=True))
        """Of the whole content."""
        self.total = 0
        """Units staged so far: the index of the next one."""
        self.cached = 0
        """Units among them with a cached result."""
        self.store = store
        self.needs_all = False
        """Whether the job has failed once a unit of it is given up."""
        self._job_id = job_id

    async def read(self, content: str) -> AsyncIterator[tuple[Sequence[Any], list[bytes]]]:
        """Yield what the messages carry, some positions or games at a time, and their bytes.

        What is yielded is to be staged before more is asked for.

        Args:
            content: the field that each message must have, and the one of the items in it.

        Raises InvalidRequest: a message carries something else, or it is too much, or nothing.
        """
        most = self.settings.max_positions
        async for request in self.requests:
            if request.WhichOneof("content") != content:
                fault = f"every message after the first must carry {content}"
                raise InvalidRequest([FieldFault(content, fault)])
            items = getattr(getattr(request, content), content)
            if self.total + len(items) > most:
                fault = f"more {content} than max_positions allows ({most})"
                raise InvalidRequest([FieldFault(content, fault)])
            for start in range(0, len(items), CHECK_COUNT):
                chunk = items[start : start + CHECK_COUNT]
                yield chunk, await asyncio.to_thread(self._digest, chunk)
        if self.total == 0:
            fault = f"a job needs at least one {content.removesuffix('s')}"
            raise InvalidRequest([FieldFault(content, fault)])

    def _digest(self, items: Sequence[Any]) -> list[bytes]:
        """Return messages as bytes, after they are written into the digest."""
        units = [item.SerializeToString(deterministic=True) for item in items]
        for unit in units:
            self.digest.update(len(unit).to_bytes(8))
            self.digest.update(unit)
        return units

    async def stage(
        self,
        units: Sequence[bytes],
        rejected: Mapping[UnitIndex, bytes] | None = None,
        cached: Mapping[UnitIndex, bytes] | None = None,
    ) -> None:
        """Stage the next units, and the rows of those among them that are refused or cached.

        Raises StoreFullError if there is no room for them.
        """
        await self.store.stage(self._job_id, units, rejected or {}, cached or {})
        self.total += len(units)
        self.cached += len(cached or {})


class Kind(Protocol):
    """A kind of job; a module is one."""

    @property
    def NUMBER(self) -> jobs_pb2.JobKind.ValueType:
        """Its number on the wire."""

    def find_faults(
        self, specification: jobs_pb2.JobSpecification, settings: Settings
    ) -> list[FieldFault]:
        """Return what is wrong with the work that is asked for."""

    async def stage(self, submission: Submission) -> None:
        """Read the rest of a submission and stage its units, of which there must be one or more.

        What takes processor time runs in a thread. Raises InvalidRequest, or StoreFullError.
        """

    def show_failure(self, row: Row, job: Job) -> jobs_pb2.ResultRow:
        """Return what a kind knows of a unit that was given up: its text, and a command for it."""
