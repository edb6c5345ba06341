"""What is well with a deployment and what is not: one finding for each thing looked at."""

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.version import ENGINE_VERSION, RULES_VERSION
from gateway.audits import describe_disagreement
from tilewarp.v1 import analysis_pb2, jobs_pb2
from worker.store import Disagreement, GatewayInfo, ServerFacts, Totals, Verdict, WorkerInfo

LEAST_VERSION = 7
"""Of Redis."""
WARNING_SHARE, FULL_SHARE = 0.6, 0.8
"""Of the server's memory: above the second, jobs are refused."""
CLOCK_SECONDS = 2.0
"""That clocks may differ."""
SHOWN_DISAGREEMENTS = 10


class Health(StrEnum):
    """How well something is."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True)
class Finding:
    """What was looked at, how well it is, what was seen, and what to do about it."""

    check: str
    health: Health
    seen: str
    advice: str = ""


def check_version(facts: ServerFacts) -> Finding:
    """Check that the store's scripts run on this server."""
    if int(facts.version.partition(".")[0]) < LEAST_VERSION:
        advice = f"run Redis {LEAST_VERSION} or newer, or Valkey"
        return Finding("version", Health.WRONG, f"Redis {facts.version}", advice)
    return Finding("version", Health.OK, f"Redis {facts.version}")


def check_policy(facts: ServerFacts) -> Finding:
    """Check that the server never throws jobs away."""
    if facts.policy is None:
        advice = "make sure that maxmemory-policy is noeviction"
        return Finding("policy", Health.WARNING, "the server hides its policy", advice)
    seen = f"maxmemory-policy {facts.policy}"
    if facts.policy == "noeviction":
        return Finding("policy", Health.OK, seen)
    health = Health.WRONG if facts.limit_bytes else Health.WARNING
    return Finding("policy", health, seen, "set maxmemory-policy to noeviction: jobs get lost")


def check_memory(facts: ServerFacts) -> Finding:
    """Check that there is room for more jobs."""
    used = f"{facts.used_bytes / 2**20:.0f} MB used"
    if not facts.limit_bytes:
        advice = "set maxmemory, so that jobs are refused before the machine is out of memory"
        return Finding("memory", Health.WARNING, f"{used}, no limit", advice)
    share = facts.used_bytes / facts.limit_bytes
    seen = f"{used} of {facts.limit_bytes / 2**20:.0f} MB ({share:.0%})"
    if share >= FULL_SHARE:
        advice = "raise maxmemory, or keep results for less time (TILEWARP_RESULT_TTL)"
        return Finding("memory", Health.WRONG, f"{seen}: jobs are refused", advice)
    if share >= WARNING_SHARE:
        advice = f"raise maxmemory: jobs are refused from {FULL_SHARE:.0%} on"
        return Finding("memory", Health.WARNING, seen, advice)
    return Finding("memory", Health.OK, seen)


def check_file(facts: ServerFacts) -> Finding:
    """Check that jobs survive the server."""
    if facts.has_file:
        return Finding("file", Health.OK, "what is accepted is written to a file")
    advice = "set appendonly to yes"
    return Finding("file", Health.WARNING, "jobs are lost when the server ends", advice)


def check_clock(facts: ServerFacts, seconds: float) -> Finding:
    """Compare the server's clock with this machine's, read at the same time."""
    ahead = facts.seconds - seconds
    seen = f"the server's is {abs(ahead):.1f} s {'ahead of' if ahead > 0 else 'behind'} this one"
    if abs(ahead) > CLOCK_SECONDS:
        advice = "keep the clocks by NTP: times in results and jobs differ"
        return Finding("clock", Health.WARNING, seen, advice)
    return Finding("clock", Health.OK, seen)


def check_gateways(gateways: Sequence[GatewayInfo]) -> Finding:
    """Check that work is taken in and swept."""
    if not gateways:
        advice = "start one: tilewarp gateway"
        return Finding("gateways", Health.WRONG, "none is up", advice)
    names = ", ".join(gateway.name for gateway in gateways)
    return Finding("gateways", Health.OK, f"{len(gateways)} up: {names}")


