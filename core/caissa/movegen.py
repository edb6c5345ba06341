"""Legal moves of Caissa, listed or only counted, by one and the same text."""

import sys
from typing import Any

from core import board
from core.bind import bind, generic
from core.bits import ALL, U0, U1, U6, U63, bit, is_single, lsb, popcount
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


@kernel
def find_partners(S: Any, T: Any, piece: Any, files: Any, diagonals: Any, checkers: Any) -> Any:
    """Return the pieces with which `piece` may exchange places, wherever they stand, ko left aside.

    An enemy then stands where it stood, with every line as before: he must not attack the queen
    from there (along her `files` and `diagonals`, or as a knight), and none but him may be giving
    check now. With a friend, all enemy attacks are as before.
    """
    own = S.by_side[S.side]
    enemy = S.by_side[S.side ^ U1]
    partners = (own | enemy) & ~S.by_type[QUEEN]
    if checkers:
        partners = checkers if is_single(checkers) else U0
    closed = U0
    if files & piece:
        closed = S.by_type[ROOK]
    if diagonals & piece:
        closed = S.by_type[BISHOP]
    if T.knight_steps[lsb(piece)] & S.by_type[QUEEN] & own:
        closed = S.by_type[KNIGHT]
    return partners & ~(closed & enemy)


@kernel
def find_pin_mask(S: Any, piece: Any, pinned: Any) -> Any:
    """Return the squares where a piece may end by its pin: all, if it has none."""
    return S.pin_mask[lsb(piece)] if pinned & piece else ALL


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


# `bind` sets this to True for what quiescence tries, out of check: captures by the queen, and
# checks by the piece that moves.
IS_FORCING = False


@generic
def gather_moves(S: Any, T: Any) -> Any:
    """Gather all legal moves.

    A side has at most one piece of a type, so each type is looked at once, without a loop; an
    absent one reaches nothing.
    """
    checkers, mask, pinned = find_constraints(S, T)
    own = S.by_side[S.side]
    enemy = S.by_side[S.side ^ U1]
    occupied = own | enemy
    queen = lsb(S.by_type[QUEEN] & own)
    files = rook_slides(T, queen, occupied)
    diagonals = bishop_slides(T, queen, occupied)
    rook_mask = knight_mask = bishop_mask = queen_mask = ALL
    if IS_FORCING:
        target = lsb(S.by_type[QUEEN] & enemy)
        rook_mask = rook_slides(T, target, occupied)
        knight_mask = T.knight_steps[target]
        bishop_mask = bishop_slides(T, target, occupied)
        queen_mask = enemy
    count = gather_queen(S, T, U0, (files | diagonals) & queen_mask, checkers)
    quiet = mask & ~occupied
    rook, knight, bishop = S.by_type[ROOK] & own, S.by_type[KNIGHT] & own, S.by_type[BISHOP] & own
    rook_ends = knight_ends = bishop_ends = U0
    if rook:
        reached = rook_slides(T, lsb(rook), occupied) & rook_mask
        rook_ends = reached & (quiet | find_partners(S, T, rook, files, diagonals, checkers))
    if knight:
        reached = T.knight_steps[lsb(knight)] & knight_mask
        knight_ends = reached & (quiet | find_partners(S, T, knight, files, diagonals, checkers))
    if bishop:
        reached = bishop_slides(T, lsb(bishop), occupied) & bishop_mask
        bishop_ends = reached & (quiet | find_partners(S, T, bishop, files, diagonals, checkers))
    if pinned:
        rook_ends &= occupied | find_pin_mask(S, rook, pinned)
        knight_ends &= occupied | find_pin_mask(S, knight, pinned)
        bishop_ends &= occupied | find_pin_mask(S, bishop, pinned)
    if (rook_ends | knight_ends | bishop_ends) & ~S.tiles:
        rook_ends &= S.tiles | find_landings(S, T, rook)
        knight_ends &= S.tiles | find_landings(S, T, knight)
        bishop_ends &= S.tiles | find_landings(S, T, bishop)
    if S.ko:
        origin, end = bit(S.ko & U63), bit((S.ko >> U6) & U63)
        rook_ends &= ~(end if rook == origin else U0)
        knight_ends &= ~(end if knight == origin else U0)
        bishop_ends &= ~(end if bishop == origin else U0)
    count = emit_ends(S, count, lsb(rook), rook_ends)
    count = emit_ends(S, count, lsb(knight), knight_ends)
    return emit_ends(S, count, lsb(bishop), bishop_ends)


@generic
def gather_captures(S: Any, T: Any) -> Any:
    """Gather the captures of the queen, which is not in check: nothing else captures."""
    enemy = S.by_side[S.side ^ U1]
    occupied = S.by_side[S.side] | enemy
    square = lsb(S.by_type[QUEEN] & S.by_side[S.side])
    slides = rook_slides(T, square, occupied) | bishop_slides(T, square, occupied)
    return gather_queen(S, T, U0, slides & enemy, U0)


_module = sys.modules[__name__]
_listing = bind(_module, "caissa.list", {})
generate_moves = _listing.gather_moves
generate_captures = _listing.gather_captures
generate_forcing = bind(_module, "caissa.forcing", {"IS_FORCING": True}).gather_moves
count_moves = bind(_module, "caissa.count", {"emit_ends": count_ends}).gather_moves


@kernel
def in_check(S: Any, T: Any) -> Any:
    """Return whether the queen of the side to move is attacked."""
    return is_queen_attacked(S, T, S.side)
