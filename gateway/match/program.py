"""Programs spoken to in lines, each in a process group of its own, none of which outlives us."""

import array
import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Sequence
from types import TracebackType

from core.match.game import PlayerFault
from core.notation import escape_text

# Kills the groups that it was told of when its standard input ends: also when we are killed.
_KEEPER = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""
_CHUNK = 1 << 16
_LAST_WORDS = 4096
_LAST_GASP_SECONDS = 0.5


class ProgramFault(PlayerFault):
    """A program did not do what it must; the text says what, for people to read."""


class Keeper:
    """Sees to it that no program outlives this process, however that ends."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _KEEPER],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            process_group=0,
        )
        self._lock = threading.Lock()
        self._is_closed = False

    def __enter__(self) -> "Keeper":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self, command: Sequence[str]) -> "Program":
        """Start a program, found on PATH.

        Raises:
            ProgramFault: it cannot be run, or the keeper is closed.
        """
        with self._lock:
            if self._is_closed:
                raise ProgramFault("the match is over")
            program = Program(command, self)
            self._tell(f"+{program.pid}")
            return program

    def forget(self, group: int) -> None:
        """Take a group whose processes are dead out of the list."""
        with self._lock:
            if not self._is_closed:
                self._tell(f"-{group}")

    def close(self) -> None:
        """Kill every program that runs; those who wait for one get a fault."""
        with self._lock:
            self._is_closed = True
            assert self._process.stdin is not None
            self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()


class Program:
    """A running program; started by `Keeper.start`."""

    def __init__(self, command: Sequence[str], keeper: Keeper) -> None:
        self._keeper = keeper
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 -- closed with the program
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                bufsize=0,
                process_group=0,
            )
        except OSError as error:
            self._complaints.close()
            raise ProgramFault(f"cannot be run: {error}") from error
        assert self._process.stdin is not None and self._process.stdout is not None
        self.pid = self._process.pid
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._poll = select.poll()
        self._poll.register(self._stdout, select.POLLIN)
        self._lines: list[str] = []
        self._rest = b""

    def send(self, line: str) -> None:
        """Write a line."""
        try:
            self._stdin.write(f"{line}\n".encode())
        except (OSError, ValueError):  # it has died, or been killed by us
            raise ProgramFault(self._tell_end()) from None

    def await_reading(self, deadline: float) -> None:
        """Return when the program has read all that it was sent, or has said something or ended.

        Raises:
            ProgramFault: `time.monotonic` reached the deadline.
        """
        unread = array.array("i", [0])
        while not self._poll.poll(1):
            fcntl.ioctl(self._stdin, termios.FIONREAD, unread)
            if unread[0] == 0:
                return
            if time.monotonic() >= deadline:
                raise ProgramFault("does not read what it is sent")

    def read_line(self, deadline: float) -> str:
        """Return the next line without its end, white space at both sides taken away.

        Raises:
            ProgramFault: the program ended, or `time.monotonic` passed the deadline, however much
                the program says.
        """
        while not self._lines:
            wait = max(deadline - time.monotonic(), 0)
            if not self._poll.poll(wait * 1000):
                raise ProgramFault("no answer in time")
            chunk = os.read(self._stdout.fileno(), _CHUNK)
            if not chunk:
                raise ProgramFault(self._tell_end())
            *whole, self._rest = (self._rest + chunk).split(b"\n")
            self._lines = [line.decode("utf-8", "backslashreplace").strip() for line in whole]
        if time.monotonic() > deadline:
            raise ProgramFault("no answer in time")
        return self._lines.pop(0)

    def close(self, farewell: str = "", seconds: float = 0.0) -> None:
        """Say farewell, wait up to `seconds` for the end, kill what is left of the group."""
        deadline = time.monotonic() + seconds
        with contextlib.suppress(ProgramFault):
            if farewell and self._process.returncode is None:
                self.send(farewell)
                while True:
                    self.read_line(deadline)
        self._kill()
        self._complaints.close()

    def _tell_end(self) -> str:
        self._await_death()
        code = self._kill()
        size = self._complaints.seek(0, os.SEEK_END)
        self._complaints.seek(max(size - _LAST_WORDS, 0))
        said = self._complaints.read().decode("utf-8", "backslashreplace").strip()
        last = escape_text(said.rsplit("\n", 1)[-1])
        return f"ended with {code}" + (f": {last}" if last else "")

    def _await_death(self) -> None:
        """Give a program that ended its output the time to end by itself, for its exit code."""
        deadline = time.monotonic() + _LAST_GASP_SECONDS
        while self._process.returncode is None and time.monotonic() < deadline:
            if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return
            time.sleep(0.005)

    def _kill(self) -> int:
        """Kill the group, and return how its first process ended."""
        if self._process.returncode is None:
            # Not waited for, the dead first process keeps the group's number from a new owner.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()
            self._keeper.forget(self.pid)
            self._stdin.close()
            self._stdout.close()
        return self._process.returncode
