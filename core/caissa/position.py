"""Making and unmaking moves of Caissa: pieces, tiles, ko, keys, counters, history.

Generic: `moves` binds it, with keys and without.
"""

from typing import Any

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
    make_null,
    move_piece,
    move_silently,
    pop_undo,
    push_undo,
    toggle_piece,
    toggle_silently,
    unmake_null,
)
from core.caissa.layout import BOARD, KO_BIT, QUEEN
from core.jit import kernel

# Columns of an undo row.
_TILES, _KO = range(FREE_COLUMN, FREE_COLUMN + 2)


@generic
def toggle_tile(S: Any, T: Any, square: Any) -> None:
    """Lay a tile on a hole of S, or take one away."""
    S.tiles ^= bit(square)
    if IS_KEYED:
        S.key ^= T.hole_keys[0, square]
        S.key2 ^= T.hole_keys[1, square]


@kernel
def find_ko_key(T: Any, ko: Any, index: Any) -> Any:
    """Return what the ko move adds to key 0 or 1."""
    if ko == U0:
        return U0
    return T.ko_keys[index, 0, ko & U63] ^ T.ko_keys[index, 1, (ko >> U6) & U63]


@generic
def set_ko(S: Any, T: Any, ko: Any) -> None:
    """Replace the ko move of S."""
    if IS_KEYED:
        S.key ^= find_ko_key(T, S.ko, U0) ^ find_ko_key(T, ko, U0)
        S.key2 ^= find_ko_key(T, S.ko, U1) ^ find_ko_key(T, ko, U1)
    S.ko = ko


@generic
def make_move(S: Any, T: Any, move: Any) -> None:
    """Make a legal move in S."""
    origin = move & U63
    end = (move >> U6) & U63
    piece = U0 + S.board[origin]
    target = U0 + S.board[end]
    is_queen = piece & TYPE_MASK == QUEEN
    row = S.ply
    push_undo(S, move)
    S.undo[row, CAPTURED] = target
    S.undo[row, _TILES] = S.tiles
    S.undo[row, _KO] = S.ko
    ko = U0
    if target != NO_PIECE:
        toggle_piece(S, T, target, end)
    move_piece(S, T, piece, origin, end)
    if is_queen:
        toggle_tile(S, T, origin)
    elif target != NO_PIECE:
        # An exchange; with the same type of the other side, its undoing is ko.
        toggle_piece(S, T, target, origin)
        S.board[origin] = target
        if target == piece ^ BLACK_BIT:
            ko = move | KO_BIT
    elif S.tiles & bit(end) == U0:
        toggle_tile(S, T, origin)
        toggle_tile(S, T, end)
    if ko != S.ko:
        set_ko(S, T, ko)
    # A queen's move takes a tile off the board for good.
    is_final = U1 if is_queen else U0
    advance(S, T, is_final, is_final)


@generic
def unmake_move(S: Any, T: Any) -> None:
    """Take back the last move made in S."""
    pop_undo(S)
    row = S.ply
    move = S.undo[row, MOVE]
    origin = move & U63
    end = (move >> U6) & U63
    piece = U0 + S.board[end]
    target = S.undo[row, CAPTURED]
    if target != NO_PIECE and piece & TYPE_MASK != QUEEN:
        toggle_silently(S, target, origin)
    move_silently(S, piece, end, origin)
    if target != NO_PIECE:
        toggle_silently(S, target, end)
        S.board[end] = target
    S.tiles = S.undo[row, _TILES]
    S.ko = S.undo[row, _KO]


@generic
def make_null_move(S: Any, T: Any) -> None:
    """Let the side to move pass, which ends a ko; nothing repeats across it."""
    row = S.ply
    make_null(S, T)
    S.undo[row, _KO] = S.ko
    if S.ko:
        set_ko(S, T, U0)


@generic
def unmake_null_move(S: Any, T: Any) -> None:
    """Take back `make_null_move`."""
    unmake_null(S, T)
    S.ko = S.undo[S.ply, _KO]


@kernel
def compute_key(S: Any, T: Any, index: Any) -> Any:
    """Return key 0 or 1 of the position, from scratch."""
    key = find_ko_key(T, S.ko, index)
    if S.side:
        key ^= T.side_keys[index]
    rest = S.by_side[0] | S.by_side[1]
    while rest:
        square = lsb(rest)
        rest &= rest - U1
        key ^= T.piece_keys[index, S.board[square], square]
    rest = BOARD & ~S.tiles
    while rest:
        key ^= T.hole_keys[index, lsb(rest)]
        rest &= rest - U1
    return key
