"""State records to work on: some for each thread and game, loaded for each operation."""

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.games import Game


class Record:
    """A state record of a game; `array`, of this one record, is what kernels take."""

    def __init__(self, game: Game) -> None:
        self.array: NDArray[Any] = np.zeros(1, dtype=game.rules.STATE)
        size = game.position_type.itemsize
        self._position = self.array.view(np.uint8).data[:size]
        self._moves: NDArray[np.uint64] = self.array["moves"][0, 0]

    def write_position(self, position: bytes) -> None:
        """Replace the position by the one of which these are the bytes."""
        self._position[:] = position

    def read_position(self) -> bytes:
        """Return the bytes of the position."""
        return self._position.tobytes()

    def read_moves(self, count: int) -> list[int]:
        """Return the first `count` moves that `list_moves` wrote."""
        moves: list[int] = self._moves[:count].tolist()
        return moves


class _Records(threading.local):
    """The records of the thread that looks, by the name of their game and a place."""

    def __init__(self) -> None:
        self.by_place: dict[tuple[str, int], Record] = {}


_records = _Records()


def borrow_record(game: Game, place: int = 0) -> Record:
    """Return this thread's record of a game; what is written there lasts until the next call.

    Records at different places are different ones.
    """
    record = _records.by_place.get((game.name, place))
    if record is None:
        record = _records.by_place[game.name, place] = Record(game)
    return record
