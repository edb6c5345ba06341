"""The symmetries of a game for people and services: images of positions and moves, canonical form.

Legal moves, checks and outcomes follow the symmetries exactly, in every variant. Counters are kept:
where the sides are exchanged, a limit of half-moves such as that of `caissa-codecup`, which no
position meets sooner for it, is a half-move nearer or further.
"""

import numpy as np

from core.games import find_variant, load_game
from core.geometry import Symmetry
from core.notation import format_square, parse_square
from core.position import Position
from core.record import Record, borrow_record

_IMAGE_PLACE = 1


def find_symmetries(variant: str) -> tuple[Symmetry, ...]:
    """Return the symmetries of a variant's game; the first changes nothing."""
    symmetries: tuple[Symmetry, ...] = load_game(find_variant(variant).game).rules.SYMMETRIES
    return symmetries


def find_inverse(variant: str, symmetry: Symmetry) -> Symmetry:
    """Return the symmetry of the same variant that leads back from an image."""
    back = tuple(map(symmetry.squares.index, range(len(symmetry.squares))))
    wanted = back, symmetry.is_swapping
    return next(s for s in find_symmetries(variant) if (s.squares, s.is_swapping) == wanted)


def transform_position(position: Position, symmetry: Symmetry) -> Position:
    """Return the image of a position, without the game that led to it."""
    record, image = _borrow_records(position)
    index = position.game.rules.SYMMETRIES.index(symmetry)
    position.game.entry.find_image(
        record.array, image.array, position.game.rules.TABLES, np.uint64(index)
    )
    return _read_position(position, image)


def transform_move(move: str, symmetry: Symmetry) -> str:
    """Return the image of a move's text, as `legal_moves` gives it."""
    origin, end = (
        format_square(symmetry.squares[parse_square(text)]) for text in (move[:2], move[2:4])
    )
    return origin + end + move[4:]


def find_canonical(position: Position) -> tuple[Position, Symmetry]:
    """Return the canonical image of a position, and the symmetry that leads there.

    It is the image with the least `keys`, and the same for all images of a position; these keys are
    the position's canonical ones. It has the position's counters and no game that led to it.
    """
    record, image = _borrow_records(position)
    rules = position.game.rules
    index = position.game.entry.find_least_image(
        record.array, image.array, rules.TABLES, rules.SYMMETRY_COUNT
    )
    return _read_position(position, image), rules.SYMMETRIES[int(index)]


def _borrow_records(position: Position) -> tuple[Record, Record]:
    """Return a record with the position in it, and one for an image."""
    record = borrow_record(position.game)
    record.write_position(position.snapshot())
    return record, borrow_record(position.game, _IMAGE_PLACE)


def _read_position(position: Position, image: Record) -> Position:
    fen = position.game.rules.format_position(image.array)
    return Position(position.variant.name, fen)
