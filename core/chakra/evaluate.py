"""Static score of a Chakra position: a weighted sum of features, and what moves win at once."""

from typing import Any

import numpy as np

from core.bits import U0, U1, U6, U8, U63, bit, is_single, lsb, popcount
from core.board import TYPE_MASK
from core.chakra.attacks import (
    bishop_slides,
    find_bishops,
    find_jumpers,
    find_king_neighbours,
    find_pawn_attacks,
    find_rooks,
    find_steppers,
    line_slides,
    rook_slides,
)
from core.chakra.layout import COURTESAN, KING, PAWN, PROMOTION_SHIFT, RANK_1
from core.chakra.weights import (
    CHAKRA_SHIELD,
    COURTESAN_LINES,
    FEATURE_COUNT,
    HANGING,
    KING_ASSAULT,
    KING_ATTACK,
    KING_SHIELD,
    KING_STEPS,
    MOBILITY,
    PAWN_ADVANCE,
    PAWN_ATTACKED,
    PAWN_CHAIN,
    PAWN_THREAT,
    PORTAL_AT_KING,
    PORTAL_DEPTH,
    PORTAL_OPEN,
    TEMPO,
    TRANSMITTER,
)
from core.jit import kernel

# Centipawns by piece type, from K to P; the first place is an empty square. For ordering captures.
PIECE_VALUES = np.array([0, 0, 950, 700, 600, 320, 400, 100], dtype=np.int64)
TRANSMITTER_VALUE = 100
# Centipawns: without pawns, a side wins only with a lead as great as this; smaller ones shrink.
PAWNLESS_LEAD = 800
CHECK_PLIES = np.uint64(1)


@kernel
def evaluate(S: Any, T: Any) -> Any:
    """Return the static score in centipawns, for the side to move."""
    find_features(S, T)
    score = np.int64(0)
    for place in range(FEATURE_COUNT):
        score += S.features[place] * T.weights[place]
    leader = S.side if score > 0 else S.side ^ U1
    if S.by_type[PAWN] & S.by_side[leader] == U0:
        lead = abs(score)
        if lead < PAWNLESS_LEAD:
            lead = lead * lead // (2 * PAWNLESS_LEAD)
        else:
            lead -= PAWNLESS_LEAD // 2
        score = lead if score > 0 else -lead
    return score


@kernel
def find_features(S: Any, T: Any) -> Any:
    """Write into `S.features` how much more of each feature the side to move has."""
    for place in range(FEATURE_COUNT):
        S.features[place] = 0
    S.features[TEMPO] = 1
    S.attacks[0] = find_pawn_attacks(S, U0)
    S.attacks[1] = find_pawn_attacks(S, U1)
    pawn_attacks_0 = S.attacks[0]
    pawn_attacks_1 = S.attacks[1]
    add_pieces(S, T, S.side, np.int64(1))
    add_pieces(S, T, S.side ^ U1, np.int64(-1))
    add_others(S, T, U0, pawn_attacks_0, pawn_attacks_1)
    add_others(S, T, U1, pawn_attacks_1, pawn_attacks_0)


@kernel
def add_pieces(S: Any, T: Any, side: Any, sign: Any) -> None:
    """Add a side's men, their mobility and their attacks; put these into `S.attacks`."""
    own = S.by_side[side]
    enemy = S.by_side[side ^ U1]
    occupied = own | enemy
    blockers = occupied | S.chakras[side ^ U1]
    king_bit = S.by_type[KING] & own
    king = lsb(king_bit)
    enemy_king = S.by_type[KING] & enemy
    zone = find_king_neighbours(enemy_king) | enemy_king
    rooks = find_rooks(S)
    bishops = find_bishops(S)
    jumpers = find_jumpers(S)
    steppers = find_steppers(S)
    attacks = S.attacks[side] | T.king_steps[king]
    covered = T.king_steps[king]
    assault = np.int64(0)
    rest = own & ~(S.by_type[KING] | S.by_type[PAWN])
    while rest:
        square = lsb(rest)
        piece = bit(square)
        rest &= rest - U1
        piece_type = S.board[square] & TYPE_MASK
        ends = U0
        if rooks & piece:
            ends |= rook_slides(T, square, blockers)
        if bishops & piece:
            ends |= bishop_slides(T, square, blockers)
        if jumpers & piece:
            ends |= T.knight_steps[square]
        if steppers & piece:
            ends |= T.king_steps[square]
            line = T.line[square, king]
            if piece_type == COURTESAN and line and T.between[square, king] & occupied == U0:
                ends |= line_slides(T, square, line, blockers)
                S.features[COURTESAN_LINES] += sign
        attacks |= ends
        covered |= ends
        S.features[piece_type] += sign
        S.features[np.uint64(MOBILITY) + piece_type] += sign * np.int64(popcount(ends & ~own))
        assault += np.int64(popcount(ends & zone))
    S.features[KING_ATTACK] += sign * assault
    S.features[KING_ASSAULT] += sign * assault * assault
    pawns = S.by_type[PAWN] & own
    S.features[PAWN] += sign * np.int64(popcount(pawns))
    S.features[KING_SHIELD] += sign * np.int64(popcount(T.king_steps[king] & own))
    add_pawns(S, side, pawns, sign)
    add_chakras(S, T, side, covered, zone, sign)
    S.attacks[side] = attacks


