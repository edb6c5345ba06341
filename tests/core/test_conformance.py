"""One suite over all games and variants: the kernels say what the reference says.

A new game is covered once it is registered and has a reference of its name.
"""

import itertools
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.games import GAMES, VARIANTS
from core.position import Position
from core.rules import DRAW_NAMES
from tests.core.judge import (
    GOLDEN,
    VARIANT_NAMES,
    Kernels,
    Sample,
    find_judge,
    find_samples,
    find_symmetries,
    is_king_on_enemy_chakra,
    sample,
    set_up,
)

each_variant = pytest.mark.parametrize("variant", VARIANT_NAMES)
CHAKRA_VARIANTS = [name for name, variant in VARIANTS.items() if variant.game == "chakra"]
SEEDS = st.integers(0, 2**64 - 1)

LINE_PLIES = 40
GAMES_PLAYED = 18
SHUFFLE_PLIES = 14


def assert_agreement(variant: str, one: Sample) -> None:
    """Moves, check, result, and the text after each move."""
    judge, kernels = find_judge(variant), set_up(variant, one.fen)
    rules = kernels.game.rules
    moves = kernels.list_moves()
    assert sorted(moves) == sorted(one.following), one.fen
    assert int(rules.count_moves(kernels.state, kernels.tables)) == len(moves), one.fen
    assert bool(rules.in_check(kernels.state, kernels.tables)) == judge.in_check(one.state), one.fen
    position = Position(variant, one.fen)
    assert (position.fen(), position.legal_moves) == (one.fen, sorted(moves))
    assert (position.is_check(), position.result()) == (
        judge.in_check(one.state),
        judge.result(one.state),
    ), one.fen
    for text, move in moves.items():
        kernels.make_move(move)
        assert kernels.fen() == judge.format_fen(one.following[text]), (one.fen, text)
        kernels.unmake_move()


def walk_line(variant: str, rng: random.Random) -> Iterator[tuple[Kernels, Any]]:
    """A record on its way along a random line, and the next move, before it is made."""
    kernels = set_up(variant, rng.choice(find_samples(variant)).fen)
    for _ in range(LINE_PLIES):
        moves = kernels.list_moves()
        if not moves:
            return
        move = rng.choice(list(moves.values()))
        yield kernels, move
        kernels.make_move(move)


def play_shuffling(variant: str, start: Any, rng: random.Random, plies: int) -> list[Any]:
    """The positions of a game in which moves are often taken back, so that positions return."""
    states, played = [start], list[str]()
    judge = find_judge(variant)
    while len(states) <= plies:
        following = judge.successors(states[-1])
        if not following:
            break
        back = played[-2][2:4] + played[-2][:2] if len(played) > 1 else ""
        wanted = back if back in following and rng.random() < 0.9 else ""
        played.append(wanted or rng.choice(sorted(following)))
        states.append(following[played[-1]])
    return states


def find_move_between(variant: str, before: Any, after: Any) -> str:
    return next(m for m, state in find_judge(variant).successors(before).items() if state == after)


# What the samples are


@each_variant
def test_samples_are_many_and_different(variant: str) -> None:
    samples = find_samples(variant)
    assert len({one.fen for one in samples}) > 200
    assert {one.state.side for one in samples} == {"w", "b"}
    judge = find_judge(variant)
    checks = sum(judge.in_check(one.state) for one in samples)
    assert 20 < checks < len(samples) - 20


@pytest.mark.parametrize("variant", CHAKRA_VARIANTS)
def test_samples_have_kings_on_enemy_chakras_attacked_and_not(variant: str) -> None:
    on_chakra = [one for one in find_samples(variant) if is_king_on_enemy_chakra(one.state)]
    checks = sum(find_judge(variant).in_check(one.state) for one in on_chakra)
    assert len(on_chakra) > 100
    assert 20 < checks < len(on_chakra) - 20


def test_every_game_has_a_judge_and_symmetries() -> None:
    for game in GAMES:
        variant = next(v.name for v in VARIANTS.values() if v.game == game)
        assert find_judge(variant).START_FENS[variant] == VARIANTS[variant].startpos
        assert find_symmetries(variant)


# Moves, check, result, text


@each_variant
def test_samples_agree_with_the_reference(variant: str) -> None:
    for one in find_samples(variant):
        assert_agreement(variant, one)


@each_variant
@given(seed=SEEDS)
@settings(max_examples=40)
def test_random_positions_agree_with_the_reference(variant: str, seed: int) -> None:
    state = find_judge(variant).random_state(random.Random(seed), variant)
    assert_agreement(variant, sample(variant, state))


