"""Short random openings, for games in which chance must not favour a side."""

import random

from core.position import Position

SHORTEST = 4
LONGEST = 8


def choose_opening(variant: str, rng: random.Random) -> list[str]:
    """Return random legal moves from the start that leave the game open.

    That is: it is not over, the side to move cannot mate at once, and has a move after which it
    cannot be mated at once. What is chosen depends on the rules alone.
    """
    while True:
        position = Position(variant)
        for _ in range(rng.randint(SHORTEST, LONGEST)):
            if position.outcome():
                break
            position.push(rng.choice(position.legal_moves))
        if not position.outcome() and _is_open(position):
            return position.moves


def replay(variant: str, moves: list[str]) -> Position:
    """Return the position after moves from the start."""
    position = Position(variant)
    for move in moves:
        position.push(move)
    return position


def _is_open(position: Position) -> bool:
    return not _can_mate(position) and _has_safe_move(position)


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
