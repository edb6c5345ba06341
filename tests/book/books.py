"""Books to test with: searches that cost nothing, and ways to grow."""

import asyncio
import random
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from core.position import Position
from core.score import MATE
from gateway.book.book import Evidence, make_header
from gateway.book.file import BookFile
from gateway.book.growth import Growth, Plan, Progress
from gateway.book.positions import BookPosition


class Oracle:
    """Gives each position a score that follows from its key, after some turns of the loop."""

    def __init__(self, variant: str, width: int = 1, seed: int = 0, nodes: int = 100) -> None:
        self.width = width
        self.variant = variant
        self.asked: list[str] = []
        self.running = 0
        self.most_running = 0
        self._random = random.Random(seed)
        self._nodes = nodes

    async def search(self, positions: Sequence[BookPosition]) -> list[Evidence]:
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        try:
            for _ in range(self._random.randrange(5 * self.width)):
                await asyncio.sleep(0)
        finally:
            self.running -= 1
        self.asked += [position.fen for position in positions]
        return [self._judge(position) for position in positions]

    def _judge(self, position: BookPosition) -> Evidence:
        outcome = Position(self.variant, position.fen).outcome()
        score = sha256(position.key).digest()[0] % 8 * 40 - 140
        if outcome:
            score = -MATE if outcome == "checkmate" else 0
        return Evidence(score, 3, 0 if outcome else self._nodes, "1", 1_700_000_000, outcome)


async def grow(file: BookFile, expander: Oracle, plan: Plan) -> list[Progress]:
    return [progress async for progress in Growth(file, expander, plan).run()]


def make_book(path: Path, variant: str = "caissa", positions: int = 100, seed: int = 1) -> None:
    """Write a small book."""
    with BookFile(path, make_header(variant)) as file:
        asyncio.run(grow(file, Oracle(variant), Plan(seed=seed, positions=positions)))
