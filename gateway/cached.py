"""Answers from cached results, before any worker is asked."""

from collections.abc import Sequence

from tilewarp.v1 import analysis_pb2, jobs_pb2
from worker.cache import CacheKeys
from worker.limits import is_reproducible, read_limits
from worker.settings import Settings
from worker.store import AsyncStore


class CachedResults:
    """The cached results of requests with the same limits.

    Args:
        limits: checked limits.
        no_cache: whether the client wants none.
    """

    def __init__(
        self, store: AsyncStore, settings: Settings, limits: analysis_pb2.Limits, *, no_cache: bool
    ) -> None:
        self._cache = store.cache
        engine_limits = read_limits(limits)
        is_wanted = not no_cache and settings.cache_mb > 0 and is_reproducible(engine_limits)
        self._keys = CacheKeys(engine_limits) if is_wanted else None

    async def find(self, units: Sequence[bytes]) -> list[bytes | None]:
        """Return the serialized ResultRow of each serialized Position, None where there is none."""
        if self._keys is None:
            return [None] * len(units)
        return await self._cache.find([self._keys.find(unit) for unit in units])

    async def answer(self, units: Sequence[bytes]) -> list[analysis_pb2.AnalysisResult | None]:
        """Return the result of each serialized Position for a caller without a job, and count."""
        answers = [
            None if row is None else read_cached(row).analysis for row in await self.find(units)
        ]
        count = len(answers) - answers.count(None)
        if count:
            await self._cache.count_answers(count)
        return answers


def read_cached(row: bytes) -> jobs_pb2.ResultRow:
    """Return a cached row, which says what it is."""
    shown = jobs_pb2.ResultRow.FromString(row)
    shown.analysis.provenance.from_cache = True
    return shown
