"""Making and unmaking moves of Caissa: pieces, tiles, ko, keys, counters, history."""

from typing import Any

from core import board
from core.bind import bind
from core.bits import U0, U1, U6, U63, bit, lsb
from core.board import BLACK_BIT, CAPTURED, FREE_COLUMN, MOVE, TYPE_MASK
from core.caissa.layout import BOARD, EMPTY, KO_BIT, QUEEN
from core.jit import kernel
from core.rules import MAX_COUNTER

_TILES, _KO = range(FREE_COLUMN, FREE_COLUMN + 2)

_board = bind(board, "caissa", {})
toggle_piece = _board.toggle_piece
toggle_silently = _board.toggle_silently
push_undo = _board.push_undo
pop_undo = _board.pop_undo


@kernel
def toggle_tile(S: Any, T: Any, square: Any) -> None:
    """Lay a tile on a hole of S, or take one away."""
    S.tiles ^= bit(square)
    S.key ^= T.hole_keys[0, square]
    S.key2 ^= T.hole_keys[1, square]


@kernel
def find_ko_key(T: Any, ko: Any, index: Any) -> Any:
    """Return what the ko move adds to key 0 or 1."""
    if ko == U0:
        return U0
    return T.ko_keys[index, 0, ko & U63] ^ T.ko_keys[index, 1, (ko >> U6) & U63]


@kernel
def set_ko(S: Any, T: Any, ko: Any) -> None:
    """Replace the ko move of S."""
    S.key ^= find_ko_key(T, S.ko, U0) ^ find_ko_key(T, ko, U0)
    S.key2 ^= find_ko_key(T, S.ko, U1) ^ find_ko_key(T, ko, U1)
    S.ko = ko


@kernel
def make_move(S: Any, T: Any, move: Any) -> None:
    """Make a legal move in S."""
    origin = move & U63
    end = (move >> U6) & U63
    piece = U0 + S.board[origin]
    target = U0 + S.board[end]
    is_queen = piece & TYPE_MASK == QUEEN
    push_undo(S, move)
    row = S.ply - U1
    S.undo[row, CAPTURED] = target
    S.undo[row, _TILES] = S.tiles
    S.undo[row, _KO] = S.ko
    toggle_piece(S, T, piece, origin)
    if target != EMPTY:
        toggle_piece(S, T, target, end)
    toggle_piece(S, T, piece, end)
    S.board[end] = piece
    S.board[origin] = EMPTY
    S.halfmove = min(S.halfmove + U1, MAX_COUNTER)
    S.reversible += U1
    ko = U0
    if is_queen:
        toggle_tile(S, T, origin)
        S.halfmove = U0
        S.reversible = U0
    elif target != EMPTY:
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
    S.fullmove = min(S.fullmove + S.side, MAX_COUNTER)
    S.side ^= U1
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
    piece = U0 + S.board[end]
    target = S.undo[row, CAPTURED]
    toggle_silently(S, piece, end)
    if target != EMPTY:
        if piece & TYPE_MASK != QUEEN:
            toggle_silently(S, target, origin)
        toggle_silently(S, target, end)
    toggle_silently(S, piece, origin)
    S.board[origin] = piece
    S.board[end] = target
    S.tiles = S.undo[row, _TILES]
    S.ko = S.undo[row, _KO]


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
