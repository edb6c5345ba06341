"""Players that do as they are told, and the look-out for those that are left behind."""

import os
import shlex
import sys
import time
from pathlib import Path

from gateway.match.engines import Spec, parse_spec

FAKE = Path(__file__).with_name("fake.py")
MATE = ("c2d1", "e5e1")
"""Caissa from its start: Black mates with the first move."""
MARKER = f"fake-of-{os.getpid()}"
"""Stands in the command line of every fake of this process, and of no other's."""


def fake_text(
    protocol: str, behaviour: str = "well", line: tuple[str, ...] = MATE, marker: str = MARKER
) -> str:
    """What describes a fake to a match; `marker` stands in its command line."""
    # Nothing of the tests' environment is needed, and it starts the faster.
    python = [sys.executable, "-I", "-S", "-W", f"ignore:{marker}"]
    return f"{protocol}:{shlex.join([*python, str(FAKE), protocol, behaviour, *line])}"


def fake(protocol: str, behaviour: str = "well", line: tuple[str, ...] = MATE) -> Spec:
    """The same, parsed; it is named for its behaviour."""
    return parse_spec(fake_text(protocol, behaviour, line), behaviour, "caissa")


def find_processes(marker: str = MARKER) -> list[int]:
    """The processes with a text in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def wait_until_gone(marker: str = MARKER) -> None:
    """Wait until no such process is left."""
    deadline = time.monotonic() + 20
    while find_processes(marker):
        assert time.monotonic() < deadline, find_processes(marker)
        time.sleep(0.02)
