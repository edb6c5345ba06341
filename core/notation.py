"""What all notations share: errors, fields, counters, and safe echoes of foreign text.

NotationError
    PositionError   a position's text is refused, with every fault
    MoveError       a move's text is refused
    UnknownVariant  no variant has that name
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# The longest valid position takes some 130 characters.
MAX_FEN_LENGTH = 256
# What an echo of foreign text may be long.
MAX_ECHO_LENGTH = 200
MAX_HALFMOVE = 9999
MAX_FULLMOVE = 9999

_COUNTER = re.compile(r"[0-9]{1,4}", re.ASCII)


class NotationError(ValueError):
    """Text from outside that is refused."""


class PositionError(NotationError):
    """A position is refused; `faults` names each reason, one sentence each."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = list(faults)


class MoveError(NotationError):
    """A move is refused; `move` is its text, escaped."""

    def __init__(self, move: str, reason: str) -> None:
        self.move = escape_text(move)
        super().__init__(f"move {self.move!r}: {reason}")


class UnknownVariant(NotationError):
    """No variant has this name; `name` is the text, escaped."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = escape_text(name)
        super().__init__(f"unknown variant {self.name!r}: known are {', '.join(known)}")


def escape_text(text: str, limit: int = MAX_ECHO_LENGTH) -> str:
    """Return text fit to be shown: controls and what cannot be printed escaped, cut at `limit`."""
    shown = "".join(c if c.isprintable() else _escape(c) for c in text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def split_fields(fen: str, names: Sequence[str], faults: list[str]) -> list[str]:
    """Return the fields of a position, empty where missing; append to `faults` what is wrong.

    One or more blanks stand between fields; any other white space is part of a field, where it
    is refused.
    """
    if len(fen) > MAX_FEN_LENGTH:
        raise PositionError([f"the position has {len(fen)} characters, more than {MAX_FEN_LENGTH}"])
    fields = [field for field in fen.split(" ") if field]
    if len(fields) != len(names):
        faults.append(
            f"{len(names)} fields are required ({' '.join(names)}), but {len(fields)} given"
        )
    fields = fields[: len(names)]
    return fields + [""] * (len(names) - len(fields))


def parse_side(text: str, faults: list[str]) -> int:
    """Return 0 for w, 1 for b."""
    if text not in ("w", "b"):
        if text:
            faults.append(f"side to move {escape_text(text)!r} is neither w nor b")
        return 0
    return "wb".index(text)


def parse_counter(text: str, name: str, low: int, high: int, faults: list[str]) -> int:
    """Return a decimal counter between `low` and `high`, or `low` with a fault."""
    if _COUNTER.fullmatch(text) and low <= int(text) <= high:
        return int(text)
    if text:
        faults.append(f"{name} {escape_text(text)!r} is not a number from {low} to {high}")
    return low


def parse_counters(halfmove: str, fullmove: str, faults: list[str]) -> tuple[int, int]:
    """Return the half-move clock and the full-move number."""
    return (
        parse_counter(halfmove, "half-move clock", 0, MAX_HALFMOVE, faults),
        parse_counter(fullmove, "full-move number", 1, MAX_FULLMOVE, faults),
    )


def parse_ranks(
    text: str, width: int, height: int, pieces: str, faults: list[str]
) -> dict[int, str]:
    """Return the letters of a board by square (8 * rank + file), from the highest rank down.

    `pieces`: every character that fills a square by itself; digits up to `width` count squares
    that are left out.
    """
    found: dict[int, str] = {}
    if not text:
        return found
    blanks = "12345678"[:width]
    ranks = text.split("/")
    if len(ranks) != height:
        faults.append(f"the board has {len(ranks)} ranks instead of {height}")
    for rank, row in zip(range(height - 1, -1, -1), ranks, strict=False):
        file = 0
        for character in row:
            if character in pieces:
                if file < width:
                    found[8 * rank + file] = character
                file += 1
            elif character in blanks:
                file += int(character)
            else:
                faults.append(f"rank {rank + 1} has an unknown character {_show(character)}")
                file += 1
        if file != width:
            faults.append(f"rank {rank + 1} has {file} squares instead of {width}")
    return found


def _show(character: str) -> str:
    return f"'{escape_text(character)}'"


def fill_board(cells: dict[int, int]) -> NDArray[np.uint8]:
    """Return the mailbox of a state record with these pieces."""
    board = bytearray(64)
    for square, piece in cells.items():
        board[square] = piece
    return np.frombuffer(board, dtype=np.uint8)


def format_ranks(letters: str, width: int, height: int) -> str:
    """Return the board text of `parse_ranks`.

    `letters`: of each of the 64 squares, `.` where it is left out, to be counted in digits.
    """
    text = "/".join([letters[8 * rank : 8 * rank + width] for rank in range(height - 1, -1, -1)])
    for count in range(width, 0, -1):
        text = text.replace("." * count, str(count))
    return text


def make_letter_table(letters: dict[str, int]) -> bytes:
    """Return the table by which `bytes.translate` turns a mailbox into letters, `.` where empty."""
    table = bytearray(b"." * 256)
    for letter, code in letters.items():
        table[code] = ord(letter)
    return bytes(table)


def list_squares(bits: int) -> list[int]:
    """Return the squares of a bitboard, in order."""
    squares = []
    while bits:
        squares.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return squares


def format_square(square: int) -> str:
    """Return the name of a square: file letter and rank."""
    return f"{chr(ord('a') + square % 8)}{square // 8 + 1}"


def parse_square(text: str) -> int:
    """Return the square of a name made of a letter a to h and a digit 1 to 8."""
    return 8 * (int(text[1]) - 1) + ord(text[0]) - ord("a")
