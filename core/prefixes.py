"""Splitting a perft at a depth: the different positions so many plies on, and how often each comes.

Positions that are the same are merged, their ways counted together; so are images of each other,
unless they are to be kept apart. The perft is the sum of what is counted from each, as often as it
comes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.position import Position
from core.record import borrow_record
from core.rules import MAX_MOVES

MAX_PERFT_DEPTH = 40
"""Deeper than any machine will count."""
_IMAGE_PLACE = 1
_WORD_BYTES = 8


class TooManyPrefixes(Exception):
    """A split would have more prefixes than it may."""


@dataclass
class Prefix:
    """A position some plies on; counters of moves are those of a game's start."""

    snapshot: bytes
    multiplicity: int
    """How many lines lead to it, or to an image of it."""


class Split:
    """The prefixes of a position at a depth that grows, in an order that is always the same.

    Positions are taken for the same when both keys agree. Merged images are represented by the
    canonical one. For one thread.
    """

    def __init__(self, position: Position, keeps_images: bool = False) -> None:
        self.game = position.game
        self._symmetry_count = np.uint64(1 if keeps_images else len(self.game.rules.SYMMETRIES))
        self._children = np.zeros(MAX_MOVES, dtype=self.game.position_type)
        self.plies = 0
        self.prefixes = [Prefix(position.snapshot(), 1)]

    def advance(self, most: int) -> None:
        """Go one ply further. A prefix without a legal move has no line, and is left out.

        Raises TooManyPrefixes, and stays where it is, if that gives more prefixes than `most`.
        """
        found: dict[tuple[int, int], Prefix] = {}
        for prefix in self.prefixes:
            for keys, snapshot in self._list_children(prefix.snapshot):
                same = found.get(keys)
                if same is None:
                    if len(found) == most:
                        raise TooManyPrefixes
                    found[keys] = Prefix(snapshot, prefix.multiplicity)
                else:
                    same.multiplicity += prefix.multiplicity
        self.prefixes = list(found.values())
        self.plies += 1

    def format_fen(self, prefix: Prefix) -> str:
        """Return the text of a prefix's position."""
        position = np.frombuffer(prefix.snapshot, dtype=self.game.position_type)
        return str(self.game.rules.format_position(position))

    def _list_children(self, snapshot: bytes) -> Iterator[tuple[tuple[int, int], bytes]]:
        """Yield the keys and the bytes of the position after each legal move."""
        record, image = borrow_record(self.game), borrow_record(self.game, _IMAGE_PLACE)
        record.write_position(snapshot)
        count = self.game.entry.list_children(
            record.array,
            image.array,
            self.game.rules.TABLES,
            self._symmetry_count,
            np.uint64(image.array.ctypes.data),
            np.uint64(self._children.ctypes.data),
            np.uint64(self._children.itemsize // _WORD_BYTES),
        )
        children = self._children[: int(count)]
        pairs = zip(children["key"].tolist(), children["key2"].tolist(), strict=True)
        return zip(pairs, (child.tobytes() for child in children), strict=True)
