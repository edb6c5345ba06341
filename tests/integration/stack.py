"""The real service as a child process, its processes, and positions to send through it."""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from core.position import Position
from gateway.processes import end, spawn
from gateway.supervisor import COMMAND

STOP_SECONDS = 30.0
MAX_PLIES = 40


class Service:
    """A `tilewarp serve` on any free port, with a log of its own."""

    def __init__(self, log: Path, *arguments: str) -> None:
        self._log = log
        with log.open("wb") as stderr:
            self.process = spawn(
                [*COMMAND, "serve", "--listen", "127.0.0.1:0", *arguments],
                death_signal=signal.SIGTERM,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )
        assert self.process.stdout is not None
        word, _, self.address = self.process.stdout.readline().decode().strip().partition(" ")
        assert word == "ready", self.log()

    def log(self) -> str:
        """Return what the service logged."""
        return self._log.read_text(errors="replace")

    def stop(self) -> int:
        """Ask it to end; return its exit code."""
        end(self.process, STOP_SECONDS)
        return self.process.returncode

    def command(self, *arguments: str) -> list[str]:
        """Return the whole command line of a client's command."""
        return [*COMMAND, *arguments, "--gateway", self.address]

    def tilewarp(
        self, *arguments: str, text: str | bytes = ""
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run a client's command to its end."""
        return subprocess.run(
            self.command(*arguments),
            input=text.encode() if isinstance(text, str) else text,
            capture_output=True,
            timeout=110,
            check=False,
        )

    def analyse(self, variant: str, text: str | bytes, *limits: str) -> list[dict[str, Any]]:
        """Analyse lines and return the objects; the command must have succeeded."""
        ended = self.tilewarp("analyse", variant, "-", "--json", *limits, text=text)
        assert ended.returncode == 0, ended.stderr
        return objects(ended.stdout)

    def find_child(self, command: str) -> int:
        """Return the pid of the child that runs a command of tilewarp."""
        (pid,) = [
            pid for pid in find_children(self.process.pid) if _arguments(pid)[-1:] == [command]
        ]
        return pid

    def pool(self) -> list[int]:
        """Return the pids of the worker's pool."""
        return find_children(self.find_child("worker"))


def objects(output: bytes) -> list[dict[str, Any]]:
    """Return the JSON objects of an output's lines."""
    return [json.loads(line) for line in output.splitlines()]


def find_children(parent: int) -> list[int]:
    """Return the pids of a process's children."""
    return [pid for pid in _pids() if _parent(pid) == parent]


def find_descendants(parent: int) -> list[int]:
    """Return the pids of a process's children, their children, and so on."""
    children = find_children(parent)
    return children + [pid for child in children for pid in find_descendants(child)]


def wait_until(is_so: Callable[[], bool], seconds: float) -> None:
    """Wait until something is so, or fail."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def random_lines(variant: str, count: int, seed: int) -> list[str]:
    """Return so many positions of random games, each with the moves that led to it."""
    choose = random.Random(seed)
    lines = []
    while len(lines) < count:
        position = Position(variant)
        for _ in range(choose.randrange(MAX_PLIES)):
            moves = position.legal_moves
            if not moves:
                break
            position.push(choose.choice(moves))
        played: Sequence[str] = position.moves
        lines.append("startpos" + (" moves " + " ".join(played) if played else ""))
    return lines


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def _arguments(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return []
