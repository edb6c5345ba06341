"""Static score of a Caissa position: a weighted sum of features, and what captures win at once."""

from typing import Any

import numpy as np

from core.bits import U0, U1, U6, U63, is_single, lsb, popcount
from core.board import TYPE_MASK
from core.caissa.attacks import bishop_slides, find_neighbours, rook_slides
from core.caissa.layout import BISHOP, BOARD, KNIGHT, QUEEN, ROOK
from core.caissa.weights import (
    CHECKS,
    FEATURE_COUNT,
    GROUND,
    LOOSE,
    MOBILITY,
    NO_STEP,
    OFF_CENTRE,
    ONE_STEP,
    PINS,
    QUEEN_ASSAULT,
    QUEEN_ATTACK,
    SCREENS,
    SHELTER,
    STEPS,
    TEMPO,
)
from core.jit import kernel

# Centipawns by piece type, Q R N B; the first place is an empty square. For ordering captures.
PIECE_VALUES = np.array([0, 0, 500, 350, 400, 0, 0, 0], dtype=np.int64)
# Each gained in matches: the queens are mated by quiet checks.
CHECK_PLIES = np.uint64(2)


@kernel
def evaluate(S: Any, T: Any) -> Any:
    """Return the static score in centipawns, for the side to move."""
    find_features(S, T)
    score = np.int64(0)
    for place in range(FEATURE_COUNT):
        score += S.features[place] * T.weights[place]
    return score


@kernel
def find_features(S: Any, T: Any) -> Any:
    """Write into `S.features` how much more of each feature the side to move has."""
    for place in range(FEATURE_COUNT):
        S.features[place] = 0
    S.features[TEMPO] = 1
    add_pieces(S, T, S.side, np.int64(1))
    add_pieces(S, T, S.side ^ U1, np.int64(-1))
    add_queen(S, T, S.side, np.int64(1))
    add_queen(S, T, S.side ^ U1, np.int64(-1))


@kernel
def add_pieces(S: Any, T: Any, side: Any, sign: Any) -> None:
    """Add a side's rook, knight and bishop; put the squares they attack into `S.attacks`."""
    own = S.by_side[side]
    enemy = S.by_side[side ^ U1]
    occupied = own | enemy
    target = lsb(S.by_type[QUEEN] & enemy)
    ring = T.king_steps[target] & S.tiles
    files = rook_slides(T, target, occupied)
    diagonals = bishop_slides(T, target, occupied)
    free = ~own
    rook, knight, bishop = S.by_type[ROOK] & own, S.by_type[KNIGHT] & own, S.by_type[BISHOP] & own
    attacks = U0
    assault = np.int64(0)
    checks = np.int64(0)
    if rook:
        square = lsb(rook)
        reached = rook_slides(T, square, occupied)
        S.features[ROOK] += sign
        S.features[np.uint64(MOBILITY) + ROOK] += sign * np.int64(popcount(reached))
        assault += np.int64(popcount(reached & ring))
        checks += np.int64(popcount(reached & free & files))
        attacks |= reached
        add_line(S, T, target, rook & T.rook_rays[target], side, sign)
    if knight:
        square = lsb(knight)
        reached = T.knight_steps[square]
        S.features[KNIGHT] += sign
        S.features[np.uint64(MOBILITY) + KNIGHT] += sign * np.int64(popcount(reached))
        assault += np.int64(popcount(reached & ring))
        checks += np.int64(popcount(reached & free & T.knight_steps[target]))
        attacks |= reached
    if bishop:
        square = lsb(bishop)
        reached = bishop_slides(T, square, occupied)
        S.features[BISHOP] += sign
        S.features[np.uint64(MOBILITY) + BISHOP] += sign * np.int64(popcount(reached))
        assault += np.int64(popcount(reached & ring))
        checks += np.int64(popcount(reached & free & diagonals))
        attacks |= reached
        add_line(S, T, target, bishop & T.bishop_rays[target], side, sign)
    S.features[QUEEN_ATTACK] += sign * assault
    S.features[QUEEN_ASSAULT] += sign * assault * assault
    S.features[CHECKS] += sign * checks
    S.attacks[side] = attacks


@kernel
def add_line(S: Any, T: Any, target: Any, slider: Any, side: Any, sign: Any) -> None:
    """Add a slider that one piece alone keeps from the enemy queen."""
    if slider:
        stops = T.between[target, lsb(slider)] & (S.by_side[0] | S.by_side[1])
        if is_single(stops):
            if stops & S.by_side[side]:
                S.features[SCREENS] += sign
            else:
                S.features[PINS] += sign


@kernel
def add_queen(S: Any, T: Any, side: Any, sign: Any) -> None:
    """Add a queen's safety; the other side's attacks are known."""
    own = S.by_side[side]
    enemy = S.by_side[side ^ U1]
    occupied = own | enemy
    queen = S.by_type[QUEEN] & own
    square = lsb(queen)
    other = lsb(S.by_type[QUEEN] & enemy)
    # Lines of the enemy queen are closed to her too.
    closed = rook_slides(T, other, occupied) | bishop_slides(T, other, occupied)
    attacked = S.attacks[side ^ U1] | closed
    slides = rook_slides(T, square, occupied) | bishop_slides(T, square, occupied)
    ring = T.king_steps[square] & S.tiles
    steps = ring & ~own & ~attacked
    S.features[MOBILITY + 1] += sign * np.int64(popcount(slides & S.tiles & ~own & ~attacked))
    S.features[SHELTER] += sign * np.int64(popcount(ring))
    S.features[STEPS] += sign * np.int64(popcount(steps))
    if not steps:
        S.features[NO_STEP] += sign
    elif is_single(steps):
        S.features[ONE_STEP] += sign
    S.features[LOOSE] += sign * np.int64(popcount(slides & enemy & ~attacked))
    ground = find_neighbours(find_neighbours(queen)) & S.tiles & BOARD
    S.features[GROUND] += sign * np.int64(popcount(ground))
    rank, file = np.int64(square >> np.uint64(3)), np.int64(square & np.uint64(7))
    S.features[OFF_CENTRE] += sign * max(abs(rank - 3), abs(file - 3))


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


@kernel
def may_prune(S: Any) -> Any:
    """Return False: threats against the queens decide, which the static score does not see."""
    return False


@kernel
def may_pass(S: Any) -> Any:
    """Return True: who stands well enough to pass is seldom in zugzwang."""
    return True
