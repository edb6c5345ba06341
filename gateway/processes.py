"""Child processes that end with their parent, even when it is killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

# Asks for a signal at the parent's death (PR_SET_PDEATHSIG is 1), then becomes the program; an
# execve keeps the wish. A function run between fork and exec is not safe beside threads.
_LAUNCHER = """
import ctypes, os, sys
parent, death_signal, *command = sys.argv[1:]
ctypes.CDLL(None).prctl(1, int(death_signal), 0, 0, 0)
if os.getppid() == int(parent):
    os.execv(command[0], command)
"""


def spawn(
    command: Sequence[str | Path],
    *,
    death_signal: signal.Signals = signal.SIGKILL,
    environment: Mapping[str, str] | None = None,
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program by its full path, in a process group of its own and without standard input.

    On Linux it gets `death_signal` when the calling thread is gone: call from the main thread.
    """
    texts = [str(part) for part in command]
    if sys.platform == "linux":
        launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER]
        texts = [*launcher, str(os.getpid()), str(int(death_signal)), *texts]
    return subprocess.Popen(
        texts,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        env=dict(environment) if environment is not None else None,
        process_group=0,
    )


def end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Ask a process to end, kill its whole group after `seconds`, wait for it, close its pipe."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
