"""Chakra on a plain board, a dictionary of pieces: who reaches and who attacks what.

Slow and easy to read, for those who explain moves; what plays uses the kernels.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from core.explanation import BLACK, WHITE, find_opponent, find_side
from core.geometry import BISHOP_STEPS, KING_STEPS, KNIGHT_STEPS, ROOK_STEPS, Board
from core.notation import parse_ranks, parse_square
from core.variant import Variant

PIECE_NAMES = {
    "K": "king",
    "Q": "queen",
    "S": "samurai",
    "M": "monk",
    "A": "ape",
    "C": "courtesan",
    "P": "pawn",
}

_BOARD = Board(8, 8)
_LETTERS = "".join(PIECE_NAMES) + "".join(PIECE_NAMES).lower()
_FLIPPED = {"n": "k", "k": "n"}

Step = tuple[int, int]
# A side's chakras: the mode of each, `n` or `k`, by its square.
Chakras = dict[int, str]


def read_place(variant: Variant, fen: str) -> "Place":
    """Return what a valid FEN says of pieces and chakras."""
    board, side, white, black, *_ = fen.split()
    chakras = {WHITE: _read_chakras(white), BLACK: _read_chakras(black)}
    return Place(parse_ranks(board, 8, 8, _LETTERS, []), side, chakras, variant.flags)


def _read_chakras(text: str) -> Chakras:
    return {} if text == "-" else {parse_square(part): part[2] for part in text.split(",")}


@dataclass(frozen=True)
class Place:
    """Pieces by square, the side to move, each side's chakras, and the variant's flags."""

    pieces: dict[int, str]
    side: str
    chakras: dict[str, Chakras]
    flags: Mapping[str, bool | int | str | None]

    @property
    def own_chakras(self) -> Chakras:
        """The chakras of the side to move."""
        return self.chakras[self.side]

    @property
    def enemy_chakras(self) -> Chakras:
        """The chakras of the side not to move."""
        return self.chakras[find_opponent(self.side)]

    def is_own(self, square: int) -> bool:
        """Return whether a piece of the side to move stands on a square."""
        return square in self.pieces and find_side(self.pieces[square]) == self.side

    def find_king(self, side: str) -> int:
        """Return the square of a side's king."""
        letter = "K" if side == WHITE else "k"
        return next(square for square, piece in self.pieces.items() if piece == letter)

    def find_other_chakra(self, side: str, square: int) -> int | None:
        """Return where a side's other chakra is, None when it has none on `square`."""
        chakras = self.chakras[side]
        return next((s for s in chakras if s != square), None) if square in chakras else None

    def find_chakra_steps(self, origin: int, mode: str) -> list[int]:
        """Return the squares to which a chakra in a mode could move on an empty board."""
        return _find_steps(origin, KNIGHT_STEPS if mode == "n" else KING_STEPS)

    def find_transmitted_end(self, origin: int, square: int) -> int | None:
        """Return where a piece of the side to move that moves onto `square` may be transmitted to.

        None when `square` is no vacant chakra of its side, or the other one holds another piece of
        its side.
        """
        other = self.find_other_chakra(self.side, square)
        if other is None or square in self.pieces:
            return None
        # A piece that stands on the other chakra counts as having left it.
        return other if other == origin or not self.is_own(other) else None

    def find_formal_ends(self, origin: int) -> set[int]:
        """Return where a piece moves or captures, transmission, guard and promotion left aside."""
        letter = self.pieces[origin]
        kind, side = letter.upper(), find_side(letter)
        if kind == "P":
            return set(self._find_pawn_ends(origin, side))
        ends = set()
        if kind == "A" or (kind == "S" and self.flags["samurai"] == "king+knight"):
            ends.update(_find_steps(origin, KNIGHT_STEPS))
        if kind in "KSMC":
            ends.update(_find_steps(origin, KING_STEPS))
        for line in self.find_lines(origin):
            for square in line:
                ends.add(square)
                if square in self.pieces or square in self.chakras[find_opponent(side)]:
                    break
        return {s for s in ends if s not in self.pieces or find_side(self.pieces[s]) != side}

    def find_lines(self, origin: int) -> list[list[int]]:
        """Return the lines along which a piece slides, as squares to the board's edge."""
        letter = self.pieces[origin]
        steps: dict[str, list[Step]] = {"Q": KING_STEPS, "M": BISHOP_STEPS}
        if self.flags["samurai"] == "king+rook":
            steps["S"] = ROOK_STEPS
        if letter.upper() == "C":
            steps["C"] = self._find_courtesan_steps(origin)
        return [_BOARD.walk(origin, step) for step in steps.get(letter.upper(), [])]

    def find_attacker(self, side: str) -> tuple[int, int] | None:
        """Return a piece that attacks a side's king, and the square by which it does.

        That is the king's, or, through the enemy transmitter, that of a vacant chakra.
        """
        opponent = find_opponent(side)
        king = self.find_king(side)
        other = self.find_other_chakra(opponent, king)
        ways = [king] if other is None or other in self.pieces else [king, other]
        for square, letter in self.pieces.items():
            if find_side(letter) == opponent:
                ends = self.find_formal_ends(square)
                for way in ways:
                    if way in ends:
                        return square, way
        return None

    def make_move(self, origin: int, end: int, suffix: str) -> "Place":
        """Return the place after a pseudo-legal move, with the same side to move."""
        letter = self.pieces.get(origin)
        if letter is None:
            moved = dict(self.own_chakras)
            mode = moved.pop(origin)
            moved[end] = _FLIPPED[mode] if suffix else mode
            return replace(self, chakras={**self.chakras, self.side: moved})
        chakras = self.chakras
        if letter.upper() == "K" and end in self.enemy_chakras and end not in self.pieces:
            chakras = {**chakras, find_opponent(self.side): {}}
        if suffix:
            letter = suffix.upper() if self.side == WHITE else suffix
        rest = {square: piece for square, piece in self.pieces.items() if square != origin}
        return replace(self, pieces={**rest, end: letter}, chakras=chakras)

    def _find_pawn_ends(self, origin: int, side: str) -> Iterator[int]:
        forward = 1 if side == WHITE else -1
        for end in _find_steps(origin, [(forward, -1), (forward, 1)]):
            if end in self.pieces and find_side(self.pieces[end]) != side:
                yield end
        step = origin + 8 * forward
        if step not in range(64) or step in self.pieces:
            return
        yield step
        is_on_second = origin // 8 == (1 if side == WHITE else 6)
        may_pass = step not in self.chakras[find_opponent(side)]
        double = step + 8 * forward
        if self.flags["double_step"] and is_on_second and may_pass and double not in self.pieces:
            yield double

    def _find_courtesan_steps(self, origin: int) -> list[Step]:
        """Return both directions of the line on which she sees her king; only pieces hide him."""
        king = "K" if self.pieces[origin].isupper() else "k"
        for step in KING_STEPS:
            seen = (self.pieces[s] for s in _BOARD.walk(origin, step) if s in self.pieces)
            if next(seen, None) == king:
                return [step, (-step[0], -step[1])]
        return []


def find_queen_lines(origin: int) -> list[list[int]]:
    """Return the ranks, files and diagonals from a square, each way to the board's edge."""
    return [_BOARD.walk(origin, step) for step in KING_STEPS]


def _find_steps(origin: int, steps: list[Step]) -> list[int]:
    found = _BOARD.find_steps(origin, steps)
    return [square for square in range(64) if found >> square & 1]
