"""The Celery tasks: take a ticket, answer a canary. They run in the pool's children."""

import logging
import time
from collections.abc import Callable, Mapping
from functools import cache

import redis
from celery import Celery
from kombu.exceptions import OperationalError

from worker.adjudicator import Adjudicator
from worker.app import publish_tickets
from worker.claim import ClaimRun
from worker.engine import Analyst
from worker.metrics import WorkerMetrics
from worker.pairs import PairPlayer
from worker.perft import PerftRunner
from worker.runner import UnitRunner
from worker.settings import Settings
from worker.store import Store
from worker.tickets import CANARY, TAKE_TICKET
from worker.tracing import configure_tracing, continued, traced
from worker.trial import Trials

log = logging.getLogger(__name__)


def register_tasks(
    app: Celery,
    settings: Settings,
    worker: str,
    metrics: WorkerMetrics,
    trials: Trials,
    is_stopping: Callable[[], bool],
) -> None:
    """Add the tasks to the application. To be called in the parent, before it forks.

    `worker` is the name this host goes by; `is_stopping` tells a child that the host shuts down.
    """

    @cache
    def child() -> Child:
        runners = make_runners(worker)
        trials.take(runners["analysis"])
        return Child(app, settings, worker, runners, metrics, is_stopping)

    @app.task(name=TAKE_TICKET)
    def take_ticket() -> None:
        child().take_ticket()

    @app.task(name=CANARY)
    def canary(nonce: str) -> None:
        child().answer_canary(nonce)


def make_runners(worker: str) -> dict[str, UnitRunner]:
    """Return what runs the units of each kind of job, by the kind's name."""
    return {
        "analysis": Analyst(worker),
        "adjudication": Adjudicator(worker),
        "perft": PerftRunner(worker),
        "match": PairPlayer(worker),
    }


class Child:
    """One process of the pool: its connection to the store and its runners. Made in the child."""

    def __init__(
        self,
        app: Celery,
        settings: Settings,
        worker: str,
        runners: Mapping[str, UnitRunner],
        metrics: WorkerMetrics,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._app = app
        self._settings = settings
        self._worker = worker
        self._metrics = metrics
        self._is_stopping = is_stopping
        self._store = Store(settings)
        configure_tracing(settings, "worker")
        self._runners = runners

    def take_ticket(self) -> None:
        """Run claims for about `claim_time`; when work remains, leave a ticket for it.

        So canaries and other hosts get their turn. With the store away the ticket is dropped: the
        sweeper issues another. A full store takes no ticket, but rows: then this one goes on.
        """
        self._metrics.tickets.inc()
        deadline = time.monotonic() + self._settings.claim_time
        try:
            while not self._is_stopping():
                claim = self._store.claim(self._worker)
                if claim is None:
                    return
                self._metrics.claims.inc()
                runner = self._runners.get(claim.kind)
                if runner is None:
                    self._store.abandon(claim, f"no worker knows the kind {claim.kind!r}")
                    continue
                with continued(claim.trace), traced("claim", job=claim.job_id):
                    ClaimRun(
                        self._store,
                        runner,
                        self._metrics,
                        self._settings,
                        self._is_stopping,
                        claim,
                    ).run()
                if time.monotonic() > deadline and self._leave_ticket():
                    return
            self._leave_ticket()
        except redis.RedisError as error:
            log.warning("a ticket is dropped, the store cannot be reached: %s", error)

    def _leave_ticket(self) -> bool:
        """Issue a ticket if work remains; return False if the broker does not take it."""
        if not self._store.has_work():
            return True
        try:
            publish_tickets(self._app, 1)
        except (redis.RedisError, OperationalError) as error:
            log.warning("no ticket can be left: %s", error)
            return False
        return True

    def answer_canary(self, nonce: str) -> None:
        """Show the gateway that tickets are taken and the store is reached from here."""
        try:
            self._store.answer_canary(nonce, self._worker)
        except redis.RedisError as error:
            log.warning("a canary is not answered, the store cannot be reached: %s", error)
