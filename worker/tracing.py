"""Traces by OpenTelemetry, from a client's call through the queue to the search.

A job carries the span of the call that made it, and its claims and searches are spans below that.
What belongs to no trace makes none. Until `configure_tracing` has found an address, spans are not
recorded.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import context, trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from worker.settings import Settings

FIELD = "traceparent"
SEND_MS = 1000
"""Between the sendings of a process's spans."""

_tracer = trace.get_tracer("tilewarp")
_propagator = TraceContextTextMapPropagator()


class TracingError(Exception):
    """Traces are wanted, and the packages for them are not installed."""


def configure_tracing(settings: Settings, part: str) -> None:
    """Send this process's spans to where the settings say, as the service `tilewarp-PART`.

    Call it once in a process, after it was forked: spans are sent from a thread. The environment
    variables of OpenTelemetry say the rest, such as the share of traces that is kept.
    """
    if not settings.traces:
        return
    check_tracing(settings)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: f"tilewarp-{part}"}))
    exporter = OTLPSpanExporter(endpoint=f"{settings.traces.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=SEND_MS))
    trace.set_tracer_provider(provider)


def check_tracing(settings: Settings) -> None:
    """Raise TracingError if traces are wanted and cannot be made."""
    if not settings.traces:
        return
    try:
        import opentelemetry.exporter.otlp.proto.http.trace_exporter
        import opentelemetry.sdk.trace  # noqa: F401
    except ImportError as error:
        raise TracingError(f"traces need the packages of tilewarp[tracing]: {error}") from error


def begin_call(method: str, metadata: Mapping[str, str]) -> trace.Span:
    """Return the span of a call, below the caller's if it sent one; the task's own from now on."""
    caller = _propagator.extract(metadata, context=context.Context())
    span = _tracer.start_span(method, context=caller, kind=trace.SpanKind.SERVER)
    context.attach(trace.set_span_in_context(span, caller))
    return span


def show_trace() -> str:
    """Return the current span as `traceparent`; empty when there is none."""
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    return carrier.get(FIELD, "")


@contextmanager
def continued(traceparent: str) -> Iterator[None]:
    """Let what follows belong to the trace that `show_trace` showed elsewhere."""
    token = context.attach(_propagator.extract({FIELD: traceparent}, context=context.Context()))
    try:
        yield
    finally:
        context.detach(token)


@contextmanager
def traced(name: str, **attributes: str | int) -> Iterator[trace.Span]:
    """Make a span below the current one; none where nothing is traced."""
    if not trace.get_current_span().get_span_context().is_valid:
        yield trace.INVALID_SPAN
        return
    shown = {f"tilewarp.{key}": value for key, value in attributes.items()}
    with _tracer.start_as_current_span(name, attributes=shown) as span:
        yield span
