"""Legal moves of Chakra, listed or only counted, by one and the same text.

The way to a piece's end squares: where it formally moves (pseudo-legal), what the transmitter
adds and takes, what pins and checks leave. A king that stands on an enemy chakra may be attacked
through the transmitter, which nearly any move can open or shut: there, and only there, each
move is made and judged afterwards.
"""

import sys
from typing import Any

from core import board
from core.bind import bind, generic
from core.bits import ALL, U0, U1, U6, U7, U8, U63, bit, is_single, lsb, popcount
from core.chakra.attacks import (
    bishop_slides,
    find_constraints,
    find_danger,
    is_attacked_at,
    is_covered,
    is_king_attacked,
    line_slides,
    rook_slides,
)
from core.chakra.layout import (
    APE,
    COURTESAN,
    FILE_A,
    FILE_H,
    FLIP_BIT,
    KING,
    MONK,
    PAWN,
    PROMOTION_SHIFT,
    QUEEN,
    RANK_1,
    RANK_3,
    RANK_6,
    RANK_8,
    SAMURAI,
)
from core.chakra.moves import make_unkeyed, unmake_unkeyed
from core.jit import kernel

_U9 = U8 + U1
_U16 = U8 + U8
_U64 = U63 + U1

list_ends = bind(board, "chakra.gather", {}).list_ends


@kernel
def transmit(ends: Any, vacant: Any, pair: Any, others: Any, compulsory: Any) -> Any:
    """Return the end squares of one piece after the transmitter has worked on its formal ones.

    `vacant`: the side's vacant chakras, `others`: its other pieces. Both chakras reached: each is
    reached by way of the other too, and nothing changes.
    """
    near = ends & vacant
    if near == U0:
        return ends
    far = (pair ^ near) & ~others
    if far:
        ends &= ~(near & compulsory)
    return ends | far


@kernel
def count_ends(S: Any, count: Any, square: Any, ends: Any) -> Any:
    """Return the count that `list_ends` would."""
    return count + popcount(ends)


@kernel
def list_steps(S: Any, count: Any, back: Any, ends: Any) -> Any:
    """Write the moves of many pawns, each from `back` squares (modulo 64) away from its end."""
    while ends:
        end = lsb(ends)
        S.moves[S.ply, count] = ((end + back) & U63) | (end << U6)
        count += U1
        ends &= ends - U1
    return count


@kernel
def list_chakra_ends(S: Any, count: Any, square: Any, ends: Any) -> Any:
    """Write a chakra's moves, each without and with a flip."""
    while ends:
        move = square | (lsb(ends) << U6)
        S.moves[S.ply, count] = move
        S.moves[S.ply, count + U1] = move | FLIP_BIT
        count += U1 + U1
        ends &= ends - U1
    return count


@kernel
def count_chakra_ends(S: Any, count: Any, square: Any, ends: Any) -> Any:
    """Return the count that `list_chakra_ends` would."""
    return count + (popcount(ends) << U1)


@kernel
def list_flip(S: Any, count: Any, square: Any) -> Any:
    """Write the flip of a chakra in place."""
    S.moves[S.ply, count] = square | (square << U6) | FLIP_BIT
    return count + U1


@kernel
def count_flip(S: Any, count: Any, square: Any) -> Any:
    """Return the count that `list_flip` would."""
    return count + U1


@kernel
def is_lost(S: Any, piece_type: Any, setup_count: Any) -> Any:
    """Return 1 if the side to move has fewer of a type than in the set-up, else 0."""
    return U1 if popcount(S.by_type[piece_type] & S.by_side[S.side]) < setup_count else U0


@kernel
def list_promotions(S: Any, count: Any, back: Any, ends: Any) -> Any:
    """Write each promotion to a lost type, the pawn coming from `back` squares away (modulo 64)."""
    while ends:
        end = lsb(ends)
        ends &= ends - U1
        move = ((end + back) & U63) | (end << U6)
        for piece_type in (QUEEN, SAMURAI, MONK, APE, COURTESAN):
            setup_count = U1 if piece_type < APE else U1 + U1
            if is_lost(S, piece_type, setup_count):
                S.moves[S.ply, count] = move | (piece_type << PROMOTION_SHIFT)
                count += U1
    return count


