"""Positions as a book knows them: one for all that a symmetry makes of it, without counters.

A book's position is the canonical image of what stands on the board; its counters of moves are
those of a game's start.
"""

from dataclasses import dataclass

from core.position import Position
from core.symmetry import find_canonical, transform_move

FIRST_COUNTERS = ("0", "1")


@dataclass(frozen=True)
class BookPosition:
    """The canonical image of a position: its key in a book, and its text."""

    key: bytes
    fen: str


def find_book_position(position: Position) -> BookPosition:
    """Return a position as a book knows it."""
    image, _ = find_canonical(position)
    key, key2 = image.keys
    fields = image.fen().split()[: -len(FIRST_COUNTERS)]
    return BookPosition(key.to_bytes(8) + key2.to_bytes(8), " ".join([*fields, *FIRST_COUNTERS]))


def find_own_moves(position: Position) -> dict[str, str]:
    """Return the legal moves of a position by what they are in its canonical image."""
    _, symmetry = find_canonical(position)
    return {transform_move(move, symmetry): move for move in position.legal_moves}


def list_children(variant: str, fen: str) -> dict[str, BookPosition]:
    """Return where each legal move from a position leads, by the move."""
    position = Position(variant, fen)
    children = {}
    for move in position.legal_moves:
        position.push(move)
        children[move] = find_book_position(position)
        position.pop()
    return children
