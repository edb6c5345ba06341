"""The alert rules, the dashboard and the autoscaler ask for metrics that there are."""

import asyncio
import json
import re
import urllib.request
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.parser import text_string_to_metric_families

from gateway.client import Client
from gateway.metrics import StoreCounts, show_counts
from gateway.server import Gateway
from tests.gateway.work import claim, create, hand_in
from worker.metrics import WorkerMetrics
from worker.settings import Settings
from worker.store import ServerFacts, Store
from worker.store.parse import parse_totals

DEPLOY = Path(__file__).parents[2] / "deploy"
SCRAPED = {"up": {"job", "instance"}}
"""What Prometheus adds to all that it scrapes."""
SUFFIXES = {"counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"]}


def find_expressions() -> Iterator[tuple[str, str]]:
    alerts = yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())
    for rule in alerts["groups"][0]["rules"]:
        yield rule["alert"], rule["expr"]
    dashboard = json.loads((DEPLOY / "grafana/dashboards/tilewarp.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield f"{panel['title']}, {target['refId']}", target["expr"]
    scaler = yaml.safe_load((DEPLOY / "kubernetes/autoscaling.yaml").read_text())
    yield "ScaledObject", scaler["spec"]["triggers"][0]["metadata"]["query"]


EXPRESSIONS = dict(find_expressions())


def find_labels(families: Iterable[Metric]) -> dict[str, set[str]]:
    """Return the labels of each metric, by its name as it is queried."""
    found: dict[str, set[str]] = {}
    for family in families:
        for suffix in SUFFIXES.get(family.type, [""]):
            found.setdefault(family.name + suffix, set())
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


@pytest.fixture
async def metrics(settings: Settings, store: Store) -> dict[str, set[str]]:
    """The labels of every metric of a gateway and of a worker."""
    async with (
        Gateway(replace(settings, gateway_metrics="127.0.0.1:0")) as running,
        Client(running.address) as client,
    ):
        await client.cancel_job((await create(client, 1)).name)
        await create(client, 1)
        hand_in(store, claim(store), [0])
        text = await asyncio.to_thread(_fetch, running)
    registry = CollectorRegistry()
    WorkerMetrics(registry)
    return (
        SCRAPED
        | find_labels(text_string_to_metric_families(text))
        | find_labels(registry.collect())
    )


async def test_each_expression_asks_for_what_there_is(metrics: dict[str, set[str]]) -> None:
    assert len(EXPRESSIONS) > 30
    for place, text in EXPRESSIONS.items():
        known = set(SCRAPED["up"])
        for selector, _ in find_selectors(text):
            assert selector.name in metrics, (place, selector.name)
            known |= metrics[selector.name]
            for matcher in selector.matchers.matchers:
                assert matcher.name in metrics[selector.name] | SCRAPED["up"], (place, matcher.name)
        for grouping in re.findall(r"by \((.*?)\)", text):
            assert set(grouping.split(", ")) <= known, (place, grouping)


def test_what_every_gateway_tells_of_the_store_is_not_added_up() -> None:
    """Two gateways tell of the same work."""
    facts = ServerFacts(
        version="9", policy=None, used_bytes=1, limit_bytes=2, has_file=True, seconds=0.0
    )
    store = find_labels(show_counts(StoreCounts(parse_totals({}), {}, [], facts)))
    assert "tilewarp_positions_total" in store
    for place, text in EXPRESSIONS.items():
        for selector, aggregation in find_selectors(text):
            assert aggregation == "max" or selector.name not in store, (place, selector.name)


def find_selectors(text: str) -> Iterator[tuple[Any, str | None]]:
    """Yield what an expression selects, each with the operator that first puts it together."""
    found: list[tuple[Any, str | None]] = []
    operators: list[str] = []

    def enter(node: Any) -> None:
        if isinstance(node, promql_parser.AggregateExpr):
            operators.append(str(node.op))
        elif isinstance(node, promql_parser.VectorSelector):
            found.append((node, operators[-1] if operators else None))

    def leave(node: Any) -> None:
        if isinstance(node, promql_parser.AggregateExpr):
            operators.pop()

    promql_parser.walk(promql_parser.parse(text), enter, leave)
    assert found
    yield from found


def _fetch(gateway: Gateway) -> str:
    url = f"http://127.0.0.1:{gateway.metrics_port}/metrics"
    with urllib.request.urlopen(url, timeout=5) as answer:
        text: str = answer.read().decode()
        return text
