"""What a worker host counts, gathered from its processes and served on /metrics by their parent.

These counts are of work done here; the exact counts of accepted work are the store's.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from billiard.process import current_process

from worker.settings import Settings

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

DIRECTORY_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


class WorkerMetrics:
    """The counters of a worker host. Made in the parent, raised in its children."""

    def __init__(self, registry: "CollectorRegistry") -> None:
        # The library chooses how to keep values when it is first imported, by the environment.
        from prometheus_client import Counter

        def counter(name: str, text: str) -> Counter:
            return Counter(f"tilewarp_worker_{name}", text, registry=registry)

        self.positions = counter("positions", "Positions analysed")
        self.failures = counter("failures", "Positions whose analysis failed")
        self.nodes = counter("nodes", "Nodes searched")
        self.search_seconds = counter("search_seconds", "Seconds of searching")
        self.attempts = counter("attempts", "Attempts at positions begun")
        self.tickets = counter("tickets", "Tickets taken")
        self.forged_tickets = counter("forged_tickets", "Messages dropped that are no tickets")
        self.claims = counter("claims", "Claims of work made")
        self.lost_claims = counter("lost_claims", "Claims lost or cancelled while they ran")


def find_place() -> int | str:
    """Return this process's place in its host: in the pool, or `host` for the parent.

    A process that takes the place of a dead one goes on with its counts, so that there are never
    more files than processes.
    """
    place: int | str = getattr(current_process(), "index", "host")
    return place


@contextmanager
def serve_metrics(settings: Settings) -> Iterator[WorkerMetrics]:
    """Keep the counters of this process and its later children, and serve them if so set.

    To be entered before prometheus_client is imported anywhere in the process. The directory of the
    setting `metrics_dir` is wiped at the start; a directory of our own is removed at the end.
    """
    if "prometheus_client" in sys.modules:
        raise RuntimeError("prometheus_client was imported before the metrics' directory was set")
    directory = _fresh_directory(settings.metrics_dir)
    os.environ[DIRECTORY_VARIABLE] = str(directory)
    from prometheus_client import CollectorRegistry, start_http_server, values
    from prometheus_client.multiprocess import MultiProcessCollector

    # By default it keeps a file for each process that ever was.
    values.ValueClass = values.MultiProcessValue(find_place)  # type: ignore[no-untyped-call]
    metrics = WorkerMetrics(CollectorRegistry())
    server = None
    if settings.worker_metrics:
        host, port = _split_address(settings.worker_metrics)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        server, _ = start_http_server(port, host, registry)
    try:
        yield metrics
    finally:
        if server is not None:
            server.shutdown()
            server.server_close()
        if not settings.metrics_dir:
            shutil.rmtree(directory)


def _fresh_directory(name: str) -> Path:
    if not name:
        return Path(tempfile.mkdtemp(prefix="tilewarp-metrics-"))
    directory = Path(name)
    directory.mkdir(parents=True, exist_ok=True)
    for file in directory.glob("*.db"):  # only what the library itself left there
        file.unlink()
    return directory


def _split_address(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
