"""Positions as people use them: moves played and taken back, keys, and what stays as it was."""

import doctest

import pytest

from core import position as position_module
from core.games import VARIANTS
from core.notation import MoveError
from core.position import Position

each_variant = pytest.mark.parametrize("variant", VARIANTS)


def test_the_examples_of_the_class() -> None:
    results = doctest.testmod(position_module)
    assert results.attempted > 0
    assert results.failed == 0


@each_variant
def test_moves_are_played_and_taken_back(variant: str) -> None:
    position = Position(variant)
    states = []
    for _ in range(20):
        states.append((position.fen(), position.keys, position.legal_moves, position.outcome()))
        position.push(position.legal_moves[-1])
    assert len(position.moves) == 20
    for state in reversed(states):
        expected = position.moves[-1]
        assert position.pop() == expected
        found = (position.fen(), position.keys, position.legal_moves, position.outcome())
        assert found == state
    assert position.moves == []


@each_variant
def test_taking_back_what_was_not_played_is_an_error(variant: str) -> None:
    position = Position(variant)
    with pytest.raises(IndexError):
        position.pop()
    assert position.fen() == VARIANTS[variant].startpos


@each_variant
def test_a_refused_move_leaves_everything_as_it_was(variant: str) -> None:
    position = Position(variant)
    position.push(position.legal_moves[0])
    before = (position.fen(), position.keys, list(position.moves))
    for text in ("", "a1a1", "h9h9", position.moves[0]):
        with pytest.raises(MoveError):
            position.push(text)
        assert (position.fen(), position.keys, position.moves) == before
    position.pop()
    assert position.fen() == VARIANTS[variant].startpos


def test_positions_do_not_share_anything() -> None:
    first, second = Position("chakra"), Position("chakra")
    first.push("e2e4")
    assert second.fen() == VARIANTS["chakra"].startpos
    assert second.moves == []
    assert first.keys != second.keys


def test_key_is_the_first_of_both() -> None:
    position = Position("caissa")
    assert position.keys[0] == position.key
    assert position.keys[0] != position.keys[1]
    assert all(0 <= key < 2**64 for key in position.keys)


def test_keys_tell_apart_what_legality_depends_on() -> None:
    """Side, chakra squares and modes, holes, ko; not the counters."""
    chakra = "7k/8/8/8/8/8/8/K7 {}"
    caissa = "5q1/7/7/R6/7/1B2Q2/r6 {}"
    for variant, fen, tails in (
        (
            "chakra",
            chakra,
            [
                "w d4n,e5n - 0 1",
                "b d4n,e5n - 0 1",
                "w d4k,e5n - 0 1",
                "w d4n,e5k - 0 1",
                "w d4n,e6n - 0 1",
                "w - d4n,e5n 0 1",
                "w - - 0 1",
                "w d4n,e5n b3n,c3n 0 1",
            ],
        ),
        ("caissa", caissa, ["b a1a4 1 1", "b - 1 1"]),
    ):
        keys = [Position(variant, fen.format(tail)).keys for tail in tails]
        assert (
            len({first for first, _ in keys}) == len({second for _, second in keys}) == len(tails)
        )
        for tail, found in zip(tails, keys, strict=True):
            later = tail.rsplit(" ", 2)[0] + " 37 99"
            assert Position(variant, fen.format(later)).keys == found
    whole, holed = (
        Position("caissa", f"5q1/7/7/R6/{rank}/1B2Q2/7 b - 1 1") for rank in ("7", "6*")
    )
    assert whole.key != holed.key


def test_repetition_is_counted_from_the_beginning_of_this_game() -> None:
    position = Position("caissa", "1b3q1/7/r3n2/7/7/7/N2Q3 b - 0 1")
    for move in ["a5a6", "a1b3", "a6a5", "b3a1", "a5a6", "a1b3", "a6a5", "b3a1"]:
        assert position.outcome() is None
        position.push(move)
    assert position.outcome() == "repetition"
    assert position.legal_moves
    assert Position("caissa", position.fen()).outcome() is None
    position.pop()
    assert position.outcome() is None
