"""The whole service on one machine: an embedded server, a worker and a gateway as children."""

import asyncio
import logging
import os
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

import redis
from kombu.exceptions import OperationalError

from gateway.embedded import EmbeddedServer, EmbeddedServerError
from gateway.processes import end, spawn
from worker.app import make_app, publish_canary
from worker.settings import Settings
from worker.store import AsyncStore

# -P: a folder named as one of ours, where the service is started, is not taken for it.
COMMAND = (sys.executable, "-P", "-m", "gateway.cli")
POLL_SECONDS = 0.1
CANARY_SECONDS = 2.0
STOP_SECONDS = 15.0
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
STEADY_SECONDS = 60.0
"""A child that lived so long is started again after the first pause."""

logger = logging.getLogger(__name__)


class StackError(Exception):
    """The stack cannot be started; the text says why."""


class Child:
    """A child process that is started again when it dies, after a growing pause."""

    def __init__(self, name: str, spawn_child: Callable[[], subprocess.Popen[bytes]]) -> None:
        self._name = name
        self._spawn = spawn_child
        self._pause = FIRST_PAUSE
        self._started_at = 0.0
        self._start_at = 0.0
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        """Start it now."""
        self._started_at = time.monotonic()
        self.process = self._spawn()
        return self.process

    def check(self) -> None:
        """Raise StackError if it has died."""
        if self.process is not None and self.process.poll() is not None:
            raise StackError(f"the {self._name} ended with {self.process.returncode}")

    def keep(self) -> None:
        """Notice its death, or start it again when its pause is over."""
        if self.process is None:
            if time.monotonic() >= self._start_at:
                self._restart()
        elif self.process.poll() is not None:
            logger.warning("the %s ended with %s", self._name, self.process.returncode)
            self._rest()

    def stop(self) -> None:
        """End it and wait for it."""
        if self.process is not None:
            end(self.process, STOP_SECONDS)
            self.process = None

    def _restart(self) -> None:
        try:
            self.start()
        except EmbeddedServerError as error:
            logger.warning("%s", error)
            self._rest()

    def _rest(self) -> None:
        self.process = None
        now = time.monotonic()
        if now - self._started_at > STEADY_SECONDS:
            self._pause = FIRST_PAUSE
        self._start_at = now + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE)


class Stack:
    """The embedded server, a worker with its pool, and a gateway.

    Args:
        settings: for all of them; `redis_url` is the embedded server's own.
        data: where jobs and books are kept; None for nowhere after the end.
    """

    def __init__(self, settings: Settings, data: Path | None) -> None:
        self._server = EmbeddedServer(data)
        self._settings = replace(
            settings,
            redis_url=self._server.url,
            metrics_dir=settings.metrics_dir or str(self._server.directory / "metrics"),
            books_dir=settings.books_dir or str((data or self._server.directory) / "books"),
        )
        self._stop_signal: int | None = None
        self._store = Child("store", self._server.start)
        self._worker = Child("worker", lambda: self._spawn("worker"))
        self._gateway = Child("gateway", lambda: self._spawn("gateway", subprocess.PIPE))

    def run(self, tell_ready: Callable[[str], None]) -> int:
        """Run until SIGTERM, SIGINT or SIGHUP, and return its number; nothing is left behind.

        Call it from the main thread. `tell_ready` is called with HOST:PORT once a canary has come
        through the queue and a worker.

        Raises:
            StackError, EmbeddedServerError: a part does not start.
        """
        with self._catch_signals():
            try:
                return self._run(tell_ready)
            finally:
                self._gateway.stop()
                self._worker.stop()
                self._server.close()

    def _run(self, tell_ready: Callable[[str], None]) -> int:
        for step in (self._store.start, self._warm_up, self._worker.start, self._start_gateway):
            step()
            if self._stop_signal is not None:
                return self._stop_signal
        while self._stop_signal is None and not self._is_canary_answered():
            self._check_children()
        if self._stop_signal is None:
            tell_ready(self._settings.listen)
        while self._stop_signal is None:
            for child in (self._store, self._worker, self._gateway):
                child.keep()
            time.sleep(POLL_SECONDS)
        return self._stop_signal

    def _warm_up(self) -> None:
        """Compile the kernels before anybody needs them."""
        warmup = self._spawn("warmup")
        try:
            while warmup.poll() is None and self._stop_signal is None:
                time.sleep(POLL_SECONDS)
            if warmup.poll():
                raise StackError(f"the kernels cannot be compiled: {warmup.returncode}")
        finally:
            end(warmup, STOP_SECONDS)

    def _start_gateway(self) -> None:
        """Start the gateway and learn its address, which it keeps when it is started again."""
        gateway = self._gateway.start()
        assert gateway.stdout is not None
        while self._stop_signal is None:
            if select.select([gateway.stdout], [], [], POLL_SECONDS)[0]:
                line = gateway.stdout.readline().decode().strip()
                if not line:
                    raise StackError("the gateway does not start")
                self._settings = replace(self._settings, listen=line.removeprefix("listening "))
                return

    def _check_children(self) -> None:
        for child in (self._store, self._worker, self._gateway):
            child.check()

    def _is_canary_answered(self) -> bool:
        nonce = uuid.uuid4().hex
        try:
            publish_canary(make_app(self._settings), nonce)
            return asyncio.run(self._await_canary(nonce))
        except (OperationalError, redis.RedisError) as error:
            logger.warning("the store does not answer: %s", error)
            return False

    async def _await_canary(self, nonce: str) -> bool:
        store = AsyncStore(self._settings)
        try:
            return await store.await_canary(nonce, CANARY_SECONDS) is not None
        finally:
            await store.close()

    def _spawn(self, command: str, stdout: int | None = None) -> subprocess.Popen[bytes]:
        # Standard output is for the line that says `ready`.
        return spawn(
            [*COMMAND, command],
            environment={**os.environ, **self._settings.environment()},
            stdout=sys.stderr.fileno() if stdout is None else stdout,
        )

    @contextmanager
    def _catch_signals(self) -> Iterator[None]:
        def note(number: int, _: FrameType | None) -> None:
            self._stop_signal = number

        wanted = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        before = {number: signal.signal(number, note) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
