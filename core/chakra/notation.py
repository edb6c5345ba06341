"""Text of Chakra: positions and moves, both ways. Everything from outside is checked here."""

import re
from typing import Any

import numpy as np

from core.bits import ALL, U0, U1
from core.board import BLACK_BIT, TYPE_MASK
from core.chakra.attacks import is_king_attacked
from core.chakra.layout import (
    FLIP_BIT,
    KING,
    PAWN,
    PROMOTION_SHIFT,
    TYPE_LETTERS,
)
from core.chakra.moves import toggle_chakra, toggle_piece
from core.chakra.position import compute_key
from core.notation import (
    MoveError,
    PositionError,
    escape_text,
    format_ranks,
    format_square,
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
_CODES = {code: letter for letter, code in _LETTERS.items()}
_CHAKRA = re.compile(r"([a-h][1-8])([nk])")
_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qsmacf]?")

# A chakra as parsed: square and mode, 1 for king.
Chakra = tuple[int, int]


def parse_position(S: Any, T: Any, variant: Variant, fen: str) -> None:
    """Write a position into a zeroed S, or raise PositionError with every fault."""
    faults: list[str] = []
    board, side_text, white, black, halfmove, fullmove = split_fields(fen, FIELDS, faults)
    cells = {s: _LETTERS[c] for s, c in parse_ranks(board, 8, 8, "".join(_LETTERS), faults).items()}
    side = parse_side(side_text, faults)
    counters = parse_counters(halfmove, fullmove, faults)
    chakras = [_parse_chakras(text, name, faults) for text, name in ((white, 0), (black, 1))]
    shared = {s for s, _ in chakras[0]} & {s for s, _ in chakras[1]}
    faults += [f"two chakras on {format_square(s)}" for s in sorted(shared)]
    has_kings = _check_pieces(cells, faults)
    _write_position(S, T, variant, cells, side, chakras, counters)
    if has_kings and not shared and is_king_attacked(S, T, np.uint64(1 - side)):
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


def _check_pieces(cells: dict[int, int], faults: list[str]) -> bool:
    """Append the faults of the pieces; return whether each side has its king."""
    has_kings = True
    for side, name in enumerate(_SIDE_NAMES):
        own = {s: c & int(TYPE_MASK) for s, c in cells.items() if c >> 3 == side}
        kings = sum(piece == KING for piece in own.values())
        if kings != 1:
            faults.append(f"{name} has {kings} kings instead of 1")
            has_kings = False
        if len(own) > MAX_PIECES:
            faults.append(f"{name} has {len(own)} pieces, more than {MAX_PIECES}")
        last = 0 if side else 7
        stuck = sorted(s for s, piece in own.items() if piece == PAWN and s // 8 == last)
        faults += [f"{name} has a pawn on its last rank ({format_square(s)})" for s in stuck]
    return has_kings


def _write_position(
    S: Any,
    T: Any,
    variant: Variant,
    cells: dict[int, int],
    side: int,
    chakras: list[list[Chakra]],
    counters: tuple[int, int],
) -> None:
    flags = variant.flags
    S.samurai_jumps = ALL if flags["samurai"] == "king+knight" else U0
    S.double_step = ALL if flags["double_step"] else U0
    S.compulsory = ALL if flags["transmission"] == "compulsory" else U0
    S.guard = ALL if flags["guard"] else U0
    for square, code in cells.items():
        toggle_piece(S, T, np.uint64(code), np.uint64(square))
        S.board[square] = code
    for owner, pair in enumerate(chakras):
        for square, mode in pair:
            toggle_chakra(S, T, np.uint64(owner), np.uint64(mode), np.uint64(square))
    S.side = side
    S.halfmove, S.fullmove = counters
    S.key = compute_key(S, T, U0)
    S.key2 = compute_key(S, T, U1)


def format_position(S: Any) -> str:
    """Return the canonical text of the position in S."""
    cells = {s: _CODES[int(code)] for s, code in enumerate(S.board) if code}
    chakras = [_format_chakras(int(pair), int(S.king_mode)) for pair in S.chakras]
    side = "wb"[int(S.side)]
    board = format_ranks(cells, 8, 8)
    return " ".join([board, side, *chakras, str(int(S.halfmove)), str(int(S.fullmove))])


def _format_chakras(pair: int, king_mode: int) -> str:
    squares = [s for s in range(64) if pair >> s & 1]
    return ",".join(format_square(s) + "nk"[king_mode >> s & 1] for s in squares) or "-"


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
