"""Legal moves of Caissa, listed or only counted, by one and the same text."""

import sys
from typing import Any

from core import board
from core.bind import bind, generic
from core.bits import U0, U1, U6, U63, bit, is_single, lsb, popcount
from core.caissa.attacks import (
    bishop_slides,
    find_constraints,
    find_danger,
    find_landings,
    is_queen_attacked,
    is_removable,
    rook_slides,
)
from core.caissa.layout import BISHOP, KNIGHT, QUEEN, ROOK
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


@generic
def gather_queen(S: Any, T: Any, count: Any, slides: Any, checkers: Any) -> Any:
    """Gather the queen's moves: her `slides`, in check one step; her tile must be spare."""
    own = S.by_side[S.side]
    square = lsb(S.by_type[QUEEN] & own)
    ends = T.king_steps[square] if checkers else slides
    ends &= S.tiles & ~own
    if ends and is_removable(S, T, square):
        count = emit_ends(S, count, square, ends & ~find_danger(S, T, S.side))
    return count


@generic
def gather_piece(
    S: Any, T: Any, count: Any, square: Any, reached: Any, quiet_mask: Any, swaps: Any
) -> Any:
    """Gather the moves of a rook, knight or bishop, from the squares that it reaches.

    `quiet_mask`: the squares without a piece where it may end, tiled or not, pins left aside;
    `swaps`: the pieces with which it may exchange places, ko left aside.
    """
    quiet = reached & quiet_mask
    ends = (quiet & S.tiles) | (reached & swaps)
    holes = quiet & ~S.tiles
    if holes:
        ends |= holes & find_landings(S, T, square)
    if S.ko != U0 and S.ko & U63 == square:
        ends &= ~bit((S.ko >> U6) & U63)
    return emit_ends(S, count, square, ends)


@generic
def gather_moves(S: Any, T: Any) -> Any:
    """Gather all legal moves.

    After an exchange with an enemy piece that one stands on the square left, with every line as
    before: it must not attack the own queen from there, and no other piece may be giving check.
    After one with a friend all enemy attacks are as before.
    """
    checkers, mask, pinned = find_constraints(S, T)
    own = S.by_side[S.side]
    enemy = S.by_side[S.side ^ U1]
    occupied = own | enemy
    queens = S.by_type[QUEEN]
    queen = lsb(queens & own)
    queen_files = rook_slides(T, queen, occupied)
    queen_diagonals = bishop_slides(T, queen, occupied)
    count = gather_queen(S, T, U0, queen_files | queen_diagonals, checkers)
    quiet_mask = mask & ~occupied
    swaps = (own | enemy) & ~queens
    if checkers:
        swaps = checkers if is_single(checkers) else U0
    rest = own & ~queens
    while rest:
        square = lsb(rest)
        piece = bit(square)
        rest &= rest - U1
        # What would attack the queen from this square.
        closed = U0
        if queen_files & piece:
            closed |= S.by_type[ROOK]
        if queen_diagonals & piece:
            closed |= S.by_type[BISHOP]
        if T.knight_steps[queen] & piece:
            closed |= S.by_type[KNIGHT]
        if S.by_type[ROOK] & piece:
            reached = rook_slides(T, square, occupied)
        elif S.by_type[BISHOP] & piece:
            reached = bishop_slides(T, square, occupied)
        else:
            reached = T.knight_steps[square]
        own_mask = quiet_mask
        if pinned & piece:
            own_mask &= S.pin_mask[square]
        count = gather_piece(S, T, count, square, reached, own_mask, swaps & ~(closed & enemy))
    return count


_module = sys.modules[__name__]
generate_moves = bind(_module, "caissa.list", {}).gather_moves
count_moves = bind(_module, "caissa.count", {"emit_ends": count_ends}).gather_moves


@kernel
def in_check(S: Any, T: Any) -> Any:
    """Return whether the queen of the side to move is attacked."""
    return is_queen_attacked(S, T, S.side)
