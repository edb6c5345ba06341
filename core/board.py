"""Pieces on bitboards, mailbox and keys, and what every game's undo row holds."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from core.bind import bind, generic
from core.bits import U0, U1, U3, U6, lsb
from core.rules import MAX_COUNTER

# A piece in the mailbox: its type, 1 to 7, and this bit when it is black. 0: no piece.
BLACK_BIT = np.uint64(8)
TYPE_MASK = np.uint64(7)
NO_PIECE = np.uint64(0)

# Columns of an undo row; a game's own come after.
MOVE, CAPTURED, HALFMOVE, FULLMOVE, REVERSIBLE, KEY, KEY2 = range(7)
FREE_COLUMN = 7


# `bind` sets this to False for making moves that are only counted below: keys, counters and history
# then stand still.
IS_KEYED = True


@generic
def toggle_silently(S: Any, piece: Any, square: Any) -> None:
    """Put a piece on S's bitboards, or take it off."""
    here = U1 << square
    S.by_type[piece & TYPE_MASK] ^= here
    S.by_side[piece >> U3] ^= here


@generic
def toggle_piece(S: Any, T: Any, piece: Any, square: Any) -> None:
    """Put a piece on S's bitboards and keys, or take it off; the mailbox is the caller's."""
    toggle_silently(S, piece, square)
    if IS_KEYED:
        S.key ^= T.piece_keys[0, piece, square]
        S.key2 ^= T.piece_keys[1, piece, square]


@generic
def move_silently(S: Any, piece: Any, origin: Any, end: Any) -> None:
    """Move a piece on S's bitboards and in the mailbox, where it leaves nothing behind."""
    both = (U1 << origin) | (U1 << end)
    S.by_type[piece & TYPE_MASK] ^= both
    S.by_side[piece >> U3] ^= both
    S.board[origin] = NO_PIECE
    S.board[end] = piece


@generic
def move_piece(S: Any, T: Any, piece: Any, origin: Any, end: Any) -> None:
    """Move a piece on S's bitboards, keys and in the mailbox."""
    move_silently(S, piece, origin, end)
    if IS_KEYED:
        S.key ^= T.piece_keys[0, piece, origin] ^ T.piece_keys[0, piece, end]
        S.key2 ^= T.piece_keys[1, piece, origin] ^ T.piece_keys[1, piece, end]


@generic
def push_undo(S: Any, move: Any) -> None:
    """Begin an undo row (all but CAPTURED and the game's own columns) and remember the key."""
    row = S.ply
    S.undo[row, MOVE] = move
    S.ply += U1
    if IS_KEYED:
        S.undo[row, HALFMOVE] = S.halfmove
        S.undo[row, FULLMOVE] = S.fullmove
        S.undo[row, REVERSIBLE] = S.reversible
        S.undo[row, KEY] = S.key
        S.undo[row, KEY2] = S.key2
        S.keys[S.key_count] = S.key
        S.key_count += U1


@generic
def pop_undo(S: Any) -> None:
    """Restore side, counters and keys from the last undo row, which is then row `S.ply`."""
    S.ply -= U1
    S.side ^= U1
    if IS_KEYED:
        row = S.ply
        S.halfmove = S.undo[row, HALFMOVE]
        S.fullmove = S.undo[row, FULLMOVE]
        S.reversible = S.undo[row, REVERSIBLE]
        S.key = S.undo[row, KEY]
        S.key2 = S.undo[row, KEY2]
        S.key_count -= U1


@generic
def advance(S: Any, T: Any, is_final: Any, is_clock_reset: Any) -> None:
    """End a move: counters, history and the side to move.

    `is_final`: 1 if no later move can take it back; `is_clock_reset`: 1 if the half-move clock
    begins anew.
    """
    if IS_KEYED:
        S.halfmove = U0 if is_clock_reset != U0 else min(S.halfmove + U1, MAX_COUNTER)
        S.reversible = U0 if is_final != U0 else S.reversible + U1
        S.fullmove = min(S.fullmove + S.side, MAX_COUNTER)
        S.key ^= T.side_keys[0]
        S.key2 ^= T.side_keys[1]
    S.side ^= U1


@generic
def make_null(S: Any, T: Any) -> None:
    """Let the side to move pass; nothing repeats across it."""
    push_undo(S, U0)
    advance(S, T, U1, U0)


@generic
def unmake_null(S: Any, T: Any) -> None:
    """Take back `make_null`."""
    pop_undo(S)


@generic
def list_ends(S: Any, count: Any, square: Any, ends: Any) -> Any:
    """Write a move from `square` to each end into `S.moves[S.ply]`; return the new count."""
    while ends:
        S.moves[S.ply, count] = square | (lsb(ends) << U6)
        count += U1
        ends &= ends - U1
    return count


@generic
def place_pieces(S: Any) -> None:
    """Write S's bitboards anew from the mailbox."""
    for index in range(8):
        S.by_type[index] = U0
    for index in range(2):
        S.by_side[index] = U0
    for index in range(64):
        piece = U0 + S.board[index]
        if piece != NO_PIECE:
            toggle_silently(S, piece, np.uint64(index))


@generic
def permute_squares(T: Any, symmetry: Any, squares: Any) -> Any:
    """Return where the squares of a bitboard go under a symmetry."""
    found = U0
    while squares:
        found |= U1 << T.image_squares[symmetry, lsb(squares)]
        squares &= squares - U1
    return found


@generic
def write_board_image(S: Any, D: Any, T: Any, symmetry: Any) -> None:
    """Write into D the pieces, the side to move and the counters of S's image."""
    swap = T.image_swaps[symmetry]
    for square in range(64):
        D.board[square] = NO_PIECE
    rest = S.by_side[0] | S.by_side[1]
    while rest:
        square = lsb(rest)
        rest &= rest - U1
        D.board[T.image_squares[symmetry, square]] = (U0 + S.board[square]) ^ (swap << U3)
    place_pieces(D)
    D.side = S.side ^ swap
    D.halfmove = S.halfmove
    D.fullmove = S.fullmove
    D.reversible = S.reversible


def bind_moves(module: ModuleType, game: str, is_keyed: bool) -> SimpleNamespace:
    """Return the generic functions of a game's `position` module, bound with those of this one.

    Unkeyed ones change pieces, side and what the game adds alone; moves made by them are unmade
    by them.
    """
    name = game if is_keyed else f"{game}.unkeyed"
    names = vars(bind(sys.modules[__name__], name, {"IS_KEYED": is_keyed}))
    return SimpleNamespace(**names, **vars(bind(module, name, {**names, "IS_KEYED": is_keyed})))
