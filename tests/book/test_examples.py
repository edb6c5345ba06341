"""The books that are shipped are whole, right, and of today's rules."""

from pathlib import Path

import pytest

from core.position import Position
from gateway.book.choice import BookChooser
from gateway.book.file import read_book
from gateway.book.tools import find_faults

BOOKS = sorted((Path(__file__).parents[2] / "examples/books").glob("*.book"))


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_shipped_book(path: Path) -> None:
    book = read_book(path, path.stem)
    assert len(book) > 4_000
    assert list(find_faults(book)) == []
    assert BookChooser(book, None).choose(Position(path.stem))
    assert {entry.evidence.nodes for entry in book.entries} <= set(range(20_001))


def test_there_is_one_of_each_game() -> None:
    assert [path.stem for path in BOOKS] == ["caissa", "chakra"]
