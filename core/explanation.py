"""What an explanation is, and the names with which each game's `explain` writes it."""

from dataclasses import dataclass

from core.notation import format_square

WHITE, BLACK = "w", "b"
SIDE_NAMES = {WHITE: "White", BLACK: "Black"}


@dataclass(frozen=True)
class Explanation:
    """Why a move is allowed or forbidden: the rule in a word, and one sentence."""

    is_legal: bool
    rule: str
    text: str


def find_side(letter: str) -> str:
    """Return the side of a piece's letter."""
    return WHITE if letter.isupper() else BLACK


def find_opponent(side: str) -> str:
    """Return the other side."""
    return BLACK if side == WHITE else WHITE


def name_piece(letter: str, names: dict[str, str], square: int) -> str:
    """Return a piece as a sentence names it, such as `White's ape on f4`."""
    side = SIDE_NAMES[find_side(letter)]
    return f"{side}'s {names[letter.upper()]} on {format_square(square)}"
