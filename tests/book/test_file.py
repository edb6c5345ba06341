"""Files of books: whole, or refused with the reason."""

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import gateway.book.file
from gateway.book.book import Addition, BookError, make_header
from gateway.book.file import APPLICATION_ID, SCHEMA_VERSION, BookFile, read_book
from tests.book.books import make_book


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a book."""
    path = tmp_path_factory.mktemp("book") / "whole.book"
    make_book(path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, whole: bytes) -> Path:
    """A book to spoil."""
    path = tmp_path / "a.book"
    path.write_bytes(whole)
    return path


def refuses(path: Path, reason: str, variant: str | None = None) -> None:
    """Reading and opening to write are refused alike, and nothing is made of it."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(BookError, match=reason) as caught:
        read_book(path, variant)
    assert str(caught.value).isprintable()
    if variant is None:
        with pytest.raises(BookError, match=reason):
            BookFile(path)
    assert (path.read_bytes() if path.is_file() else None) == before


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_file_is_read_as_it_was_written(path: Path) -> None:
    with BookFile(path, make_header("caissa")) as file:
        assert read_book(path).copy() == file.book.copy()
        assert read_book(path, "caissa").header == file.book.header == make_header("caissa")


def test_a_file_is_as_it_was_after_an_addition_of_nothing_new(path: Path) -> None:
    with BookFile(path) as file:
        before = file.book.copy()
        file.add(before)
        assert file.book.copy() == before
    assert read_book(path).copy() == before


def test_an_addition_that_does_not_fit_changes_nothing(path: Path) -> None:
    with BookFile(path) as file:
        before = file.book.copy()
        with pytest.raises(BookError):
            file.add(Addition([], {b"x": {"c2d1": b"y"}}))
        assert file.book.copy() == before
    assert read_book(path).copy() == before


# Refused


def test_another_variant(path: Path) -> None:
    refuses(path, "it is a book of caissa, not of chakra", "chakra")
    with pytest.raises(BookError, match="a book of caissa, not of caissa-codecup"):
        BookFile(path, make_header("caissa-codecup"))
    with pytest.raises(BookError, match="it grows from 7/1nqb3"):
        BookFile(path, make_header("caissa", "7/3bqn1/4r2/2R4/7/1NQB3/7 b - 0 1"))


def test_no_book(tmp_path: Path) -> None:
    refuses(tmp_path / "missing.book", "there is no such file")
    refuses(tmp_path, "there is no such file")
    for content, reason in (
        (b"", "it is no book"),
        (b"hello\n" * 1000, "it is damaged or no book"),
    ):
        path = tmp_path / "a.book"
        path.write_bytes(content)
        refuses(path, reason)
    (tmp_path / "b.book").unlink(missing_ok=True)
    execute(tmp_path / "b.book", "CREATE TABLE other (a)")
    refuses(tmp_path / "b.book", "it is no book")


