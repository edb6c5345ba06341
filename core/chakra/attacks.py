"""Who attacks and who covers what in Chakra: lines, the transmitter, checks, pins and danger.

`occupied` is every piece, `blockers` what stops a side's lines: pieces and the vacant chakras of
its opponent. The side's own vacant chakras stop nothing, and eye-contact of courtesan and king is
stopped by pieces alone.
"""

from typing import Any

from core import geometry
from core.bind import bind
from core.bits import ALL, U0, U1, U7, U8, bit, is_single, lsb
from core.chakra.layout import (
    APE,
    COURTESAN,
    FILE_A,
    FILE_H,
    KING,
    MONK,
    PAWN,
    QUEEN,
    RANK_3,
    RANK_6,
    SAMURAI,
)
from core.jit import kernel

_U9 = U8 + U1

rook_slides, bishop_slides = geometry.choose_sliders(bind(geometry, "chakra", {}))


@kernel
def find_jumpers(S: Any) -> Any:
    """Return the pieces of both sides that move like a knight: apes, and samurai by the flag."""
    return S.by_type[APE] | (S.by_type[SAMURAI] & S.samurai_jumps)


@kernel
def find_rooks(S: Any) -> Any:
    """Return the pieces of both sides that slide along ranks and files."""
    return S.by_type[QUEEN] | (S.by_type[SAMURAI] & ~S.samurai_jumps)


@kernel
def find_bishops(S: Any) -> Any:
    """Return the pieces of both sides that slide along diagonals."""
    return S.by_type[QUEEN] | S.by_type[MONK]


@kernel
def find_steppers(S: Any) -> Any:
    """Return the pieces of both sides, kings aside, that step like a king."""
    return S.by_type[SAMURAI] | S.by_type[MONK] | S.by_type[COURTESAN]


@kernel
def line_slides(T: Any, square: Any, line: Any, blockers: Any) -> Any:
    """Return the slides both ways from `square` along one of its lines."""
    return (rook_slides(T, square, blockers) | bishop_slides(T, square, blockers)) & line


@kernel
def find_line_courtesans(
    S: Any, T: Any, side: Any, square: Any, occupied: Any, blockers: Any
) -> Any:
    """Return the courtesans of `side` that see their king and reach `square` along that line."""
    king = lsb(S.by_type[KING] & S.by_side[side])
    found = U0
    rest = S.by_type[COURTESAN] & S.by_side[side]
    while rest:
        courtesan = lsb(rest)
        rest &= rest - U1
        on_line = T.line[courtesan, king] & bit(square)
        if (
            on_line
            and T.between[courtesan, king] & occupied == U0
            and T.between[courtesan, square] & blockers == U0
        ):
            found |= bit(courtesan)
    return found


@kernel
def find_piece_attackers(
    S: Any, T: Any, side: Any, square: Any, occupied: Any, blockers: Any
) -> Any:
    """Return the pieces of `side`, pawns aside, with a pseudo-legal move to `square`.

    Lines are followed backwards from the square, which is the same, as only what lies strictly
    between stops them. The king among them, if `square` is not his own.
    """
    here = S.by_side[side]
    found = T.knight_steps[square] & find_jumpers(S)
    found |= T.king_steps[square] & (find_steppers(S) | S.by_type[KING])
    rooks = find_rooks(S) & T.rook_rays[square] & here
    if rooks:
        found |= rook_slides(T, square, blockers) & rooks
    bishops = find_bishops(S) & T.bishop_rays[square] & here
    if bishops:
        found |= bishop_slides(T, square, blockers) & bishops
    found &= here
    return found | find_line_courtesans(S, T, side, square, occupied, blockers)


@kernel
def find_pawn_coverers(S: Any, side: Any, square: Any, blockers: Any) -> Any:
    """Return the pawns of `side` that step straight onto `square`, which holds no piece.

    The square passed over in a double step must hold no piece and no vacant enemy chakra.
    """
    pawns = S.by_type[PAWN] & S.by_side[side]
    target = bit(square)
    if side == U0:
        single = target >> U8
        double = (single & RANK_3 & ~blockers) >> U8
    else:
        single = target << U8
        double = (single & RANK_6 & ~blockers) << U8
    return pawns & (single | (double & S.double_step))


@kernel
def is_covered(S: Any, T: Any, side: Any, square: Any, occupied: Any, captured: Any) -> Any:
    """Return whether a piece of `side` formally moves onto the vacant `square`.

    `occupied` may differ from the board by a king's move, and `captured` is then the enemy piece
    that he took: it covers nothing any more.
    """
    blockers = occupied | S.chakras[side ^ U1]
    found = find_piece_attackers(S, T, side, square, occupied, blockers)
    found |= find_pawn_coverers(S, side, square, blockers)
    return found & ~captured != U0


@kernel
def is_attacked_at(S: Any, T: Any, side: Any, square: Any, occupied: Any) -> Any:
    """Return whether a piece of `side` attacks an enemy on `square` directly.

    `occupied` holds the square, and may differ from the board by a king's move.
    """
    if T.pawn_captures[side ^ U1, square] & S.by_type[PAWN] & S.by_side[side]:
        return True
    blockers = occupied | S.chakras[side ^ U1]
    return find_piece_attackers(S, T, side, square, occupied, blockers) != U0


@kernel
def is_king_attacked(S: Any, T: Any, side: Any) -> Any:
    """Return whether the king of `side` is in check, through the transmitter included."""
    other = side ^ U1
    occupied = S.by_side[0] | S.by_side[1]
    king = S.by_type[KING] & S.by_side[side]
    if is_attacked_at(S, T, other, lsb(king), occupied):
        return True
    # On a chakra of the opponent: also by all that covers the other one, while it is vacant.
    pair = S.chakras[other]
    far = pair & ~king & ~occupied
    if pair & king and far:
        return is_covered(S, T, other, lsb(far), occupied, U0)
    return False


