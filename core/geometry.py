"""Steps, lines, sliding moves and symmetries on boards of up to 8x8: tables and their kernels.

Every board has stride 8: square = 8 * rank + file, also where it is narrower. What a game adds
(its own steps, its hash keys) stands in its `tables.py`, in the same record.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.bind import generic
from core.bits import HAS_PEXT, U7, byte_swap, extract_bits, subtract

SQUARE_COUNT = 64
KING_STEPS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
KNIGHT_STEPS = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]
ROOK_STEPS = [(-1, 0), (0, -1), (0, 1), (1, 0)]
BISHOP_STEPS = [(-1, -1), (-1, 1), (1, -1), (1, 1)]

_BYTE = np.uint64(255)


@dataclass(frozen=True)
class Symmetry:
    """A map of the board onto itself under which a game's rules stand, with sides exchanged or not.

    `squares`: where each square goes; those off the board stay.
    """

    name: str
    squares: tuple[int, ...]
    is_swapping: bool


def build_symmetry(
    name: str, size: int, move: Callable[[int, int], tuple[int, int]], is_swapping: bool
) -> Symmetry:
    """Return a symmetry of a square board; `move` maps a rank and a file, from 0, to others."""
    squares = list(range(SQUARE_COUNT))
    for rank in range(size):
        for file in range(size):
            to_rank, to_file = move(rank, file)
            squares[8 * rank + file] = 8 * to_rank + to_file
    return Symmetry(name, tuple(squares), is_swapping)


def find_symmetry_fields(symmetries: tuple[Symmetry, ...]) -> list[tuple[Any, ...]]:
    """Return the fields of a tables record that `fill_symmetries` writes.

    By symmetry: `image_squares`, where each square goes; `image_swaps`, 1 if sides are exchanged.
    """
    count = len(symmetries)
    squares = ("image_squares", np.uint64, (count, SQUARE_COUNT))
    return [squares, ("image_swaps", np.uint64, (count,))]


def fill_symmetries(tables: Any, symmetries: tuple[Symmetry, ...]) -> None:
    """Write the fields of `find_symmetry_fields` into the record `tables`."""
    for index, symmetry in enumerate(symmetries):
        tables.image_squares[index] = symmetry.squares
        tables.image_swaps[index] = int(symmetry.is_swapping)


def find_fields(width: int, height: int) -> list[tuple[Any, ...]]:
    """Return the fields of a tables record, for a board of this size.

    `*_mask`: the squares whose occupation matters to a slider; `*_base`: where its attacks begin
    in `slides`, one entry for each occupation under the mask. `between[a, b]`: the squares
    strictly between two squares on a line; `line[a, b]`: the whole line through them, ends
    included; both empty where there is none. `rank_slides[file, occupied]`: attacks along a rank.
    """
    board = Board(width, height)
    entries = sum(1 << mask.bit_count() for s in board.squares for mask in board.slider_masks(s))
    single = [
        *("rook_mask", "rook_base", "rook_rays", "bishop_mask", "bishop_base", "bishop_rays"),
        *("king_steps", "knight_steps", "file_line", "rising_line", "falling_line"),
    ]
    fields: list[tuple[Any, ...]] = [(name, np.uint64, (SQUARE_COUNT,)) for name in single]
    fields += [(name, np.uint64, (SQUARE_COUNT, SQUARE_COUNT)) for name in ("between", "line")]
    return [*fields, ("rank_slides", np.uint64, (8, 256)), ("slides", np.uint64, (entries,))]


def fill_tables(tables: Any, width: int, height: int) -> None:
    """Write the fields of `find_fields` into the record `tables`."""
    board = Board(width, height)
    base = 0
    for square in board.squares:
        tables.king_steps[square] = board.find_steps(square, KING_STEPS)
        tables.knight_steps[square] = board.find_steps(square, KNIGHT_STEPS)
        tables.file_line[square] = board.find_slides(square, [(-1, 0), (1, 0)])
        tables.rising_line[square] = board.find_slides(square, [(-1, -1), (1, 1)])
        tables.falling_line[square] = board.find_slides(square, [(-1, 1), (1, -1)])
        tables.rook_rays[square] = board.find_slides(square, ROOK_STEPS)
        tables.bishop_rays[square] = board.find_slides(square, BISHOP_STEPS)
        rook_mask, bishop_mask = board.slider_masks(square)
        for name, mask, steps in (
            ("rook", rook_mask, ROOK_STEPS),
            ("bishop", bishop_mask, BISHOP_STEPS),
        ):
            tables[f"{name}_mask"][square] = mask
            tables[f"{name}_base"][square] = base
            slides = board.find_all_slides(square, mask, steps)
            tables.slides[base : base + len(slides)] = slides
            base += len(slides)
        for other in board.squares:
            between, line = board.find_line(square, other)
            tables.between[square, other] = between
            tables.line[square, other] = line
    for file in range(width):
        mask = (1 << width) - 1
        slides = board.find_all_slides(file, mask, [(0, -1), (0, 1)])
        for occupied in range(256):
            tables.rank_slides[file, occupied] = slides[occupied & mask]


class Board:
    """Plain geometry of a board with `width` files and `height` ranks; bitboards are ints."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.squares = [8 * rank + file for rank in range(height) for file in range(width)]

    def walk(self, square: int, step: tuple[int, int]) -> list[int]:
        """Return the squares from `square` (excluded) to the edge, `step` being (rank, file)."""
        rank, file = divmod(square, 8)
        found = []
        while 0 <= rank + step[0] < self.height and 0 <= file + step[1] < self.width:
            rank, file = rank + step[0], file + step[1]
            found.append(8 * rank + file)
        return found

    def find_steps(self, square: int, steps: list[tuple[int, int]]) -> int:
        """Return the squares one of `steps` away."""
        rank, file = divmod(square, 8)
        ends = [(rank + r, file + f) for r, f in steps]
        return sum(
            1 << (8 * r + f) for r, f in ends if 0 <= r < self.height and 0 <= f < self.width
        )

    def find_slides(self, square: int, steps: list[tuple[int, int]], occupied: int = 0) -> int:
        """Return the squares that a slider reaches, the first occupied one included."""
        return int(self.slide(square, steps, np.array([occupied], dtype=np.uint64))[0])

    def find_all_slides(
        self, square: int, mask: int, steps: list[tuple[int, int]]
    ) -> NDArray[np.uint64]:
        """Return the slides for each occupation under `mask`, in the order of PEXT."""
        under = [s for s in range(SQUARE_COUNT) if mask >> s & 1]
        index = np.arange(1 << len(under), dtype=np.uint64)
        occupied = np.zeros_like(index)
        for place, s in enumerate(under):
            occupied |= (index >> np.uint64(place) & np.uint64(1)) << np.uint64(s)
        return self.slide(square, steps, occupied)

    def slide(
        self, square: int, steps: list[tuple[int, int]], occupied: NDArray[np.uint64]
    ) -> NDArray[np.uint64]:
        """Return the slides for each of many occupations."""
        reached = np.zeros_like(occupied)
        for step in steps:
            free = np.ones(len(occupied), dtype=np.bool_)
            for s in self.walk(square, step):
                reached[free] |= np.uint64(1 << s)
                free &= (occupied >> np.uint64(s) & np.uint64(1)) == 0
        return reached

    def slider_masks(self, square: int) -> tuple[int, int]:
        """Return the squares that matter to a rook and to a bishop: the last of a ray does not."""
        rook, bishop = (
            sum(1 << s for step in steps for s in self.walk(square, step)[:-1])
            for steps in (ROOK_STEPS, BISHOP_STEPS)
        )
        return rook, bishop

    def find_line(self, a: int, b: int) -> tuple[int, int]:
        """Return what lies strictly between two squares, and the whole line through them."""
        for step in KING_STEPS:
            ahead = self.walk(a, step)
            if b in ahead:
                behind = self.walk(a, (-step[0], -step[1]))
                between = sum(1 << s for s in ahead[: ahead.index(b)])
                return between, 1 << a | sum(1 << s for s in ahead + behind)
        return 0, 0


