"""Writing a game in the form of PGN."""

from collections.abc import Iterator

from core.records.comments import format_comment
from core.records.game import GameRecord

MAX_WIDTH = 80
"""Characters of a line of moves."""


def format_pgn(record: GameRecord) -> str:
    """Return a game as text that ends with a blank line; controls in tags become blanks."""
    white, black = record.players
    tags = {"Variant": record.variant, "White": white, "Black": black}
    tags |= {"FEN": record.fen} if record.fen else {}
    tags |= {"Result": record.result} | record.tags
    lines = [f'[{name} "{_escape(value)}"]' for name, value in tags.items()]
    return "\n".join([*lines, "", *_wrap(_list_words(record)), "", ""])


def _escape(text: str) -> str:
    shown = "".join(c if c.isprintable() else " " for c in text)
    return shown.replace("\\", "\\\\").replace('"', '\\"')


def _list_words(record: GameRecord) -> Iterator[str]:
    """Yield moves, with the number where White moves or a comment came between, and the result."""
    ply = _find_first_ply(record.fen)
    is_number_due = True
    for move in record.moves:
        if ply % 2 == 0:
            yield f"{ply // 2 + 1}."
        elif is_number_due:
            yield f"{ply // 2 + 1}..."
        yield move.text
        comment = format_comment(move)
        if comment:
            yield comment
        is_number_due = bool(comment)
        ply += 1
    yield record.result


def _find_first_ply(fen: str) -> int:
    """Return the half-moves before a position by its counters; 0 where it has none."""
    fields = fen.split()
    if len(fields) < 2 or not (fields[-1].isascii() and fields[-1].isdecimal()):
        return 0
    return 2 * (max(int(fields[-1][:4]), 1) - 1) + (fields[1] == "b")


def _wrap(words: Iterator[str]) -> Iterator[str]:
    line = next(words)
    for word in words:
        if len(line) + 1 + len(word) > MAX_WIDTH:
            yield line
            line = word
        else:
            line += f" {word}"
    yield line
