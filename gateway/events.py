"""What happens to jobs, told to every call that waits: one reader of the store for all of them."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from gateway.status import Draining
from worker.store import AsyncStore, JobId

RETRY_SECONDS = 0.5

logger = logging.getLogger(__name__)


class JobEvents:
    """Wakes the calls that follow a job when something happened to it.

    A waiter must look at the store before it waits for the first time. It is also woken without
    cause: about every second, and when the connection is lost.
    """

    def __init__(self, store: AsyncStore) -> None:
        self._store = store
        self._waiters: defaultdict[JobId, set[asyncio.Event]] = defaultdict(set)
        self._is_closed = False

    async def run(self) -> None:
        """Read the store's events until cancelled; a lost connection is made anew."""
        while True:
            try:
                async for job_id in self._store.events():
                    self._wake(job_id)
            except redis.RedisError as error:
                logger.warning("the store's events are not heard: %s", error)
            self._wake(None)
            await asyncio.sleep(RETRY_SECONDS)

    @contextmanager
    def follow(self, job_id: JobId) -> Iterator["JobWaiter"]:
        """Give a waiter for a job; what happens from now on is not missed."""
        event = asyncio.Event()
        self._waiters[job_id].add(event)
        try:
            yield JobWaiter(self, event)
        finally:
            self._waiters[job_id].discard(event)
            if not self._waiters[job_id]:
                del self._waiters[job_id]

    @property
    def is_closed(self) -> bool:
        """Whether the gateway is stopping, so that nothing should wait any more."""
        return self._is_closed

    def close(self) -> None:
        """End every wait, now and later, with Draining."""
        self._is_closed = True
        self._wake(None)

    def _wake(self, job_id: JobId | None) -> None:
        groups = self._waiters.values() if job_id is None else [self._waiters.get(job_id, set())]
        for events in groups:
            for event in events:
                event.set()


class JobWaiter:
    """Waits for what happens to one job."""

    def __init__(self, events: JobEvents, event: asyncio.Event) -> None:
        self._events = events
        self._event = event

    async def wait(self) -> None:
        """Return when something may have happened since the last return.

        Raises:
            Draining: the gateway is stopping.
        """
        if not self._events.is_closed:
            await self._event.wait()
            self._event.clear()
        if self._events.is_closed:
            raise Draining
