"""Positions as people use them: moves played and taken back, keys, and what stays as it was."""

import doctest
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from core import position as position_module
from core.games import VARIANTS
from core.notation import MoveError, PositionError
from core.position import Position
from core.record import Record, borrow_record
from tests.core.judge import GOLDEN

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


def test_positions_of_one_game_in_turn_do_not_disturb_each_other() -> None:
    """They share a record to work on; a refused one leaves there what nobody sees."""
    positions = [Position(name) for name in VARIANTS]
    for _ in range(6):
        for position in positions:
            with pytest.raises(PositionError):
                Position(position.variant.name, "8/8 w")
            position.push(position.legal_moves[-1])
    for position in positions:
        alone = Position(position.variant.name)
        for _ in range(6):
            alone.push(alone.legal_moves[-1])
        assert (alone.fen(), alone.moves) == (position.fen(), position.moves)
        assert (alone.keys, alone.snapshot()) == (position.keys, position.snapshot())


def follow_line(variant: str, fen: str, seed: int) -> list[Any]:
    """What there is to see of a random line and of its way back."""
    rng, position, seen = random.Random(seed), Position(variant, fen), []
    while len(position.moves) < 10 and position.legal_moves:
        seen.append([position.fen(), position.keys, position.legal_moves, position.outcome()])
        seen.append([position.perft(2), position.is_check()])
        position.push(rng.choice(position.legal_moves))
    while position.moves:
        seen.append([position.pop(), position.snapshot()])
    return seen


@pytest.mark.parametrize("game", ["chakra", "caissa"])
def test_threads_may_use_positions_at_the_same_time(game: str) -> None:
    lines = [
        (row["variant"], row["fen"], seed)
        for seed, row in enumerate(GOLDEN)
        if VARIANTS[row["variant"]].game == game
    ]
    start = threading.Barrier(4)

    def follow_all(shift: int) -> list[Any]:
        start.wait()
        return [follow_line(*line) for line in lines[shift:] + lines[:shift]]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(follow_all, range(4)))
    expected = [follow_line(*line) for line in lines]
    assert found == [expected[shift:] + expected[:shift] for shift in range(4)]


@each_variant
def test_a_position_may_go_from_thread_to_thread(variant: str) -> None:
    position, expected = Position(variant), Position(variant)
    for _ in range(8):
        with ThreadPoolExecutor(1) as pool:
            moves = pool.submit(lambda: position.legal_moves).result()
            pool.submit(position.push, moves[-1]).result()
        expected.push(expected.legal_moves[-1])
        assert (position.fen(), position.keys) == (expected.fen(), expected.keys)


def test_each_thread_has_a_record_of_its_own() -> None:
    game = Position("chakra").game
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(borrow_record, game).result()
    assert borrow_record(game) is borrow_record(game)
    assert borrow_record(game) is not other
    assert borrow_record(Position("caissa").game) is not borrow_record(game)


@each_variant
def test_nothing_is_left_of_what_a_record_held(variant: str) -> None:
    position = Position(variant)
    fresh, used = Record(position.game), Record(position.game)
    used.write_position(b"\xff" * len(position.snapshot()))
    for record in (fresh, used):
        position.game.rules.parse_position(
            record.array, position.game.rules.TABLES, position.variant, position.fen()
        )
    assert fresh.read_position() == used.read_position() == position.snapshot()


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
