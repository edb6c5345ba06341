"""The lead of several threads: what was taken is found, and only a deeper one replaces it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import lead
from core.score import MATE

LEADS = st.tuples(st.integers(1, 255), st.integers(0, 2**16 - 1), st.integers(-MATE, MATE))


class Shared:
    """The words that threads share."""

    def __init__(self) -> None:
        self.words = np.zeros(lead.SHARED_WORDS, dtype=np.uint64)

    def take(self, depth: int, move: int, score: int) -> None:
        address = np.uint64(self.words.ctypes.data)
        lead.take_lead(address, np.int64(depth), np.uint64(move), np.int64(score))

    def read(self) -> tuple[int, int, int]:
        """Depth, move and score."""
        word = np.uint64(lead.find_lead(np.uint64(self.words.ctypes.data)))
        return (
            int(lead.find_lead_depth(word)),
            int(lead.find_lead_move(word)),
            int(lead.find_lead_score(word)),
        )


def test_no_lead_has_depth_0() -> None:
    assert Shared().read()[0] == 0


@given(st.lists(LEADS, min_size=1))
def test_the_deepest_of_the_leads_stays_the_first_of_equals(
    taken: list[tuple[int, int, int]],
) -> None:
    shared = Shared()
    for each in taken:
        shared.take(*each)
    assert shared.read() == max(taken, key=lambda each: each[0])
    assert shared.words[lead.STOP] == 0


@pytest.mark.parametrize("score", [-MATE, -1, 0, 1, MATE])
def test_a_lead_keeps_its_score(score: int) -> None:
    shared = Shared()
    shared.take(255, 2**16 - 1, score)
    assert shared.read() == (255, 2**16 - 1, score)
