"""The transposition table: what is stored is found, mates by their distance from the position."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import tt
from core.score import MATE

ENTRIES = 16
KEYS = st.integers(0, 2**64 - 1)
DEPTHS = st.integers(1, 127)
BOUNDS = st.sampled_from([tt.EXACT, tt.LOWER, tt.UPPER])


class Table:
    """A small table, used as the search uses it."""

    def __init__(self) -> None:
        self.words = np.zeros(ENTRIES * tt.WORDS_PER_ENTRY, dtype=np.uint64)
        self.place = (np.uint64(self.words.ctypes.data), np.uint64(ENTRIES - 1))

    def store(self, key: int, move: int, score: int, depth: int, bound: int, ply: int) -> None:
        tt.store(
            *self.place,
            np.uint64(key),
            np.uint64(move),
            np.int64(score),
            np.int64(depth),
            np.uint64(bound),
            np.uint64(ply),
        )

    def probe(self, key: int) -> np.uint64:
        return np.uint64(tt.probe(*self.place, np.uint64(key)))

    def read(self, key: int, ply: int) -> tuple[int, int, int, int]:
        """Move, score, depth and bound."""
        data = self.probe(key)
        score = tt.find_score(data, np.uint64(ply))
        found = (tt.find_move(data), score, tt.find_depth(data), tt.find_bound(data))
        move, score, depth, bound = map(int, found)
        return move, score, depth, bound


@given(
    key=KEYS,
    move=st.integers(0, 2**16 - 1),
    score=st.integers(-29_000, 29_000),
    depth=DEPTHS,
    bound=BOUNDS,
    plies=st.tuples(st.integers(0, 127), st.integers(0, 127)),
)
def test_what_is_stored_is_found(
    key: int, move: int, score: int, depth: int, bound: int, plies: tuple[int, int]
) -> None:
    table = Table()
    table.store(key, move, score, depth, bound, plies[0])
    assert table.read(key, plies[1]) == (move, score, depth, int(bound))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("distance", "stored_at", "read_at"), [(1, 0, 0), (5, 4, 10), (9, 20, 3)])
def test_mates_are_counted_from_where_they_are_read(
    sign: int, distance: int, stored_at: int, read_at: int
) -> None:
    table = Table()
    table.store(7, 0, sign * (MATE - stored_at - distance), 3, tt.EXACT, stored_at)
    assert table.read(7, read_at)[1] == sign * (MATE - read_at - distance)


@given(key=KEYS, other=KEYS)
def test_another_key_is_not_found(key: int, other: int) -> None:
    table = Table()
    table.store(key, 1, 2, 3, tt.EXACT, 0)
    if other != key:
        assert int(table.probe(other)) == 0
        assert int(table.probe(key ^ (other & ~(ENTRIES - 1) | 1 << 63))) == 0


def test_the_newest_takes_the_place_of_another_position() -> None:
    table = Table()
    table.store(3, 1, 10, 9, tt.EXACT, 0)
    table.store(3 + ENTRIES, 2, 20, 1, tt.LOWER, 0)
    assert int(table.probe(3)) == 0
    assert table.read(3 + ENTRIES, 0) == (2, 20, 1, int(tt.LOWER))


def test_a_deeper_bound_of_the_same_position_stays_but_for_an_exact_score() -> None:
    table = Table()
    table.store(3, 1, 10, 9, tt.LOWER, 0)
    table.store(3, 2, 20, 8, tt.LOWER, 0)
    assert table.read(3, 0)[0] == 1
    table.store(3, 3, 30, 9, tt.UPPER, 0)
    assert table.read(3, 0)[0] == 3
    table.store(3, 4, 40, 1, tt.EXACT, 0)
    assert table.read(3, 0) == (4, 40, 1, int(tt.EXACT))


def test_a_torn_entry_is_not_found() -> None:
    """One word of one writer beside one of another."""
    table, other = Table(), Table()
    table.store(3, 1, 10, 9, tt.LOWER, 0)
    other.store(3 + ENTRIES, 2, 20, 8, tt.LOWER, 0)
    table.words[7] = other.words[7]
    assert table.words[6] and table.words[7]
    assert int(table.probe(3)) == int(table.probe(3 + ENTRIES)) == 0


def test_an_empty_table_has_nothing() -> None:
    assert [int(Table().probe(key)) for key in (1, 2, 2**64 - 1)] == [0, 0, 0]
