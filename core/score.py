"""Scores: centipawns and exact mate distances, for the side to move.

In kernels a score is an int64: centipawns, or MATE less the plies to mate (negative: being mated).
"""

from dataclasses import dataclass

from core.rules import MAX_PLY

MATE = 30_000
INFINITY = 32_000
# From here on a score is a mate.
MIN_MATE = MATE - MAX_PLY
DRAW = 0


@dataclass(frozen=True)
class Score:
    """Centipawns or mate in moves, for the side to move; one of the two is None.

    Mate is negative when the side to move is being mated, and 0 when it is checkmated already.
    """

    cp: int | None = None
    mate: int | None = None

    def __str__(self) -> str:
        return f"#{self.mate}" if self.mate is not None else f"{(self.cp or 0) / 100:+.2f}"


def unpack_score(score: int) -> Score:
    """Return the score that a kernel's number stands for."""
    if abs(score) < MIN_MATE:
        return Score(cp=score)
    moves = (MATE - abs(score) + 1) // 2
    return Score(mate=moves if score > 0 else -moves)
