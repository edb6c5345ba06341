"""Results cached for equal requests: how they are written, and the gateway's way to find them.

The workers add them by `Store.remember`. A key is what `worker.cache` makes.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from worker.store import keys, scripts

CHECK_BYTES = 8
"""Of a digest of key and result that stands before each."""


class AsyncCache:
    """The cached results as a gateway uses them; `redis.RedisError` when the server is away."""

    def __init__(self, connection: Any) -> None:
        self._redis = connection
        self._forget = connection.register_script(scripts.source("forget"))

    async def find(self, wanted: Sequence[bytes]) -> list[bytes | None]:
        """Return the cached result of each key, a serialized ResultRow, or None.

        What was damaged is forgotten.
        """
        values = await self._redis.hmget(keys.CACHE, wanted)
        found = [
            None if value is None else unseal(key, value)
            for key, value in zip(wanted, values, strict=True)
        ]
        damaged = [
            key
            for key, value, result in zip(wanted, values, found, strict=True)
            if value is not None and result is None
        ]
        if damaged:
            await self._forget(args=damaged)
        return found

    async def count_answers(self, count: int) -> None:
        """Count answers given from here to a caller without a job."""
        await self._redis.hincrby(keys.TOTALS, "cached", count)

    async def clear(self) -> None:
        """Forget every result."""
        await self._redis.delete(keys.CACHE, keys.CACHE_EXPIRY, keys.CACHE_BYTES)


def seal(key: bytes, result: bytes) -> bytes:
    """Return a result as it is cached."""
    return _check(key, result) + result


def unseal(key: bytes, value: bytes) -> bytes | None:
    """Return the result of what was cached under a key; None if it is damaged."""
    result = value[CHECK_BYTES:]
    return result if value[:CHECK_BYTES] == _check(key, result) else None


def _check(key: bytes, result: bytes) -> bytes:
    return hashlib.sha256(key + result).digest()[:CHECK_BYTES]
