"""Caïssa on a plain board, a dictionary of pieces: who reaches what, and what a move changes.

Slow and easy to read, for those who explain and draw positions; what plays uses the kernels.
"""

from dataclasses import dataclass, replace

from core.caissa.layout import WIDTH
from core.explanation import WHITE, find_side
from core.geometry import BISHOP_STEPS, KING_STEPS, KNIGHT_STEPS, ROOK_STEPS, Board
from core.notation import parse_ranks

PIECE_NAMES = {"Q": "queen", "R": "rook", "N": "knight", "B": "bishop"}

_HOLE = "*"
_BOARD = Board(WIDTH, WIDTH)
_STEPS = {"Q": KING_STEPS, "R": ROOK_STEPS, "B": BISHOP_STEPS}


def read_place(fen: str) -> "Place":
    """Return what a valid FEN says of pieces, holes and ko."""
    board, side, ko, *_ = fen.split()
    letters = "".join(PIECE_NAMES) + "".join(PIECE_NAMES).lower() + _HOLE
    cells = parse_ranks(board, WIDTH, WIDTH, letters, [])
    pieces = {square: letter for square, letter in cells.items() if letter != _HOLE}
    return Place(pieces, frozenset(cells.keys() - pieces.keys()), side, ko)


@dataclass(frozen=True)
class Place:
    """Pieces by square, the holes, the side to move, and the two squares of the ko move."""

    pieces: dict[int, str]
    holes: frozenset[int]
    side: str
    ko: str

    def is_own(self, square: int) -> bool:
        """Return whether a piece of the side to move stands on a square."""
        return square in self.pieces and find_side(self.pieces[square]) == self.side

    def find_queen(self, side: str) -> int:
        """Return the square of a side's queen."""
        letter = "Q" if side == WHITE else "q"
        return next(square for square, piece in self.pieces.items() if piece == letter)

    def find_lines(self, origin: int) -> list[list[int]]:
        """Return the lines, or steps, along which a piece moves as in chess."""
        kind = self.pieces[origin].upper()
        if kind == "N":
            return [[end] for end in find_neighbours(origin, KNIGHT_STEPS)]
        return [_BOARD.walk(origin, step) for step in _STEPS[kind]]

    def find_reached(self, origin: int) -> set[int]:
        """Return the squares that a piece reaches as in chess, the first piece on a line too."""
        reached = set()
        for line in self.find_lines(origin):
            for square in line:
                reached.add(square)
                if square in self.pieces:
                    break
        return reached

    def find_checker(self, side: str) -> int | None:
        """Return the square of a rook, knight or bishop that checks the queen of a side."""
        queen = self.find_queen(side)
        for square, letter in self.pieces.items():
            if find_side(letter) != side and letter not in "Qq":
                if queen in self.find_reached(square):
                    return square
        return None

    def is_connected(self) -> bool:
        """Return whether the tiles are one group, by sides and corners."""
        tiles = set(_BOARD.squares) - self.holes
        waiting = [min(tiles)]
        tiles.discard(waiting[0])
        while waiting:
            found = tiles.intersection(find_neighbours(waiting.pop(), KING_STEPS))
            tiles -= found
            waiting += found
        return not tiles

    def make_move(self, origin: int, end: int) -> "Place":
        """Return the place after a pseudo-legal move, with the same side to move."""
        letter, target = self.pieces[origin], self.pieces.get(end)
        pieces = {square: piece for square, piece in self.pieces.items() if square != origin}
        holes = self.holes
        if letter in "Qq":
            holes |= {origin}
        elif target is not None:
            pieces[origin] = target
        elif end in holes:
            holes = holes - {end} | {origin}
        return replace(self, pieces={**pieces, end: letter}, holes=holes)


def find_neighbours(origin: int, steps: list[tuple[int, int]]) -> list[int]:
    """Return the squares that are one of some steps away."""
    found = _BOARD.find_steps(origin, steps)
    return [square for square in _BOARD.squares if found >> square & 1]
