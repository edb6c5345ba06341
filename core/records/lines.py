"""Numbered lines of a file that need not be text, and whose lines need not end."""

from collections.abc import Iterator
from typing import BinaryIO

MAX_LINE_LENGTH = 1 << 20
"""Bytes."""
# What stands for a longer line: no line that is read is so.
TOO_LONG = "\n"

NumberedLine = tuple[int, str]


def read_numbered(file: BinaryIO) -> Iterator[NumberedLine]:
    """Yield the number, from 1, and the text of each line, without its end.

    Bytes that are not UTF-8 become escapes; of a line longer than MAX_LINE_LENGTH comes TOO_LONG.
    """
    number = 0
    while line := file.readline(MAX_LINE_LENGTH + 1):
        number += 1
        if len(line) > MAX_LINE_LENGTH and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE_LENGTH)
            yield number, TOO_LONG
            continue
        encoding = "utf-8-sig" if number == 1 else "utf-8"
        yield number, line.decode(encoding, "backslashreplace").rstrip("\r\n")
