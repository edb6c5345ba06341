"""The time for a move: never more than there is, whatever the game."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.match.clock import allot

clocks = st.floats(0.0, 36_000.0)
numbers = st.integers(0, 500)


@given(clocks, numbers, st.floats(0, 100), st.none() | st.integers(0, 300))
def test_some_time_is_left_after_each_move(
    remaining: float, played: int, increment: float, moves_to_go: int | None
) -> None:
    seconds = allot(remaining, played, increment, moves_to_go)
    assert 0 <= seconds < remaining or remaining == seconds == 0


@given(st.floats(-10, 0), numbers)
def test_no_time_gives_no_time(remaining: float, played: int) -> None:
    assert allot(remaining, played) == 0


@given(clocks, clocks, numbers)
def test_more_time_gives_more(one: float, other: float, played: int) -> None:
    low, high = sorted((one, other))
    assert allot(low, played) <= allot(high, played)


@given(st.floats(3, 3600), st.lists(st.floats(0, 0.004), min_size=200, max_size=200))
def test_no_game_of_400_plies_runs_dry(clock: float, overheads: list[float]) -> None:
    """Each move is searched for a millisecond at least, and takes some time beside."""
    remaining = clock
    for played, overhead in enumerate(overheads):
        remaining -= max(allot(remaining, played), 0.001) + overhead
        assert remaining > 0


@given(st.floats(3, 3600), st.integers(0, 199))
def test_a_long_stall_at_any_move_is_survived(clock: float, stalled: int) -> None:
    remaining = clock
    for played in range(200):
        remaining -= max(allot(remaining, played), 0.001) + 0.002
        remaining -= 0.1 if played == stalled else 0
    assert remaining > 0


@pytest.mark.parametrize("clock", [10, 30, 300])
def test_a_usual_game_uses_most_of_its_clock(clock: float) -> None:
    remaining = clock
    for played in range(60):
        remaining -= allot(remaining, played)
    assert remaining < 0.4 * clock


@given(st.floats(10, 3600), st.integers(1, 40))
def test_a_clock_set_anew_is_used_up(clock: float, moves: int) -> None:
    remaining = clock
    for played in range(moves):
        remaining -= allot(remaining, played, moves_to_go=moves - played)
    assert 0 < remaining < 0.6 * clock


def test_increments_are_spent() -> None:
    assert allot(60, 30, increment=2) == pytest.approx(allot(60, 30) + 1.5)
    assert allot(1, 30, increment=2) <= 0.5