@generic
def rook_slides_pext(T: Any, square: Any, occupied: Any) -> Any:
    """Return what a rook reaches, by one look-up."""
    return T.slides[T.rook_base[square] + extract_bits(occupied, T.rook_mask[square])]


@generic
def bishop_slides_pext(T: Any, square: Any, occupied: Any) -> Any:
    """Return what a bishop reaches, by one look-up."""
    return T.slides[T.bishop_base[square] + extract_bits(occupied, T.bishop_mask[square])]


@generic
def line_slides(line: Any, square: Any, occupied: Any) -> Any:
    """Return what a slider on `square` reaches along a file or diagonal, `line` without its square.

    Subtracting twice the slider's bit flips all up to the first piece; with the ranks in reverse
    order, the other way (o^(o-2r), known as hyperbola quintessence).
    """
    slider = np.uint64(1) << square
    pieces = occupied & line
    up = subtract(pieces, slider << np.uint64(1))
    swapped = byte_swap(slider)
    down = byte_swap(subtract(subtract(byte_swap(pieces), swapped), swapped))
    return (up ^ down) & line


@generic
def rook_slides_portable(T: Any, square: Any, occupied: Any) -> Any:
    """Return what a rook reaches, on any processor."""
    row = square & ~U7
    rank = T.rank_slides[square & U7, (occupied >> row) & _BYTE] << row
    return rank | line_slides(T.file_line[square], square, occupied)


@generic
def bishop_slides_portable(T: Any, square: Any, occupied: Any) -> Any:
    """Return what a bishop reaches, on any processor."""
    rising = line_slides(T.rising_line[square], square, occupied)
    return rising | line_slides(T.falling_line[square], square, occupied)


def choose_sliders(bound: Any) -> tuple[Any, Any]:
    """Return the rook's and the bishop's kernel for this processor."""
    if HAS_PEXT:
        return bound.rook_slides_pext, bound.bishop_slides_pext
    return bound.rook_slides_portable, bound.bishop_slides_portable
