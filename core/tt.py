"""The transposition table: what a search found out about a position, in two words an entry.

An entry is `key ^ data, data`, so that words of two writers do not pass for one entry. Data, from
the lowest bit: move 16, score 16 (offset), depth 8, bound 2.
"""

from typing import Any

import numpy as np

from core.bits import U0, U1, load_word, store_word
from core.jit import kernel
from core.score import MIN_MATE

WORDS_PER_ENTRY = 2

EXACT = np.uint64(1)
LOWER = np.uint64(2)
UPPER = np.uint64(3)

_SCORE_OFFSET = np.int64(1 << 15)
_SCORE_SHIFT = np.uint64(16)
_DEPTH_SHIFT = np.uint64(32)
_BOUND_SHIFT = np.uint64(40)
_MOVE_MASK = np.uint64(0xFFFF)
_DEPTH_MASK = np.uint64(0xFF)
_BOUND_MASK = np.uint64(3)


@kernel
def probe(address: Any, mask: Any, key: Any) -> Any:
    """Return the data stored for a key, 0 if there is none."""
    place = (key & mask) << U1
    data = load_word(address, place + U1)
    if load_word(address, place) ^ data == key:
        return data
    return U0


@kernel
def store(
    address: Any, mask: Any, key: Any, move: Any, score: Any, depth: Any, bound: Any, ply: Any
) -> None:
    """Write an entry, unless the same position is there from a deeper search.

    A mate is stored by its distance from this position, `ply` being that from the root.
    """
    place = (key & mask) << U1
    old = load_word(address, place + U1)
    is_same = load_word(address, place) ^ old == key
    if is_same and find_depth(old) > depth and bound != EXACT:
        return
    if score >= MIN_MATE:
        score += np.int64(ply)
    elif score <= -MIN_MATE:
        score -= np.int64(ply)
    data = move | (np.uint64(score + _SCORE_OFFSET) << _SCORE_SHIFT)
    data |= (np.uint64(depth) << _DEPTH_SHIFT) | (bound << _BOUND_SHIFT)
    store_word(address, place, key ^ data)
    store_word(address, place + U1, data)


@kernel
def find_move(data: Any) -> Any:
    """Return the best move of an entry, 0 if it has none."""
    return data & _MOVE_MASK


@kernel
def find_depth(data: Any) -> Any:
    """Return the depth, in plies, to which an entry was searched."""
    return np.int64((data >> _DEPTH_SHIFT) & _DEPTH_MASK)


@kernel
def find_bound(data: Any) -> Any:
    """Return EXACT, LOWER or UPPER."""
    return (data >> _BOUND_SHIFT) & _BOUND_MASK


@kernel
def find_score(data: Any, ply: Any) -> Any:
    """Return the score of an entry, mates counted from the root, `ply` plies away."""
    score = np.int64((data >> _SCORE_SHIFT) & _MOVE_MASK) - _SCORE_OFFSET
    if score >= MIN_MATE:
        return score - np.int64(ply)
    if score <= -MIN_MATE:
        return score + np.int64(ply)
    return score
