"""Kernels, reference and an independent program agree on random positions.

`TILEWARP_TWIN` names the program; `TILEWARP_SOAK_POSITIONS` the positions a variant, 10,000 unless
set. It is called as `PROGRAM VARIANT randpos SEED N` and `PROGRAM VARIANT random SEED GAMES PLIES`,
which print positions, and as `PROGRAM VARIANT moves -`, which answers positions on standard input
with JSON objects of `fen`, `moves`, `check` and `result`.
"""

import json
import os
import random
import subprocess
from typing import Any

import pytest

from core.games import VARIANTS
from core.notation import PositionError
from core.position import Position
from tests.core.judge import find_judge

PROGRAM = os.environ.get("TILEWARP_TWIN", "")
POSITIONS = int(os.environ.get("TILEWARP_SOAK_POSITIONS", "10000"))
# The reference is slow, and takes part in so many of them.
REFERENCE_POSITIONS = 10_000
# What the program knows; other variants have the moves of their game's first.
KNOWN = ("chakra", "chakra-mindsports", "chakra-pritchard", "caissa")
BATCH = 2000
GAME_PLIES = 200
SEEDS_PER_VARIANT = 10_000

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not PROGRAM, reason="TILEWARP_TWIN names no program to compare with"),
]


def call(variant: str, *arguments: object, given: str = "") -> list[str]:
    """The lines that the program prints."""
    name = variant if variant in KNOWN else VARIANTS[variant].game
    command = [PROGRAM, name, *map(str, arguments)]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def list_positions(variant: str, seed: int, count: int) -> list[str]:
    """Different positions: half of them placed at random, half from random games."""
    played = list(dict.fromkeys(call(variant, "random", seed, count // 25 + 1, GAME_PLIES)))
    half = random.Random(seed).sample(played, min(count // 2, len(played)))
    placed = call(variant, "randpos", seed, count - len(half))
    return list(dict.fromkeys(half + placed))


def ask_program(variant: str, fens: list[str]) -> list[dict[str, Any]]:
    lines = call(variant, "moves", "-", given="".join(f"{fen}\n" for fen in fens))
    assert len(lines) == len(fens)
    return [json.loads(line) for line in lines]


def ask_kernels(variant: str, fen: str) -> dict[str, Any]:
    position = Position(variant, fen)
    found = (position.fen(), position.legal_moves, position.is_check(), position.result())
    return dict(zip(("fen", "moves", "check", "result"), found, strict=True))


def ask_reference(variant: str, fen: str) -> dict[str, Any]:
    judge = find_judge(variant)
    state = judge.parse_fen(variant, fen)
    found = (
        judge.format_fen(state),
        judge.legal_moves(state),
        judge.in_check(state),
        judge.result(state),
    )
    return dict(zip(("fen", "moves", "check", "result"), found, strict=True))


@pytest.mark.timeout(0)
@pytest.mark.parametrize("variant", VARIANTS)
def test_kernels_reference_and_twin_agree(variant: str) -> None:
    compared, checks, ended = 0, 0, 0
    seed = SEEDS_PER_VARIANT * list(VARIANTS).index(variant)
    while compared < POSITIONS:
        seed += 1
        fens = list_positions(variant, seed, min(BATCH, POSITIONS - compared))
        for fen, expected in zip(fens, ask_program(variant, fens), strict=True):
            if "error" in expected:
                # Rarely its games go astray, into what is no position: it refuses that itself.
                with pytest.raises(PositionError):
                    Position(variant, fen)
                continue
            expected["moves"].sort()
            assert ask_kernels(variant, fen) == expected, fen
            if compared < REFERENCE_POSITIONS:
                assert ask_reference(variant, fen) == expected, fen
            compared += 1
            checks += expected["check"]
            ended += expected["result"] is not None
    assert compared // 20 < checks < compared
    assert ended