@pytest.mark.parametrize("variant", CHAKRA_VARIANTS)
@given(seed=SEEDS)
@settings(max_examples=20)
def test_positions_after_a_king_came_to_an_enemy_chakra_agree(variant: str, seed: int) -> None:
    """One ply below a king on an enemy chakra: he leaves it, or what attacks him changes."""
    rng, judge = random.Random(seed), find_judge(variant)
    state = judge.random_state(rng, variant)
    while not is_king_on_enemy_chakra(state):
        state = judge.random_state(rng, variant)
    following = list(judge.successors(state).values())
    for after in rng.sample(following, min(2, len(following))):
        assert_agreement(variant, sample(variant, after))


@each_variant
def test_terminal_positions_have_no_moves(variant: str) -> None:
    judge = find_judge(variant)
    fens = [row["fen"] for row in GOLDEN if row["variant"] == variant and row["result"]]
    for one in find_samples(variant):
        fens += [judge.format_fen(s) for s in one.following.values() if judge.in_check(s)][:3]
    ended = 0
    for fen in fens:
        state = judge.parse_fen(variant, fen)
        result = judge.result(state)
        position = Position(variant, fen)
        assert position.result() == result, fen
        if result:
            ended += 1
            assert position.legal_moves == []
            assert int(position.perft(1)) == 0
            assert position.outcome() == result
    assert ended


# Whole games


@each_variant
def test_outcome_over_whole_games_is_the_reference_s(variant: str) -> None:
    judge, rng = find_judge(variant), random.Random(f"games of {variant}")
    outcomes = set()
    for number in range(GAMES_PLAYED):
        start = judge.random_state(rng, variant)
        if number % 3 == 0:  # shortly before both games' limits
            start = replace(start, halfmove=95, fullmove=98)
        states = play_shuffling(variant, start, rng, SHUFFLE_PLIES)
        position = Position(variant, judge.format_fen(start))
        assert position.outcome() == judge.outcome(states[:1])
        for count in range(1, len(states)):
            position.push(find_move_between(variant, *states[count - 1 : count + 1]))
            expected = judge.outcome(states[: count + 1])
            assert position.fen() == judge.format_fen(states[count])
            assert position.outcome() == expected, (judge.format_fen(start), position.moves)
            outcomes.add(expected)
        for count in range(len(states) - 1, 0, -1):
            position.pop()
            assert position.fen() == judge.format_fen(states[count - 1])
        assert position.outcome() == judge.outcome(states[:1])
    assert {None, "repetition"} <= outcomes
    if variant.startswith("chakra") or variant == "caissa-codecup":
        assert "move-limit" in outcomes


BARE = {
    "chakra": ("k7/8/8/8/8/8/8/7K {side} - - {half} {full}", "7k/8/8/8/8/8/1p6/K7 w - - 0 1"),
    "caissa": ("5q1/7/7/7/7/7/4Q2 {side} - {half} {full}", "5q1/7/7/7/7/2n4/2Q4 w - 0 1"),
}


@each_variant
def test_bare_royal_pieces_are_insufficient_and_one_more_piece_is_not(variant: str) -> None:
    judge = find_judge(variant)
    bare, one_more = BARE[VARIANTS[variant].game]
    for side in "wb":
        fen = bare.format(side=side, half=3, full=9)
        assert Position(variant, fen).outcome() == "insufficient"
        assert judge.outcome([judge.parse_fen(variant, fen)]) == "insufficient"
    position = Position(variant, one_more)
    assert position.outcome() is None
    captures = {
        move for move in position.legal_moves if len(outcome_after(variant, one_more, move))
    }
    assert captures
    for move in captures:
        assert outcome_after(variant, one_more, move) == "insufficient"


def outcome_after(variant: str, fen: str, move: str) -> str:
    """The outcome after a move, empty when the game goes on."""
    position = Position(variant, fen)
    position.push(move)
    return position.outcome() or ""


@each_variant
def test_draws_by_counters_are_the_reference_s(variant: str) -> None:
    judge = find_judge(variant)
    fen = find_samples(variant)[0].fen.split()
    seen = set()
    for half, full in [
        (h, f) for h in (0, 99, 100, 101, 9999) for f in (1, 99, 100, 101, 102, 9999)
    ]:
        for side in "wb":
            fields = [fen[0], side, *fen[2:-2], str(half), str(full)]
            position = Position(variant, " ".join(fields))
            expected = judge.outcome([judge.parse_fen(variant, " ".join(fields))])
            assert position.outcome() == expected, fields
            seen.add(expected)
    limited = variant.startswith("chakra") or variant == "caissa-codecup"
    assert seen == ({None, "move-limit"} if limited else {None})


@each_variant
def test_draws_never_change_moves(variant: str) -> None:
    drawn = 0
    for one in find_samples(variant)[::3]:
        fields = one.fen.split()
        position = Position(variant, " ".join([*fields[:-2], "9999", "9999"]))
        drawn += position.outcome() in DRAW_NAMES.values()
        assert position.legal_moves == sorted(one.following)
        assert position.perft(1) == len(one.following)
    assert drawn or variant in ("caissa", "caissa-pritchard")


