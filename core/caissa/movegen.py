"""Legal moves of Caissa, listed or only counted, by one and the same text."""

import sys
from typing import Any

from core import board
from core.bind import bind, generic
from core.bits import U0, U1, U6, bit, lsb, popcount
from core.board import TYPE_MASK
from core.caissa.attacks import (
    bishop_slides,
    find_constraints,
    find_danger,
    find_landings,
    is_queen_attacked,
    is_removable,
    rook_slides,
)
from core.caissa.layout import BISHOP, KO_BIT, QUEEN, ROOK
from core.jit import kernel

list_ends = bind(board, "caissa.gather", {}).list_ends


@kernel
def count_ends(S: Any, count: Any, square: Any, ends: Any) -> Any:
    """Return the count that `list_ends` would."""
    return count + popcount(ends)


# What a generic function below does with moves, until `bind` says otherwise.
emit_ends = list_ends


@kernel
def find_slides(T: Any, piece_type: Any, square: Any, occupied: Any) -> Any:
    """Return what a rook, knight or bishop on `square` reaches as in chess."""
    if piece_type == ROOK:
        return rook_slides(T, square, occupied)
    if piece_type == BISHOP:
        return bishop_slides(T, square, occupied)
    return T.knight_steps[square]


@kernel
def find_exchanges(S: Any, T: Any, square: Any, reached: Any, checkers: Any) -> Any:
    """Return the enemy pieces with which the piece on `square` may exchange places.

    The enemy piece comes to `square`, with every line as before: it must not attack the queen
    from there, and no other piece may be giving check.
    """
    queen = lsb(S.by_type[QUEEN] & S.by_side[S.side])
    enemy = S.by_side[S.side ^ U1]
    occupied = S.by_side[S.side] | enemy
    rest = reached & enemy & ~S.by_type[QUEEN]
    ends = U0
    while rest:
        end = lsb(rest)
        rest &= rest - U1
        piece_type = S.board[end] & TYPE_MASK
        if (
            checkers & ~bit(end) == U0
            and find_slides(T, piece_type, square, occupied) & bit(queen) == U0
            and S.ko != square | (end << U6) | KO_BIT
        ):
            ends |= bit(end)
    return ends


@generic
def gather_queen(S: Any, T: Any, count: Any, checkers: Any) -> Any:
    """Gather the queen's moves: as in chess, or one step when in check; her tile must be spare."""
    own = S.by_side[S.side]
    occupied = own | S.by_side[S.side ^ U1]
    square = lsb(S.by_type[QUEEN] & own)
    if checkers:
        ends = T.king_steps[square]
    else:
        ends = rook_slides(T, square, occupied) | bishop_slides(T, square, occupied)
    ends &= S.tiles & ~own & ~find_danger(S, T, S.side)
    if ends and is_removable(S, T, square):
        count = emit_ends(S, count, square, ends)
    return count


@generic
def gather_moves(S: Any, T: Any) -> Any:
    """Gather all legal moves."""
    checkers, mask, pinned = find_constraints(S, T)
    own = S.by_side[S.side]
    occupied = own | S.by_side[S.side ^ U1]
    queen = S.by_type[QUEEN] & own
    count = gather_queen(S, T, U0, checkers)
    rest = own & ~queen
    while rest:
        square = lsb(rest)
        rest &= rest - U1
        reached = find_slides(T, S.board[square] & TYPE_MASK, square, occupied)
        quiet = reached & ~occupied & mask
        if pinned & bit(square):
            quiet &= S.pin_mask[square]
        ends = quiet & S.tiles
        holes = quiet & ~S.tiles
        if holes:
            ends |= holes & find_landings(S, T, square)
        if checkers == U0:
            ends |= reached & own & ~queen
        ends |= find_exchanges(S, T, square, reached, checkers)
        count = emit_ends(S, count, square, ends)
    return count


_module = sys.modules[__name__]
generate_moves = bind(_module, "caissa.list", {}).gather_moves
count_moves = bind(_module, "caissa.count", {"emit_ends": count_ends}).gather_moves


@kernel
def in_check(S: Any, T: Any) -> Any:
    """Return whether the queen of the side to move is attacked."""
    return is_queen_attacked(S, T, S.side)
