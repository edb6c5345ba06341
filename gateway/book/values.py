"""What a position of a book is worth: one number for the side to move, and its way to the parents.

A value is centipawns, or MATE less the plies to mate, negative where the side to move is mated.
"""

from core.score import MATE, Score

DRAW = 0
# From here on a value is a mate: within 10,000 plies, more than any search and any book's line.
MIN_MATE = MATE - 10_000
MAX_CENTIPAWNS = MIN_MATE - 1
MAX_MATE_MOVES = (MATE - MIN_MATE) // 2


def pack_score(score: Score) -> int:
    """Return the value of a score; centipawns are cut at MAX_CENTIPAWNS.

    Raises ValueError for a mate that is further than values reach.
    """
    if score.mate is None:
        return max(-MAX_CENTIPAWNS, min(score.cp or 0, MAX_CENTIPAWNS))
    if abs(score.mate) > MAX_MATE_MOVES:
        raise ValueError(f"mate in {score.mate} is not within {MAX_MATE_MOVES} moves")
    if score.mate > 0:
        return MATE - (2 * score.mate - 1)
    return -MATE - 2 * score.mate


def unpack_value(value: int) -> Score:
    """Return the score that a value stands for."""
    if not is_mate(value):
        return Score(cp=value)
    moves = (MATE - abs(value) + 1) // 2
    return Score(mate=moves if value > 0 else -moves)


def is_mate(value: int) -> bool:
    """Return whether a value is a mate, for either side."""
    return abs(value) >= MIN_MATE


def back_up(value: int) -> int:
    """Return what a move to a position of this value is worth: the other side's, a ply later."""
    if is_mate(value):
        return 1 - value if value > 0 else -1 - value
    return -value
