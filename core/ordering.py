"""The order in which moves are searched: table move, captures, killers, then past cut-offs."""

from typing import Any

import numpy as np

from core.bind import generic
from core.bits import U0, U1, U6, U63
from core.rules import find_gain, find_mover

_TABLE_VALUE = np.int64(1 << 40)
_GAIN_VALUE = np.int64(1 << 30)
_KILLER_VALUE = np.int64(1 << 29)
_MAX_CUTOFFS = np.int64(1 << 28)
# A capture's gain counts before what it risks.
_GAIN_SCALE = np.int64(1 << 12)


@generic
def rate_moves(S: Any, count: Any, table_move: Any) -> None:
    """Write into `S.values[S.ply]` how early each of the listed moves is to be searched."""
    ply = S.ply
    for index in range(count):
        move = S.moves[ply, index]
        gain = find_gain(S, move)
        if move == table_move:
            value = _TABLE_VALUE
        elif gain > 0:
            value = _GAIN_VALUE + gain * _GAIN_SCALE - find_mover(S, move)
        elif move == S.killers[ply, 0] or move == S.killers[ply, 1]:
            value = _KILLER_VALUE
        else:
            value = S.cutoffs[S.side, move & U63, (move >> U6) & U63]
        S.values[ply, index] = value


@generic
def rate_gains(S: Any, count: Any) -> Any:
    """Keep of the listed moves those that win material, with their ratings; return their number."""
    ply = S.ply
    kept = U0
    for index in range(count):
        move = S.moves[ply, index]
        gain = find_gain(S, move)
        if gain > 0:
            S.moves[ply, kept] = move
            S.values[ply, kept] = gain * _GAIN_SCALE - find_mover(S, move)
            kept += U1
    return kept


@generic
def pick_move(S: Any, index: Any, count: Any) -> Any:
    """Bring the best rated of the moves from `index` on to that place, and return it."""
    ply = S.ply
    best = index
    for other in range(index + U1, count):
        if S.values[ply, other] > S.values[ply, best]:
            best = other
    move = S.moves[ply, best]
    if best != index:
        S.moves[ply, best] = S.moves[ply, index]
        S.values[ply, best] = S.values[ply, index]
        S.moves[ply, index] = move
    return move


@generic
def remember_cutoff(S: Any, move: Any, depth: Any) -> None:
    """Let a quiet move that cut off be tried earlier, here and elsewhere."""
    ply = S.ply
    if find_gain(S, move) > 0:
        return
    if S.killers[ply, 0] != move:
        S.killers[ply, 1] = S.killers[ply, 0]
        S.killers[ply, 0] = move
    origin, end = move & U63, (move >> U6) & U63
    S.cutoffs[S.side, origin, end] = min(
        S.cutoffs[S.side, origin, end] + depth * depth, _MAX_CUTOFFS
    )
