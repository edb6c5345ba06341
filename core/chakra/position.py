"""Making and unmaking moves of Chakra: pieces, chakras, keys, counters, history."""

from typing import Any

from core import board
from core.bind import bind
from core.bits import U0, U1, U6, U63, bit, lsb
from core.board import BLACK_BIT, CAPTURED, FREE_COLUMN, MOVE, TYPE_MASK
from core.chakra.layout import EMPTY, FLIP_BIT, KING, PAWN, PROMOTION_SHIFT
from core.jit import kernel
from core.rules import MAX_COUNTER

_CHAKRAS, _CHAKRAS_BLACK, _KING_MODE = range(FREE_COLUMN, FREE_COLUMN + 3)

_board = bind(board, "chakra", {})
toggle_piece = _board.toggle_piece
toggle_silently = _board.toggle_silently
push_undo = _board.push_undo
pop_undo = _board.pop_undo


@kernel
def toggle_chakra(S: Any, T: Any, side: Any, mode: Any, square: Any) -> None:
    """Put a chakra (mode 1: king) on S, or take it off."""
    here = bit(square)
    S.chakras[side] ^= here
    if mode:
        S.king_mode ^= here
    S.key ^= T.chakra_keys[0, side, mode, square]
    S.key2 ^= T.chakra_keys[1, side, mode, square]


@kernel
def find_mode(S: Any, square: Any) -> Any:
    """Return 1 if the chakra on a square is in king mode, else 0."""
    return (S.king_mode >> square) & U1


@kernel
def make_move(S: Any, T: Any, move: Any) -> None:
    """Make a legal (or, for judging it, pseudo-legal) move in S."""
    side = S.side
    other = side ^ U1
    origin = move & U63
    end = (move >> U6) & U63
    piece = U0 + S.board[origin]
    captured = EMPTY
    push_undo(S, move)
    _push_chakras(S)
    S.halfmove = min(S.halfmove + U1, MAX_COUNTER)
    S.reversible += U1
    if piece == EMPTY:
        mode = find_mode(S, origin)
        toggle_chakra(S, T, side, mode, origin)
        toggle_chakra(S, T, side, mode ^ (U1 if move & FLIP_BIT else U0), end)
    elif origin != end:
        captured = U0 + S.board[end]
        promotion = (move >> PROMOTION_SHIFT) & TYPE_MASK
        toggle_piece(S, T, piece, origin)
        S.board[origin] = EMPTY
        if captured != EMPTY:
            toggle_piece(S, T, captured, end)
            S.halfmove = U0
            S.reversible = U0
        elif piece & TYPE_MASK == KING and S.chakras[other] & bit(end):
            # A king on a vacant enemy chakra captures the transmitter.
            while S.chakras[other]:
                square = lsb(S.chakras[other])
                toggle_chakra(S, T, other, find_mode(S, square), square)
            S.halfmove = U0
            S.reversible = U0
        if piece & TYPE_MASK == PAWN:
            # Only a promotion is final: the transmitter takes pawns back.
            S.halfmove = U0
            if promotion != U0:
                S.reversible = U0
                piece = promotion | (piece & BLACK_BIT)
        toggle_piece(S, T, piece, end)
        S.board[end] = piece
    S.undo[S.ply - U1, CAPTURED] = captured
    S.fullmove = min(S.fullmove + side, MAX_COUNTER)
    S.side = other
    S.key ^= T.side_keys[0]
    S.key2 ^= T.side_keys[1]


@kernel
def unmake_move(S: Any, T: Any) -> None:
    """Take back the last move made in S."""
    pop_undo(S)
    row = S.ply
    move = S.undo[row, MOVE]
    origin = move & U63
    end = (move >> U6) & U63
    # A chakra's move left no piece on its end; a pass and a flip in place moved none.
    piece = U0 + S.board[end]
    if piece != EMPTY and origin != end:
        toggle_silently(S, piece, end)
        if (move >> PROMOTION_SHIFT) & TYPE_MASK:
            piece = PAWN | (piece & BLACK_BIT)
        toggle_silently(S, piece, origin)
        S.board[origin] = piece
        captured = S.undo[row, CAPTURED]
        S.board[end] = captured
        if captured != EMPTY:
            toggle_silently(S, captured, end)
    S.chakras[0] = S.undo[row, _CHAKRAS]
    S.chakras[1] = S.undo[row, _CHAKRAS_BLACK]
    S.king_mode = S.undo[row, _KING_MODE]


@kernel
def _push_chakras(S: Any) -> None:
    row = S.ply - U1
    S.undo[row, _CHAKRAS] = S.chakras[0]
    S.undo[row, _CHAKRAS_BLACK] = S.chakras[1]
    S.undo[row, _KING_MODE] = S.king_mode


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
