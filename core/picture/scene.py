"""What a picture of a position shows, told by each game's `picture.py`; how it is drawn is not."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.explanation import SIDE_NAMES
from core.notation import format_square, parse_square


@dataclass(frozen=True)
class Item:
    """Something on a square: `drawing` names it among the game's drawings, `letter` in text."""

    name: str
    square: int
    drawing: str
    letter: str
    side: str | None = None

    @property
    def title(self) -> str:
        """What it is and where, such as `White's ape on f4`."""
        owner = f"{SIDE_NAMES[self.side]}'s " if self.side else ""
        return f"{owner}{self.name} on {format_square(self.square)}"


@dataclass(frozen=True)
class Link:
    """Two squares that belong together; `colour` is a theme's, `label` shown halfway."""

    name: str
    squares: tuple[int, int]
    colour: str
    label: str = ""

    @property
    def title(self) -> str:
        """What it is and where, such as `White's transmitter: a2 and h2`."""
        return f"{self.name}: {' and '.join(map(format_square, self.squares))}"


@dataclass(frozen=True)
class Art:
    """A game's drawings by name, each on a square of 100 by 100.

    They are the inside of an SVG element, with `{name}` for the colour that a theme has under this
    name. `light` and `dark` are the board's squares. A piece leaves its colours to its side, and
    uses `currentColor` for details. `backdrop` is the colour beneath the squares.
    """

    drawings: Mapping[str, str]
    backdrop: str


@dataclass(frozen=True)
class Board:
    """What a FEN shows: a board of `width` files and ranks, and what is on it.

    `holes` are in the place of their squares, `marks` on them and under the pieces. `royals`: the
    square of each side's royal piece. `reserves`: by side, drawing and name of each piece that a
    pawn may become.
    """

    width: int
    art: Art
    side: str
    pieces: list[Item]
    royals: Mapping[str, int]
    holes: list[Item] = field(default_factory=list)
    marks: list[Item] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    reserves: Mapping[str, list[tuple[str, str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Scene:
    """A board with what the game adds: the last move, check, and a line that follows.

    `status` is one sentence; `checked` the square of a royal piece in check, if any.
    """

    variant: str
    fen: str
    board: Board
    status: str
    checked: int | None
    last_move: str | None
    line: tuple[str, ...]

    @property
    def notes(self) -> list[str]:
        """What words add to the board, one sentence each."""
        halfmove, fullmove = self.fen.split()[-2:]
        notes = [f"move {fullmove}, half-move clock {halfmove}"]
        if self.last_move:
            notes.append(f"last move {self.last_move}")
        if self.line:
            notes.append(f"line {' '.join(self.line)}")
        notes += [link.title for link in self.board.links]
        for side, reserve in self.board.reserves.items():
            names = ", ".join(name for _, name in reserve)
            notes.append(f"{SIDE_NAMES[side]}'s pawns may become: {names}")
        return notes


def find_move_squares(move: str) -> tuple[int, int]:
    """Return where a move, as `format_move` writes it, begins and ends."""
    return parse_square(move[:2]), parse_square(move[2:4])
