"""A worker host: the Celery worker with its pool of processes, metrics and signs of life."""

import ctypes
import logging
import mmap
import os
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import redis
from celery import Celery, signals
from celery.concurrency import prefork
from celery.worker.consumer import Consumer

from core.version import ENGINE_VERSION, RULES_VERSION
from worker.app import make_app
from worker.logs import configure_logging
from worker.metrics import serve_metrics
from worker.settings import Settings
from worker.store import Store, WorkerInfo
from worker.tasks import register_tasks
from worker.tracing import check_tracing
from worker.trial import Trials
from worker.warmup import warm_up

PR_SET_PDEATHSIG = 1
UNFIT_EXIT_CODE = 1
STORE_PAUSE = 1.0
"""Seconds between looks for a store that is not there yet."""
BROKER_PAUSE = 2.0
"""Seconds between attempts to reach a broker that went away."""
POOL_PAUSE = 0.25
"""Seconds between looks for dead processes of the pool."""
PROCESS_START = 60
"""Seconds that a pool process may take to start, on a busy machine."""

log = logging.getLogger(__name__)


def run(settings: Settings) -> int:
    """Work until told to stop; return the exit code. For the main thread of a process of its own.

    Waits for the store to be there, warms the kernels, then takes tickets with `workers` processes.
    SIGTERM hands running units back and ends soon; so it does when its processes can search
    nothing. Raises EvictingPolicyError if the store may lose what it is given, and TracingError if
    traces are wanted and cannot be made.
    """
    configure_logging(settings)
    check_tracing(settings)
    _wait_for_store(settings)
    warm_up()
    slots = settings.workers or os.cpu_count() or 1
    name = f"{socket.gethostname()}:{os.getpid()}"
    info = WorkerInfo(name, socket.gethostname(), os.getpid(), slots, ENGINE_VERSION, RULES_VERSION)
    app = make_app(settings)
    stop_word, trials = StopWord(), Trials(slots)
    _connect_signals(stop_word, parent=os.getpid())
    with serve_metrics(settings) as metrics, _announced(settings, info):
        signals.task_rejected.connect(lambda **_: metrics.forged_tickets.inc(), weak=False)
        register_tasks(app, settings, name, metrics, trials, stop_word.is_set)
        exit_code = _work(app, name, slots)
    return UNFIT_EXIT_CODE if trials.is_failed else exit_code


class StopWord:
    """A word that children see: in memory shared with every process forked after it was made."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1)

    def set(self) -> None:
        """Say that the host is shutting down."""
        self._memory[0] = 1

    def is_set(self) -> bool:
        """Return whether the host is shutting down."""
        return self._memory[0] != 0


class SteadyConsumer(Consumer):  # type: ignore[misc]
    """Celery's consumer, which waits ever longer for a broker, made to try at an even pace."""

    def ensure_connected(self, conn: Any) -> Any:
        """Return the connection once it stands."""
        conn.ensure_connection = partial(
            conn.ensure_connection, interval_start=BROKER_PAUSE, interval_step=0
        )
        return super().ensure_connected(conn)


class SteadyPool(prefork.TaskPool):  # type: ignore[misc]
    """Celery's pool, which may overlook a process's death for seconds, made to look often."""

    class Pool(prefork.AsynPool):  # type: ignore[misc]
        """The processes."""

        @property
        def timers(self) -> dict[Callable[[], None], float]:
            """What is called repeatedly, and the seconds between."""
            return {self.maintain_pool: POOL_PAUSE}


def _wait_for_store(settings: Settings) -> None:
    store = Store(settings)
    is_first = True
    while True:
        try:
            store.check()
        except redis.RedisError as error:
            if is_first:
                log.warning("waiting for the store: %s", error)
            is_first = False
            time.sleep(STORE_PAUSE)
        else:
            store.close()
            return


def _connect_signals(stop_word: StopWord, parent: int) -> None:
    def keep_logging(**_: Any) -> None:
        """Leave logging as it is: Celery sets up its own unless somebody listens here."""

    def stop(**_: Any) -> None:
        stop_word.set()

    def die_with_parent(**_: Any) -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:  # it died before the call
                os._exit(1)

    signals.setup_logging.connect(keep_logging, weak=False)
    signals.worker_shutting_down.connect(stop, weak=False)
    signals.worker_process_init.connect(die_with_parent, weak=False)


@contextmanager
def _announced(settings: Settings, info: WorkerInfo) -> Iterator[None]:
    """Give signs of life from a thread, meanwhile."""
    done = threading.Event()
    store = Store(settings)

    def announce() -> None:
        while True:
            try:
                store.announce(info)
            except redis.RedisError as error:
                log.warning("cannot announce this host: %s", error)
            if done.wait(settings.worker_ttl / 3):
                return

    thread = threading.Thread(target=announce, name="announce", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        with suppress(redis.RedisError):  # then the announcement expires by itself
            store.withdraw(info)
        store.close()


def _work(app: Celery, name: str, slots: int) -> int:
    app.conf.worker_proc_alive_timeout = PROCESS_START
    # A container's only user is often root, and nothing but JSON is accepted.
    warnings.filterwarnings("ignore", message="You're running the worker with superuser")
    worker = app.Worker(
        hostname=f"tilewarp@{name}",
        pool=SteadyPool,
        concurrency=slots,
        optimization="fair",
        consumer_cls=SteadyConsumer,
        quiet=True,
        without_mingle=True,
        without_gossip=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)
