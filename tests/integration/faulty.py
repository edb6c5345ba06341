"""A worker host whose engine has faults, and which writes down all that it runs.

Started with two files and a time: faults, read anew for every unit; a ledger; and the seconds after
which a process ends in which only the search runs. A line of faults is `MOVE FAULT`: a unit whose
first move played is MOVE, or any unit for `*`, meets

    kill   the process is killed
    hang   nothing is searched any more, and other threads run
    seize  nothing is searched any more, and no other thread runs
    fail   an exception
    lie    a result that is not what was found
"""

import ctypes
import json
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import worker.alarm
import worker.tasks
from tilewarp.v1 import jobs_pb2, position_pb2
from worker.engine import Analyst
from worker.host import run
from worker.perft import PerftRunner
from worker.settings import Settings
from worker.store import Finished

TRIAL = "-"
"""In place of a move: the units of a process's trial have none."""


@dataclass(frozen=True)
class Entry:
    """A line of the ledger: what a process began, and how it ended."""

    host: int
    pid: int
    index: int
    move: str
    event: str
    """`begun`, then `done` or `stopped`; nothing more if the process met its end."""
    nodes: int = 0


def read_ledger(ledger: Path) -> list[Entry]:
    """Return what was written so far."""
    if not ledger.exists():
        return []
    return [Entry(**json.loads(line)) for line in ledger.read_text().splitlines()]


class FaultyAnalyst(Analyst):
    """Runs units as they are to be run, unless a fault is told of them."""

    faults: Path
    ledger: Path

    def run(self, *arguments: Any) -> Finished | None:
        unit = arguments[1]
        moves = position_pb2.Position.FromString(unit.unit).moves
        move = moves[0] if moves else TRIAL
        self._write(unit.index, move, "begun")
        fault = self._find_fault(move)
        self._meet(fault, move)
        finished = super().run(*arguments)
        if finished is None:
            self._write(unit.index, move, "stopped")
            return None
        self._write(unit.index, move, "done", finished.nodes)
        return _lie(finished) if fault == "lie" else finished

    def _find_fault(self, move: str) -> str | None:
        lines = self.faults.read_text().splitlines() if self.faults.exists() else []
        told = dict(line.split() for line in lines)
        return told.get(move, told.get("*"))

    def _meet(self, fault: str | None, move: str) -> None:
        match fault:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "hang":
                time.sleep(3600)
            case "seize":
                ctypes.PyDLL(None).pause()
            case "fail":
                raise LookupError(f"no luck with {move}")

    def _write(self, index: int, move: str, event: str, nodes: int = 0) -> None:
        entry = Entry(os.getppid(), os.getpid(), index, move, event, nodes)
        with self.ledger.open("a") as file:  # one short write is whole, whoever else writes
            file.write(json.dumps(asdict(entry)) + "\n")


class FaultyCounter(PerftRunner):
    """Counts prefixes, and while told to lie adds one to each count."""

    def run(self, *arguments: Any) -> Finished | None:
        finished = super().run(*arguments)
        faults = FaultyAnalyst.faults
        if finished is None or not faults.exists() or "* lie" not in faults.read_text():
            return finished
        row = jobs_pb2.ResultRow.FromString(finished.payload)
        row.perft.count = str(int(row.perft.count) + 1)
        amount = int(row.perft.count) * int(row.perft.multiplicity)
        return replace(finished, payload=row.SerializeToString(), amount=amount)


def _lie(finished: Finished) -> Finished:
    row = jobs_pb2.ResultRow.FromString(finished.payload)
    row.analysis.score.centipawns += 1
    return replace(finished, payload=row.SerializeToString())


if __name__ == "__main__":
    FaultyAnalyst.faults, FaultyAnalyst.ledger = map(Path, sys.argv[1:3])
    worker.alarm.SEIZED_SECONDS = float(sys.argv[3])
    worker.tasks.Analyst = FaultyAnalyst  # type: ignore[misc]
    worker.tasks.PerftRunner = FaultyCounter  # type: ignore[misc]
    sys.exit(run(Settings.read()))
