"""BookService through real calls; the test does the worker's part."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from core.position import STARTPOS, Position
from gateway.book.book import make_header
from gateway.book.file import BookFile, read_book
from gateway.book.tools import find_faults
from gateway.client import Client
from gateway.server import Gateway
from tests.book.books import make_book
from tests.gateway.work import collect, refuses
from tilewarp.v1 import analysis_pb2, books_pb2, jobs_pb2, position_pb2
from worker.outcomes import OUTCOMES
from worker.settings import Settings
from worker.store import Finished, Store, WorkerInfo

START = position_pb2.Position(variant="caissa")


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Settings of a gateway with books."""
    return replace(settings, books_dir=str(tmp_path / "books"))


@pytest.fixture
def directory(settings: Settings) -> Path:
    """The gateway's books."""
    path = Path(settings.books_dir)
    path.mkdir()
    return path


@pytest.fixture
async def worker(store: Store) -> AsyncIterator[Store]:
    """A worker that gives every position a score at once."""
    store.announce(WorkerInfo("w", "host", 1, 0, "1", "1"))  # no slot: no ticket is issued
    is_over = False

    def work() -> None:
        claim = store.claim("w")
        if claim is not None:
            store.hand_in(claim, [search(unit.index, unit.unit) for unit in claim.units])

    async def run() -> None:
        while not is_over:
            await asyncio.to_thread(work)
            await asyncio.sleep(0.002)

    task = asyncio.create_task(run())
    yield store
    is_over = True
    await task


def search(index: int, unit: bytes) -> Finished:
    wanted = position_pb2.Position.FromString(unit)
    position = Position(wanted.variant, wanted.fen or STARTPOS)
    outcome = position.outcome()
    score = analysis_pb2.Score(centipawns=position.key % 8 * 40 - 140)
    if outcome:
        score = analysis_pb2.Score(mate=0) if outcome == "checkmate" else analysis_pb2.Score()
    result = analysis_pb2.AnalysisResult(score=score, depth=3, nodes=100, outcome=OUTCOMES[outcome])
    result.provenance.engine_version = "7"
    result.provenance.finish_time.FromSeconds(1_700_000_000)
    row = jobs_pb2.ResultRow(index=index, fen=wanted.fen, analysis=result)
    return Finished(index, row.SerializeToString(), nodes=100, seconds=0.1)  # type: ignore[arg-type]


def growth(positions: int, name: str = "books/a", **fields: object) -> books_pb2.GrowBookRequest:
    asked = {"position": START, "nodes": 100, **fields}
    return books_pb2.GrowBookRequest(name=name, positions=positions, **asked)  # type: ignore[arg-type]


async def test_a_book_is_grown_listed_and_probed(
    client: Client, worker: Store, directory: Path
) -> None:
    told = await collect(client.grow_book(growth(200)))
    assert told[-1].positions >= 200
    assert told[-1].nodes == 100 * told[-1].searched == 100 * told[-1].positions
    [book] = await client.list_books()
    assert (book.name, book.variant, book.growing) == ("books/a", "caissa", False)
    assert (book.positions, book.value) == (told[-1].positions, told[-1].value)
    found = await client.probe_book("books/a", position_pb2.Position())
    assert sorted(move.move for move in found.moves) == Position("caissa").legal_moves
    assert found.moves[0].value == found.value == told[-1].value
    assert found.moves[0].evidence.engine_version == "7"
    assert found.evidence.finish_time.seconds == 1_700_000_000
    first = next(move.move for move in found.moves if move.expanded)
    after = await client.probe_book("books/a", position_pb2.Position(moves=[first]))
    assert after.moves
    read = read_book(directory / "a.book")
    assert len(read) == book.positions
    assert list(find_faults(read)) == []
    assert await collect(client.list_jobs()) == []


async def until_it_rests(client: Client) -> AsyncIterator[books_pb2.Book]:
    """Yield the one book until it grows no more."""
    while True:
        [book] = await client.list_books()
        yield book
        if not book.growing:
            return


async def test_growth_that_is_left_stops_and_can_go_on(
    client: Client, worker: Store, directory: Path
) -> None:
    async with aclosing(client.grow_book(growth(10_000))) as steps:
        await anext(steps)
        told = await anext(steps)
        [book] = await client.list_books()
        assert book.growing
        with refuses(grpc.StatusCode.FAILED_PRECONDITION, "books/a grows already"):
            await collect(client.grow_book(growth(10)))
    await collect(until_it_rests(client))
    [book] = await client.list_books()
    assert book.positions >= told.positions
    more = await collect(client.grow_book(growth(book.positions + 1)))
    assert more[-1].positions > book.positions


