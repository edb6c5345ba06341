"""Static score of a Caissa position: material, mobility, safety of the queens."""

from typing import Any

import numpy as np

from core.bits import U1, U6, U63, lsb, popcount
from core.board import TYPE_MASK
from core.caissa.attacks import bishop_slides, rook_slides
from core.caissa.layout import QUEEN
from core.caissa.movegen import find_slides
from core.jit import kernel

# Centipawns by piece type, Q R N B; the first place is an empty square. A queen is never taken.
PIECE_VALUES = np.array([0, 0, 500, 350, 400, 0, 0, 0], dtype=np.int64)
# Per square that a rook, knight or bishop reaches.
MOBILITY_VALUE = 4
# Per square that the queen may end on, enemy attacks left aside.
QUEEN_MOBILITY_VALUE = 3
# Per tile beside the queen: in check she has one step only.
SHELTER_VALUE = 18
_TEMPO_VALUE = 10


@kernel
def evaluate(S: Any, T: Any) -> Any:
    """Return the static score in centipawns, for the side to move."""
    score = evaluate_side(S, T, S.side) - evaluate_side(S, T, S.side ^ U1)
    return score + _TEMPO_VALUE


@kernel
def evaluate_side(S: Any, T: Any, side: Any) -> Any:
    """Return what one side's pieces are worth, in centipawns."""
    own = S.by_side[side]
    enemy = S.by_side[side ^ U1]
    occupied = own | enemy
    queen = S.by_type[QUEEN] & own
    square = lsb(queen)
    free = S.tiles & ~own
    slides = rook_slides(T, square, occupied) | bishop_slides(T, square, occupied)
    score = QUEEN_MOBILITY_VALUE * np.int64(popcount(slides & free))
    score += SHELTER_VALUE * np.int64(popcount(T.king_steps[square] & free))
    rest = own & ~queen
    while rest:
        square = lsb(rest)
        rest &= rest - U1
        piece_type = S.board[square] & TYPE_MASK
        score += PIECE_VALUES[piece_type]
        reached = find_slides(T, piece_type, square, occupied)
        score += MOBILITY_VALUE * np.int64(popcount(reached))
    return score


@kernel
def find_gain(S: Any, move: Any) -> Any:
    """Return the value in centipawns of the piece that a move captures: only queens do."""
    if S.board[move & U63] & TYPE_MASK != QUEEN:
        return np.int64(0)
    return PIECE_VALUES[S.board[(move >> U6) & U63] & TYPE_MASK]


@kernel
def find_mover(S: Any, move: Any) -> Any:
    """Return the value of the piece that a capture risks: the queen's, which is not counted."""
    return np.int64(0)
