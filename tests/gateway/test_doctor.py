"""Each check tells well from wrong, and what to do."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway import doctor
from gateway.cli.doctor import doctor as command
from gateway.doctor import Finding, Health
from gateway.server import Gateway
from tests.integration.cluster import until
from tilewarp.v1 import analysis_pb2, jobs_pb2
from worker.settings import Settings
from worker.store import (
    AsyncStore,
    Disagreement,
    GatewayInfo,
    ServerFacts,
    Totals,
    Verdict,
    WorkerInfo,
)

FACTS = ServerFacts(
    version="7.2.4",
    policy="noeviction",
    used_bytes=10 << 20,
    limit_bytes=100 << 20,
    has_file=True,
    seconds=1000.0,
)
OK, WARNING, WRONG = Health


@pytest.mark.parametrize(
    ("check", "change", "health"),
    [
        (doctor.check_version, {}, OK),
        (doctor.check_version, {"version": "9.1.2"}, OK),
        (doctor.check_version, {"version": "10.0"}, OK),
        (doctor.check_version, {"version": "6.2.1"}, WRONG),
        (doctor.check_policy, {}, OK),
        (doctor.check_policy, {"policy": "allkeys-lru"}, WRONG),
        (doctor.check_policy, {"policy": "allkeys-lru", "limit_bytes": 0}, WARNING),
        (doctor.check_policy, {"policy": None}, WARNING),
        (doctor.check_memory, {}, OK),
        (doctor.check_memory, {"limit_bytes": 0}, WARNING),
        (doctor.check_memory, {"used_bytes": 61 << 20}, WARNING),
        (doctor.check_memory, {"used_bytes": 80 << 20}, WRONG),
        (doctor.check_file, {}, OK),
        (doctor.check_file, {"has_file": False}, WARNING),
    ],
)
def test_the_store(
    check: Callable[[ServerFacts], Finding], change: dict[str, object], health: Health
) -> None:
    finding = check(replace(FACTS, **change))  # type: ignore[arg-type]
    assert finding.health is health
    assert bool(finding.advice) == (health is not OK)


@pytest.mark.parametrize(("seconds", "health"), [(1001, OK), (999, OK), (1003, WARNING)])
def test_the_clock(seconds: float, health: Health) -> None:
    assert doctor.check_clock(FACTS, seconds).health is health


def test_versions_of_all_parts_must_be_these() -> None:
    gateway = GatewayInfo("g", doctor.ENGINE_VERSION, doctor.RULES_VERSION)
    worker = WorkerInfo("w", "h", 1, 2, doctor.ENGINE_VERSION, doctor.RULES_VERSION)
    assert doctor.check_versions([gateway, worker]).health is OK
    for other in (replace(gateway, engine_version="0"), replace(worker, rules_version="0")):
        finding = doctor.check_versions([gateway, other, worker])
        assert finding.health is WRONG
        assert finding.seen.startswith(f"{other.name} has ")
    assert doctor.check_gateways([]).health is doctor.check_workers([]).health is WRONG
    assert doctor.check_gateways([gateway]).health is OK
    assert "w (2)" in doctor.check_workers([worker]).seen


def test_the_canary_and_the_search() -> None:
    assert doctor.check_canary("w", 0.1).health is OK
    assert doctor.check_canary(None, 15).health is WRONG
    found = analysis_pb2.Provenance(
        worker="w", engine_version=doctor.ENGINE_VERSION, rules_version=doctor.RULES_VERSION
    )
    assert doctor.check_search(found, "0.1 s").health is OK
    found.engine_version = "0"
    assert doctor.check_search(found, "0.1 s").health is WARNING
    assert "no worker is up" in doctor.check_search(None, "no worker is up").seen


def test_audits_that_differ_are_shown() -> None:
    counts = dict.fromkeys(Verdict, 0)
    totals = Totals(0, 0, 0, counts, 0, 0.0, 0, 0, 0, 0, {})
    assert [finding.health for finding in doctor.check_audits(totals, [])] == [OK]
    counts[Verdict.DIFFERED] = 20
    rows = [
        jobs_pb2.ResultRow(
            fen="f",
            analysis=analysis_pb2.AnalysisResult(
                nodes=nodes,
                provenance=analysis_pb2.Provenance(worker=worker, command="tilewarp search x"),
            ),
        ).SerializeToString()
        for worker, nodes in (("a", 7), ("b", 8))
    ]
    findings = doctor.check_audits(totals, [Disagreement(1, *rows)] * 20)
    assert len(findings) == 1 + doctor.SHOWN_DISAGREEMENTS
    assert "20 differed" in findings[0].seen
    assert findings[1].seen == (
        'a found {"nodes": "7"} and b found {"nodes": "8"}; to see it: tilewarp search x'
    )


def test_the_compile_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.check_compile_cache(tmp_path).health is WARNING  # temporary
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "elsewhere"))
    assert "empty" in doctor.check_compile_cache(tmp_path).seen
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "kernel.nbi").touch()
    assert doctor.check_compile_cache(tmp_path).health is OK


async def run(*arguments: str) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, command, [*arguments, "--json"])


def healths(result: Result) -> dict[str, str]:
    """Return how well each thing is."""
    findings = map(json.loads, result.stdout.splitlines())
    return {finding["check"]: finding["health"] for finding in findings}


async def test_a_deployment_without_workers_is_wrong(
    running: Gateway, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.cli.doctor.CANARY_SECONDS", 0.1)
    store = AsyncStore(settings)

    async def is_announced() -> bool:
        return bool(await store.deployment.gateways())

    await until(is_announced, 60)
    await store.close()
    result = await run("--redis", settings.redis_url, "--gateway", running.address)
    assert result.exit_code == 1
    found = healths(result)
    assert {check for check, health in found.items() if health == "wrong"} == {
        *("workers", "canary", "search")
    }
    for check in ("version", "policy", "clock", "gateways", "versions", "audits", "gateway"):
        assert found[check] == "ok"


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("--gateway", "127.0.0.1:1"), 3, "the gateway at 127.0.0.1:1 cannot be reached"),
        (("--redis", "redis://127.0.0.1:1/0"), 3, "the store cannot be reached"),
        (("--redis", "http://x"), 2, "TILEWARP_REDIS_URL='http://x'"),
    ],
)
async def test_what_cannot_be_reached(arguments: tuple[str, ...], code: int, text: str) -> None:
    result = await run(*arguments)
    assert result.exit_code == code
    assert text in result.stderr
