"""From the server's bytes to the store's types, and back."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from worker.store.types import (
    ClassLoad,
    EvictingPolicyError,
    GatewayInfo,
    Job,
    JobClass,
    JobDamagedError,
    JobId,
    JobState,
    NewJob,
    Row,
    RowKind,
    Totals,
    UnitIndex,
    Verdict,
    WorkerInfo,
)

MICROSECONDS = 1_000_000
UNREADABLE_ROW = "the stored row cannot be read"


def parse_job(job_id: JobId, fields: Mapping[bytes, bytes]) -> Job:
    """Return the job of a committed job's hash. Raises JobDamagedError."""
    try:
        return _read_job(job_id, fields)
    except (KeyError, ValueError, AttributeError) as error:
        raise JobDamagedError(job_id) from error


def _read_job(job_id: JobId, fields: Mapping[bytes, bytes]) -> Job:
    text = {name.decode(): value.decode() for name, value in fields.items() if name != b"spec"}

    def time(name: str) -> int | None:
        return int(text[name]) if name in text else None

    return Job(
        job_id=job_id,
        kind=text["kind"],
        spec=fields[b"spec"],
        job_class=JobClass(text["class"]),
        client=text["client"],
        labels=json.loads(text["labels"]),
        request_id=text["request_id"],
        engine_version=text["engine_version"],
        rules_version=text["rules_version"],
        state=JobState(text["state"]),
        error=text.get("error", ""),
        sum=int(text.get("sum", 0)),
        total=int(text["total"]),
        done=int(text["done"]),
        cached=int(text["cached"]),
        rejected=int(text["rejected"]),
        quarantined=int(text["quarantined"]),
        claimable=int(text["claimable"]),
        nodes=int(text["nodes"]),
        attempts=int(text["attempts"]),
        search_seconds=int(text["search_us"]) / MICROSECONDS,
        created_ms=int(text["created_ms"]),
        started_ms=time("started_ms"),
        ended_ms=time("ended_ms"),
        expires_ms=time("expires_ms"),
    )


def format_new_job(job: NewJob) -> list[str | bytes | int]:
    """Return the fields and values of a new job's hash that the commit script only passes on."""
    return [
        *("kind", job.kind, "spec", job.spec),
        *("labels", json.dumps(dict(job.labels)), "request_id", job.request_id),
        *("keep_ms", int(job.keep * 1000), "needs_all", int(job.needs_all)),
        *("engine_version", job.engine_version, "rules_version", job.rules_version),
        *(("trace", job.trace) if job.trace else ()),
    ]


def parse_row(index: int, stored: bytes) -> Row:
    """Return the row stored for a unit: a byte for its kind, then what that kind holds.

    A quarantined one has no payload yet. One that is not of that form is shown as quarantined.
    """
    try:
        return _read_row(index, stored)
    except ValueError:
        return Row(UnitIndex(index), RowKind.QUARANTINED, b"", cause=UNREADABLE_ROW)


def _read_row(index: int, stored: bytes) -> Row:
    kind, payload = RowKind(stored[:1].decode()), stored[1:]
    if kind is RowKind.CONFIRMED:
        text, payload = payload.split(b"\n\n", 1)
        counts = [line.split(" ") for line in text.decode().split("\n")]
        pairs = [(worker, int(amount)) for worker, amount in counts]
        return Row(UnitIndex(index), kind, payload, counts=pairs)
    if kind is not RowKind.QUARANTINED:
        return Row(UnitIndex(index), kind, payload)
    workers, cause = payload.decode(errors="replace").split("\n", 1)
    return Row(UnitIndex(index), kind, b"", workers=workers.split(" "), cause=cause)


def parse_totals(fields: Mapping[bytes, bytes]) -> Totals:
    """Return the counts of the totals' hash; what was never counted is 0."""
    counts = {name.decode(): int(value) for name, value in fields.items()}
    jobs = {}
    for name, count in counts.items():
        if name.startswith("jobs:"):
            _, kind, state = name.split(":")
            jobs[kind, JobState(state)] = count
    return Totals(
        positions=counts.get("positions", 0),
        cached=counts.get("cached", 0),
        cache_damaged=counts.get("cache_damaged", 0),
        audits={verdict: counts.get(f"audits:{verdict}", 0) for verdict in Verdict},
        nodes=counts.get("nodes", 0),
        search_seconds=counts.get("search_us", 0) / MICROSECONDS,
        attempts=counts.get("attempts", 0),
        quarantined=counts.get("quarantined", 0),
        rejected=counts.get("rejected", 0),
        lost_claims=counts.get("lost_claims", 0),
        jobs=jobs,
    )


def parse_load(fields: Mapping[bytes, bytes]) -> dict[JobClass, ClassLoad]:
    """Return the load of every class."""
    return {
        job_class: ClassLoad(
            int(fields.get(f"claimable:{job_class}".encode(), 0)),
            int(fields.get(f"claimed:{job_class}".encode(), 0)),
            int(fields.get(f"paused:{job_class}".encode(), 0)),
        )
        for job_class in JobClass
    }


def format_announcement(part: WorkerInfo | GatewayInfo) -> str:
    """Return what a worker host or a gateway says of itself."""
    return json.dumps(asdict(part))


def parse_workers(announcements: Sequence[bytes | None]) -> list[WorkerInfo]:
    """Return the workers announced; an announcement that expired meanwhile is passed over."""
    return [WorkerInfo(**json.loads(text)) for text in announcements if text is not None]


def parse_gateways(announcements: Sequence[bytes | None]) -> list[GatewayInfo]:
    """Return the gateways announced; an announcement that expired meanwhile is passed over."""
    return [GatewayInfo(**json.loads(text)) for text in announcements if text is not None]


def check_policy(config: Mapping[str, Any]) -> None:
    """Raise EvictingPolicyError if the server of this configuration may evict keys."""
    policy, limit = config["maxmemory-policy"], int(config["maxmemory"])
    if limit > 0 and policy != "noeviction":
        raise EvictingPolicyError(
            f"the store's maxmemory-policy is {policy} with maxmemory {limit}: jobs would be lost; "
            "set maxmemory-policy to noeviction"
        )