@kernel
def count_promotions(S: Any, count: Any, back: Any, ends: Any) -> Any:
    """Return the count that `list_promotions` would."""
    if ends == U0:
        return count
    lost = is_lost(S, QUEEN, U1) + is_lost(S, SAMURAI, U1) + is_lost(S, MONK, U1)
    lost += is_lost(S, APE, U1 + U1) + is_lost(S, COURTESAN, U1 + U1)
    return count + popcount(ends) * lost


# What a generic function below does with moves, until `bind` says otherwise.
emit_ends = list_ends
emit_steps = list_steps
emit_promotions = list_promotions
emit_chakra_ends = list_chakra_ends
emit_flip = list_flip


@generic
def gather_king(S: Any, T: Any) -> Any:
    """Gather the king's moves, the first of all; return their number."""
    own = S.by_side[S.side]
    enemy = S.by_side[S.side ^ U1]
    king = S.by_type[KING] & own
    square = lsb(king)
    occupied = own | enemy
    pair = S.chakras[S.side]
    ends = T.king_steps[square] & ~own
    ends = transmit(ends, pair & ~occupied, pair, own & ~king, S.compulsory)
    if ends == U0:
        return U0
    if is_single(ends):
        # Cheaper than the whole map, and common while he is at home.
        if is_attacked_at(S, T, S.side ^ U1, lsb(ends), (occupied & ~king) | ends):
            return U0
    else:
        ends &= ~find_danger(S, T, S.side)
    enemy_pair = S.chakras[S.side ^ U1]
    if ends & enemy_pair:
        # The guard: with his own king on one chakra, the other is closed.
        if S.guard & enemy_pair & S.by_type[KING] & enemy:
            ends &= ~enemy_pair
        # On an occupied enemy chakra he may be attacked through the other one, if it is vacant
        # then; on a vacant one he captures the transmitter, and nothing comes through it.
        held = ends & enemy_pair & enemy
        far = enemy_pair & ~held & ~(occupied & ~king)
        if held and far and is_covered(S, T, S.side ^ U1, lsb(far), occupied & ~king, held):
            ends &= ~held
    return emit_ends(S, U0, square, ends)


@generic
def gather_pawns(S: Any, T: Any, count: Any, piece_mask: Any, pinned: Any) -> Any:
    """Gather the moves of all pawns: together where nothing special holds, else one by one."""
    side = S.side
    own = S.by_side[side]
    enemy = S.by_side[side ^ U1]
    occupied = own | enemy
    pair = S.chakras[side]
    vacant = pair & ~occupied
    stops = occupied | S.chakras[side ^ U1]
    pawns = S.by_type[PAWN] & own
    last = RANK_8 | RANK_1
    if side == U0:
        special = pawns & (pinned | (vacant >> U8) | (vacant >> _U16))
        plain = pawns & ~special
        single = (plain << U8) & ~occupied
        double = ((single & RANK_3 & ~stops & S.double_step) << U8) & ~occupied & piece_mask
        single &= piece_mask
        west = ((plain & ~FILE_A) << U7) & enemy & piece_mask
        east = ((plain & ~FILE_H) << _U9) & enemy & piece_mask
        back, back_west, back_east = _U64 - U8, _U64 - U7, _U64 - _U9
        back_double = _U64 - _U16
    else:
        special = pawns & (pinned | (vacant << U8) | (vacant << _U16))
        plain = pawns & ~special
        single = (plain >> U8) & ~occupied
        double = ((single & RANK_6 & ~stops & S.double_step) >> U8) & ~occupied & piece_mask
        single &= piece_mask
        west = ((plain & ~FILE_A) >> _U9) & enemy & piece_mask
        east = ((plain & ~FILE_H) >> U7) & enemy & piece_mask
        back, back_west, back_east = U8, _U9, U7
        back_double = _U16
    count = emit_steps(S, count, back, single & ~last)
    count = emit_steps(S, count, back_double, double)
    count = emit_steps(S, count, back_west, west & ~last)
    count = emit_steps(S, count, back_east, east & ~last)
    if (single | west | east) & last:
        count = emit_promotions(S, count, back, single & last)
        count = emit_promotions(S, count, back_west, west & last)
        count = emit_promotions(S, count, back_east, east & last)
    while special:
        square = lsb(special)
        pawn = bit(square)
        special &= special - U1
        if side == U0:
            steps = (pawn << U8) & ~occupied
            steps |= ((steps & RANK_3 & ~stops & S.double_step) << U8) & ~occupied
        else:
            steps = (pawn >> U8) & ~occupied
            steps |= ((steps & RANK_6 & ~stops & S.double_step) >> U8) & ~occupied
        ends = transmit(steps, vacant, pair, own & ~pawn, S.compulsory)
        ends |= T.pawn_captures[side, square] & enemy
        ends &= piece_mask
        if pinned & pawn:
            ends &= S.pin_mask[square]
        # Through the transmitter he may end on his own first rank, where he stays a pawn.
        promoting = ends & (RANK_8 if side == U0 else RANK_1)
        count = emit_ends(S, count, square, ends & ~promoting)
        while promoting:
            end = lsb(promoting)
            promoting &= promoting - U1
            count = emit_promotions(S, count, (square - end) & U63, bit(end))
    return count


