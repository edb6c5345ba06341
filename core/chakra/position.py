"""Making and unmaking moves of Chakra: pieces, chakras, keys, counters, history.

Generic: `moves` binds it, with keys and without.
"""

from typing import Any

import numpy as np

from core.bind import generic
from core.bits import U0, U1, U6, U63, bit, lsb
from core.board import (
    BLACK_BIT,
    CAPTURED,
    FREE_COLUMN,
    IS_KEYED,
    MOVE,
    NO_PIECE,
    TYPE_MASK,
    advance,
    move_piece,
    move_silently,
    pop_undo,
    push_undo,
    toggle_piece,
    toggle_silently,
)
from core.chakra.layout import FLIP_SHIFT, KING, PAWN, PROMOTION_SHIFT
from core.jit import kernel

# Columns of an undo row, written when a transmitter is captured; CAPTURED then holds what no piece
# does.
_CHAKRAS, _KING_MODE = range(FREE_COLUMN, FREE_COLUMN + 2)
_TRANSMITTER = np.uint64(16)


@generic
def toggle_chakra(S: Any, T: Any, side: Any, mode: Any, square: Any) -> None:
    """Put a chakra (mode 1: king) on S, or take it off."""
    S.chakras[side] ^= bit(square)
    S.king_mode ^= mode << square
    if IS_KEYED:
        S.key ^= T.chakra_keys[0, side, mode, square]
        S.key2 ^= T.chakra_keys[1, side, mode, square]


@kernel
def find_mode(S: Any, square: Any) -> Any:
    """Return 1 if the chakra on a square is in king mode, else 0."""
    return (S.king_mode >> square) & U1


@generic
def capture_transmitter(S: Any, T: Any, side: Any) -> None:
    """Take both chakras of a side off S, and write them into the last undo row."""
    row = S.ply - U1
    S.undo[row, CAPTURED] = _TRANSMITTER
    S.undo[row, _CHAKRAS] = S.chakras[side]
    S.undo[row, _KING_MODE] = S.king_mode
    while S.chakras[side]:
        square = lsb(S.chakras[side])
        toggle_chakra(S, T, side, find_mode(S, square), square)


@generic
def make_move(S: Any, T: Any, move: Any) -> None:
    """Make a legal (or, for judging it, pseudo-legal) move in S."""
    origin = move & U63
    end = (move >> U6) & U63
    piece = U0 + S.board[origin]
    is_final = U0
    is_clock_reset = U0
    push_undo(S, move)
    if piece == NO_PIECE:
        mode = find_mode(S, origin)
        toggle_chakra(S, T, S.side, mode, origin)
        toggle_chakra(S, T, S.side, mode ^ ((move >> FLIP_SHIFT) & U1), end)
    elif origin != end:
        captured = U0 + S.board[end]
        S.undo[S.ply - U1, CAPTURED] = captured
        if captured != NO_PIECE:
            toggle_piece(S, T, captured, end)
            is_final = U1
        elif piece & TYPE_MASK == KING and S.chakras[S.side ^ U1] & bit(end):
            # A king on a vacant enemy chakra captures the transmitter.
            capture_transmitter(S, T, S.side ^ U1)
            is_final = U1
        is_clock_reset = is_final
        move_piece(S, T, piece, origin, end)
        if piece & TYPE_MASK == PAWN:
            # Only a promotion is final: the transmitter takes pawns back.
            is_clock_reset = U1
            promotion = (move >> PROMOTION_SHIFT) & TYPE_MASK
            if promotion != U0:
                is_final = U1
                toggle_piece(S, T, piece, end)
                piece = promotion | (piece & BLACK_BIT)
                toggle_piece(S, T, piece, end)
                S.board[end] = piece
    advance(S, T, is_final, is_clock_reset)


@generic
def unmake_move(S: Any, T: Any) -> None:
    """Take back the last move made in S."""
    pop_undo(S)
    move = S.undo[S.ply, MOVE]
    origin = move & U63
    end = (move >> U6) & U63
    piece = U0 + S.board[end]
    if piece == NO_PIECE:
        # A chakra's move left no piece on its end.
        mode = find_mode(S, end)
        S.chakras[S.side] ^= bit(end)
        S.king_mode ^= mode << end
        S.chakras[S.side] ^= bit(origin)
        S.king_mode ^= (mode ^ ((move >> FLIP_SHIFT) & U1)) << origin
    elif origin != end:
        if (move >> PROMOTION_SHIFT) & TYPE_MASK:
            toggle_silently(S, piece, end)
            piece = PAWN | (piece & BLACK_BIT)
            toggle_silently(S, piece, end)
        move_silently(S, piece, end, origin)
        captured = S.undo[S.ply, CAPTURED]
        if captured == _TRANSMITTER:
            S.chakras[S.side ^ U1] = S.undo[S.ply, _CHAKRAS]
            S.king_mode = S.undo[S.ply, _KING_MODE]
        elif captured != NO_PIECE:
            toggle_silently(S, captured, end)
            S.board[end] = captured


@kernel
def compute_key(S: Any, T: Any, index: Any) -> Any:
    """Return key 0 or 1 of the position, from scratch."""
    key = T.side_keys[index] if S.side else U0
    rest = S.by_side[0] | S.by_side[1]
    while rest:
        square = lsb(rest)
        rest &= rest - U1
        key ^= T.piece_keys[index, S.board[square], square]
    for side in (U0, U1):
        rest = S.chakras[side]
        while rest:
            square = lsb(rest)
            rest &= rest - U1
            key ^= T.chakra_keys[index, side, find_mode(S, square), square]
    return key
