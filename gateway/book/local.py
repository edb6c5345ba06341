"""Searches for a book by the engine of this process."""

import asyncio
import time
from collections.abc import Sequence

from core.engine import Analysis, Engine
from core.limits import Limits
from core.position import Position
from core.version import ENGINE_VERSION
from gateway.book.book import Evidence
from gateway.book.positions import BookPosition
from gateway.book.values import pack_score


class LocalExpander:
    """Searches one position after another on a thread; leaving a call ends its search."""

    width = 1

    def __init__(self, variant: str, limits: Limits) -> None:
        self._variant = variant
        self._limits = limits
        self._engine = Engine()
        self._is_stopped = False

    async def search(self, positions: Sequence[BookPosition]) -> list[Evidence]:
        """Return for each position what its score is and rests on."""
        try:
            return await asyncio.to_thread(self._search, positions)
        except asyncio.CancelledError:
            self._is_stopped = True
            self._engine.stop()
            raise

    def _search(self, positions: Sequence[BookPosition]) -> list[Evidence]:
        found = []
        for position in positions:
            if self._is_stopped:
                break
            analysis = self._engine.search(Position(self._variant, position.fen), self._limits)
            found.append(make_evidence(analysis))
        return found


def make_evidence(analysis: Analysis) -> Evidence:
    """Return what a search that has just ended tells of its position."""
    return Evidence(
        score=pack_score(analysis.score),
        depth=analysis.depth,
        nodes=analysis.nodes,
        engine=ENGINE_VERSION,
        time=int(time.time()),
        outcome=analysis.result,
    )
