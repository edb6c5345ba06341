"""Text of Caissa: positions and moves, both ways. Everything from outside is checked here."""

import re
from typing import Any

import numpy as np

from core.bits import U0, U1
from core.board import BLACK_BIT, TYPE_MASK
from core.caissa.attacks import are_queens_in_sight, is_connected, is_queen_attacked
from core.caissa.layout import BOARD, KO_BIT, QUEEN, TYPE_LETTERS, WIDTH
from core.caissa.movegen import find_slides
from core.caissa.moves import toggle_piece
from core.caissa.position import compute_key
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

FIELDS = ("board", "side", "ko", "halfmove", "fullmove")

_SIDE_NAMES = ("White", "Black")
_TYPE_NAMES = {1: "queens", 2: "rooks", 3: "knights", 4: "bishops"}
_HOLE = "*"
_LETTERS = {
    **{letter: code for code, letter in enumerate(TYPE_LETTERS) if code},
    **{letter.lower(): code + int(BLACK_BIT) for code, letter in enumerate(TYPE_LETTERS) if code},
}
_CODES = {code: letter for letter, code in _LETTERS.items()}
_KO = re.compile(r"([a-g][1-7])([a-g][1-7])")
# The contest wrote a dash between the squares, in either case.
_MOVE = re.compile(r"([a-g][1-7])-?([a-g][1-7])", re.IGNORECASE | re.ASCII)


def parse_position(S: Any, T: Any, variant: Variant, fen: str) -> None:
    """Write a position into a zeroed S, or raise PositionError with every fault."""
    faults: list[str] = []
    board, side_text, ko_text, halfmove, fullmove = split_fields(fen, FIELDS, faults)
    letters = parse_ranks(board, WIDTH, WIDTH, "".join(_LETTERS) + _HOLE, faults)
    cells = {s: _LETTERS[c] for s, c in letters.items() if c != _HOLE}
    holes = sum(1 << s for s, c in letters.items() if c == _HOLE)
    side = parse_side(side_text, faults)
    counters = parse_counters(halfmove, fullmove, faults)
    ko = _parse_ko(ko_text, faults)
    has_queens = _check_pieces(cells, faults)

    S.ply_limit = variant.flags["ply_limit"] or 0
    for square, code in cells.items():
        toggle_piece(S, T, np.uint64(code), np.uint64(square))
        S.board[square] = code
    S.side = side
    S.halfmove, S.fullmove = counters
    S.tiles = int(BOARD) & ~holes
    S.ko = ko
    S.key = compute_key(S, T, U0)
    S.key2 = compute_key(S, T, U1)

    if S.tiles and not is_connected(S.tiles):
        faults.append("the tiles are not connected")
    if has_queens:
        if are_queens_in_sight(S, T):
            faults.append("the queens see each other")
        if is_queen_attacked(S, T, np.uint64(1 - side)):
            faults.append(f"{_SIDE_NAMES[1 - side]}, not to move, is in check")
    if ko:
        _check_ko(S, T, ko_text, faults)
    if faults:
        raise PositionError(faults)


def _parse_ko(text: str, faults: list[str]) -> int:
    match = _KO.fullmatch(text)
    if match:
        return parse_square(match[1]) | parse_square(match[2]) << 6 | int(KO_BIT)
    if text not in ("-", ""):
        faults.append(f"ko move {escape_text(text)!r} is neither two squares, such as d4d6, nor -")
    return 0


def _check_pieces(cells: dict[int, int], faults: list[str]) -> bool:
    """Append the faults of the pieces; return whether each side has its queen."""
    has_queens = True
    for side, name in enumerate(_SIDE_NAMES):
        own = [code & int(TYPE_MASK) for code in cells.values() if code >> 3 == side]
        if own.count(int(QUEEN)) != 1:
            faults.append(f"{name} has {own.count(int(QUEEN))} queens instead of 1")
            has_queens = False
        for piece_type, type_name in _TYPE_NAMES.items():
            if piece_type != QUEEN and own.count(piece_type) > 1:
                faults.append(f"{name} has {own.count(piece_type)} {type_name}, more than 1")
    return has_queens


def _check_ko(S: Any, T: Any, text: str, faults: list[str]) -> None:
    """Append a fault unless the ko move of S is an exchange of a kind that can be ko."""
    origin, end = int(S.ko) & 63, int(S.ko) >> 6 & 63
    piece, target = int(S.board[origin]), int(S.board[end])
    if not piece or piece >> 3 != int(S.side):
        faults.append(
            f"ko move {text}: no piece of the side to move stands on {format_square(origin)}"
        )
        return
    piece_type = piece & int(TYPE_MASK)
    if target != piece ^ int(BLACK_BIT) or piece_type == QUEEN:
        faults.append(
            f"ko move {text}: {format_square(end)} does not hold the enemy piece of the same type"
        )
        return
    occupied = S.by_side[0] | S.by_side[1]
    reached = find_slides(T, np.uint64(piece_type), np.uint64(origin), occupied)
    if not int(reached) >> end & 1:
        faults.append(f"ko move {text}: the exchange is not possible now")


def format_position(S: Any) -> str:
    """Return the canonical text of the position in S."""
    holes = {s: _HOLE for s in range(64) if not int(S.tiles) >> s & 1}
    cells = holes | {s: _CODES[int(code)] for s, code in enumerate(S.board) if code}
    ko = format_move(int(S.ko) & ~int(KO_BIT)) if S.ko else "-"
    board = format_ranks(cells, WIDTH, WIDTH)
    return f"{board} {'wb'[int(S.side)]} {ko} {int(S.halfmove)} {int(S.fullmove)}"


def format_move(move: int) -> str:
    """Return the text of a packed move."""
    return format_square(move & 63) + format_square(move >> 6 & 63)


def normalise_move(text: str) -> str:
    """Return a move's text as `format_move` writes it, or raise MoveError."""
    match = _MOVE.fullmatch(text)
    if not match:
        raise MoveError(text, "not two squares, such as c3c5 or c3-c5")
    return (match[1] + match[2]).lower()
