"""Arrows for a line of moves: their paths, and where their numbers stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

from core.picture.scene import find_move_squares

# In hundredths of a square: half of a shaft, half of a head, a head's length, and how far from the
# middle of its last square an arrow ends and, to the right of its way, runs.
_SHAFT, _HEAD, _LENGTH, _GAP, _ASIDE = 6, 18, 30, 12, 9
_TURN = "m-22-22a31 31 0 1 0 44 0l-9 9v-31h31l-13 13a43 43 0 1 1-62 0z"

Point = tuple[float, float]


@dataclass(frozen=True)
class Arrow:
    """An arrow for the moves of a line that share both squares; `first`: the first one's index.

    `labels`: each move's number, with what a promotion or flip adds to its text.
    """

    origin: int
    end: int
    first: int
    labels: list[str]


def find_arrows(line: Sequence[str]) -> list[Arrow]:
    """Return the arrows of a line, in the order in which they are first played."""
    arrows: dict[tuple[int, int], Arrow] = {}
    for index, move in enumerate(line):
        squares = find_move_squares(move)
        arrow = arrows.setdefault(squares, Arrow(*squares, index, []))
        arrow.labels.append(f"{index + 1}{move[4:]}")
    return list(arrows.values())


def draw_arrow(origin: Point, end: Point) -> tuple[str, Point]:
    """Return the outline of an arrow between two middles of squares, and where its label stands.

    A move that ends where it begins is a turn around its square.
    """
    length = hypot(end[0] - origin[0], end[1] - origin[1])
    if not length:
        return f"M{origin[0]} {origin[1]}{_TURN}", (origin[0], origin[1] + 37)
    along = (end[0] - origin[0]) / length, (end[1] - origin[1]) / length

    def place(forward: float, right: float) -> Point:
        right += _ASIDE
        x = origin[0] + along[0] * forward - along[1] * right
        return x, origin[1] + along[1] * forward + along[0] * right

    tip = length - _GAP
    neck = tip - _LENGTH
    outline = [(0, -_SHAFT), (neck, -_SHAFT), (neck, -_HEAD), (tip, 0)]
    outline += [(forward, -right) for forward, right in outline[2::-1]]
    path = "L".join("{:.0f} {:.0f}".format(*place(*point)) for point in outline)
    return f"M{path}z", place(length * 0.32, 0)