@kernel
def add_pawns(S: Any, side: Any, pawns: Any, sign: Any) -> None:
    """Add how far pawns have gone, and those that may soon promote."""
    for rank in range(1, 7):
        row = RANK_1 << np.uint64(8 * rank)
        gone = np.int64(rank - 1 if side == U0 else 6 - rank)
        S.features[PAWN_ADVANCE] += sign * gone * gone * np.int64(popcount(pawns & row))
    near = RANK_1 << np.uint64(40 if side == U0 else 8)
    near |= near << U8
    if pawns & near:
        own = S.by_side[side]
        lost = np.int64(0)
        for piece_type in range(2, 7):
            setup = 1 if piece_type < 5 else 2
            if popcount(S.by_type[piece_type] & own) < np.uint64(setup):
                lost = np.int64(1)
        S.features[PAWN_THREAT] += sign * lost * np.int64(popcount(pawns & near))


@kernel
def add_chakras(S: Any, T: Any, side: Any, covered: Any, zone: Any, sign: Any) -> None:
    """Add the transmitter: a portal that is open, where it leads, chakras that shield the king."""
    pair = S.chakras[side]
    if pair == U0:
        return
    S.features[TRANSMITTER] += sign
    own = S.by_side[side]
    vacant = pair & ~(own | S.by_side[side ^ U1])
    king = S.by_type[KING] & own
    S.features[CHAKRA_SHIELD] += sign * np.int64(popcount(vacant & find_king_neighbours(king)))
    entries = vacant & covered
    if is_single(entries):
        far = pair ^ entries
        if far & own == U0:
            S.features[PORTAL_OPEN] += sign
            if far & zone:
                S.features[PORTAL_AT_KING] += sign
            depth = np.int64(lsb(far) >> np.uint64(3)) - np.int64(lsb(entries) >> np.uint64(3))
            S.features[PORTAL_DEPTH] += sign * (depth if side == U0 else -depth)


@kernel
def add_others(S: Any, T: Any, side: Any, pawn_attacks: Any, enemy_pawn_attacks: Any) -> None:
    """Add what depends on the attacks of both sides."""
    sign = np.int64(1 if side == S.side else -1)
    own = S.by_side[side]
    king = lsb(S.by_type[KING] & own)
    threatened = S.attacks[side ^ U1]
    steps = T.king_steps[king] & ~own & ~threatened
    S.features[KING_STEPS] += sign * np.int64(popcount(steps))
    pieces = own & ~(S.by_type[KING] | S.by_type[PAWN])
    S.features[PAWN_ATTACKED] += sign * np.int64(popcount(pieces & enemy_pawn_attacks))
    S.features[PAWN_CHAIN] += sign * np.int64(popcount(own & S.by_type[PAWN] & pawn_attacks))
    hanging = pieces & threatened & ~S.attacks[side]
    S.features[HANGING] += sign * np.int64(popcount(hanging))


@kernel
def find_gain(S: Any, move: Any) -> Any:
    """Return the value in centipawns that a move wins at once by capture and promotion, 0: quiet.

    A capture of the transmitter counts as well.
    """
    origin = move & U63
    end = (move >> U6) & U63
    piece = U0 + S.board[origin]
    if piece == U0 or origin == end:
        return np.int64(0)
    gain = PIECE_VALUES[S.board[end] & TYPE_MASK]
    promotion = (move >> PROMOTION_SHIFT) & TYPE_MASK
    if promotion:
        gain += PIECE_VALUES[promotion] - PIECE_VALUES[PAWN]
    if piece & TYPE_MASK == KING and S.chakras[S.side ^ U1] >> end & U1 and S.board[end] == 0:
        gain += TRANSMITTER_VALUE
    return gain


@kernel
def find_mover(S: Any, move: Any) -> Any:
    """Return the value of the piece that moves, in centipawns; a king's and a chakra's is 0."""
    return PIECE_VALUES[S.board[move & U63] & TYPE_MASK]


@kernel
def may_prune(S: Any) -> Any:
    """Return whether the side to move has a piece besides king and pawns."""
    return S.by_side[S.side] & ~(S.by_type[KING] | S.by_type[PAWN]) != U0


# Without a piece there is zugzwang.
may_pass = may_prune