@kernel
def find_king_neighbours(pieces: Any) -> Any:
    """Return every square a king's step from one of `pieces`."""
    beside = ((pieces & ~FILE_H) << U1) | ((pieces & ~FILE_A) >> U1)
    row = pieces | beside
    return beside | (row << U8) | (row >> U8)


@kernel
def find_pawn_attacks(S: Any, side: Any) -> Any:
    """Return the squares on which the pawns of a side capture."""
    pawns = S.by_type[PAWN] & S.by_side[side]
    if side == U0:
        return ((pawns & ~FILE_A) << U7) | ((pawns & ~FILE_H) << _U9)
    return ((pawns & ~FILE_A) >> _U9) | ((pawns & ~FILE_H) >> U7)


@kernel
def find_danger(S: Any, T: Any, side: Any) -> Any:
    """Return the squares where the king of `side`, moving there, would be attacked directly.

    Found with him off the board, as he may not retreat along a line. His own chakra stays where
    he leaves it, and stops lines. A courtesan's line counts on its far side only: on the near
    side he would stand between her and her king and break the eye-contact; with him off the
    board, a line appears that he alone held shut. Attacks through the transmitter are not here.
    """
    other = side ^ U1
    here = S.by_side[other]
    occupied = (S.by_side[0] | S.by_side[1]) & ~(S.by_type[KING] & S.by_side[side])
    blockers = occupied | S.chakras[side]
    danger = find_pawn_attacks(S, other)
    danger |= find_king_neighbours((find_steppers(S) | S.by_type[KING]) & here)
    rest = find_jumpers(S) & here
    while rest:
        danger |= T.knight_steps[lsb(rest)]
        rest &= rest - U1
    rest = find_rooks(S) & here
    while rest:
        danger |= rook_slides(T, lsb(rest), blockers)
        rest &= rest - U1
    rest = find_bishops(S) & here
    while rest:
        danger |= bishop_slides(T, lsb(rest), blockers)
        rest &= rest - U1
    king = lsb(S.by_type[KING] & here)
    rest = S.by_type[COURTESAN] & here & (T.rook_rays[king] | T.bishop_rays[king])
    while rest:
        courtesan = lsb(rest)
        rest &= rest - U1
        near = T.between[courtesan, king]
        if near & occupied == U0:
            line = T.line[courtesan, king] & ~near
            danger |= line_slides(T, courtesan, line, blockers)
    return danger


@kernel
def find_constraints(S: Any, T: Any) -> Any:
    """Write `S.pin_mask`; return checkers, piece mask, chakra mask and pinned squares.

    For a king of the side to move that stands on no enemy chakra. A piece's move is legal when it
    ends inside the piece mask and, if its square is pinned, inside `S.pin_mask` of it; likewise a
    chakra's move with the chakra mask, which holds no captures. Only the end counts, so that
    transmissions need no further test. What discovers a check:

    * a piece leaving a line, unless it stands on its own chakra, which then stops the line;
    * a vacant own chakra leaving a line;
    * a piece leaving the eye-contact of an enemy courtesan and her king (there its chakra would
      not help): it may stay between them, stop her line on its near side, or capture her.
    """
    side = S.side
    other = side ^ U1
    own = S.by_side[side]
    enemy = S.by_side[other]
    occupied = own | enemy
    pair = S.chakras[side]
    blockers = occupied | pair
    square = lsb(S.by_type[KING] & own)
    # Pieces that need no free line; a pawn captures towards the square as one there would.
    checkers = T.knight_steps[square] & find_jumpers(S)
    checkers |= T.king_steps[square] & find_steppers(S)
    checkers |= T.pawn_captures[side, square] & S.by_type[PAWN]
    checkers &= enemy
    piece_mask = checkers
    chakra_mask = U0
    pinned = U0

    snipers = T.rook_rays[square] & find_rooks(S)
    snipers = (snipers | (T.bishop_rays[square] & find_bishops(S))) & enemy
    while snipers:
        sniper = lsb(snipers)
        snipers &= snipers - U1
        between = T.between[square, sniper]
        stops = between & blockers
        if stops == U0:
            checkers |= bit(sniper)
            piece_mask |= between | bit(sniper)
            chakra_mask |= between
        elif is_single(stops):
            if stops & own & ~pair:
                pinned |= stops
                S.pin_mask[lsb(stops)] = between | bit(sniper)
            elif stops & pair & ~occupied:
                pinned |= stops
                S.pin_mask[lsb(stops)] = between

    king = lsb(S.by_type[KING] & enemy)
    courtesans = S.by_type[COURTESAN] & enemy & T.between[square, king]
    courtesans &= ~T.king_steps[square]
    while courtesans:
        courtesan = lsb(courtesans)
        courtesans &= courtesans - U1
        near = T.between[square, courtesan]
        far = T.between[courtesan, king]
        stops = (near & blockers) | (far & occupied)
        if stops == U0:
            checkers |= bit(courtesan)
            piece_mask |= near | far | bit(courtesan)
            chakra_mask |= near
        elif is_single(stops):
            if stops & own & (far | ~pair):
                pinned |= stops
                S.pin_mask[lsb(stops)] = near | far | bit(courtesan)
            elif stops & near & pair & ~occupied:
                pinned |= stops
                S.pin_mask[lsb(stops)] = near

    if checkers == U0:
        return checkers, ALL, ALL, pinned
    if not is_single(checkers):
        return checkers, U0, U0, pinned
    return checkers, piece_mask, chakra_mask, pinned
