"""What the gateway exports to Prometheus: the store's exact totals, and the time of calls."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import redis
from prometheus_client import CollectorRegistry, Gauge, Histogram, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from worker.store import AsyncStore, ClassLoad, JobClass, ServerFacts, Totals, WorkerInfo

READ_SECONDS = 5.0
LATENCY_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600)


@dataclass(frozen=True)
class StoreCounts:
    """What is read from the store for one scrape."""

    totals: Totals
    load: dict[JobClass, ClassLoad]
    workers: list[WorkerInfo]
    server: ServerFacts


class StoreCollector(Collector):
    """Reads the store anew for each scrape, which comes in a thread of the exporter.

    Args:
        loop: the running event loop that the store belongs to.
    """

    def __init__(self, store: AsyncStore, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop

    def describe(self) -> list[Metric]:
        """Name no metric in advance: the store is not asked before the first scrape."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the store's counts; without an answer, only that it is away."""
        reading = asyncio.run_coroutine_threadsafe(self._read(), self._loop)
        try:
            counts = reading.result(READ_SECONDS)
        except (redis.RedisError, TimeoutError):
            yield _gauge("tilewarp_store_up", "Whether the store answers", 0)
            return
        yield _gauge("tilewarp_store_up", "Whether the store answers", 1)
        yield from show_counts(counts)

    async def _read(self) -> StoreCounts:
        return StoreCounts(
            await self._store.totals(),
            await self._store.load(),
            await self._store.workers(),
            await self._store.deployment.server_facts(),
        )


def show_counts(counts: StoreCounts) -> Iterator[Metric]:
    """Yield the metrics of the store's counts."""
    totals = counts.totals
    jobs = GaugeMetricFamily("tilewarp_jobs", "Jobs that have not ended", labels=["kind", "state"])
    ended = CounterMetricFamily(
        "tilewarp_ended_jobs", "Jobs that ended in a state", labels=["kind", "state"]
    )
    for (kind, state), count in totals.jobs.items():
        (ended if state.is_ended else jobs).add_metric([kind, state], count)
    yield jobs
    yield ended
    claimable = GaugeMetricFamily(
        "tilewarp_claimable_units", "Units that wait for a worker", labels=["class"]
    )
    claimed = GaugeMetricFamily(
        "tilewarp_claimed_units", "Units that a worker has in hand", labels=["class"]
    )
    paused = GaugeMetricFamily(
        "tilewarp_paused_units", "Units that wait for their jobs to be resumed", labels=["class"]
    )
    for job_class, load in counts.load.items():
        paused.add_metric([job_class], load.paused)
        claimable.add_metric([job_class], load.claimable)
        claimed.add_metric([job_class], load.claimed)
    yield claimable
    yield claimed
    yield paused
    yield CounterMetricFamily(
        "tilewarp_positions", "Positions searched to a result", totals.positions
    )
    yield CounterMetricFamily(
        "tilewarp_cached_positions", "Positions with a cached result", totals.cached
    )
    yield CounterMetricFamily(
        "tilewarp_damaged_cached_results",
        "Cached results that were found damaged and forgotten",
        totals.cache_damaged,
    )
    audits = CounterMetricFamily(
        "tilewarp_audits",
        "Results given to another worker host to be found again, by what became of it",
        labels=["verdict"],
    )
    for verdict, count in totals.audits.items():
        audits.add_metric([verdict], count)
    yield audits
    yield CounterMetricFamily("tilewarp_nodes", "Nodes of accepted results", totals.nodes)
    yield CounterMetricFamily(
        "tilewarp_search_seconds", "Search time of accepted results", totals.search_seconds
    )
    yield CounterMetricFamily("tilewarp_attempts", "Attempts that ended", totals.attempts)
    yield CounterMetricFamily("tilewarp_quarantined", "Positions given up", totals.quarantined)
    yield CounterMetricFamily("tilewarp_rejected", "Positions refused", totals.rejected)
    yield CounterMetricFamily("tilewarp_lost_claims", "Claims of lost workers", totals.lost_claims)
    yield _gauge("tilewarp_workers", "Worker hosts that are there", len(counts.workers))
    slots = sum(worker.slots for worker in counts.workers)
    yield _gauge("tilewarp_worker_slots", "Worker processes that are there", slots)
    used, limit = counts.server.used_bytes, counts.server.limit_bytes
    yield _gauge("tilewarp_store_memory_bytes", "Memory that the store's server uses", used)
    text = "Memory that the store's server may use; 0: no limit"
    yield _gauge("tilewarp_store_memory_limit_bytes", text, limit)


def make_latency(registry: CollectorRegistry) -> Histogram:
    """Return the histogram of the time of calls, by method and status code."""
    return Histogram(
        "tilewarp_request_seconds",
        "Time of calls, streams to their end",
        labelnames=["method", "code"],
        buckets=LATENCY_BUCKETS,
        registry=registry,
    )


def make_open_streams(registry: CollectorRegistry) -> Gauge:
    """Return the gauge of streaming calls that are open."""
    return Gauge("tilewarp_open_streams", "Streaming calls that are open", registry=registry)


class Exporter:
    """Serves /metrics on an address.

    Args:
        address: HOST:PORT; port 0 for any free one.
    """

    def __init__(self, address: str, registry: CollectorRegistry) -> None:
        host, _, port = address.rpartition(":")
        self._server, self._thread = start_http_server(int(port), host, registry)

    @property
    def port(self) -> int:
        """The port it serves on."""
        return int(self._server.server_port)

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value)
