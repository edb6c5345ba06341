"""Text of Chakra: positions and moves, both ways. Everything from outside is checked here."""

import functools
import re
from typing import Any

from core.bits import ALL, U0
from core.board import BLACK_BIT, TYPE_MASK
from core.chakra.layout import (
    FLIP_BIT,
    PROMOTION_SHIFT,
    TYPE_LETTERS,
)
from core.chakra.setup import complete_position
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

FIELDS = ("board", "side", "white-chakras", "black-chakras", "halfmove", "fullmove")
MAX_PIECES = 16

_SIDE_NAMES = ("White", "Black")
_LETTERS = {
    **{letter: code for code, letter in enumerate(TYPE_LETTERS) if code},
    **{letter.lower(): code + int(BLACK_BIT) for code, letter in enumerate(TYPE_LETTERS) if code},
}
_LETTER_TABLE = make_letter_table(_LETTERS)
_PIECES = "".join(_LETTERS)
# Python's own numbers, by side: compared ten times as fast as NumPy's.
_KINGS = (_LETTERS["K"], _LETTERS["k"])
_PAWNS = (_LETTERS["P"], _LETTERS["p"])
_CHAKRA = re.compile(r"([a-h][1-8])([nk])")
_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qsmacf]?")

# A chakra as parsed: square and mode, 1 for king.
Chakra = tuple[int, int]


def parse_position(R: Any, TR: Any, variant: Variant, fen: str) -> None:
    """Write a position into R, whatever was there, or raise PositionError with every fault."""
    faults: list[str] = []
    board, side_text, white, black, halfmove, fullmove = split_fields(fen, FIELDS, faults)
    cells = {s: _LETTERS[c] for s, c in parse_ranks(board, 8, 8, _PIECES, faults).items()}
    side = parse_side(side_text, faults)
    counters = parse_counters(halfmove, fullmove, faults)
    chakras = [_parse_chakras(text, name, faults) for text, name in ((white, 0), (black, 1))]
    shared = {s for s, _ in chakras[0]} & {s for s, _ in chakras[1]}
    faults += [f"two chakras on {format_square(s)}" for s in sorted(shared)]
    _check_pieces(cells, faults)
    _write_fields(R, variant, cells, side, chakras, counters)
    if complete_position(R, TR) and not shared:
        faults.append(f"{_SIDE_NAMES[1 - side]}, not to move, is in check")
    if faults:
        raise PositionError(faults)


def _parse_chakras(text: str, side: int, faults: list[str]) -> list[Chakra]:
    """Return no chakra or two."""
    if text in ("-", ""):
        return []
    found = []
    for part in text.split(","):
        match = _CHAKRA.fullmatch(part)
        if match:
            found.append((parse_square(match[1]), int(match[2] == "k")))
        else:
            faults.append(
                f"{_SIDE_NAMES[side]}'s chakra {escape_text(part)!r} is not a square with n or k"
            )
    if len(text.split(",")) != 2:
        faults.append(f"{_SIDE_NAMES[side]} has {len(text.split(','))} chakras instead of 0 or 2")
        return []
    if len(found) == 2 and found[0][0] == found[1][0]:
        faults.append(f"two chakras on {format_square(found[0][0])}")
    return found if len(dict(found)) == 2 else []


def _check_pieces(cells: dict[int, int], faults: list[str]) -> None:
    """Append the faults of the pieces."""
    codes = list(cells.values())
    for side, name in enumerate(_SIDE_NAMES):
        kings = codes.count(_KINGS[side])
        if kings != 1:
            faults.append(f"{name} has {kings} kings instead of 1")
        pieces = len([code for code in codes if code >> 3 == side])
        if pieces > MAX_PIECES:
            faults.append(f"{name} has {pieces} pieces, more than {MAX_PIECES}")
        last_rank = range(8) if side else range(56, 64)
        stuck = [s for s in last_rank if cells.get(s) == _PAWNS[side]]
        faults += [f"{name} has a pawn on its last rank ({format_square(s)})" for s in stuck]


def _write_fields(
    R: Any,
    variant: Variant,
    cells: dict[int, int],
    side: int,
    chakras: list[list[Chakra]],
    counters: tuple[int, int],
) -> None:
    flags = variant.flags
    R["samurai_jumps"] = ALL if flags["samurai"] == "king+knight" else U0
    R["double_step"] = ALL if flags["double_step"] else U0
    R["compulsory"] = ALL if flags["transmission"] == "compulsory" else U0
    R["guard"] = ALL if flags["guard"] else U0
    R["board"] = fill_board(cells)
    R["chakras"] = [sum(1 << square for square, _ in pair) for pair in chakras]
    R["king_mode"] = sum(mode << square for pair in chakras for square, mode in pair)
    R["side"] = side
    R["halfmove"], R["fullmove"] = counters


def format_position(R: Any) -> str:
    """Return the canonical text of the position in R, an array of one record."""
    letters = R["board"][0].tobytes().translate(_LETTER_TABLE).decode()
    king_mode = int(R["king_mode"][0])
    chakras = [_format_chakras(pair, king_mode) for pair in R["chakras"][0].tolist()]
    board = format_ranks(letters, 8, 8)
    side = "wb"[R["side"][0]]
    return f"{board} {side} {' '.join(chakras)} {R['halfmove'][0]} {R['fullmove'][0]}"


def _format_chakras(pair: int, king_mode: int) -> str:
    texts = [format_square(s) + "nk"[king_mode >> s & 1] for s in list_squares(pair)]
    return ",".join(texts) or "-"


@functools.cache  # asked for all moves of each position that a move is played in; 2**16 at most
def format_move(move: int) -> str:
    """Return the text of a packed move."""
    text = format_square(move & 63) + format_square(move >> 6 & 63)
    promotion = move >> int(PROMOTION_SHIFT) & int(TYPE_MASK)
    if promotion:
        return text + TYPE_LETTERS[promotion].lower()
    return text + "f" if move & int(FLIP_BIT) else text


def normalise_move(text: str) -> str:
    """Return a move's text as `format_move` writes it, or raise MoveError."""
    if not _MOVE.fullmatch(text):
        raise MoveError(text, "not two squares, such as e2e3, with a promotion (q s m a c) or f")
    return text
