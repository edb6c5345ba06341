"""Text of Caissa: positions and moves, both ways. Everything from outside is checked here."""

import functools
import re
from typing import Any

from core.board import BLACK_BIT, TYPE_MASK
from core.caissa.layout import BOARD, KO_BIT, QUEEN, TYPE_LETTERS, WIDTH
from core.caissa.setup import complete_position
from core.notation import (
    MoveError,
    PositionError,
    escape_text,
    fill_board,
    format_ranks,
    format_square,
    list_squares,
    make_letter_table,
    parse_counters,
    parse_ranks,
    parse_side,
    parse_square,
    split_fields,
)
from core.variant import Variant

FIELDS = ("board", "side", "ko", "halfmove", "fullmove")

_SIDE_NAMES = ("White", "Black")
_TYPE_NAMES = {"Q": "queens", "R": "rooks", "N": "knights", "B": "bishops"}
_HOLE = "*"
_LETTERS = {
    **{letter: code for code, letter in enumerate(TYPE_LETTERS) if code},
    **{letter.lower(): code + int(BLACK_BIT) for code, letter in enumerate(TYPE_LETTERS) if code},
}
_BOARD_LETTERS = "".join(_LETTERS) + _HOLE
_LETTER_TABLE = make_letter_table(_LETTERS)
_KO = re.compile(r"([a-g][1-7])([a-g][1-7])")
# The contest wrote a dash between the squares, in either case.
_MOVE = re.compile(r"([a-g][1-7])-?([a-g][1-7])", re.IGNORECASE | re.ASCII)


def parse_position(R: Any, TR: Any, variant: Variant, fen: str) -> None:
    """Write a position into R, whatever was there, or raise PositionError with every fault."""
    faults: list[str] = []
    board, side_text, ko_text, halfmove, fullmove = split_fields(fen, FIELDS, faults)
    letters = parse_ranks(board, WIDTH, WIDTH, _BOARD_LETTERS, faults)
    cells = {s: _LETTERS[c] for s, c in letters.items() if c != _HOLE}
    holes = sum(1 << s for s, c in letters.items() if c == _HOLE)
    side = parse_side(side_text, faults)
    counters = parse_counters(halfmove, fullmove, faults)
    ko = _parse_ko(ko_text, faults)
    _check_pieces(cells, faults)

    R["ply_limit"] = variant.flags["ply_limit"] or 0
    R["board"] = fill_board(cells)
    R["tiles"] = int(BOARD) & ~holes
    R["ko"] = ko
    R["side"] = side
    R["halfmove"], R["fullmove"] = counters
    is_torn, is_in_sight, is_check, is_ko_in_reach = complete_position(R, TR)

    if is_torn:
        faults.append("the tiles are not connected")
    if is_in_sight:
        faults.append("the queens see each other")
    if is_check:
        faults.append(f"{_SIDE_NAMES[1 - side]}, not to move, is in check")
    if ko:
        _check_ko(ko, ko_text, cells, side, is_ko_in_reach, faults)
    if faults:
        raise PositionError(faults)


def _parse_ko(text: str, faults: list[str]) -> int:
    match = _KO.fullmatch(text)
    if match:
        return parse_square(match[1]) | parse_square(match[2]) << 6 | int(KO_BIT)
    if text not in ("-", ""):
        faults.append(f"ko move {escape_text(text)!r} is neither two squares, such as d4d6, nor -")
    return 0


def _check_pieces(cells: dict[int, int], faults: list[str]) -> None:
    """Append the faults of the pieces."""
    codes = list(cells.values())
    for side, name in enumerate(_SIDE_NAMES):
        for letter, type_name in _TYPE_NAMES.items():
            count = codes.count(_LETTERS[letter.lower() if side else letter])
            if letter == "Q" and count != 1:
                faults.append(f"{name} has {count} queens instead of 1")
            elif letter != "Q" and count > 1:
                faults.append(f"{name} has {count} {type_name}, more than 1")


def _check_ko(
    ko: int, text: str, cells: dict[int, int], side: int, is_in_reach: bool, faults: list[str]
) -> None:
    """Append a fault unless the ko move is an exchange of a kind that can be ko."""
    origin, end = ko & 63, ko >> 6 & 63
    piece = cells.get(origin, 0)
    if not piece or piece >> 3 != side:
        faults.append(
            f"ko move {text}: no piece of the side to move stands on {format_square(origin)}"
        )
        return
    if cells.get(end) != piece ^ int(BLACK_BIT) or piece & int(TYPE_MASK) == QUEEN:
        faults.append(
            f"ko move {text}: {format_square(end)} does not hold the enemy piece of the same type"
        )
        return
    if not is_in_reach:
        faults.append(f"ko move {text}: the exchange is not possible now")


def format_position(R: Any) -> str:
    """Return the canonical text of the position in R, an array of one record."""
    tiles, ko = int(R["tiles"][0]), int(R["ko"][0])
    letters = list(R["board"][0].tobytes().translate(_LETTER_TABLE).decode())
    for square in list_squares(int(BOARD) & ~tiles):
        letters[square] = _HOLE
    board = format_ranks("".join(letters), WIDTH, WIDTH)
    side = "wb"[R["side"][0]]
    ko_text = format_move(ko & ~int(KO_BIT)) if ko else "-"
    return f"{board} {side} {ko_text} {R['halfmove'][0]} {R['fullmove'][0]}"


@functools.cache  # asked for all moves of each position that a move is played in; 2**16 at most
def format_move(move: int) -> str:
    """Return the text of a packed move."""
    return format_square(move & 63) + format_square(move >> 6 & 63)


def normalise_move(text: str) -> str:
    """Return a move's text as `format_move` writes it, or raise MoveError."""
    match = _MOVE.fullmatch(text)
    if not match:
        raise MoveError(text, "not two squares, such as c3c5 or c3-c5")
    return (match[1] + match[2]).lower()
