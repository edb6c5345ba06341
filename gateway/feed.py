"""The client's side of an AnalyseMany call: positions on their way, until they are answered."""

import asyncio
import itertools
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from contextlib import suppress

from tilewarp.v1 import analysis_pb2, position_pb2

OPEN_COUNT = 4_000
"""Positions taken from the caller that have no result yet, at most; more than a server reads."""
BATCH_COUNT = 200
"""Positions of a message, at most."""
BATCH_BYTES = 256 * 1024
"""A message is about so large at most, far below the receiver's limit of 4 MiB."""

Position = tuple[str, position_pb2.Position]
"""A position and the caller's id for it."""


class Feed:
    """Takes the caller's positions as they are wanted, and keeps those without a result.

    On the wire they have ids of their own, so that a position that is sent again is known, whatever
    the caller's ids are. In the running event loop; `close` ends it.
    """

    def __init__(self, positions: Iterable[Position] | AsyncIterable[Position]) -> None:
        self._room = asyncio.Semaphore(OPEN_COUNT)
        self._ahead: asyncio.Queue[Position | None] = asyncio.Queue()
        self._taking = asyncio.create_task(self._take(positions))
        self._numbers = itertools.count()
        self._open: dict[str, Position] = {}
        """By their ids on the wire."""
        self._is_all_sent = False

    async def close(self) -> None:
        """Take nothing more; raise what the caller's positions ended with, if it was an error."""
        self._taking.cancel()
        with suppress(asyncio.CancelledError):
            await self._taking

    async def requests(
        self, limits: analysis_pb2.Limits, no_cache: bool = False
    ) -> AsyncIterator[analysis_pb2.AnalyseManyRequest]:
        """Yield the messages of one call: first what another one has left without a result."""
        yield analysis_pb2.AnalyseManyRequest(limits=limits, no_cache=no_cache)
        again = [_item(number, position) for number, (_, position) in self._open.items()]
        while again:
            yield _message(again)
        items: list[analysis_pb2.AnalyseManyItem] = []
        while items or not self._is_all_sent:
            if not items:
                self._accept(await self._ahead.get(), items)
            while not self._ahead.empty() and len(items) < BATCH_COUNT:
                self._accept(self._ahead.get_nowait(), items)
            if items:
                yield _message(items)

    def settle(self, result: analysis_pb2.AnalyseManyResult) -> analysis_pb2.AnalyseManyResult:
        """Note that a position has its result, and return it with the caller's id."""
        result.id, _ = self._open.pop(result.id)
        self._room.release()
        return result

    def _accept(self, position: Position | None, items: list[analysis_pb2.AnalyseManyItem]) -> None:
        """Add a position to those to be sent; None is the end."""
        if position is None:
            self._is_all_sent = True
            return
        number = str(next(self._numbers))
        self._open[number] = position
        items.append(_item(number, position[1]))

    async def _take(self, positions: Iterable[Position] | AsyncIterable[Position]) -> None:
        try:
            if isinstance(positions, AsyncIterable):
                async for position in positions:
                    await self._add(position)
            else:
                for position in positions:
                    await self._add(position)
        finally:
            self._ahead.put_nowait(None)

    async def _add(self, position: Position) -> None:
        await self._room.acquire()
        self._ahead.put_nowait(position)


def _item(number: str, position: position_pb2.Position) -> analysis_pb2.AnalyseManyItem:
    return analysis_pb2.AnalyseManyItem(id=number, position=position)


def _message(items: list[analysis_pb2.AnalyseManyItem]) -> analysis_pb2.AnalyseManyRequest:
    """Return a message of the first items, which are taken away; of one at least."""
    size, count = 0, 0
    for item in items:
        size += item.ByteSize()
        if count and size > BATCH_BYTES:
            break
        count += 1
    message = analysis_pb2.AnalyseManyRequest(items=items[:count])
    del items[:count]
    return message
