"""A book as one game with variations, in the form of PGN."""

from collections.abc import Iterator

from core.position import STARTPOS, Position
from core.records.game import UNFINISHED
from gateway.book.book import Book, ProbedMove
from gateway.book.positions import find_book_position
from gateway.book.values import unpack_value

WIDTH = 80


def find_start(book: Book) -> Position:
    """Return the book's root: as the variant's start, if it is that, else as the book has it."""
    start = Position(book.header.variant, STARTPOS)
    if find_book_position(start) == book.header.root:
        return start
    return Position(book.header.variant, book.header.root.fen)


def format_tree(book: Book) -> Iterator[str]:
    """Yield the lines of a game: best moves, the other expanded ones as variations.

    Each expanded position is written once; `transposition` stands where it comes again.
    """
    start = find_start(book)
    yield f'[Variant "{book.header.variant}"]'
    if start.fen() != start.variant.startpos:
        yield f'[FEN "{start.fen()}"]'
    yield f'[Result "{UNFINISHED}"]'
    yield ""
    line = ""
    for word in [*_list_words(book, start, set()), UNFINISHED]:
        if line and len(line) + 1 + len(word) > WIDTH:
            yield line
            line = ""
        line = f"{line} {word}" if line else word
    yield line
    yield ""


def _list_words(book: Book, position: Position, seen: set[bytes]) -> Iterator[str]:
    """Yield the words of the best line from a position, which is moved, and its variations."""
    while (probe := book.probe(position)) and probe.moves:
        key = find_book_position(position).key
        if key in seen:
            yield "{transposition}"
            return
        seen.add(key)
        best, *others = probe.moves
        yield from _format_move(position, best)
        for other in others:
            if other.is_expanded:
                yield "("
                yield from _format_move(position, other)
                branch = position.copy()
                branch.push(other.move)
                yield from _list_words(book, branch, seen)
                yield ")"
        position.push(best.move)


def _format_move(position: Position, move: ProbedMove) -> Iterator[str]:
    *_, number = position.fen().split()
    is_black = position.fen().split()[1] == "b"
    yield f"{number}..." if is_black else f"{number}."
    yield move.move
    yield f"{{{unpack_value(move.value)}}}"
