"""Openings of paired games."""

import random

import pytest

from core.position import Position
from gateway.match.openings import LONGEST, SHORTEST, choose_opening, replay


@pytest.mark.parametrize("variant", ["chakra", "caissa", "caissa-codecup"])
def test_openings_are_of_the_length_meant_and_not_over(variant: str) -> None:
    for seed in range(40):
        moves = choose_opening(variant, random.Random(seed))
        assert SHORTEST <= len(moves) <= LONGEST
        assert replay(variant, moves).outcome() is None


def test_openings_follow_from_the_seed() -> None:
    one, same, other = (choose_opening("chakra", random.Random(seed)) for seed in (1, 1, 2))
    assert one == same != other


def test_openings_stay_the_same_from_version_to_version() -> None:
    """A match that goes on, or is played again, has the same ones."""
    chosen = {name: choose_opening(name, random.Random("1:1")) for name in ("chakra", "caissa")}
    assert chosen == {
        "chakra": ["h2g4", "b8h7", "a1b3", "g7g5", "b1a1", "a7c6f", "a1g4"],
        "caissa": ["d2g5", "e5d5", "b2a4", "d6g3", "c3g3", "c3d4", "c2a2"],
    }


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
    for seed in range(60):
        position = replay("caissa", choose_opening("caissa", random.Random(seed)))
        assert not find_mates(position)
        assert any(not find_mates(replay_from(position, move)) for move in position.legal_moves)
