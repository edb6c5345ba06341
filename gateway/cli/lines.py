"""Lines of positions from a file or standard input."""

from collections.abc import Iterator
from typing import BinaryIO


def read_lines(file: BinaryIO) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the text of each line that is not blank, as it comes.

    Bytes that are not UTF-8 become escapes, which no position allows.
    """
    for number, line in enumerate(file, 1):
        encoding = "utf-8-sig" if number == 1 else "utf-8"
        text = line.decode(encoding, "backslashreplace").strip()
        if text:
            yield number, text


def split_line(text: str) -> tuple[str, list[str]]:
    """Return the position of a line, and the moves after the word ` moves `."""
    fen, _, moves = text.partition(" moves ")
    return fen, moves.split()
