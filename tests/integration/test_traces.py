"""A job's spans reach a collector, from the client's call through the queue to the search."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from tests.integration.cluster import HARMLESS, Cluster, client_of, finish, nodes, units, until

CALLER = trace.SpanContext(
    trace_id=0xABC, span_id=0xDEF, is_remote=False, trace_flags=trace.TraceFlags(1)
)
NOBODY = "http://127.0.0.1:1"
CREATE = "tilewarp.v1.JobService/CreateJob"

Start = Callable[..., Cluster]
Spans = list[tuple[str, trace_pb2.Span]]


class Collector:
    """Takes spans as a collector does, and keeps each with the name of its service."""

    def __init__(self) -> None:
        self.spans: Spans = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                assert self.path == "/v1/traces"
                collector.take(trace_service_pb2.ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Stay silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def take(self, request: trace_service_pb2.ExportTraceServiceRequest) -> None:
        for part in request.resource_spans:
            named = {entry.key: entry.value.string_value for entry in part.resource.attributes}
            for scope in part.scope_spans:
                self.spans += [(named["service.name"], span) for span in scope.spans]

    def named(self, name: str) -> Spans:
        return [(service, span) for service, span in self.spans if span.name == name]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.close()


async def test_a_trace_goes_from_the_call_through_the_queue_to_the_search(
    start_cluster: Start, collector: Collector
) -> None:
    cluster = start_cluster(traces=collector.url)
    gateway, worker = cluster.start_gateway(), cluster.start_worker()
    async with client_of(gateway) as client:
        with trace.use_span(trace.NonRecordingSpan(CALLER)):
            job = await client.create_job(nodes(1000), units(HARMLESS[:3]))
        job = await finish(client, job, 60)
        assert job.counts.done == 3
        await until(lambda: len(collector.named("search") + collector.named(CREATE)) == 4, 20)
    ((service, call),) = collector.named(CREATE)
    assert service == "tilewarp-gateway"
    assert int.from_bytes(call.trace_id) == CALLER.trace_id
    assert int.from_bytes(call.parent_span_id) == CALLER.span_id
    claims = {span.span_id: span for _, span in collector.named("claim")}
    assert all(claim.parent_span_id == call.span_id for claim in claims.values())
    for service, search in collector.named("search"):
        assert service == "tilewarp-worker"
        assert search.trace_id == call.trace_id
        assert search.parent_span_id in claims
        told = {entry.key: entry.value for entry in search.attributes}
        assert job.name == f"jobs/{told['tilewarp.job'].string_value}"
        assert told["tilewarp.nodes"].int_value == 1000
    worker.terminate()
    assert await worker.wait(20) == 0


@pytest.mark.soak
async def test_a_collector_that_is_away_holds_nothing_up(start_cluster: Start) -> None:
    cluster = start_cluster(traces=NOBODY)
    gateway, worker = cluster.start_gateway(), cluster.start_worker()
    async with client_of(gateway) as client:
        job = await client.create_job(nodes(1000), units(HARMLESS[:3]))
        assert (await finish(client, job, 60)).counts.done == 3
    for part in (worker, gateway):
        part.terminate()
        assert await part.wait(20) == 0, part.log()
