"""The file of a book: one SQLite database, which one process at a time may write.

The schema is documented in docs/book.md. Whatever is wrong with a file is found when it is opened.
"""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from filelock import FileLock, Timeout

from core.games import VARIANTS
from core.notation import NotationError, escape_text
from core.position import Position
from core.score import MATE
from core.version import ENGINE_VERSION, RULES_VERSION
from gateway.book.book import Addition, Book, BookError, Entry, Evidence, Header
from gateway.book.positions import BookPosition, find_book_position

SUFFIX = ".book"
APPLICATION_ID = 0x54_57_42_4B
"""`TWBK`, in the file's header."""
SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE positions (
    number INTEGER PRIMARY KEY, key BLOB NOT NULL, fen TEXT NOT NULL, score INTEGER NOT NULL,
    depth INTEGER NOT NULL, nodes INTEGER NOT NULL, engine TEXT NOT NULL, time INTEGER NOT NULL,
    outcome TEXT
) STRICT;
CREATE TABLE moves (
    position INTEGER NOT NULL, move TEXT NOT NULL, child INTEGER NOT NULL,
    PRIMARY KEY (position, move)
) STRICT, WITHOUT ROWID;
"""
FACTS = ("game", "variant", "rules_version", "engine_version", "root", "checksum")
OUTCOMES = ("checkmate", "stalemate", "insufficient")
"""What ends a game in a position, whatever was played before."""
DIGEST_BITS = 256
KEY_BYTES = 16
MAX_FEN_LENGTH, MAX_MOVE_LENGTH, MAX_ENGINE_LENGTH = 256, 8, 64
LOCK_SECONDS = 5.0
"""How long a step of another process is waited for."""

PositionRow = tuple[int, bytes, str, int, int, int, str, int, str | None]
MoveRow = tuple[int, str, int]


class BookFile:
    """A book and its file, which only this object writes until it is closed.

    What `add` has returned from survives any death of the process.

    Args:
        path: the file.
        header: what it must be of; it is made if there is none. None: of anything, but there.

    Raises:
        BookError: another process writes it, it is no whole book, or one of something else.
    """

    def __init__(self, path: Path, header: Header | None = None) -> None:
        if not path.parent.is_dir():  # or the lock would make it
            raise BookError(f"it cannot be locked: there is no folder {path.parent}")
        self._lock = FileLock(f"{path}.lock")
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            raise BookError("another process writes it") from None
        except OSError as error:
            raise BookError(f"it cannot be locked: {error.strerror}") from error
        try:
            if header is not None and not path.exists():
                _create(path, header)
            self._connection = _connect(path)
            try:
                self.book, self._sum = _load(self._connection, path)
                if header is not None:
                    self.compare(header)
            except BaseException:
                self._connection.close()
                raise
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> "BookFile":
        """Return the open file."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let others write it; an addition that runs ends first."""
        with self.book.lock:
            self._connection.close()
        self._lock.release()

    def compare(self, header: Header) -> None:
        """Raise BookError unless the book is of this."""
        found = self.book.header
        if found.variant != header.variant:
            raise BookError(f"it is a book of {found.variant}, not of {header.variant}")
        if found.root != header.root:
            raise BookError(f"it grows from {found.root.fen}, not from {header.root.fen}")

    def add(self, addition: Addition) -> None:
        """Add what the book has not, or has on weaker evidence, in one step.

        Raises BookError, with nothing added, for what does not fit together and for a file that
        cannot be written.
        """
        with self.book.lock:
            new = self.book.find_new(addition)
            try:
                with self._connection:
                    total = self._write(new)
            except sqlite3.Error as error:
                raise BookError(f"it cannot be written: {error}") from error
            self._sum = total
            self.book.add(new)

    def _write(self, new: Addition) -> int:
        """Write an addition; return the sum of the digests of all rows as they are then."""
        numbers = self.book.find_numbers(new)
        positions = [_make_row(numbers[entry.position.key], entry) for entry in new.entries]
        moves: list[MoveRow] = [
            (numbers[key], move, numbers[child])
            for key, ways in new.moves.items()
            for move, child in ways.items()
        ]
        replaced = [
            _make_row(row[0], self.book.entries[row[0]])
            for row in positions
            if row[0] < len(self.book)
        ]
        execute = self._connection.executemany
        execute("INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", positions)
        execute("INSERT INTO moves VALUES (?, ?, ?)", moves)
        total = self._sum + _add_digests(positions) + _add_digests(moves) - _add_digests(replaced)
        facts = _make_facts(self.book.header, ENGINE_VERSION, total)
        execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())
        return total