@each_variant
def test_repetition_does_not_change_moves(variant: str) -> None:
    judge, rng = find_judge(variant), random.Random(f"repetition in {variant}")
    while True:
        states = play_shuffling(variant, judge.random_state(rng, variant), rng, 30)
        if judge.outcome(states) == "repetition":
            break
    position = Position(variant, judge.format_fen(states[0]))
    for before, after in itertools.pairwise(states):
        position.push(find_move_between(variant, before, after))
    assert position.outcome() == "repetition"
    assert position.legal_moves == judge.legal_moves(states[-1]) != []


# Making and unmaking


@each_variant
def test_unmaking_restores_every_byte_of_the_position(variant: str) -> None:
    for one in find_samples(variant):
        kernels = set_up(variant, one.fen)
        before = kernels.position_bytes
        for move in kernels.list_moves().values():
            kernels.make_move(move)
            assert kernels.position_bytes != before
            kernels.unmake_move()
            assert kernels.position_bytes == before, (one.fen, move)
            assert (int(kernels.state.ply), int(kernels.state.key_count)) == (0, 0)


@each_variant
def test_unmaking_a_line_restores_every_position_on_the_way(variant: str) -> None:
    rng = random.Random(f"lines of {variant}")
    longest = 0
    for _ in range(20):
        snapshots, keys = [], []
        kernels = None
        for kernels, _move in walk_line(variant, rng):
            snapshots.append(kernels.position_bytes)
            keys.append(int(kernels.state.key))
        if kernels is None:
            continue
        longest = max(longest, len(snapshots))
        assert int(kernels.state.ply) == int(kernels.state.key_count) == len(snapshots)
        assert kernels.state.keys[: len(keys)].tolist() == keys
        while snapshots:
            kernels.unmake_move()
            assert kernels.position_bytes == snapshots.pop()
    assert longest == LINE_PLIES


@each_variant
def test_listing_and_counting_leave_the_position_alone(variant: str) -> None:
    for one in find_samples(variant)[::2]:
        kernels = set_up(variant, one.fen)
        before = kernels.position_bytes
        kernels.list_moves()
        kernels.game.rules.count_moves(kernels.state, kernels.tables)
        kernels.game.rules.in_check(kernels.state, kernels.tables)
        kernels.game.rules.find_draw(kernels.state)
        kernels.game.rules.evaluate(kernels.state, kernels.tables)
        assert kernels.position_bytes == before
        assert (int(kernels.state.ply), int(kernels.state.key_count)) == (0, 0)


# Keys


@each_variant
def test_incremental_keys_are_those_computed_from_scratch(variant: str) -> None:
    for one in find_samples(variant)[::2]:
        kernels = set_up(variant, one.fen)
        assert kernels.keys == kernels.compute_keys()
        for move in kernels.list_moves().values():
            kernels.make_move(move)
            assert kernels.keys == kernels.compute_keys(), (one.fen, move)
            kernels.unmake_move()


@each_variant
def test_equal_positions_have_equal_keys_and_others_do_not(variant: str) -> None:
    """A position is all that its text says, counters aside."""
    met = defaultdict(set)
    for one in find_samples(variant)[::2]:
        kernels = set_up(variant, one.fen)
        met[identify(one.fen)].add(kernels.keys)
        for move in kernels.list_moves().values():
            kernels.make_move(move)
            met[identify(kernels.fen())].add(kernels.keys)
            kernels.unmake_move()
    assert all(len(keys) == 1 for keys in met.values())
    pairs = [next(iter(keys)) for keys in met.values()]
    for which in (0, 1):
        assert len({pair[which] for pair in pairs}) == len(met)
    assert all(first != second for first, second in pairs)


@each_variant
def test_keys_do_not_depend_on_the_way_to_a_position(variant: str) -> None:
    judge = find_judge(variant)
    for one in find_samples(variant)[::12]:
        kernels = set_up(variant, one.fen)
        for text, move in kernels.list_moves().items():
            kernels.make_move(move)
            assert kernels.keys == set_up(variant, judge.format_fen(one.following[text])).keys
            kernels.unmake_move()


def identify(fen: str) -> str:
    return fen.rsplit(" ", 2)[0]


# Symmetries


@each_variant
def test_moves_check_and_static_score_follow_the_symmetries(variant: str) -> None:
    for symmetry in find_symmetries(variant):
        for one in find_samples(variant)[::4]:
            kernels, image = (
                set_up(variant, one.fen),
                set_up(variant, symmetry.transform_fen(one.fen)),
            )
            where = (symmetry.name, one.fen)
            images = {symmetry.transform_move(move) for move in kernels.list_moves()}
            assert set(image.list_moves()) == images, where
            for predicate in ("in_check", "count_moves", "evaluate"):
                expected, found = (
                    getattr(k.game.rules, predicate)(k.state, k.tables) for k in (kernels, image)
                )
                assert found == expected, (predicate, *where)
