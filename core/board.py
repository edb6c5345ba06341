"""Pieces on bitboards, mailbox and keys, and what every game's undo row holds."""

from typing import Any

import numpy as np

from core.bind import generic
from core.bits import U1, U3, U6, lsb

# A piece in the mailbox: its type, 1 to 7, and this bit when it is black. 0: no piece.
BLACK_BIT = np.uint64(8)
TYPE_MASK = np.uint64(7)

# Columns of an undo row; a game's own come after.
MOVE, CAPTURED, HALFMOVE, FULLMOVE, REVERSIBLE, KEY, KEY2 = range(7)
FREE_COLUMN = 7


@generic
def toggle_piece(S: Any, T: Any, piece: Any, square: Any) -> None:
    """Put a piece on S's bitboards and keys, or take it off; the mailbox is the caller's."""
    here = U1 << square
    S.by_type[piece & TYPE_MASK] ^= here
    S.by_side[piece >> U3] ^= here
    S.key ^= T.piece_keys[0, piece, square]
    S.key2 ^= T.piece_keys[1, piece, square]


@generic
def toggle_silently(S: Any, piece: Any, square: Any) -> None:
    """Put a piece on S's bitboards, or take it off: for unmaking, where keys are restored."""
    here = U1 << square
    S.by_type[piece & TYPE_MASK] ^= here
    S.by_side[piece >> U3] ^= here


@generic
def push_undo(S: Any, move: Any) -> None:
    """Begin an undo row (all but CAPTURED and the game's own columns) and remember the key."""
    row = S.ply
    S.undo[row, MOVE] = move
    S.undo[row, HALFMOVE] = S.halfmove
    S.undo[row, FULLMOVE] = S.fullmove
    S.undo[row, REVERSIBLE] = S.reversible
    S.undo[row, KEY] = S.key
    S.undo[row, KEY2] = S.key2
    S.keys[S.key_count] = S.key
    S.ply += U1
    S.key_count += U1


@generic
def pop_undo(S: Any) -> None:
    """Restore side, counters and keys from the last undo row, which is then row `S.ply`."""
    S.ply -= U1
    S.key_count -= U1
    S.side ^= U1
    row = S.ply
    S.halfmove = S.undo[row, HALFMOVE]
    S.fullmove = S.undo[row, FULLMOVE]
    S.reversible = S.undo[row, REVERSIBLE]
    S.key = S.undo[row, KEY]
    S.key2 = S.undo[row, KEY2]


@generic
def list_ends(S: Any, count: Any, square: Any, ends: Any) -> Any:
    """Write a move from `square` to each end into `S.moves[S.ply]`; return the new count."""
    while ends:
        S.moves[S.ply, count] = square | (lsb(ends) << U6)
        count += U1
        ends &= ends - U1
    return count
