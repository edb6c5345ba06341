"""Runs one claim: units on the calling thread, and beside it a keeper that hands in and renews.

The keeper looks every `flush_interval`. It hands in what is finished and renews the claim only when
something moved; it ends the running unit when the claim is lost, its job cancelled or the worker
stopping; and it ends the whole process when a search hangs, since nothing else can. A search that
keeps even the keeper from running is ended by an alarm that the keeper puts off at every look.

Where somebody attends to the job, a teller beside the keeper tells how far the running unit is.
"""

import logging
import math
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum, auto
from typing import NoReturn

import redis

from worker.alarm import cancel_alarm, put_off_alarm
from worker.metrics import WorkerMetrics
from worker.runner import UnitRunner
from worker.settings import Settings
from worker.store import Claim, ClaimedUnit, ClaimState, Finished, Store
from worker.tracing import traced

HUNG_EXIT_CODE = 70
"""How a process ends itself when its search hangs."""
TELL_INTERVAL = 0.05
"""Seconds between looks for progress to tell those who attend to it."""
HAND_IN_PATIENCE = 30.0
"""Seconds to go on trying to hand in the last rows while the store is away."""
HAND_IN_PAUSE = 0.5
MAX_CAUSE = 500
"""Characters of a failure's cause that are kept."""

log = logging.getLogger(__name__)


class End(Enum):
    """Why a claim ends before its units are done."""

    GONE = auto()
    """It is lost, or its job is cancelled: nothing more is accepted."""
    STOPPING = auto()
    """The worker is shutting down: what is not done is handed back."""