async def test_a_new_gateway_goes_on(
    settings: Settings, worker: Store, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but the file is needed, and the lock of the one before is gone."""
    sizes = []
    for positions in (60, 120):
        async with Gateway(settings) as running, Client(running.address) as client:
            sizes.append((await collect(client.grow_book(growth(positions))))[-1].positions)
            with pytest.raises(Exception, match="another process writes it"):
                BookFile(directory / "a.book")
    assert sizes[0] < sizes[1] == len(read_book(directory / "a.book"))


async def test_no_worker(client: Client, directory: Path) -> None:
    client.patience = 0.0
    with refuses(grpc.StatusCode.UNAVAILABLE, "no worker is up"):
        await collect(client.grow_book(growth(10)))


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (growth(10, name="a"), "name: a is not of the form books/ID"),
        (growth(10, name="books/../a"), "is not of the form books/ID"),
        (growth(10, nodes=0), "limits: one of"),
        (growth(10, nodes=-1), "limits.nodes: -1 is negative"),
        (growth(-1, plies=-2), "positions: -1 is negative; plies: -2 is negative"),
        (growth(10_000_000), "positions: 10000000 is more than max_book_positions allows"),
        (growth(10, position=position_pb2.Position(variant="chess")), "unknown variant"),
    ],
)
async def test_wrong_growth(
    client: Client, directory: Path, request_: books_pb2.GrowBookRequest, reason: str
) -> None:
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, reason):
        await collect(client.grow_book(request_))
    assert await client.list_books() == []


async def test_what_is_not_there(client: Client, directory: Path) -> None:
    with refuses(grpc.StatusCode.NOT_FOUND, "there is no book books/a"):
        await client.probe_book("books/a", START)
    BookFile(directory / "a.book", make_header("caissa")).close()
    with refuses(grpc.StatusCode.NOT_FOUND, "is not in books/a"):
        await client.probe_book("books/a", START)
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, "it is a book of caissa"):
        await client.probe_book("books/a", position_pb2.Position(variant="chakra"))
    wrong = position_pb2.Position(variant="caissa", fen="nowhere")
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, "fields are required"):
        await client.probe_book("books/a", wrong)


async def test_refused_files(client: Client, worker: Store, directory: Path) -> None:
    (directory / "a.book").write_bytes(b"no book" * 1000)
    BookFile(directory / "b.book", make_header("chakra")).close()
    (directory / "not a name.book").write_bytes(b"")
    first, second = await client.list_books()
    assert first.error.startswith("it is damaged or no book")
    assert second == books_pb2.Book(
        name="books/b", variant="chakra", root_fen=make_header("chakra").root.fen
    )
    with refuses(grpc.StatusCode.FAILED_PRECONDITION, "books/a: it is damaged or no book"):
        await client.probe_book("books/a", START)
    with refuses(grpc.StatusCode.FAILED_PRECONDITION, "it is a book of chakra, not of caissa"):
        await collect(client.grow_book(growth(10, name="books/b")))


async def test_export_and_import(client: Client, directory: Path) -> None:
    await asyncio.to_thread(make_book, directory / "a.book")
    lines = await client.export_book("books/a", books_pb2.BOOK_FORMAT_JSON_LINES)
    done = await client.import_book("books/b", lines)
    assert done.added == done.book.positions == len(lines) - 1
    assert (await client.import_book("books/b", lines)).added == 0
    assert await client.export_book("books/b", books_pb2.BOOK_FORMAT_UNSPECIFIED) == lines
    assert await client.export_book("books/b", books_pb2.BOOK_FORMAT_EPD)
    assert (await client.export_book("books/b", books_pb2.BOOK_FORMAT_TREE))[0].startswith("[Var")
    spoilt = [*lines[:-1], json.dumps({**json.loads(lines[-1]), "depth": -1})]
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, f"line {len(lines)}: there cannot be"):
        await client.import_book("books/c", spoilt)
    assert not (directory / "c.book").exists()


class TestSmallShelf:
    """A gateway with room for little."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return replace(settings, max_books=1, max_book_positions=200)

    async def test_bounds_of_books(self, client: Client, worker: Store, directory: Path) -> None:
        told = await collect(client.grow_book(growth(0)))
        assert 200 <= told[-1].positions < 300
        lines = await client.export_book("books/a", books_pb2.BOOK_FORMAT_JSON_LINES)
        with refuses(grpc.StatusCode.INVALID_ARGUMENT, "more positions than are taken"):
            await client.import_book("books/b", lines)
        with refuses(grpc.StatusCode.FAILED_PRECONDITION, "no more books than max_books allows"):
            await collect(client.grow_book(growth(10, name="books/b")))


class TestWithoutBooks:
    """A gateway without a directory."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return replace(settings, books_dir="")

    async def test_every_call_says_so(self, client: Client) -> None:
        with refuses(grpc.StatusCode.FAILED_PRECONDITION, "this gateway keeps no books"):
            await client.list_books()
        with refuses(grpc.StatusCode.FAILED_PRECONDITION, "this gateway keeps no books"):
            await collect(client.grow_book(growth(10)))
