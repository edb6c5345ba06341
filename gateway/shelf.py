"""The opening books of a gateway: files of one directory, which it alone writes while it runs."""

import re
import threading
from pathlib import Path

from gateway.book.book import BookError, Header
from gateway.book.file import SUFFIX, BookFile

PREFIX = "books/"
_NAME = re.compile(r"books/([A-Za-z0-9_-]{1,64})", re.ASCII)


class Shelf:
    """Books by name, opened when they are first asked for. Blocks: call it from threads.

    Args:
        directory: where the files are; made when the first book is.
        max_books: how many there may be.
    """

    def __init__(self, directory: Path, max_books: int) -> None:
        self._directory = directory
        self._max_books = max_books
        self._files: dict[str, BookFile] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close all files."""
        with self._lock:
            for file in self._files.values():
                file.close()
            self._files.clear()

    def list_names(self) -> list[str]:
        """Return the names of the books there are, sorted."""
        found = (PREFIX + path.stem for path in self._directory.glob(f"*{SUFFIX}"))
        return sorted(name for name in found if is_book_name(name))

    def open(self, name: str, header: Header | None = None) -> BookFile:
        """Return a book by its name `books/ID`; with a header, it is made if it is not there.

        It stays open. Raises FileNotFoundError if there is none, BookError if it is refused.
        """
        with self._lock:
            file = self._files.get(name)
            if file is not None:
                if header is not None:
                    file.compare(header)
                return file
            path = self._directory / f"{name.removeprefix(PREFIX)}{SUFFIX}"
            if not path.exists():
                if header is None:
                    raise FileNotFoundError(name)
                if len(self.list_names()) >= self._max_books:
                    raise BookError(f"no more books than max_books allows ({self._max_books})")
            try:
                self._directory.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise BookError(f"its folder cannot be made: {error.strerror}") from error
            file = self._files[name] = BookFile(path, header)
            return file


def is_book_name(name: str) -> bool:
    """Return whether a text is of the form `books/ID`."""
    return _NAME.fullmatch(name) is not None
