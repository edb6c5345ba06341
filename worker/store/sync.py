"""The workers' side of the store: claim, renew, hand in, hand back. Blocking."""

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from core.version import ENGINE_VERSION, RULES_VERSION
from worker.settings import Settings
from worker.store import audits, keys, scripts
from worker.store.cache import seal
from worker.store.parse import MICROSECONDS, check_policy, format_announcement, format_new_job
from worker.store.types import (
    Claim,
    ClaimedUnit,
    ClaimState,
    Finished,
    HandedIn,
    JobClass,
    JobId,
    NewJob,
    UnitIndex,
    WorkerInfo,
)

CANARY_TTL = 60
"""Seconds that a canary's answer waits to be seen."""


class Store:
    """The store as a worker uses it.

    Every call waits at most the setting `store_timeout` and is not tried again; when the server is
    away it raises `redis.RedisError`. All calls may be repeated: what a call did whose answer was
    lost is not done twice, save a claim, which then expires. Not for use across a fork.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._redis: Any = redis.Redis.from_url(
            settings.redis_url,
            socket_timeout=settings.store_timeout,
            socket_connect_timeout=settings.store_timeout,
            retry=Retry(NoBackoff(), 0),
        )
        self._claim = self._script("claim")
        self._hand_in = self._script("hand_in")
        self._remember = self._script("remember")
        self._audit = self._script("audit")
        self._release = self._script("release")
        self._abandon = self._script("abandon")
        self._announce = self._script("announce")

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()

    def check(self) -> None:
        """Return if the server is there and keeps what it is given, else raise.

        Raises EvictingPolicyError, or `redis.RedisError`. A server that hides its configuration
        is taken at its word.
        """
        self._redis.ping()
        try:
            config = self._redis.config_get("maxmemory*")
        except redis.ResponseError:
            return
        check_policy(config)

    def claim(self, worker: str) -> Claim | None:
        """Claim about `claim_time` of work, at most `max_claim` units of one job; None: no work.

        Jobs of other engine or rules versions are no work for this process.

        The claim lives for the setting `lease` unless it is renewed. An attempt at each of its
        units is counted, unless they are handed back.
        """
        answer = self._claim(
            args=[
                *(worker, ENGINE_VERSION, RULES_VERSION),
                self._lease_ms,
                int(self._settings.claim_time * MICROSECONDS),
                self._settings.max_claim,
            ]
        )
        if answer is None:
            return None
        token, job_id, kind, spec, indexes, units, attempts, counted, *rest = answer
        attended, audit, trace = rest
        return Claim(
            int(token),
            JobId(job_id.decode()),
            kind.decode(),
            spec,
            [
                ClaimedUnit(UnitIndex(index), *unit)
                for index, *unit in zip(indexes, units, attempts, counted, strict=True)
            ],
            is_attended=attended != b"",
            is_audit=audit == 1,
            trace=trace.decode(errors="replace"),
            worker=worker,
        )

    def renew(self, claim: Claim) -> ClaimState:
        """Let the claim live for another lease, if it is still current."""
        return self.hand_in(claim, ()).state

    def hand_in(self, claim: Claim, finished: Iterable[Finished]) -> HandedIn:
        """Hand in units of a claim, and renew it.

        A unit is accepted if this claim is the newest that holds it and it has no row; what is not
        accepted is dropped, uncounted. A failed one is tried again alone, or given up. One that
        needs agreement waits for another worker, or where none is there to be counted again here;
        it is given up when too many counts brought none.
        """
        head = claim.token, claim.job_id, self._lease_ms, self._settings.max_attempts
        args: list[str | bytes | int] = [*head]
        for unit in finished:
            us = int(unit.seconds * MICROSECONDS)
            args += [unit.index, *_format_outcome(unit), unit.nodes, us]
        accepted, state = self._hand_in(args=args)
        return HandedIn(accepted, ClaimState(state.decode()))

    def remember(self, finished: Iterable[Finished]) -> None:
        """Cache the results that have a key, within the bounds of the settings."""
        args: list[bytes | int] = []
        for unit in finished:
            if unit.cache_key:
                args += [unit.cache_key, seal(unit.cache_key, unit.payload)]
        if args and self._settings.cache_mb:
            bounds = self._settings.cache_mb << 20, int(self._settings.cache_ttl * 1000)
            self._remember(args=[*bounds, *args])

    def request_audit(self, claim: Claim, finished: Finished) -> None:
        """Have a result of a claim found again by another worker host, if one is there."""
        (unit,) = [each.unit for each in claim.units if each.index == finished.index]
        job = NewJob(
            job_id=JobId(f"audit-{secrets.token_hex(8)}"),  # no name: nobody asks for it
            kind=claim.kind,
            spec=claim.spec,
            job_class=JobClass.BACKGROUND,
            client="audits",
            total=1,
            keep=audits.KEEP_SECONDS,
            engine_version=ENGINE_VERSION,
            rules_version=RULES_VERSION,
        )
        bounds = audits.AUDIT_MS, audits.MAX_WAITING
        first = finished.payload, finished.cache_key
        self._audit(args=[job.job_id, claim.worker, *bounds, *first, unit, *format_new_job(job)])

    def tell_progress(self, claim: Claim, progress: bytes) -> None:
        """Tell those who attend to the claim's job how far it is."""
        self._redis.publish(keys.progress(claim.job_id), progress)

    def release(self, claim: Claim) -> int:
        """Hand back the units not handed in, without counting an attempt; return their number."""
        return int(self._release(args=[claim.token, claim.job_id]))

    def abandon(self, claim: Claim, cause: str) -> None:
        """Give up a claim in which a unit went wrong beyond repair; the attempts count.

        Its unfinished units are tried again one by one, or given up with this cause.
        """
        self._abandon(args=[claim.token, claim.job_id, self._settings.max_attempts, cause])

    def has_work(self) -> bool:
        """Return whether any unit waits to be claimed."""
        fields: Sequence[tuple[bytes, bytes]] = self._redis.hgetall(keys.LOAD).items()
        return any(int(n) > 0 for name, n in fields if name.startswith(b"claimable:"))

    def announce(self, worker: WorkerInfo) -> None:
        """Say that this worker host is there, for the setting `worker_ttl`."""
        ttl = int(self._settings.worker_ttl * 1000)
        self._announce(args=["worker", worker.name, format_announcement(worker), ttl])

    def withdraw(self, worker: WorkerInfo) -> None:
        """Say that this worker host is gone."""
        self._redis.zrem(keys.WORKERS, worker.name)
        self._redis.delete(keys.worker(worker.name))

    def answer_canary(self, nonce: str, worker: str) -> None:
        """Answer the canary that a gateway sent through the queue."""
        self._redis.set(keys.canary(nonce), worker, ex=CANARY_TTL)

    @property
    def _lease_ms(self) -> int:
        return int(self._settings.lease * 1000)

    def _script(self, name: str) -> Any:
        return self._redis.register_script(scripts.source(name))


def _format_outcome(unit: Finished) -> tuple[str, bytes]:
    """Return the kind of a unit's outcome and what goes with it, as the script takes them."""
    if unit.is_failure:
        return "F", unit.payload
    if unit.amount is None:
        return "R", unit.payload
    return "C" if unit.needs_agreement else "A", b"%d\n%b" % (unit.amount, unit.payload)
