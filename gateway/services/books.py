"""BookService: the gateway's opening books, grown by its workers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

from core.notation import escape_text
from core.position import Position
from gateway.book.book import Book, BookError, Evidence, Header, make_header
from gateway.book.exchange import format_epd, format_json_lines, parse_json_lines
from gateway.book.file import BookFile
from gateway.book.growth import Growth, Plan
from gateway.book.tree import find_start, format_tree
from gateway.events import JobEvents
from gateway.expander import QueueExpander
from gateway.limits import find_limit_faults
from gateway.positions import PositionFaults, check_position
from gateway.scores import show_value
from gateway.shelf import PREFIX, Shelf, is_book_name
from gateway.status import FieldFault, InvalidRequest, UnknownBook, WrongState
from tilewarp.v1 import analysis_pb2, books_pb2, books_pb2_grpc, position_pb2
from worker.outcomes import OUTCOMES
from worker.settings import Settings
from worker.store import AsyncStore

MAX_IMPORT_LENGTH = 1 << 28
"""Characters of all lines of an import."""
LINES_BYTES = 256 * 1024
"""Of text in one message of an export, about."""
FORMATS: dict[int, Callable[[Book], Iterator[str]]] = {
    books_pb2.BOOK_FORMAT_UNSPECIFIED: format_json_lines,
    books_pb2.BOOK_FORMAT_JSON_LINES: format_json_lines,
    books_pb2.BOOK_FORMAT_EPD: format_epd,
    books_pb2.BOOK_FORMAT_TREE: format_tree,
}


class BookService(books_pb2_grpc.BookServiceServicer):
    """The books of a shelf; whatever takes time runs in threads.

    Args:
        shelf: where the books are; None: there are none.
        announce: called, without waiting, when there is new work for the workers.
    """

    def __init__(
        self,
        store: AsyncStore,
        events: JobEvents,
        settings: Settings,
        announce: Callable[[], None],
        shelf: Shelf | None,
    ) -> None:
        self._store = store
        self._events = events
        self._settings = settings
        self._announce = announce
        self._shelf = shelf
        self._growing: set[str] = set()

    async def ListBooks(
        self, request: books_pb2.ListBooksRequest, context: Any
    ) -> books_pb2.ListBooksResponse:
        """List the books, those that are refused with the reason."""
        shelf = self._find_shelf()
        names = await asyncio.to_thread(shelf.list_names)
        books = [await asyncio.to_thread(self._show_named, name) for name in names]
        return books_pb2.ListBooksResponse(books=books)

    async def ProbeBook(
        self, request: books_pb2.ProbeBookRequest, context: Any
    ) -> books_pb2.ProbeBookResponse:
        """Tell what a book knows of a position."""
        return await asyncio.to_thread(self._probe, request)

    async def GrowBook(
        self, request: books_pb2.GrowBookRequest, context: Any
    ) -> AsyncIterator[books_pb2.GrowBookResponse]:
        """Grow a book until a bound is reached or the caller leaves."""
        header = await asyncio.to_thread(self._check_growth, request)
        limits = analysis_pb2.Limits(nodes=request.nodes, depth=request.depth)
        with self._hold_growth(request.name):
            file = await asyncio.to_thread(self._open, request.name, header)
            workers = await self._store.workers()
            expander = QueueExpander(
                *(self._store, self._events, self._announce),
                variant=header.variant,
                limits=limits,
                client=f"book:{request.name}",
                width=max(1, sum(worker.slots for worker in workers)),
            )
            growth = Growth(file, expander, _read_plan(request, self._settings))
            try:
                async with aclosing(growth.run()) as steps:
                    async for step in steps:
                        yield books_pb2.GrowBookResponse(
                            positions=step.positions,
                            expanded=step.expanded,
                            value=show_value(step.value or 0),
                            searched=step.searched,
                            nodes=step.nodes,
                            failed=step.failed,
                        )
            except BookError as error:
                raise WrongState(f"{request.name}: {error}") from error

    async def ExportBook(
        self, request: books_pb2.ExportBookRequest, context: Any
    ) -> AsyncIterator[books_pb2.ExportBookResponse]:
        """Send a book as text, a part of its lines at a time."""
        if request.format not in FORMATS:
            raise InvalidRequest([FieldFault("format", f"there is no format {request.format}")])
        file = await asyncio.to_thread(self._open, request.name)
        lines: list[str] = []
        size = 0
        for line in await asyncio.to_thread(_format, file.book, request.format):
            lines.append(line)
            size += len(line)
            if size > LINES_BYTES:
                yield books_pb2.ExportBookResponse(lines=lines)
                lines, size = [], 0
        yield books_pb2.ExportBookResponse(lines=lines)

    async def ImportBook(
        self, request_iterator: AsyncIterator[books_pb2.ImportBookRequest], context: Any
    ) -> books_pb2.ImportBookResponse:
        """Add lines to a book."""
        name = ""
        lines: list[str] = []
        size = 0
        async for request in request_iterator:
            name = name or request.name
            _check_name(name)
            lines += request.lines
            size += sum(map(len, request.lines))
            if size > MAX_IMPORT_LENGTH:
                fault = f"they have more than {MAX_IMPORT_LENGTH} characters"
                raise InvalidRequest([FieldFault("lines", fault)])
        _check_name(name)
        return await asyncio.to_thread(self._import, name, lines)

    def _import(self, name: str, lines: list[str]) -> books_pb2.ImportBookResponse:
        try:
            header, addition = parse_json_lines(lines, self._settings.max_book_positions)
        except BookError as error:
            raise InvalidRequest([FieldFault("lines", str(error))]) from error
        file = self._open(name, header)
        most = self._settings.max_book_positions
        if len(file.book) + sum(e.position.key not in file.book for e in addition.entries) > most:
            raise WrongState(f"{name} would have more positions than max_book_positions ({most})")
        before = len(file.book)
        with _tell_faults(name):
            file.add(addition)
        added = len(file.book) - before
        return books_pb2.ImportBookResponse(book=self._show(name, file), added=added)

    def _probe(self, request: books_pb2.ProbeBookRequest) -> books_pb2.ProbeBookResponse:
        book = self._open(request.name).book
        position = self._find_position(request.position, book)
        known = book.probe(position)
        if known is None:
            raise UnknownBook(f"{position.fen()} is not in {request.name}")
        moves = [
            books_pb2.BookMove(
                move=move.move,
                value=show_value(move.value),
                expanded=move.is_expanded,
                evidence=_show_evidence(move.evidence),
            )
            for move in known.moves
        ]
        return books_pb2.ProbeBookResponse(
            fen=position.fen(),
            value=show_value(known.value),
            evidence=_show_evidence(known.evidence),
            moves=moves,
        )

    def _find_position(self, message: position_pb2.Position, book: Book) -> Position:
        wanted = position_pb2.Position()
        wanted.CopyFrom(message)
        if not wanted.variant:
            wanted.variant = book.header.variant
            wanted.fen = wanted.fen or find_start(book).fen()
        if wanted.variant != book.header.variant:
            fault = f"it is a book of {book.header.variant}"
            raise InvalidRequest([FieldFault("position.variant", fault)])
        return self._check_position(wanted)

    def _check_position(self, message: position_pb2.Position) -> Position:
        try:
            return check_position(message, self._settings)
        except PositionFaults as error:
            faults = [FieldFault("position", fault) for fault in error.faults]
            raise InvalidRequest(faults) from error

    def _check_growth(self, request: books_pb2.GrowBookRequest) -> Header:
        """Return what the book is of, or raise InvalidRequest with every fault."""
        _check_name(request.name)
        limits = analysis_pb2.Limits(nodes=request.nodes, depth=request.depth)
        faults = find_limit_faults(limits, "limits", self._settings)
        for name in ("positions", "plies"):
            if getattr(request, name) < 0:
                faults.append(FieldFault(name, f"{getattr(request, name)} is negative"))
        most = self._settings.max_book_positions
        if request.positions > most:
            fault = f"{request.positions} is more than max_book_positions allows ({most})"
            faults.append(FieldFault("positions", fault))
        if request.time.ToNanoseconds() < 0:
            faults.append(FieldFault("time", "it is negative"))
        if faults:
            raise InvalidRequest(faults)
        position = self._check_position(request.position)
        return make_header(position.variant.name, position.fen())

    @contextmanager
    def _hold_growth(self, name: str) -> Iterator[None]:
        if name in self._growing:
            raise WrongState(f"{name} grows already")
        self._growing.add(name)
        try:
            yield
        finally:
            self._growing.discard(name)

    def _find_shelf(self) -> Shelf:
        if self._shelf is None:
            raise WrongState("this gateway keeps no books: TILEWARP_BOOKS_DIR is empty")
        return self._shelf

    def _open(self, name: str, header: Header | None = None) -> BookFile:
        _check_name(name)
        shelf = self._find_shelf()
        with _tell_faults(name):
            try:
                return shelf.open(name, header)
            except FileNotFoundError:
                raise UnknownBook(f"there is no book {name}") from None

    def _show_named(self, name: str) -> books_pb2.Book:
        try:
            return self._show(name, self._open(name))
        except (UnknownBook, WrongState) as error:
            return books_pb2.Book(name=name, error=str(error).removeprefix(f"{name}: "))

    def _show(self, name: str, file: BookFile) -> books_pb2.Book:
        with file.book.lock:
            nodes = list(file.book.graph.nodes)
        return books_pb2.Book(
            name=name,
            variant=file.book.header.variant,
            root_fen=file.book.header.root.fen,
            positions=len(nodes),
            expanded=sum(bool(node.moves) for node in nodes),
            value=show_value(nodes[0].value) if nodes else None,
            growing=name in self._growing,
        )


def _format(book: Book, form: int) -> list[str]:
    with book.lock:  # growth may go on meanwhile
        return list(FORMATS[form](book))


@contextmanager
def _tell_faults(name: str) -> Iterator[None]:
    try:
        yield
    except BookError as error:
        raise WrongState(f"{name}: {error}") from error


def _check_name(name: str) -> None:
    if not is_book_name(name):
        fault = f"{escape_text(name)} is not of the form {PREFIX}ID, with up to 64 characters"
        raise InvalidRequest([FieldFault("name", fault)])


def _read_plan(request: books_pb2.GrowBookRequest, settings: Settings) -> Plan:
    return Plan(
        seed=request.seed,
        positions=request.positions or settings.max_book_positions,
        plies=request.plies or None,
        seconds=request.time.ToNanoseconds() / 1e9 or None,
        again_depth=request.depth if request.again else 0,
        again_nodes=request.nodes if request.again else 0,
    )


def _show_evidence(evidence: Evidence) -> books_pb2.BookEvidence:
    message = books_pb2.BookEvidence(
        score=show_value(evidence.score),
        depth=evidence.depth,
        nodes=evidence.nodes,
        engine_version=evidence.engine,
        outcome=OUTCOMES[evidence.outcome],
    )
    message.finish_time.FromSeconds(evidence.time)
    return message
