"""No mate that a search tells is a false one, in many random positions.

`TILEWARP_SOAK_MATES` says in how many of each game, 1,000 unless set.
"""

import os
import random

import pytest

from core.engine import Engine
from core.limits import Limits
from core.position import Position
from tests.core import mates
from tests.core.judge import find_judge

POSITIONS = int(os.environ.get("TILEWARP_SOAK_MATES", "1000"))
NODES = 5000
# Brute force over the reference is quick to so many moves by checks alone.
CHECKED_MOVES = 4

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("variant", ["chakra", "caissa"])
def test_no_false_mate_is_told(variant: str) -> None:
    judge, rng, engine = find_judge(variant), random.Random(f"mates of {variant}"), Engine()
    told = by_reference = 0
    for _ in range(POSITIONS):
        state = judge.random_state(rng, variant)
        if judge.outcome([state]) is not None:
            continue
        fen = judge.format_fen(state)
        found = engine.search(Position(variant, fen), Limits(nodes=NODES))
        mate = found.score.mate
        if mate is None:
            continue
        told += 1
        assert_line_mates(variant, fen, found.pv, mate)
        if mate > 0:
            asked = engine.search(Position(variant, fen), Limits(mate=mate, nodes=3_000_000))
            assert asked.mate_verdict != "refuted", fen
            # By checks alone a yes is a proof, a no is none.
            checks_only = mate > 2
            if mate <= CHECKED_MOVES and mates.is_mating(judge, state, mate, checks_only):
                by_reference += 1
            else:
                assert mate > 2, fen
        elif mate == -1:
            assert mates.is_mated(judge, state, 1), fen
            by_reference += 1
    assert told > POSITIONS // 20
    assert by_reference > told // 2


def assert_line_mates(variant: str, fen: str, pv: list[str], mate: int) -> None:
    position = Position(variant, fen)
    for move in pv:
        position.push(move)
    assert position.result() == "checkmate", fen
    assert len(pv) == (2 * mate - 1 if mate > 0 else -2 * mate), fen
