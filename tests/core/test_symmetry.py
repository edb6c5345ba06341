"""Images of positions: the rules stand in them, and one of each family is canonical."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.games import VARIANTS
from core.geometry import Symmetry
from core.position import Position
from core.symmetry import (
    find_canonical,
    find_inverse,
    find_symmetries,
    transform_move,
    transform_position,
)
from tests.core.judge import VARIANT_NAMES, find_judge, find_samples

each_variant = pytest.mark.parametrize("variant", VARIANT_NAMES)
SEEDS = st.integers(0, 2**64 - 1)
PLIES = 30


def find_symmetry(variant: str, name: str) -> Symmetry:
    return next(s for s in find_symmetries(variant) if s.name == name)


def walk(variant: str, seed: int) -> Iterator[Position]:
    """The positions of a game played at random, each about five plies after the one before."""
    rng = random.Random(seed)
    position = Position(variant, rng.choice(find_samples(variant)).fen)
    for _ in range(PLIES):
        moves = position.legal_moves
        if rng.random() < 0.2 or not moves:
            yield position.copy()
        if not moves:
            return
        position.push(rng.choice(moves))


@each_variant
def test_the_symmetries_are_a_group_and_the_first_changes_nothing(variant: str) -> None:
    found = find_symmetries(variant)
    assert found[0].squares == tuple(range(64))
    assert not found[0].is_swapping
    maps = {(s.squares, s.is_swapping) for s in found}
    assert len(maps) == len(found) == (4 if VARIANTS[variant].game == "chakra" else 16)
    for a in found:
        for b in found:
            both = tuple(b.squares[a.squares[square]] for square in range(64))
            assert (both, a.is_swapping ^ b.is_swapping) in maps


@each_variant
@given(seed=SEEDS)
@settings(max_examples=6)
def test_rules_stand_in_every_image(variant: str, seed: int) -> None:
    for position in walk(variant, seed):
        moves, lines = position.legal_moves, position.perft(2)
        for symmetry in find_symmetries(variant):
            image = transform_position(position, symmetry)
            where = (symmetry.name, position.fen())
            assert image.legal_moves == sorted(transform_move(m, symmetry) for m in moves), where
            assert image.perft(2) == lines, where
            assert image.is_check() == position.is_check(), where
            assert image.result() == position.result(), where
            assert image.outcome() == position.outcome(), where


@each_variant
@given(seed=SEEDS)
@settings(max_examples=6)
def test_images_lead_back_and_share_their_canonical_one(variant: str, seed: int) -> None:
    for position in walk(variant, seed):
        canonical, to_canonical = find_canonical(position)
        assert transform_position(position, to_canonical).fen() == canonical.fen()
        assert find_canonical(canonical)[0].fen() == canonical.fen()
        for symmetry in find_symmetries(variant):
            image = transform_position(position, symmetry)
            inverse = find_inverse(variant, symmetry)
            assert transform_position(image, inverse).fen() == position.fen()
            for move in position.legal_moves[:3]:
                assert transform_move(transform_move(move, symmetry), inverse) == move
            found, _ = find_canonical(image)
            assert (found.fen(), found.keys) == (canonical.fen(), canonical.keys)
            assert found.keys <= image.keys


@each_variant
def test_images_are_those_of_the_reference(variant: str) -> None:
    judge = find_judge(variant)
    names = {"mirror": "mirror", "swap": "swap"}
    if VARIANTS[variant].game == "caissa":
        names = {"swap": "identity-swap"}
        eight = [s for s in find_symmetries(variant) if not s.is_swapping]
        for one in find_samples(variant)[::20]:
            position = Position(variant, one.fen)
            images = {transform_position(position, symmetry).fen() for symmetry in eight}
            assert images == {judge.transform_fen(one.fen, n) for n in range(8)}
    for function, name in names.items():
        for one in find_samples(variant)[::20]:
            image = transform_position(Position(variant, one.fen), find_symmetry(variant, name))
            assert image.fen() == getattr(judge, f"{function}_fen")(one.fen)


@each_variant
def test_playing_and_transforming_commute(variant: str) -> None:
    for one in find_samples(variant)[::40]:
        for symmetry in find_symmetries(variant):
            position = Position(variant, one.fen)
            image = transform_position(position, symmetry)
            for move in position.legal_moves:
                position.push(move)
                image.push(transform_move(move, symmetry))
                after = transform_position(position, symmetry)
                # Without the number of the move, which Black's moves alone count.
                assert image.fen().rsplit(" ", 1)[0] == after.fen().rsplit(" ", 1)[0]
                position.pop()
                image.pop()


def test_moves_keep_what_follows_their_squares() -> None:
    mirror, swap = (find_symmetry("chakra", name) for name in ("mirror", "swap"))
    assert [transform_move(m, mirror) for m in ("a2b4f", "b7b8a", "f4f4")] == [
        *("h2g4f", "g7g8a", "c4c4")
    ]
    assert transform_move("a2b4f", swap) == "a7b5f"
    assert transform_move("a1b3", find_symmetry("caissa", "rotate-90")) == "a7c6"


@pytest.mark.parametrize("number", [100, 101])
def test_the_limit_of_the_contest_stands_where_the_sides_are_exchanged(number: int) -> None:
    for side in "wb":
        position = Position("caissa-codecup", f"7/3bqn1/4r2/7/2R4/1NQB3/7 {side} - 0 {number}")
        for symmetry in find_symmetries("caissa-codecup"):
            expected = "move-limit" if number == 101 else None
            assert transform_position(position, symmetry).outcome() == expected


CANONICAL_STARTS = {
    "chakra": "acmqksca/1pppppp1/8/8/8/8/1PPPPPP1/ACMQKSCA w a2n,h2n a7n,h7n 0 1",
    "caissa": "7/1nqb3/2r4/7/4R2/3BQN1/7 w - 0 1",
}


def test_canonical_forms_stay_what_they_are() -> None:
    """Books and proofs keep them: whoever changes a table of keys changes the format."""
    found = {v: find_canonical(Position(v))[0].fen() for v in CANONICAL_STARTS}
    assert found == CANONICAL_STARTS
