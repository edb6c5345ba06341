"""The order in which moves are searched: table move, captures, killers, then past cut-offs."""

from typing import Any

import numpy as np

from core.bind import generic
from core.bits import U0, U1, U6, U63
from core.board import TYPE_MASK
from core.rules import find_gain, find_mover

_TABLE_VALUE = np.int64(1 << 40)
GAIN_VALUE = np.int64(1 << 30)
KILLER_VALUE = np.int64(1 << 29)
QUIET_VALUE = np.int64(0)
# A quiet move's history moves by at most _MAX_BONUS and stays within _HISTORY_BOUND.
_MAX_BONUS = np.int64(400)
_BONUS_SCALE = np.int64(32)
_HISTORY_BOUND = np.int64(16384)
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
            value = GAIN_VALUE + gain * _GAIN_SCALE - find_mover(S, move)
        elif move == S.killers[ply, 0] or move == S.killers[ply, 1]:
            value = KILLER_VALUE
        else:
            value = S.history[S.side, move & U63, (move >> U6) & U63]
            value += np.int64(S.continuations[S.last_moves[ply], find_place(S, move)])
        S.values[ply, index] = value


@generic
def rate_forcing(S: Any, count: Any, least: Any, with_quiets: Any) -> Any:
    """Keep of the listed moves those that win more than `least`, rated; return their number.

    `with_quiets`: 1 keeps those that win nothing too, as QUIET_VALUE.
    """
    ply = S.ply
    kept = U0
    for index in range(count):
        move = S.moves[ply, index]
        gain = find_gain(S, move)
        if gain > max(least, 0):
            S.moves[ply, kept] = move
            S.values[ply, kept] = GAIN_VALUE + gain * _GAIN_SCALE - find_mover(S, move)
            kept += U1
        elif gain <= 0 and with_quiets != U0:
            S.moves[ply, kept] = move
            S.values[ply, kept] = QUIET_VALUE
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
        S.moves[ply, index] = move
        value = S.values[ply, best]
        S.values[ply, best] = S.values[ply, index]
        S.values[ply, index] = value
    return move


@generic
def remember_cutoff(S: Any, move: Any, tried: Any, depth: Any) -> None:
    """Let a quiet move that cut off be tried earlier, and the quiet ones before it later.

    `tried`: how many of the listed moves were searched, this one the last.
    """
    ply = S.ply
    if S.killers[ply, 0] != move:
        S.killers[ply, 1] = S.killers[ply, 0]
        S.killers[ply, 0] = move
    bonus = min(depth * depth, _MAX_BONUS) * _BONUS_SCALE
    add_history(S, move, bonus)
    for index in range(tried - U1):
        if S.values[ply, index] < KILLER_VALUE:
            add_history(S, S.moves[ply, index], -bonus)


@generic
def add_history(S: Any, move: Any, bonus: Any) -> None:
    """Move both histories of a quiet move towards their bound, the less the nearer they are."""
    origin, end = move & U63, (move >> U6) & U63
    old = S.history[S.side, origin, end]
    S.history[S.side, origin, end] = old + bonus - old * abs(bonus) // _HISTORY_BOUND
    last, place = S.last_moves[S.ply], find_place(S, move)
    old = np.int64(S.continuations[last, place])
    S.continuations[last, place] = old + bonus - old * abs(bonus) // _HISTORY_BOUND


@generic
def find_place(S: Any, move: Any) -> Any:
    """Return a number below 512 for what a move, not yet made, moves, and where to."""
    return ((U0 + S.board[move & U63]) & TYPE_MASK) << U6 | (move >> U6) & U63
