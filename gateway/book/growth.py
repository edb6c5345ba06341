"""Growth of a book by drop-out expansion: which positions are searched next, and when it ends."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.notation import NotationError
from gateway.book.book import Addition, BookError, Entry, Evidence
from gateway.book.file import BookFile
from gateway.book.positions import BookPosition, list_children

REANALYSED_AT_ONCE = 32


class ExpansionFailed(Exception):
    """Positions cannot be searched, though others can; the text says why."""


class Expander(Protocol):
    """Searches the positions of a book."""

    @property
    def width(self) -> int:
        """How many calls of `search` may run at the same time."""

    async def search(self, positions: Sequence[BookPosition]) -> list[Evidence]:
        """Return for each position what its score is and rests on.

        Raises ExpansionFailed, and anything else where no search is possible now.
        """


@dataclass(frozen=True)
class Plan:
    """What a growth is for and when it ends: at the first bound that is reached.

    `seed` decides between leaves that are as urgent as each other. `positions`: no leaf is expanded
    in a book of so many; `plies`: nor one so far from the root, by its cheapest line; `seconds`:
    nor after so long. `again_depth` and `again_nodes`: leaves are not expanded, but searched again
    where their evidence has reached neither; 0: there is no such bound.
    """

    seed: int = 1
    positions: int | None = None
    plies: int | None = None
    seconds: float | None = None
    again_depth: int = 0
    again_nodes: int = 0

    @property
    def is_again(self) -> bool:
        """Whether leaves are searched again, and none is expanded."""
        return bool(self.again_depth or self.again_nodes)


@dataclass(frozen=True)
class Progress:
    """How far a growth is: what is in the book, and what this growth has searched for it."""

    positions: int
    expanded: int
    value: int | None
    searched: int
    nodes: int
    failed: int


class Growth:
    """One growth of a book; what it has added stays, however it ends."""

    def __init__(self, file: BookFile, expander: Expander, plan: Plan) -> None:
        self._file = file
        self._book = file.book
        self._expander = expander
        self._plan = plan
        self._running: dict[asyncio.Task[Addition], list[Entry]] = {}
        self._done: set[bytes] = set()
        self._searched = self._nodes = self._failed = 0

    async def run(self) -> AsyncGenerator[Progress, None]:
        """Grow, and tell how far it is after each step that is in the file."""
        deadline = time.monotonic() + (self._plan.seconds or float("inf"))
        try:
            while True:
                if time.monotonic() < deadline:
                    await self._start()
                if not self._running:
                    return
                done, _ = await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    await self._finish(task, self._running.pop(task))
                yield self._look()
        finally:
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)

    async def _start(self) -> None:
        """Have as many steps run as the expander takes and the plan allows."""
        count = self._expander.width - len(self._running)
        if count <= 0:
            return
        if not len(self._book):
            if not self._running:
                root = self._book.header.root
                self._running[asyncio.create_task(self._search([root]))] = []
            return
        for entries in await asyncio.to_thread(self._choose, count):
            step = self._search_again(entries) if self._plan.is_again else self._expand(*entries)
            self._running[asyncio.create_task(step)] = entries

    def _choose(self, count: int) -> list[list[Entry]]:
        """Return the leaves of the next steps, at most so many, the most urgent first."""
        size = REANALYSED_AT_ONCE if self._plan.is_again else 1
        if not self._plan.is_again and len(self._book) >= (self._plan.positions or float("inf")):
            return []
        busy = {entry.position.key for entries in self._running.values() for entry in entries}
        chosen: list[Entry] = []
        busy |= self._done
        with self._book.lock:
            for entry, plies in self._book.find_leaves(self._plan.seed):
                if entry.position.key in busy or not self._is_due(entry, plies):
                    continue
                chosen.append(entry)
                if len(chosen) == count * size:
                    break
        return [chosen[first : first + size] for first in range(0, len(chosen), size)]

    def _is_due(self, entry: Entry, plies: int) -> bool:
        if plies >= (self._plan.plies or float("inf")):
            return False
        if not self._plan.is_again:
            return True
        depth, nodes = self._plan.again_depth, self._plan.again_nodes
        evidence = entry.evidence
        return not (0 < depth <= evidence.depth or 0 < nodes <= evidence.nodes)

    async def _expand(self, leaf: Entry) -> Addition:
        try:
            children = await asyncio.to_thread(
                list_children, self._book.header.variant, leaf.position.fen
            )
        except NotationError as error:
            raise BookError(f"a position of it is none: {error}") from None
        new = {child.key: child for child in children.values() if child.key not in self._book}
        found = await self._search(list(new.values()))
        moves = {move: child.key for move, child in children.items()}
        return Addition(found.entries, {leaf.position.key: moves})

    async def _search_again(self, leaves: Sequence[Entry]) -> Addition:
        return await self._search([leaf.position for leaf in leaves])

    async def _search(self, positions: Sequence[BookPosition]) -> Addition:
        found = await self._expander.search(positions) if positions else []
        return Addition([Entry(p, e) for p, e in zip(positions, found, strict=True)])

    async def _finish(self, task: asyncio.Task[Addition], leaves: list[Entry]) -> None:
        """Add what a step has found; leaves that cannot be searched are left alone."""
        if self._plan.is_again:
            self._done |= {leaf.position.key for leaf in leaves}
        try:
            addition = task.result()
        except ExpansionFailed:
            self._done |= {leaf.position.key for leaf in leaves}
            self._failed += 1
            return
        await asyncio.to_thread(self._file.add, addition)
        self._searched += len(addition.entries)
        self._nodes += sum(entry.evidence.nodes for entry in addition.entries)

    def _look(self) -> Progress:
        nodes = self._book.graph.nodes
        return Progress(
            positions=len(nodes),
            expanded=sum(bool(node.moves) for node in nodes),
            value=nodes[0].value if nodes else None,
            searched=self._searched,
            nodes=self._nodes,
            failed=self._failed,
        )
