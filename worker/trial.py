"""The trial of a worker's process: it takes no work before it has searched known positions.

So a worker that can search nothing is told apart from a position that nobody can search: it fails
at its trials, not at units.
"""

import mmap
import os
import signal

from billiard import current_process

from core.games import GAMES
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2
from worker.alarm import cancel_alarm, put_off_alarm
from worker.runner import UnitRunner
from worker.store import ClaimedUnit, UnitIndex

TRIAL_NODES = 1000
MAX_TRIALS = 3
"""Processes of a slot, one after another, that may fail; then the host is unfit."""


class UnfitError(Exception):
    """This host can search nothing."""


class Trials:
    """The failed trials of each slot's latest processes, seen by all of them.

    Made in the parent. Each slot has one process at a time, which alone writes there.
    """

    def __init__(self, slots: int) -> None:
        self._failed = mmap.mmap(-1, slots)

    @property
    def is_failed(self) -> bool:
        """Whether this host is unfit to work."""
        return max(self._failed[:]) >= MAX_TRIALS

    def take(self, runner: UnitRunner) -> None:
        """Let this process search the first position of each game. In the pool's processes.

        The trial counts as failed until it has succeeded, however the process ends. After too many,
        UnfitError is raised instead, and the host asked to stop.
        """
        slot = current_process().index
        if self._failed[slot] >= MAX_TRIALS:
            os.kill(os.getppid(), signal.SIGTERM)
            raise UnfitError("processes die before they can search: this host ends")
        self._failed[slot] += 1
        work = jobs_pb2.AnalysisWork(limits=analysis_pb2.Limits(nodes=TRIAL_NODES))
        spec = jobs_pb2.JobSpecification(analysis=work).SerializeToString()
        put_off_alarm()
        try:
            for game in GAMES:  # its first variant has its name
                position = position_pb2.Position(variant=game)
                runner.run(spec, ClaimedUnit(UnitIndex(0), position.SerializeToString(), attempt=1))
        finally:
            cancel_alarm()
        self._failed[slot] = 0