def check_workers(workers: Sequence[WorkerInfo]) -> Finding:
    """Check that work is done."""
    if not workers:
        return Finding("workers", Health.WRONG, "none is up", "start one: tilewarp worker")
    names = ", ".join(f"{worker.name} ({worker.slots})" for worker in workers)
    slots = sum(worker.slots for worker in workers)
    return Finding("workers", Health.OK, f"{len(workers)} up with {slots} processes: {names}")


def check_versions(parts: Iterable[GatewayInfo | WorkerInfo]) -> Finding:
    """Compare the versions of everything that is up with those of this installation."""
    wanted = (ENGINE_VERSION, RULES_VERSION)
    others = [part for part in parts if (part.engine_version, part.rules_version) != wanted]
    if others:
        seen = ", ".join(
            f"{part.name} has engine {part.engine_version} and rules {part.rules_version}"
            for part in others
        )
        advice = f"install one release everywhere; here are engine {wanted[0]}, rules {wanted[1]}"
        return Finding("versions", Health.WRONG, seen, advice)
    return Finding("versions", Health.OK, f"engine {wanted[0]} and rules {wanted[1]} everywhere")


def check_canary(worker: str | None, seconds: float) -> Finding:
    """Say whether a message came through the queue and a worker, and how soon."""
    if worker is None:
        advice = "look at the workers' logs; work may be queued before it for a long time"
        seen = f"no worker answered within {seconds:.0f} s"
        return Finding("canary", Health.WRONG, seen, advice)
    return Finding("canary", Health.OK, f"{worker} answered within {seconds:.2f} s")


def check_search(provenance: analysis_pb2.Provenance | None, seen: str) -> Finding:
    """Say whether a position was searched through a gateway, and by which versions.

    `seen` is the time it took, or without a provenance the error.
    """
    if provenance is None:
        advice = "look at the gateway's store: tilewarp doctor --redis URL"
        return Finding("search", Health.WRONG, f"no position can be searched: {seen}", advice)
    versions = f"engine {provenance.engine_version} and rules {provenance.rules_version}"
    seen = f"{provenance.worker} searched a position in {seen}, {versions}"
    if (provenance.engine_version, provenance.rules_version) != (ENGINE_VERSION, RULES_VERSION):
        advice = "install one release everywhere; "
        advice += f"here are engine {ENGINE_VERSION} and rules {RULES_VERSION}"
        return Finding("search", Health.WARNING, seen, advice)
    return Finding("search", Health.OK, seen)


def check_audits(totals: Totals, disagreements: Sequence[Disagreement]) -> list[Finding]:
    """Say how many results were found again, and show each that was not the same."""
    count = totals.audits
    seen = (
        f"{count[Verdict.AGREED] + count[Verdict.DIFFERED]} results were found again elsewhere, "
        f"{count[Verdict.DIFFERED]} differed, {count[Verdict.UNCHECKED]} could not be"
    )
    if not count[Verdict.DIFFERED]:
        return [Finding("audits", Health.OK, seen)]
    advice = "run the command of each below, and take the worker that is wrong out of service"
    findings = [Finding("audits", Health.WRONG, seen, advice)]
    for disagreement in disagreements[:SHOWN_DISAGREEMENTS]:
        first = jobs_pb2.ResultRow.FromString(disagreement.first)
        second = jobs_pb2.ResultRow.FromString(disagreement.second)
        seen = describe_disagreement(first, second)
        findings.append(Finding("audits", Health.WRONG, seen))
    return findings


def check_compile_cache(directory: Path) -> Finding:
    """Check that this machine's processes find compiled kernels, in the directory they look in."""
    if directory.is_relative_to(tempfile.gettempdir()):
        advice = "name a directory that can be written and stays: TILEWARP_CACHE_DIR"
        seen = f"{directory} is a temporary directory"
        return Finding("compile cache", Health.WARNING, seen, advice)
    if not any(directory.rglob("*.nbi")):
        advice = "run tilewarp warmup, or the first process compiles for a minute"
        return Finding("compile cache", Health.WARNING, f"{directory} is empty", advice)
    return Finding("compile cache", Health.OK, str(directory))