@generic
def gather_piece(
    S: Any, count: Any, square: Any, reached: Any, vacant: Any, piece_mask: Any, pinned: Any
) -> Any:
    """Gather the moves of a piece, no king and no pawn, from the squares that it reaches."""
    own = S.by_side[S.side]
    piece = bit(square)
    pair = S.chakras[S.side]
    ends = transmit(reached & ~own, vacant, pair, own & ~piece, S.compulsory) & piece_mask
    if pinned & piece:
        ends &= S.pin_mask[square]
    return emit_ends(S, count, square, ends)


@generic
def gather_pieces(S: Any, T: Any, count: Any, piece_mask: Any, pinned: Any) -> Any:
    """Gather the moves of queen, samurai, monk, apes and courtesans, type by type."""
    own = S.by_side[S.side]
    occupied = own | S.by_side[S.side ^ U1]
    blockers = occupied | S.chakras[S.side ^ U1]
    vacant = S.chakras[S.side] & ~occupied
    rest = S.by_type[QUEEN] & own
    while rest:
        square = lsb(rest)
        rest &= rest - U1
        reached = rook_slides(T, square, blockers) | bishop_slides(T, square, blockers)
        count = gather_piece(S, count, square, reached, vacant, piece_mask, pinned)
    rest = S.by_type[SAMURAI] & own
    while rest:
        square = lsb(rest)
        rest &= rest - U1
        if S.samurai_jumps:
            reached = T.king_steps[square] | T.knight_steps[square]
        else:
            reached = T.king_steps[square] | rook_slides(T, square, blockers)
        count = gather_piece(S, count, square, reached, vacant, piece_mask, pinned)
    rest = S.by_type[MONK] & own
    while rest:
        square = lsb(rest)
        rest &= rest - U1
        reached = T.king_steps[square] | bishop_slides(T, square, blockers)
        count = gather_piece(S, count, square, reached, vacant, piece_mask, pinned)
    rest = S.by_type[APE] & own
    while rest:
        square = lsb(rest)
        rest &= rest - U1
        reached = T.knight_steps[square]
        count = gather_piece(S, count, square, reached, vacant, piece_mask, pinned)
    king = lsb(S.by_type[KING] & own)
    rest = S.by_type[COURTESAN] & own
    while rest:
        square = lsb(rest)
        rest &= rest - U1
        reached = T.king_steps[square]
        line = T.line[square, king]
        if line and T.between[square, king] & occupied == U0:
            reached |= line_slides(T, square, line, blockers)
        count = gather_piece(S, count, square, reached, vacant, piece_mask, pinned)
    return count


@generic
def gather_chakras(S: Any, T: Any, count: Any, chakra_mask: Any, pinned: Any, checkers: Any) -> Any:
    """Gather the moves of the vacant chakras of the side to move, and flips when not in check."""
    occupied = S.by_side[0] | S.by_side[1]
    free = chakra_mask & ~(occupied | S.chakras[0] | S.chakras[1])
    rest = S.chakras[S.side] & ~occupied
    while rest:
        square = lsb(rest)
        chakra = bit(square)
        rest &= rest - U1
        ends = T.king_steps[square] if S.king_mode & chakra else T.knight_steps[square]
        ends &= free
        if pinned & chakra:
            ends &= S.pin_mask[square]
        count = emit_chakra_ends(S, count, square, ends)
        if checkers == U0:
            count = emit_flip(S, count, square)
    return count