class ClaimRun:
    """One claim as it runs. `run` is called once."""

    def __init__(
        self,
        store: Store,
        runner: UnitRunner,
        metrics: WorkerMetrics,
        settings: Settings,
        is_stopping: Callable[[], bool],
        claim: Claim,
    ) -> None:
        self._store = store
        self._runner = runner
        self._metrics = metrics
        self._settings = settings
        self._is_stopping = is_stopping
        self._claim = claim
        self._place = {"job": claim.job_id}
        self._finished: list[Finished] = []
        self._finished_lock = threading.Lock()
        self._done = threading.Event()
        self._end: End | None = None
        self._finished_count = 0
        self._is_store_away = False

    def run(self) -> None:
        """Run the units and hand them in; return when nothing of the claim is left here."""
        threads = [threading.Thread(target=self._keep, name="keeper", daemon=True)]
        if self._claim.is_attended:
            threads.append(threading.Thread(target=self._tell, name="teller", daemon=True))
        put_off_alarm()
        for thread in threads:
            thread.start()
        try:
            for unit in self._claim.units:
                if self._end is not None:
                    break
                self._metrics.attempts.inc()
                finished = self._run_unit(unit)
                if finished is not None:
                    self._add(finished)
        finally:
            self._done.set()
            for thread in threads:
                thread.join()
            cancel_alarm()
        self._conclude()

    def _run_unit(self, unit: ClaimedUnit) -> Finished | None:
        """Run a unit; what goes wrong in it is a failed attempt, and the others go on."""
        place = self._place | {"unit": unit.index}
        try:
            with traced("search", **place) as span:
                finished = self._runner.run(self._claim.spec, unit)
                if finished is not None:
                    span.set_attribute("tilewarp.nodes", finished.nodes)
        except Exception as error:
            log.exception("unit %(unit)d of job %(job)s failed", place, extra=place)
            cause = f"{type(error).__name__}: {error}"[:MAX_CAUSE]
            self._metrics.failures.inc()
            return Finished(unit.index, cause.encode(errors="replace"), is_failure=True)
        if finished is not None:
            self._metrics.positions.inc()
            self._metrics.nodes.inc(finished.nodes)
            self._metrics.search_seconds.inc(finished.seconds)
            work = place | {"nodes": finished.nodes, "seconds": finished.seconds}
            text = "unit %(unit)d of job %(job)s: %(nodes)d nodes in %(seconds).3f s"
            log.debug(text, work, extra=work)
        return finished

    def _add(self, finished: Finished) -> None:
        with self._finished_lock:
            self._finished.append(finished)
            self._finished_count += 1

    def _keep(self) -> None:
        """Look after the claim until its units are done. The keeper's thread."""
        patience = math.ceil(self._settings.lease / self._settings.flush_interval)
        progress, still = self._progress(), 0
        # Looks are counted, not seconds: a process that was itself suspended has not hung.
        while not self._done.wait(self._settings.flush_interval):
            put_off_alarm()
            before, progress = progress, self._progress()
            still = still + 1 if progress == before else 0
            if still >= patience:
                self._end_process()
            if self._end is None and self._is_stopping():
                self._end = End.STOPPING
            if still == 0:
                self._hand_in()
            if self._end is not None:
                self._runner.stop()  # at every look: the first may fall between two units

    def _tell(self) -> None:
        """Tell how far the unit is that runs, until all are done. The teller's thread."""
        while not self._done.wait(TELL_INTERVAL):
            progress = self._runner.take_progress()
            if progress is not None:
                with suppress(redis.RedisError):  # the result will say more
                    self._store.tell_progress(self._claim, progress)

    def _progress(self) -> tuple[int, int]:
        return self._finished_count, self._runner.nodes

    def _hand_in(self) -> bool:
        """Hand in what is finished, which renews the claim; return whether the store answered."""
        with self._finished_lock:
            rows, self._finished = self._finished, []
        try:
            state = self._store.hand_in(self._claim, rows).state
        except redis.RedisError as error:
            with self._finished_lock:
                self._finished = rows + self._finished
            if not self._is_store_away:
                log.warning("the store cannot be reached, rows wait: %s", error)
            self._is_store_away = True
            return False
        self._is_store_away = False
        self._pass_on(rows)
        if state in (ClaimState.LOST, ClaimState.CANCELLED) and self._end is not End.GONE:
            log.info("a claim on job %s is %s", self._claim.job_id, state.value, extra=self._place)
            self._metrics.lost_claims.inc()
            self._end = End.GONE
        return True

    def _pass_on(self, rows: Sequence[Finished]) -> None:
        """Cache what was handed in, and have a share of it found again elsewhere."""
        if self._claim.is_audit:
            return
        with suppress(redis.RedisError):  # an equal request is searched again then
            self._store.remember(rows)
            for finished in rows:
                if finished.cache_key and random.random() < self._settings.audit_share:
                    self._store.request_audit(self._claim, finished)

    def _conclude(self) -> None:
        """Hand in the last rows, and hand back what was not run."""
        deadline = time.monotonic() + HAND_IN_PATIENCE
        while self._finished and self._end is not End.GONE and not self._hand_in():
            if self._is_stopping() or time.monotonic() > deadline:
                text = "rows of job %s are dropped: its units are run again"
                log.error(text, self._claim.job_id, extra=self._place)
                return
            time.sleep(HAND_IN_PAUSE)
        if self._end is End.GONE or self._finished_count == len(self._claim.units):
            return
        try:
            self._store.release(self._claim)
        except redis.RedisError as error:
            text = "units of job %s wait for their lease: %s"
            log.warning(text, self._claim.job_id, error, extra=self._place)

    def _end_process(self) -> NoReturn:
        """End this process, whose search hangs: a kernel cannot be ended otherwise."""
        cause = f"hung: no node was searched in {self._settings.lease:g} s"
        text = "job %s: %s; this process ends"
        log.critical(text, self._claim.job_id, cause, extra=self._place)
        if self._hand_in():
            with suppress(redis.RedisError):  # then the claim expires by itself
                self._store.abandon(self._claim, cause)
        os._exit(HUNG_EXIT_CODE)