def read_book(path: Path, variant: str | None = None) -> Book:
    """Return the book of a file, which others may write; with a variant, it must be its.

    Raises BookError.
    """
    with closing(_connect(path)) as connection:
        book, _ = _load(connection, path)
    if variant is not None and book.header.variant != variant:
        raise BookError(f"it is a book of {book.header.variant}, not of {variant}")
    return book


def _create(path: Path, header: Header) -> None:
    """Make the file of an empty book, whole or not at all."""
    new = Path(f"{path}.new")
    try:
        new.unlink(missing_ok=True)
        with closing(sqlite3.connect(new)) as connection:
            connection.executescript(
                f"PRAGMA application_id = {APPLICATION_ID};"
                f"PRAGMA user_version = {SCHEMA_VERSION};" + SCHEMA
            )
            facts = _make_facts(header, ENGINE_VERSION, 0)
            with connection:
                connection.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
        os.replace(new, path)
    except (OSError, sqlite3.Error) as error:
        raise BookError(f"it cannot be made: {error}") from error


def _connect(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise BookError("there is no such file")
    try:
        return sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?mode=rw",
            uri=True,
            timeout=LOCK_SECONDS,
            check_same_thread=False,
        )
    except sqlite3.Error as error:
        raise BookError(f"it cannot be opened: {error}") from error


def _load(connection: sqlite3.Connection, path: Path) -> tuple[Book, int]:
    """Return the book in a file and the sum of its rows' digests, or raise BookError."""
    try:
        with _snapshot(connection):
            _check_form(connection, path)
            facts = _read_facts(connection)
            header = _read_header(facts)
            positions = connection.execute("SELECT * FROM positions ORDER BY number").fetchall()
            moves = connection.execute("SELECT * FROM moves ORDER BY position, move").fetchall()
    except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's own message may be no text
        raise BookError(f"it is damaged or no book: {error}") from error
    total = _add_digests(positions) + _add_digests(moves)
    wanted = _make_facts(header, facts["engine_version"], total)["checksum"]
    if facts["checksum"] != wanted:
        raise BookError("it was altered: its checksum does not match what is in it")
    book = Book(header)
    addition = _read_addition(positions, moves)
    if addition.entries and addition.entries[0].position != header.root:
        raise BookError("its first position is not its root")
    book.add(book.find_new(addition))
    return book, total


@contextmanager
def _snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Let nobody write meanwhile, and nothing in the file run."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.rollback()


def _check_form(connection: sqlite3.Connection, path: Path) -> None:
    """Raise BookError, or an error of SQLite, unless the file has the form of a book."""
    pragmas = ("application_id", "user_version", "page_count", "page_size")
    mark, version, count, size = (_read_pragma(connection, name) for name in pragmas)
    if mark != APPLICATION_ID:
        raise BookError("it is no book")
    if version != SCHEMA_VERSION:
        raise BookError(f"its schema is version {version}, and {SCHEMA_VERSION} is known here")
    if count * size != path.stat().st_size:
        raise BookError(f"it is truncated or extended: {count * size} bytes are expected")
    if _read_schema(connection) != _expected_schema():
        raise BookError("its tables are not those of a book")
    [said] = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if said != "ok":
        raise BookError(f"it is damaged: {escape_text(said)}")


