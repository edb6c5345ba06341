"""What the record of a game holds, and how large it may be."""

from dataclasses import dataclass, field

from core.score import Score

WHITE_WINS, BLACK_WINS, DRAWN, UNFINISHED = "1-0", "0-1", "1/2-1/2", "*"
RESULTS = (WHITE_WINS, BLACK_WINS, DRAWN, UNFINISHED)
# By the side that wins.
WON = (WHITE_WINS, BLACK_WINS)

MAX_TAGS = 64
MAX_TAG_LENGTH = 1_000
MAX_MOVES = 4_000


@dataclass(frozen=True, slots=True)
class RecordedMove:
    """A move as its record has it, not known to be legal.

    `score`: what its mover thought of it, for the mover, if the record tells; `depth` likewise.
    """

    text: str
    score: Score | None = None
    depth: int | None = None


@dataclass(frozen=True)
class GameRecord:
    """A game as its record has it; whether that makes sense is not judged.

    `fen`: empty for the usual start. `tags`: all but Variant, FEN and Result. `index`: its place in
    the file, from 0; `line`: where it begins, from 1.
    """

    variant: str
    fen: str = ""
    moves: tuple[RecordedMove, ...] = ()
    result: str = UNFINISHED
    tags: dict[str, str] = field(default_factory=dict)
    index: int = 0
    line: int = 1

    @property
    def players(self) -> tuple[str, str]:
        """The names of White and Black; `?` for one that is not told."""
        return self.tags.get("White", "?"), self.tags.get("Black", "?")


@dataclass(frozen=True)
class BrokenRecord:
    """A game that cannot be read: its place, where it begins, and what is wrong on which line."""

    index: int
    line: int
    fault_line: int
    reason: str


Record = GameRecord | BrokenRecord
