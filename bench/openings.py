"""Short random openings, for games in which chance must not favour a side."""

import random

from core.position import Position

SHORTEST = 4
LONGEST = 8


def choose_opening(variant: str, rng: random.Random) -> list[str]:
    """Return random legal moves from the start that leave the game open."""
    while True:
        position = Position(variant)
        for _ in range(rng.randint(SHORTEST, LONGEST)):
            if position.outcome():
                break
            position.push(rng.choice(position.legal_moves))
        if not position.outcome():
            return position.moves


def replay(variant: str, moves: list[str]) -> Position:
    """Return the position after moves from the start."""
    position = Position(variant)
    for move in moves:
        position.push(move)
    return position
