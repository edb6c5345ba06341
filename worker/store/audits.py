"""Audits: results found again on another worker host, and the gateway's way to judge them.

The workers ask for them by `Store.request_audit`. An audit is a job of one unit that no client
sees.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from worker.store import keys, scripts
from worker.store.types import JobId, Verdict

AUDIT_MS = 600_000
"""Milliseconds that an audit waits for another worker host; then it is dropped."""
MAX_WAITING = 256
"""Audits that wait at once; one more is dropped."""
MAX_DISAGREEMENTS = 100
"""The newest ones are kept."""
DISAGREEMENT_MS = 30 * 86_400_000
"""Milliseconds that disagreements are kept after the newest."""
KEEP_SECONDS = 3600.0
"""That the answer to one waits to be judged."""
BATCH = 100
"""Audits that are judged at once, at most."""


@dataclass(frozen=True)
class Audit:
    """A result, and what another worker host found."""

    job_id: JobId
    first: bytes
    """A serialized ResultRow."""
    second: bytes | None
    """A serialized ResultRow; None: it was given up."""
    cache_key: bytes


@dataclass(frozen=True)
class Disagreement:
    """Two different results of equal requests, as serialized ResultRows."""

    found_ms: int
    first: bytes
    second: bytes


class AsyncAudits:
    """The audits as a gateway uses them; `redis.RedisError` when the server is away."""

    def __init__(self, connection: Any) -> None:
        self._redis = connection
        self._judge = connection.register_script(scripts.source("judge"))

    async def answered(self) -> Sequence[Audit]:
        """Return some audits that are to be judged."""
        ids = [JobId(i.decode()) for i in await self._redis.lrange(keys.AUDITS, 0, BATCH - 1)]
        pipe = self._redis.pipeline(transaction=False)
        for job_id in ids:
            pipe.hmget(keys.job(job_id), "first", "cache_key")
            pipe.hget(keys.rows(job_id), 0)
        parts = await pipe.execute()
        return [
            Audit(job_id, first or b"", row[1:] if row and row[:1] == b"R" else None, key or b"")
            for job_id, (first, key), row in zip(ids, parts[::2], parts[1::2], strict=True)
        ]

    async def judge(self, audit: Audit, verdict: Verdict) -> bool:
        """Count an audit and forget it; False: another gateway did.

        Two results that differ are kept, and no longer cached.
        """
        both = []
        if verdict is Verdict.DIFFERED and audit.second is not None:
            both = [audit.first.hex(), audit.second.hex()]
        args = [audit.job_id, verdict.value, MAX_DISAGREEMENTS, DISAGREEMENT_MS, audit.cache_key]
        return bool(await self._judge(args=[*args, *both]))

    async def disagreements(self) -> list[Disagreement]:
        """Return what is kept, the newest first."""
        stored = await self._redis.lrange(keys.DISAGREEMENTS, 0, -1)
        return [_parse_disagreement(text) for text in stored]


def _parse_disagreement(stored: bytes) -> Disagreement:
    found_ms, first, second = stored.decode().split(" ")
    return Disagreement(int(found_ms), bytes.fromhex(first), bytes.fromhex(second))
