"""What is found about a game: result, reason, ply, and the evidence."""

from dataclasses import dataclass

from core.records.game import UNFINISHED
from core.score import Score

# Reasons beside the rules' (checkmate, stalemate, repetition, move-limit, insufficient) and those
# of terms: an illegal move; a result that only the record tells; a mate proved by search; nothing.
ILLEGAL, RECORDED, MATE, UNDECIDED = "illegal-move", "recorded", "mate", "undecided"


@dataclass(frozen=True)
class IllegalMove:
    """A move that is not legal: what forbids it, and what is legal."""

    move: str
    rule: str
    why: str
    legal_moves: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """A score that a verdict rests on: of the side to move after `ply` plies, for it.

    `nodes`: of the search; None where the record told the score.
    """

    ply: int
    score: Score
    depth: int | None
    nodes: int | None


@dataclass(frozen=True)
class Verdict:
    """What became of a game.

    `ply`: half-moves after which it was decided; `fen`: the position then. `is_certain`: the rules
    alone, or a mate, decide. `recorded`: the record's own result. `extra_plies`: moves that the
    record has after the end by the rules, which are not looked at.
    """

    result: str
    reason: str
    ply: int
    fen: str
    is_certain: bool
    recorded: str
    extra_plies: int = 0
    illegal: IllegalMove | None = None
    evidence: tuple[Evidence, ...] = ()

    @property
    def is_contradicted(self) -> bool:
        """Whether the record tells another result."""
        return self.recorded not in (UNFINISHED, self.result) and self.is_certain