@generic
def gather_moves(S: Any, T: Any) -> Any:
    """Gather all legal moves of a side whose king stands on no enemy chakra."""
    checkers, piece_mask, chakra_mask, pinned = find_constraints(S, T)
    count = gather_king(S, T)
    if piece_mask:
        count = gather_pieces(S, T, count, piece_mask, pinned)
        count = gather_pawns(S, T, count, piece_mask, pinned)
        count = gather_chakras(S, T, count, chakra_mask, pinned, checkers)
    return count


@generic
def gather_captures(S: Any, T: Any) -> Any:
    """Gather the captures and promotions of a side not in check, its king on no enemy chakra.

    The king's other moves, and those to chakras through which he may capture, are among them.
    """
    _, _, _, pinned = find_constraints(S, T)
    enemy = S.by_side[S.side ^ U1]
    count = gather_king(S, T)
    count = gather_pieces(S, T, count, enemy, pinned)
    return gather_pawns(S, T, count, enemy | RANK_1 | RANK_8, pinned)


@generic
def gather_pseudo_legal(S: Any, T: Any) -> Any:
    """Gather all moves, of which those that leave the king attacked are not legal."""
    count = gather_king(S, T)
    count = gather_pieces(S, T, count, ALL, U0)
    count = gather_pawns(S, T, count, ALL, U0)
    return gather_chakras(S, T, count, ALL, U0, U0)


_module = sys.modules[__name__]
_listing = bind(_module, "chakra.list", {})
_counting = bind(
    _module,
    "chakra.count",
    {
        "emit_ends": count_ends,
        "emit_steps": count_ends,
        "emit_promotions": count_promotions,
        "emit_chakra_ends": count_chakra_ends,
        "emit_flip": count_flip,
    },
)
gather_listing = _listing.gather_moves
gather_listing_captures = _listing.gather_captures
gather_listing_pseudo_legal = _listing.gather_pseudo_legal
gather_counting = _counting.gather_moves


@kernel
def is_king_on_enemy_chakra(S: Any) -> Any:
    """Return whether the king of the side to move stands on a chakra of the other side."""
    return S.by_type[KING] & S.by_side[S.side] & S.chakras[S.side ^ U1] != U0


@kernel
def generate_by_making(S: Any, T: Any) -> Any:
    """Write the legal moves, each made and judged on the board after it; return their number."""
    ply = S.ply
    side = S.side
    listed = gather_listing_pseudo_legal(S, T)
    count = U0
    for index in range(listed):
        move = S.moves[ply, index]
        make_unkeyed(S, T, move)
        if not is_king_attacked(S, T, side):
            S.moves[ply, count] = move
            count += U1
        unmake_unkeyed(S, T)
    return count


@kernel
def generate_moves(S: Any, T: Any) -> Any:
    """Write the legal moves into `S.moves[S.ply]` and return their number."""
    if is_king_on_enemy_chakra(S):
        return generate_by_making(S, T)
    return gather_listing(S, T)


@kernel
def generate_captures(S: Any, T: Any) -> Any:
    """Write captures and promotions, and maybe others, into `S.moves[S.ply]`."""
    if is_king_on_enemy_chakra(S):
        return generate_by_making(S, T)
    return gather_listing_captures(S, T)


@kernel
def generate_forcing(S: Any, T: Any) -> Any:
    """Write what `generate_captures` does: checks were not found to be worth their time."""
    return generate_captures(S, T)


@kernel
def count_moves(S: Any, T: Any) -> Any:
    """Return the number of legal moves."""
    if is_king_on_enemy_chakra(S):
        return generate_by_making(S, T)
    return gather_counting(S, T)


@kernel
def in_check(S: Any, T: Any) -> Any:
    """Return whether the king of the side to move is attacked."""
    return is_king_attacked(S, T, S.side)
