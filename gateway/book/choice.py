"""The choice of a move from a book, for those who play."""

import random

from core.position import Position
from gateway.book.book import Book

MAX_DROP = 24
"""Centipawns that a chosen move may be worth less than the best one."""
HALF_LIFE = 8
"""Centipawns of drop that halve the chance of a move."""


class BookChooser:
    """Chooses moves of one book: the better, the more often, as a seed decides; without, the best.

    Args:
        book: the book.
        seed: of the choices; None: always the best move, by its text among equals.
    """

    def __init__(self, book: Book, seed: int | None) -> None:
        self._book = book
        self._random = None if seed is None else random.Random(seed)

    def choose(self, position: Position) -> str | None:
        """Return a move, or None where the book has none to offer.

        That is also where the position has come before in its game: a book knows no history, and
        only a search sees the repetition.
        """
        probe = self._book.probe(position)
        # The look at the history comes last: it takes a game's length, and the clock runs.
        if probe is None or not probe.moves or _has_come_before(position):
            return None
        good = [move for move in probe.moves if probe.value - move.value <= MAX_DROP]
        if self._random is None:
            return good[0].move
        weights = [2.0 ** ((move.value - probe.value) / HALF_LIFE) for move in good]
        return self._random.choices(good, weights)[0].move


def _has_come_before(position: Position) -> bool:
    keys = position.keys
    played = [position.pop() for _ in list(position.moves)]
    has_come = False
    for move in reversed(played):
        has_come = has_come or position.keys == keys
        position.push(move)
    return has_come