def _read_pragma(connection: sqlite3.Connection, name: str) -> int:
    [value] = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)


def _read_schema(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
    columns = "type, name, tbl_name, sql"
    return connection.execute(f"SELECT {columns} FROM sqlite_schema ORDER BY rowid").fetchall()


def _expected_schema() -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        return _read_schema(connection)


def _read_facts(connection: sqlite3.Connection) -> dict[str, str]:
    facts = dict(connection.execute("SELECT name, value FROM facts"))
    if sorted(facts) != sorted(FACTS):
        raise BookError(f"its facts are not {', '.join(FACTS)}")
    return facts


def _read_header(facts: dict[str, str]) -> Header:
    variant, rules = facts["variant"], facts["rules_version"]
    if variant not in VARIANTS:
        raise BookError(f"it is of an unknown variant {escape_text(variant)!r}")
    if rules != RULES_VERSION:
        raise BookError(f"it holds for rules {escape_text(rules)}, and here are {RULES_VERSION}")
    try:
        root = find_book_position(Position(variant, facts["root"]))
    except NotationError as error:
        raise BookError(f"its root is no position: {error}") from None
    return Header(variant, rules, root)


def _make_facts(header: Header, engine: str, total: int) -> dict[str, str]:
    """Return the facts of a book, with the checksum over them and all other rows."""
    values = (header.game, header.variant, header.rules_version, engine, header.root.fen)
    facts = dict(zip(FACTS, values, strict=False))
    checksum = (total + _add_digests(facts.items())) % (1 << DIGEST_BITS)
    return {**facts, "checksum": f"{checksum:064x}"}


def _add_digests(rows: Any) -> int:
    """Return the sum of the digests of rows, which does not depend on their order."""
    return sum(int.from_bytes(sha256(_format_row(row)).digest()) for row in rows)


def _format_row(row: tuple[Any, ...]) -> bytes:
    values = [value.hex() if isinstance(value, bytes) else value for value in row]
    return json.dumps(values, separators=(",", ":")).encode()


def _make_row(number: int, entry: Entry) -> PositionRow:
    position, e = entry.position, entry.evidence
    about = (e.score, e.depth, e.nodes, e.engine, e.time, e.outcome)
    return (number, position.key, position.fen, *about)


def _read_addition(positions: list[PositionRow], moves: list[MoveRow]) -> Addition:
    """Return what rows say, or raise BookError for one that says what cannot be."""
    entries, keys = [], set()
    for place, (number, key, fen, score, depth, nodes, engine, when, outcome) in enumerate(
        positions
    ):
        evidence = Evidence(score, depth, nodes, engine, when, outcome)
        if number != place or len(key) != KEY_BYTES or len(fen) > MAX_FEN_LENGTH or key in keys:
            raise BookError(f"its position {number} is not one of a book")
        if not is_plausible(evidence):
            raise BookError(f"the evidence of its position {number} cannot be")
        keys.add(key)
        entries.append(Entry(BookPosition(key, fen), evidence))
    addition = Addition(entries)
    for number, move, child in moves:
        if not (0 <= number < len(entries) and 0 <= child < len(entries)):
            raise BookError(f"its move {escape_text(move)} stands between missing positions")
        if len(move) > MAX_MOVE_LENGTH or entries[number].evidence.outcome is not None:
            raise BookError(f"its move {escape_text(move)} from position {number} cannot be")
        ways = addition.moves.setdefault(entries[number].position.key, {})
        ways[move] = entries[child].position.key
    return addition


def is_plausible(evidence: Evidence) -> bool:
    """Return whether there can be such evidence."""
    return (
        abs(evidence.score) <= MATE
        and 0 <= evidence.depth < 1 << 31
        and 0 <= evidence.nodes < 1 << 63
        and 0 <= evidence.time < 1 << 40
        and len(evidence.engine) <= MAX_ENGINE_LENGTH
        and (evidence.outcome is None or evidence.outcome in OUTCOMES)
    )
