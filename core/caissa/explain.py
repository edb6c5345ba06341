"""Why a move of Caïssa is allowed or forbidden: the rules once more, on a plain board.

Rules are looked at in the order in which a player would: what moves, how it moves, what it does
where it ends, and what then becomes of tiles and queens.
"""

from dataclasses import dataclass, replace

from core.caissa.layout import WIDTH
from core.explanation import (
    SIDE_NAMES,
    WHITE,
    Explanation,
    find_opponent,
    find_side,
    name_piece,
)
from core.geometry import BISHOP_STEPS, KING_STEPS, KNIGHT_STEPS, ROOK_STEPS, Board
from core.notation import format_square, parse_ranks, parse_square
from core.variant import Variant

_NAMES = {"Q": "queen", "R": "rook", "N": "knight", "B": "bishop"}
_HOLE = "*"
_BOARD = Board(WIDTH, WIDTH)
_STEPS = {"Q": KING_STEPS, "R": ROOK_STEPS, "B": BISHOP_STEPS}

# A rule in a word, and the sentence.
Reason = tuple[str, str]


@dataclass(frozen=True)
class _Place:
    """Pieces by square, the holes, the side to move, and the two squares of the ko move."""

    pieces: dict[int, str]
    holes: frozenset[int]
    side: str
    ko: str

    def is_own(self, square: int) -> bool:
        return square in self.pieces and find_side(self.pieces[square]) == self.side

    def find_queen(self, side: str) -> int:
        letter = "Q" if side == WHITE else "q"
        return next(square for square, piece in self.pieces.items() if piece == letter)

    def find_lines(self, origin: int) -> list[list[int]]:
        """Return the lines, or steps, along which a piece moves as in chess."""
        kind = self.pieces[origin].upper()
        if kind == "N":
            return [[end] for end in _find_neighbours(origin, KNIGHT_STEPS)]
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
        tiles = set(_BOARD.squares) - self.holes
        waiting = [min(tiles)]
        tiles.discard(waiting[0])
        while waiting:
            found = tiles.intersection(_find_neighbours(waiting.pop(), KING_STEPS))
            tiles -= found
            waiting += found
        return not tiles

    def make_move(self, origin: int, end: int) -> "_Place":
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


def explain(variant: Variant, fen: str, text: str) -> Explanation:
    """Return why a move, as `format_move` writes it, is allowed or forbidden in a valid position.

    The variants differ in nothing that a move depends on.
    """
    place = _read_place(fen)
    origin, end = parse_square(text[:2]), parse_square(text[2:])
    fault = _find_move_fault(place, origin, end) or _find_aftermath(place, origin, end)
    if fault:
        return Explanation(False, *fault)
    return Explanation(True, *_find_permission(place, origin, end))


def _read_place(fen: str) -> _Place:
    board, side, ko, *_ = fen.split()
    letters = "".join(_NAMES) + "".join(_NAMES).lower() + _HOLE
    cells = parse_ranks(board, WIDTH, WIDTH, letters, [])
    pieces = {square: letter for square, letter in cells.items() if letter != _HOLE}
    return _Place(pieces, frozenset(cells.keys() - pieces.keys()), side, ko)


def _find_move_fault(place: _Place, origin: int, end: int) -> Reason | None:
    """Return what forbids a move, whatever becomes of tiles and queens."""
    letter, side = place.pieces.get(origin), SIDE_NAMES[place.side]
    start, goal = format_square(origin), format_square(end)
    if letter is None:
        return "empty-square", f"no piece stands on {start}"
    name = name_piece(letter, _NAMES, origin)
    if not place.is_own(origin):
        return "wrong-side", f"{side} is to move, and cannot move {name}"
    if origin == end:
        return "pass", f"{name} has to leave its square: there is no passing"
    line = next((line for line in place.find_lines(origin) if end in line), None)
    if line is None:
        how = _NAMES[letter.upper()]
        return "movement", f"{name} does not reach {goal}: it moves like a {how} of chess"
    if letter.upper() == "Q" and end not in _find_neighbours(origin, KING_STEPS):
        checker = place.find_checker(place.side)
        if checker is not None:
            by = name_piece(place.pieces[checker], _NAMES, checker)
            return "queen-in-check", f"{name}, in check from {by}, may move one step only"
    stop = next(s for s in line if s == end or s in place.pieces)
    if stop != end:
        return "blocked", f"{name} is blocked by {name_piece(place.pieces[stop], _NAMES, stop)}"
    return _find_end_fault(place, origin, end, name)


def _find_end_fault(place: _Place, origin: int, end: int, name: str) -> Reason | None:
    """Return why a piece may not end where it reaches."""
    target, goal = place.pieces.get(end), format_square(end)
    is_queen = place.pieces[origin] in "Qq"
    if is_queen and end in place.holes:
        return "hole", f"{name} ends on tiles only, and {goal} is a hole"
    if target is None:
        return None
    other = name_piece(target, _NAMES, end)
    if is_queen and place.is_own(end):
        return "own-piece", f"{name} cannot end where {other} stands"
    if target in "Qq":
        if place.is_own(end):
            return "exchange", f"{name} cannot exchange places with its own queen"
        return "exchange", f"{name} can neither capture {other} nor exchange places with it"
    if place.ko == format_square(origin) + goal:
        return "ko", f"{name} may not undo the exchange with {other} in the very next turn"
    return None


def _find_aftermath(place: _Place, origin: int, end: int) -> Reason | None:
    """Return what a pseudo-legal move does to tiles or queens that no move may do."""
    after = place.make_move(origin, end)
    if not after.is_connected():
        return "connection", f"the tiles are torn apart once that of {format_square(origin)} leaves"
    queen = after.find_queen(place.side)
    name = name_piece(after.pieces[queen], _NAMES, queen)
    checker = after.find_checker(place.side)
    if checker is not None:
        by = name_piece(after.pieces[checker], _NAMES, checker)
        return "check", f"{name} would be in check from {by}"
    enemy = after.find_queen(find_opponent(place.side))
    if enemy in after.find_reached(queen):
        other = name_piece(after.pieces[enemy], _NAMES, enemy)
        return "queens-in-sight", f"{name} and {other} would see each other"
    return None


def _find_permission(place: _Place, origin: int, end: int) -> Reason:
    """Return the rule that allows a legal move."""
    letter, target = place.pieces[origin], place.pieces.get(end)
    name, goal = name_piece(letter, _NAMES, origin), format_square(end)
    start = format_square(origin)
    if letter in "Qq":
        if target is None:
            return "move", f"{name} moves to {goal}, and the tile of {start} is removed"
        taken = _NAMES[target.upper()]
        text = f"{name} captures the {taken} on {goal}, and the tile of {start} is removed"
        return "capture", text
    if target is not None:
        return "exchange", f"{name} exchanges places with {name_piece(target, _NAMES, end)}"
    if end in place.holes:
        return "tile-move", f"{name} moves to the hole {goal} and takes its tile along"
    return "move", f"{name} moves to {goal}"


def _find_neighbours(origin: int, steps: list[tuple[int, int]]) -> list[int]:
    found = _BOARD.find_steps(origin, steps)
    return [square for square in _BOARD.squares if found >> square & 1]
