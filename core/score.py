"""Scores: centipawns and exact mate distances, for the side to move.

In kernels a score is an int64: centipawns, or MATE less the plies to mate (negative: being mated).
"""

import math
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


@dataclass(frozen=True)
class WdlModel:
    """How scores tell results: a logistic curve each for winning and for losing.

    At `offset` centipawns half of the games are won; `scale` more centipawns multiply the odds by
    e. Fitted to games that the engine played with itself (`bench/tune.py`).
    """

    offset: float
    scale: float


def estimate_wdl(score: Score, model: WdlModel) -> tuple[int, int, int]:
    """Return the chances in thousandths that the side to move wins, draws and loses."""
    if score.mate is not None:
        return (1000, 0, 0) if score.mate > 0 else (0, 0, 1000)
    win, loss = (
        round(1000 / (1 + math.exp((model.offset - cp) / model.scale)))
        for cp in (score.cp or 0, -(score.cp or 0))
    )
    return win, 1000 - win - loss, loss
