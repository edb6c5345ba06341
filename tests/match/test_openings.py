"""Openings of paired games."""

import random

import pytest

from core.engine import Engine
from core.limits import Limits
from core.match.openings import (
    LONGEST,
    MAX_LEAD,
    SEARCH_NODES,
    SHORTEST,
    choose_opening,
    replay,
)
from core.position import Position


@pytest.mark.parametrize("variant", ["chakra", "caissa", "caissa-codecup"])
def test_openings_are_of_the_length_meant_and_not_over(variant: str) -> None:
    for seed in range(8):
        moves = choose_opening(variant, random.Random(seed))
        assert SHORTEST <= len(moves) <= LONGEST
        assert replay(variant, moves).outcome() is None


def test_openings_follow_from_the_seed() -> None:
    one, same, other = (choose_opening("chakra", random.Random(seed)) for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize("variant", ["chakra", "caissa"])
def test_openings_leave_both_sides_a_chance(variant: str) -> None:
    """In a third of random openings of Caïssa one side wins whoever plays."""
    for seed in range(8):
        position = replay(variant, choose_opening(variant, random.Random(seed)))
        score = Engine().search(position, Limits(nodes=SEARCH_NODES)).score
        assert score.cp is not None
        assert abs(score.cp) <= MAX_LEAD


def find_mates(position: Position) -> list[str]:
    """The moves that mate, found apart from what is tested."""
    return [
        move for move in position.legal_moves if replay_from(position, move).result() == "checkmate"
    ]


def replay_from(position: Position, move: str) -> Position:
    after = position.copy()
    after.push(move)
    return after


def test_no_side_can_mate_at_once_in_an_opening() -> None:
    """In a few of a hundred random openings of Caïssa it could."""
    for seed in range(20):
        position = replay("caissa", choose_opening("caissa", random.Random(seed)))
        assert not find_mates(position)
        assert any(not find_mates(replay_from(position, move)) for move in position.legal_moves)
