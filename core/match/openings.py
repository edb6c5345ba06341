"""Short random openings, for games in which chance must not favour a side."""

import random
from collections.abc import Callable

from core.engine import Analysis, Engine
from core.limits import Limits
from core.position import Position

SHORTEST = 4
LONGEST = 8
# Centipawns: an opening in which a search sees a side further ahead than this is not taken. Where
# one side wins from it whoever plays, its two games tell nothing.
MAX_LEAD = 150
SEARCH_NODES = 30_000

Search = Callable[[Position, Limits], Analysis]


def choose_pair_opening(
    variant: str, seed: int, pair: int, search: Search | None = None
) -> list[str]:
    """Return the opening of a pair of games of a match, from its seed and the pair's number."""
    return choose_opening(variant, random.Random(f"{seed}:{pair}"), search)


def choose_opening(variant: str, rng: random.Random, search: Search | None = None) -> list[str]:
    """Return random legal moves from the start that leave the game open.

    That is: it is not over, the side to move cannot mate at once, and has a move after which it
    cannot be mated at once; and a search of SEARCH_NODES sees neither side more than MAX_LEAD
    ahead. What is chosen depends on the generator, the rules and the version of the search.
    `search`: of an engine that keeps nothing between searches; None: one is made for this.
    """
    search = search or Engine().search
    while True:
        position = Position(variant)
        for _ in range(rng.randint(SHORTEST, LONGEST)):
            if position.outcome():
                break
            position.push(rng.choice(position.legal_moves))
        if not position.outcome() and _is_open(position, search):
            return position.moves


def replay(variant: str, moves: list[str]) -> Position:
    """Return the position after moves from the start."""
    position = Position(variant)
    for move in moves:
        position.push(move)
    return position


def _is_open(position: Position, search: Search) -> bool:
    return not _can_mate(position) and _has_safe_move(position) and _is_even(position, search)


def _is_even(position: Position, search: Search) -> bool:
    score = search(position, Limits(nodes=SEARCH_NODES)).score
    return score.cp is not None and abs(score.cp) <= MAX_LEAD


def _can_mate(position: Position) -> bool:
    """Return whether a move of the side to move is mate."""
    for move in position.legal_moves:
        position.push(move)
        result = position.result()
        position.pop()
        if result == "checkmate":
            return True
    return False


def _has_safe_move(position: Position) -> bool:
    """Return whether a move of the side to move cannot be answered by mate."""
    for move in position.legal_moves:
        position.push(move)
        can_mate = _can_mate(position)
        position.pop()
        if not can_mate:
            return True
    return False
