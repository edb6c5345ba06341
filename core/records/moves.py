"""Moves as records and contests write them: a dash after the square that is left, or none."""

import re

from core.notation import escape_text

_CODECUP_MOVE = re.compile(r"([a-h][1-8])-([a-h][1-8][a-z]?)", re.ASCII | re.IGNORECASE)
_MOVE = re.compile(r"([a-h][1-8])-?([a-h][1-8][a-z]?)[+#]?", re.ASCII | re.IGNORECASE)


def format_codecup(move: str) -> str:
    """Return a move in the CodeCup protocol's form: `b2-c4`, `a2-b4f`."""
    return f"{move[:2]}-{move[2:]}"


def parse_codecup(text: str) -> str:
    """Return the move that a text of the protocol stands for; ValueError if it is none."""
    match = _CODECUP_MOVE.fullmatch(text)
    if match is None:
        raise ValueError(f"{escape_text(text)!r} is not a move such as b2-c4 or a2-b4f")
    return (match[1] + match[2]).lower()


def parse_move(text: str) -> str | None:
    """Return a move without dash and marks of check, in lower case; None if the text is none."""
    match = _MOVE.fullmatch(text)
    return (match[1] + match[2]).lower() if match else None
