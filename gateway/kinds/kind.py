"""What a kind of job is to the gateway: what it refuses, what its units are, how they are shown.

On the workers' side a kind is a `UnitRunner`, named alike in `worker/tasks.py`.
"""

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from gateway.status import FieldFault
from tilewarp.v1 import jobs_pb2
from worker.settings import Settings
from worker.store import AsyncStore, Job, JobId, Row, UnitIndex


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
        """Of the whole content: a kind adds what it reads of `requests`."""
        self.total = 0
        """Units staged so far: the index of the next one."""
        self.cached = 0
        """Units among them with a cached result."""
        self.store = store
        self.needs_all = False
        """Whether the job has failed once a unit of it is given up."""
        self._job_id = job_id

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