def test_a_newer_schema(path: Path) -> None:
    execute(path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    refuses(path, f"its schema is version {SCHEMA_VERSION + 1}, and {SCHEMA_VERSION} is known here")


def test_other_tables(path: Path) -> None:
    execute(path, "CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM moves; END")
    refuses(path, "its tables are not those of a book")


def test_a_journal_beside_it_is_not_followed(path: Path) -> None:
    Path(f"{path}-journal").write_bytes(b"\xff" * 5000)
    assert len(read_book(path)) >= 100


def test_other_rules(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway.book.file, "RULES_VERSION", "9")
    refuses(path, "it holds for rules 1, and here are 9")


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE positions SET score = score + 1 WHERE number = 7", "it was altered"),
        ("UPDATE positions SET time = 0 WHERE number = 7", "it was altered"),
        ("DELETE FROM moves WHERE child = 7", "it was altered"),
        ("DELETE FROM moves", "it was altered"),
        ("DELETE FROM positions WHERE number = 7", "it was altered"),
        ("DELETE FROM facts WHERE name = 'game'", "its facts are not game, variant"),
        ("UPDATE facts SET value = 'chess' WHERE name = 'variant'", "unknown variant 'chess'"),
        ("UPDATE facts SET value = 'no' WHERE name = 'root'", "its root is no position"),
        ("UPDATE facts SET value = '2' WHERE name = 'engine_version'", "it was altered"),
    ],
)
def test_altered_rows(path: Path, statement: str, reason: str) -> None:
    execute(path, statement)
    refuses(path, reason)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE positions SET key = x'00' WHERE number = 7", "position 7 is not one of a book"),
        ("UPDATE positions SET number = 999 WHERE number = 7", "is not one of a book"),
        ("UPDATE positions SET score = 99999 WHERE number = 7", "evidence of its position 7"),
        ("UPDATE positions SET depth = -1 WHERE number = 7", "evidence of its position 7"),
        ("UPDATE positions SET outcome = 'boredom' WHERE number = 7", "evidence of its position 7"),
        ("UPDATE moves SET child = 99999 WHERE position = 0", "between missing positions"),
        ("UPDATE moves SET position = -position - 1", "between missing positions"),
        ("UPDATE moves SET move = move || 'abcdefgh' WHERE position = 0", "cannot be"),
        (
            "UPDATE facts SET value = '7/3bqn1/4r2/2R4/7/1NQB3/7 b - 0 1' WHERE name = 'root'",
            "altered",
        ),
    ],
)
def test_rows_that_cannot_be_are_refused_whatever_the_checksum(
    path: Path, statement: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever alters a book on purpose can write its checksum too."""
    execute(path, statement)
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = [*connection.execute("SELECT * FROM positions")]
        rows += connection.execute("SELECT * FROM moves")
        rows += connection.execute("SELECT * FROM facts WHERE name != 'checksum'")
        total = gateway.book.file._add_digests(rows) % (1 << 256)
        connection.execute("UPDATE facts SET value = ? WHERE name = 'checksum'", (f"{total:064x}",))
    refuses(path, reason)


def test_truncated_files(path: Path, whole: bytes) -> None:
    """Everywhere: in the header, within pages, between them, and by one byte."""
    ends = {0, 1, 15, 16, 99, 100, 4095, *range(0, len(whole), 4096), len(whole) - 1}
    ends |= {random.Random(1).randrange(len(whole)) for _ in range(40)}
    for end in ends:
        path.write_bytes(whole[:end])
        with pytest.raises(BookError):
            read_book(path)
    path.write_bytes(whole + b"\0")
    refuses(path, "truncated or extended")


def test_a_schema_that_is_no_text(path: Path, whole: bytes) -> None:
    """SQLite tells of it with the bytes themselves."""
    assert b"CREATE TABLE positions" in whole
    path.write_bytes(whole.replace(b"CREATE TABLE positions", b"CREATE \x8aABLE positions"))
    refuses(path, "it is damaged or no book")


def test_an_altered_byte_is_noticed_or_changes_nothing(path: Path, whole: bytes) -> None:
    """Some bytes of a file stand for nothing, such as those between rows."""
    rng = random.Random(1)
    unspoilt = read_book(path).copy()
    refused = 0
    places = [*range(100), *(rng.randrange(len(whole)) for _ in range(150))]
    for place in places:
        spoilt = bytearray(whole)
        spoilt[place] ^= 1 << rng.randrange(8)
        path.write_bytes(spoilt)
        try:
            found = read_book(path).copy()
        except BookError:
            refused += 1
        else:
            assert found == unspoilt
    assert refused > len(places) / 3


# One writer


def test_another_process_that_writes_it(path: Path) -> None:
    hold = (
        "import sys; from pathlib import Path; from gateway.book.file import BookFile\n"
        "with BookFile(Path(sys.argv[1])): print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(BookError, match="another process writes it"):
            BookFile(path)
        assert len(read_book(path)) >= 100
        other.communicate(b"")
    BookFile(path).close()


def test_a_file_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(BookError, match="it cannot be locked: there is no folder"):
        BookFile(tmp_path / "no" / "a.book", make_header("caissa"))


def test_the_file_is_marked(whole: bytes) -> None:
    assert whole[68:72] == APPLICATION_ID.to_bytes(4) == b"TWBK"
