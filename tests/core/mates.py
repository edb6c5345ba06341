"""Forced mates by brute force over the reference, and the file of them that tests search.

Run as `python -m tests.core.mates` to make `data/mates.jsonl` anew: some minutes.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from core.games import VARIANTS
from tests.core.judge import TESTS, find_judge

PATH = TESTS / "core/data/mates.jsonl"
# How many of each kind, for each variant.
WANTED = {
    "mate in 1, with check": 5,
    "mate in 2, with check": 5,
    "mate in 2, quiet": 2,
    "mate in 3, with check": 4,
}
# Quiet mates are looked for where all moves are few.
MAX_QUIET_WIDTH = 14


def is_mating(judge: ModuleType, state: Any, moves: int, checks_only: bool = False) -> bool:
    """Whether the side to move forces checkmate in at most so many of its moves.

    With `checks_only` a yes is a proof, a no is none.
    """
    return find_mating_move(judge, state, moves, checks_only) is not None


def find_mating_move(
    judge: ModuleType, state: Any, moves: int, checks_only: bool = False
) -> str | None:
    """A move that forces checkmate in at most so many moves, itself included."""
    if moves == 0:
        return None
    following = judge.successors(state)
    checks = {move: after for move, after in following.items() if judge.in_check(after)}
    for move, after in checks.items():
        if is_mated(judge, after, moves - 1, checks_only):
            return move
    if checks_only or moves == 1:
        return None
    for move in following.keys() - checks.keys():
        if is_mated(judge, following[move], moves - 1):
            return move
    return None


def is_mated(judge: ModuleType, state: Any, moves: int, checks_only: bool = False) -> bool:
    """Whether the side to move is checkmated, now or in at most so many moves of the other."""
    if moves == 0 and not judge.in_check(state):
        return False
    following = judge.successors(state)
    if not following:
        return bool(judge.in_check(state))
    # Draws end the game; repetition plays no part in a shortest mate.
    if moves == 0 or judge.outcome([state]) is not None:
        return False
    return all(
        judge.outcome([after]) is None and is_mating(judge, after, moves, checks_only)
        for after in following.values()
    )


def find_mates(variant: str, rng: random.Random) -> Iterator[tuple[str, int]]:
    """Random positions with their mates, positive, and those a move later, negative or 0."""
    judge = find_judge(variant)
    wanted = Counter(WANTED)
    while any(wanted.values()):
        state = judge.random_state(rng, variant)
        if judge.outcome([state]) is not None:
            continue
        kind, moves, move = find_mate(judge, state, wanted)
        if not wanted[kind]:
            continue
        wanted[kind] -= 1
        yield judge.format_fen(state), moves
        if moves > 1:
            yield judge.format_fen(judge.make_move(state, move)), 1 - moves


def find_mate(judge: ModuleType, state: Any, wanted: Counter[str]) -> tuple[str, int, str]:
    """The kind of mate, the exact number of moves, the first move; of what is still wanted."""
    for moves in (1, 2, 3):
        move = find_mating_move(judge, state, moves, checks_only=True)
        if move is None:
            continue
        kind = f"mate in {moves}, with check"
        # None in 2 by checks alone might be one by quiet moves.
        if wanted[kind] and (moves < 3 or not is_mating(judge, state, 2)):
            return kind, moves, move
        return "", 0, ""
    kind = "mate in 2, quiet"
    if wanted[kind] and len(judge.legal_moves(state)) <= MAX_QUIET_WIDTH:
        move = find_mating_move(judge, state, 2)
        if move is not None:
            return kind, 2, move
    return "", 0, ""


def main() -> None:
    """Write the file."""
    with PATH.open("w") as file:
        for variant in VARIANTS:
            rng = random.Random(f"mates of {variant}")
            for fen, mate in find_mates(variant, rng):
                file.write(json.dumps({"variant": variant, "fen": fen, "mate": mate}) + "\n")


if __name__ == "__main__":
    main()
