"""An engine's stand-in that takes its time, fails or hangs as told."""

import sys
import threading
import time

from prometheus_client import CollectorRegistry

from worker.claim import ClaimRun
from worker.metrics import WorkerMetrics
from worker.settings import Settings
from worker.store import ClaimedUnit, Finished, Store


class Puppet:
    """Takes a time for each unit, counting nodes meanwhile; some units fail or hang."""

    def __init__(self, seconds: float, fails: bytes = b"-", hangs: bytes = b"-") -> None:
        self.nodes = 0
        self.seconds = seconds
        self.fails = fails
        self.hangs = hangs
        self.ran: list[bytes] = []
        self.stopped = threading.Event()

    def run(self, spec: bytes, unit: ClaimedUnit) -> Finished | None:
        self.stopped.clear()
        self.ran.append(unit.unit)
        if unit.unit == self.fails:
            raise LookupError("no such thing")
        if unit.unit == self.hangs:
            time.sleep(3600)
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            self.nodes += 1
            if self.stopped.wait(0.005):
                return None
        return Finished(unit.index, b"row", 5, 0.001)

    def take_progress(self) -> bytes:
        return b"%d nodes" % self.nodes

    def stop(self) -> None:
        self.stopped.set()


def run_hanging_claim() -> None:
    """Claim and hang, by the settings of the environment: this process is ended by its keeper."""
    settings = Settings.read()
    store = Store(settings)
    claim = store.claim("w")
    assert claim is not None
    metrics = WorkerMetrics(CollectorRegistry())
    puppet = Puppet(0, hangs=claim.units[0].unit)
    ClaimRun(store, puppet, metrics, settings, lambda: False, claim).run()


if __name__ == "__main__":
    sys.exit(run_hanging_claim())
