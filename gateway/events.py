"""What happens to jobs, told to every call that waits: one reader of the store for all of them."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from gateway.status import Draining
from worker.store import AsyncStore, JobEvent, JobId

RETRY_SECONDS = 0.5

logger = logging.getLogger(__name__)


class JobEvents:
    """Wakes the calls that follow a job when something happened to it.

    A waiter must look at the store before it waits for the first time. It is also woken without
    cause: about every second, and when the connection is lost.
    """

    def __init__(self, store: AsyncStore) -> None:
        self._store = store
        self._waiters: defaultdict[JobId, set[JobWaiter]] = defaultdict(set)
        self._is_closed = False

    async def run(self) -> None:
        """Read the store's events until cancelled; a lost connection is made anew."""
        while True:
            try:
                async for event in self._store.events():
                    self._wake(event)
            except redis.RedisError as error:
                logger.warning("the store's events are not heard: %s", error)
            self._wake(None)
            await asyncio.sleep(RETRY_SECONDS)

    @contextmanager
    def follow(self, job_id: JobId) -> Iterator["JobWaiter"]:
        """Give a waiter for a job; what happens from now on is not missed."""
        waiter = JobWaiter(self)
        self._waiters[job_id].add(waiter)
        try:
            yield waiter
        finally:
            self._waiters[job_id].discard(waiter)
            if not self._waiters[job_id]:
                del self._waiters[job_id]

    def check_open(self) -> None:
        """Raise Draining if the gateway is stopping."""
        if self._is_closed:
            raise Draining

    def close(self) -> None:
        """End every wait, now and later, with Draining, and what `check_open` guards."""
        self._is_closed = True
        self._wake(None)

    def _wake(self, event: JobEvent | None) -> None:
        """Wake those who follow the event's job; without an event, all."""
        if event is not None:
            for waiter in self._waiters.get(event.job_id, ()):
                waiter.wake(event.progress)
            return
        for waiters in self._waiters.values():
            for waiter in waiters:
                waiter.wake(None)


class JobWaiter:
    """Waits for what happens to one job."""

    def __init__(self, events: JobEvents) -> None:
        self._events = events
        self._event = asyncio.Event()
        self._progress: bytes | None = None

    async def wait(self) -> bytes | None:
        """Return when something may have happened since the last return.

        The answer is the newest progress that its worker has told meanwhile, None if it has not.

        Raises:
            Draining: the gateway is stopping.
        """
        self._events.check_open()
        await self._event.wait()
        self._event.clear()
        self._events.check_open()
        progress, self._progress = self._progress, None
        return progress

    def wake(self, progress: bytes | None) -> None:
        """Let the wait return."""
        if progress is not None:
            self._progress = progress
        self._event.set()
