"""The graph of a book: values that settle to what either side can force, and leaves in order."""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.score import MATE
from gateway.book.graph import PLY_COST, ROOT, Graph
from gateway.book.values import DRAW, back_up

SEEDS = st.integers(0, 2**64 - 1)
SCORES = (-MATE, -MATE + 6, -300, -50, -1, 0, 1, 50, 300, MATE - 5)


def build(scores: list[int], moves: dict[int, list[int]]) -> Graph:
    """A graph with these scores, expanded where moves are given, and not settled."""
    graph = Graph()
    for score in scores:
        graph.add(score, is_over=score == -MATE)
    for number, children in moves.items():
        graph.expand(number, name(children))
    return graph


def name(children: list[int]) -> dict[str, int]:
    return {f"m{place}": child for place, child in enumerate(children)}


def values(graph: Graph) -> list[int]:
    return [node.value for node in graph.nodes]


def settle(scores: list[int], moves: dict[int, list[int]]) -> list[int]:
    graph = build(scores, moves)
    graph.settle(range(len(scores)))
    return values(graph)


def make_random(seed: int) -> tuple[list[int], dict[int, list[int]]]:
    """Scores and moves of a random graph with cycles."""
    rng = random.Random(seed)
    size = rng.randint(1, 12)
    scores = [rng.choice(SCORES) for _ in range(size)]
    expanded = [n for n in range(size) if scores[n] != -MATE and rng.random() < 0.6]
    moves = {n: rng.choices(range(size), k=rng.randint(1, 3)) for n in expanded}
    return scores, moves


def judge(scores: list[int], moves: dict[int, list[int]]) -> list[int]:
    """The values by brute force: what n plies of play force, after more plies than matter.

    Play that is not over by then is a draw; more plies change nothing once there are more of them
    than a strategy without memory takes to reach a leaf.
    """
    found = [DRAW if n in moves else score for n, score in enumerate(scores)]
    for _ in range(3 * len(scores) + 3):
        found = [
            max(back_up(found[child]) for child in moves[n]) if n in moves else score
            for n, score in enumerate(scores)
        ]
    return found


# Values


def test_a_leaf_is_worth_its_score_and_a_parent_its_best_move() -> None:
    assert settle([7, 30, -20], {0: [1, 2]}) == [20, 30, -20]


def test_a_mate_is_a_ply_further_with_each_move() -> None:
    mated, others = -MATE, 0
    found = settle([others, others, others, mated], {0: [1], 1: [2], 2: [3]})
    assert found == [MATE - 3, -MATE + 2, MATE - 1, -MATE]


def test_the_shorter_mate_is_given_and_the_longer_one_suffered() -> None:
    assert settle([0, -MATE + 4, -MATE + 2], {0: [1, 2]})[0] == MATE - 3
    assert settle([0, MATE - 5, MATE - 3], {0: [1, 2]})[0] == -MATE + 6


def test_a_line_into_repetition_is_a_draw() -> None:
    """Whoever would leave the circle loses by it, so both stay; the good score is no use."""
    assert settle([0, 0, 200, 300], {0: [1, 2], 1: [0, 3]}) == [0, 0, 200, 300]


def test_a_side_leaves_a_repetition_for_what_is_better() -> None:
    assert settle([0, 0, -70, 300], {0: [1, 2], 1: [0, 3]}) == [70, -70, -70, 300]


def test_a_draw_is_no_reason_to_lose() -> None:
    """From 1 the other side can return to 0 for ever, which is more than its leaf is worth."""
    assert settle([0, 0, 500], {0: [1], 1: [0, 2]}) == [0, 0, 500]


@given(seed=SEEDS)
def test_values_are_what_brute_force_finds(seed: int) -> None:
    scores, moves = make_random(seed)
    assert settle(scores, moves) == judge(scores, moves)


@given(seed=SEEDS)
def test_values_after_each_step_equal_a_full_recomputation(seed: int) -> None:
    """Nodes come, are expanded and get other scores in any order."""
    scores, moves = make_random(seed)
    rng = random.Random(seed)
    graph = build(scores, {})
    steps = list(moves.items())
    rng.shuffle(steps)
    for number, children in steps:
        graph.expand(number, name(children))
        other = rng.randrange(len(scores))
        if not graph.nodes[other].is_over:
            scores[other] = graph.nodes[other].score = rng.choice(SCORES[1:])
        graph.settle({number, other})
        done = {n: list(node.moves.values()) for n, node in enumerate(graph.nodes) if node.moves}
        assert values(graph) == settle(scores, done)


# Leaves


def leaves(graph: Graph) -> list[tuple[int, int]]:
    return list(graph.find_leaves(lambda number: -number))


def test_the_leaf_whose_moves_drop_least_is_first() -> None:
    graph = build([0, 0, PLY_COST // 2 - 20, 20, 50], {0: [1, 2], 1: [3, 4]})
    graph.settle(range(5))
    # 2 drops half of what a ply costs, in one; 3 nothing, and 4 thirty, in two.
    assert values(graph)[:2] == [20, -20]
    assert leaves(graph) == [(2, 1), (3, 2), (4, 2)]


def test_plies_are_those_of_the_cheapest_line() -> None:
    far = 2 * PLY_COST
    graph = build([0, 0, 0, -far], {0: [1, 3], 1: [2], 2: [3]})
    graph.settle(range(4))
    assert leaves(graph) == [(3, 1)]


def test_what_is_over_or_mate_is_no_leaf_to_expand() -> None:
    graph = build([0, -MATE, MATE - 3, 5], {0: [1, 2, 3]})
    graph.settle(range(4))
    assert leaves(graph) == [(3, 1)]


def test_rank_decides_between_equal_leaves() -> None:
    graph = build([0, 9, 9, 9], {0: [1, 2, 3]})
    graph.settle(range(4))
    assert [leaf for leaf, _ in leaves(graph)] == [3, 2, 1]


def test_a_root_without_moves_is_the_first_leaf() -> None:
    graph = build([5], {})
    assert leaves(graph) == [(ROOT, 0)]


@given(seed=SEEDS)
def test_leaves_come_by_the_cost_of_their_cheapest_line(seed: int) -> None:
    scores, moves = make_random(seed)
    graph = build(scores, moves)
    graph.settle(range(len(scores)))
    found = values(graph)
    cost = {ROOT: 0}
    for _ in scores:  # as often as a cheapest line is long
        for number, child in itertools.chain.from_iterable(
            ((n, c) for c in cs) for n, cs in moves.items() if n in cost
        ):
            way = cost[number] + PLY_COST + found[number] - back_up(found[child])
            cost[child] = min(way, cost.get(child, way))
    told = [leaf for leaf, _ in leaves(graph)]
    wanted = {n for n in cost if n not in moves and abs(scores[n]) < MATE - 10}
    assert set(told) == wanted
    assert [cost[leaf] for leaf in told] == sorted(cost[leaf] for leaf in told)


@pytest.mark.parametrize("value", [MATE - 1, -MATE, 300, 0, -300])
def test_a_value_shrinks_on_its_way_only_if_it_is_a_mate(value: int) -> None:
    assert abs(back_up(value)) == abs(value) - (abs(value) > MATE - 10)
