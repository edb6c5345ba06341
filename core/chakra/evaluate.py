"""Static score of a Chakra position: material, mobility, king safety."""

from typing import Any

import numpy as np

from core.bits import U0, U1, U6, U63, lsb, popcount
from core.board import TYPE_MASK
from core.chakra.attacks import (
    bishop_slides,
    find_bishops,
    find_jumpers,
    find_king_neighbours,
    find_rooks,
    find_steppers,
    rook_slides,
)
from core.chakra.layout import KING, PAWN, PROMOTION_SHIFT, RANK_1
from core.jit import kernel

# Centipawns by piece type, from K to P; the first place is an empty square. The king's stands for
# his worth as an attacker in ordering captures.
PIECE_VALUES = np.array([0, 0, 950, 700, 600, 320, 400, 100], dtype=np.int64)
# A transmitter on the board, for its two chakras and their portal.
TRANSMITTER_VALUE = 150
# Per square that a piece, pawns and king aside, may end on.
MOBILITY_VALUE = 3
# Per attack by a piece on the enemy king's square and neighbours.
KING_ATTACK_VALUE = 12
# Per rank that a pawn has gone.
ADVANCE_VALUE = 6
_TEMPO_VALUE = 10


@kernel
def evaluate(S: Any, T: Any) -> Any:
    """Return the static score in centipawns, for the side to move."""
    score = evaluate_side(S, T, S.side) - evaluate_side(S, T, S.side ^ U1)
    return score + _TEMPO_VALUE


@kernel
def evaluate_side(S: Any, T: Any, side: Any) -> Any:
    """Return what one side's men are worth, in centipawns."""
    own = S.by_side[side]
    enemy = S.by_side[side ^ U1]
    occupied = own | enemy
    blockers = occupied | S.chakras[side ^ U1]
    enemy_king = S.by_type[KING] & enemy
    zone = find_king_neighbours(enemy_king) | enemy_king
    rooks = find_rooks(S)
    bishops = find_bishops(S)
    jumpers = find_jumpers(S)
    steppers = find_steppers(S)
    score = TRANSMITTER_VALUE if S.chakras[side] else 0
    rest = own & ~(S.by_type[KING] | S.by_type[PAWN])
    while rest:
        square = lsb(rest)
        piece = U1 << square
        rest &= rest - U1
        score += PIECE_VALUES[S.board[square] & TYPE_MASK]
        ends = U0
        if rooks & piece:
            ends |= rook_slides(T, square, blockers)
        if bishops & piece:
            ends |= bishop_slides(T, square, blockers)
        if jumpers & piece:
            ends |= T.knight_steps[square]
        if steppers & piece:
            ends |= T.king_steps[square]
        score += MOBILITY_VALUE * np.int64(popcount(ends & ~own))
        score += KING_ATTACK_VALUE * np.int64(popcount(ends & zone))
    pawns = S.by_type[PAWN] & own
    score += PIECE_VALUES[PAWN] * np.int64(popcount(pawns))
    for rank in range(1, 7):
        row = RANK_1 << np.uint64(8 * rank)
        advance = rank - 1 if side == U0 else 6 - rank
        score += ADVANCE_VALUE * advance * np.int64(popcount(pawns & row))
    return score


@kernel
def find_gain(S: Any, move: Any) -> Any:
    """Return the value in centipawns that a move wins at once by capture and promotion, 0: quiet.

    A capture of the transmitter counts as well.
    """
    origin = move & U63
    end = (move >> U6) & U63
    piece = U0 + S.board[origin]
    if piece == U0 or origin == end:
        return 0
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
