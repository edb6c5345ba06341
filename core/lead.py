"""What the threads of one search share beside the table: whether to end, and who is how far.

Two words, at an address that all of them know. The first, once it is not zero, ends the search. The
second is the lead: the greatest depth that a thread has finished, with the move and the score that
it found; zero before the first. From the lowest bit: move 16, score 16 (offset), depth 8.
"""

from typing import Any

import numpy as np

from core.bits import U0, U1, load_word, store_word
from core.jit import kernel

SHARED_WORDS = 2
STOP = U0
LEAD = U1

_SCORE_OFFSET = np.int64(1 << 15)
_SCORE_SHIFT = np.uint64(16)
_DEPTH_SHIFT = np.uint64(32)
_MASK = np.uint64(0xFFFF)


@kernel
def find_lead(address: Any) -> Any:
    """Return the lead."""
    return load_word(address, LEAD)


@kernel
def find_lead_depth(lead: Any) -> Any:
    """Return the depth of a lead, 0 if there is none."""
    return np.int64(lead >> _DEPTH_SHIFT)


@kernel
def find_lead_move(lead: Any) -> Any:
    """Return the best move of a lead."""
    return lead & _MASK


@kernel
def find_lead_score(lead: Any) -> Any:
    """Return the score of a lead."""
    return np.int64((lead >> _SCORE_SHIFT) & _MASK) - _SCORE_OFFSET


@kernel
def take_lead(address: Any, depth: Any, move: Any, score: Any) -> None:
    """Write a finished depth, unless another thread has finished it before.

    Where two write at once the lead may fall back, and some of the work is done again.
    """
    if find_lead_depth(load_word(address, LEAD)) < depth:
        lead = move | (np.uint64(score + _SCORE_OFFSET) << _SCORE_SHIFT)
        store_word(address, LEAD, lead | np.uint64(depth) << _DEPTH_SHIFT)
