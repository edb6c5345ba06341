"""`tilewarp book`: opening books in files and of gateways: growth, use, exchange, reports."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import click

from core.limits import Limits
from core.notation import NotationError
from core.position import STARTPOS, Position
from gateway.book.book import Addition, Book, BookError, Header, Probe, make_header
from gateway.book.exchange import (
    format_epd,
    format_json_lines,
    parse_json_lines,
    score_object,
)
from gateway.book.file import SUFFIX, BookFile, read_book
from gateway.book.growth import Growth, Plan, Progress
from gateway.book.local import LocalExpander
from gateway.book.positions import find_book_position
from gateway.book.tools import find_faults, find_subtree, merge, report
from gateway.book.tree import find_start, format_tree
from gateway.book.values import unpack_value
from gateway.cli import shelf
from gateway.cli.errors import JobNotDone, WrongInput
from gateway.cli.lines import read_lines
from gateway.cli.options import INT32, json_option
from gateway.cli.positions import push_moves
from gateway.cli.remote import (
    call_gateway,
    call_options,
    remote_options,
    show_fields,
)
from gateway.cli.rows import dump
from gateway.client import Client, parse_line
from gateway.scores import read_value
from tilewarp.v1 import position_pb2

FORMATS = {"jsonl": format_json_lines, "epd": format_epd, "tree": format_tree}
MAX_POSITIONS = 10_000_000
"""Of an import into a file."""

file_argument = click.argument("book", type=click.Path(path_type=Path))
either_argument = click.argument("book", metavar="BOOK")


@click.group()
def book() -> None:
    """Grow opening books, probe them, exchange them and report what is in them.

    A BOOK whose name ends with `.book` is a file here; any other is a book of the gateway.
    """


@book.command()
@either_argument
@click.argument("variant")
@click.argument("fen", default=STARTPOS)
@click.option("--nodes", type=click.IntRange(1, 2**63 - 1), metavar="N", help="Of each search.")
@click.option("--depth", type=click.IntRange(1, INT32), metavar="D", help="Of each search.")
@click.option(
    "--positions",
    type=click.IntRange(1, 2**63 - 1),
    metavar="N",
    help="End with N positions in the book.",
)
@click.option(
    "--plies", type=click.IntRange(1, INT32), metavar="N", help="Expand nothing N plies from FEN."
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, 1e9, min_open=True),
    metavar="S",
    help="End after S seconds.",
)
@click.option(
    "--seed",
    type=click.IntRange(-(2**63), 2**63 - 1),
    default=1,
    show_default=True,
    metavar="N",
    help="Decide otherwise between leaves that are as urgent as each other.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Expand nothing, and search again the leaves whose scores rest on less.",
)
@remote_options
def grow(
    book: str,
    variant: str,
    fen: str,
    nodes: int | None,
    depth: int | None,
    positions: int | None,
    plies: int | None,
    seconds: float | None,
    seed: int,
    again: bool,
    target: str,
    client_name: str | None,
    as_json: bool,
) -> None:
    """Grow BOOK from FEN by drop-out expansion; it is made if it is not there.

    A book of the gateway is grown by its workers, a file by the engine of this process. The
    search's limits, nodes or depth, are for each position. Growth ends at the first of its own
    bounds, or by Ctrl-C; what was expanded by then stays, and the same command goes on.
    """
    try:
        limits = Limits(nodes=nodes, depth=depth)
        header = make_header(variant, fen)
    except ValueError as error:
        raise WrongInput(str(error)) from error
    plan = Plan(seed, positions, plies, seconds, *((depth or 0, nodes or 0) if again else (0, 0)))

    async def grow_file(file: BookFile) -> None:
        async with aclosing(Growth(file, LocalExpander(variant, limits), plan).run()) as steps:
            async for progress in steps:
                _tell_progress(progress, as_json)

    async def grow_remote(client: Client) -> None:
        root = parse_line(variant, fen)
        async for progress in shelf.grow(client, book, root, (nodes, depth), plan):
            _tell_progress(progress, as_json)

    if not _is_file(book):
        call_gateway(target, client_name, grow_remote)
        return
    path = Path(book)
    with _explain_faults(path), BookFile(path, header) as file:
        asyncio.run(grow_file(file))


@book.command("list")
@remote_options
def list_books(target: str, client_name: str | None, as_json: bool) -> None:
    """List the books of the gateway."""
    books = call_gateway(target, client_name, lambda client: client.list_books())
    for one in books:
        fields = {
            "name": one.name.removeprefix(shelf.PREFIX),
            "variant": one.variant,
            "root": one.root_fen,
            "positions": one.positions,
            "expanded": one.expanded,
            "value": score_object(read_value(one.value)) if one.HasField("value") else None,
            "growing": one.growing,
            "error": one.error or None,
        }
        if as_json:
            click.echo(dump(fields))
        elif one.error:
            click.echo(f"{fields['name']:<24} refused: {one.error}")
        else:
            click.echo(
                f"{fields['name']:<24} {one.variant:<18} {one.positions:>9} positions, "
                f"{one.expanded} expanded" + (", growing" if one.growing else "")
            )


@book.command()
@either_argument
@click.argument("fen", required=False)
@click.option("--moves", default="", metavar='"MOVE …"', help="Moves played from FEN.")
@remote_options
def probe(
    book: str,
    fen: str | None,
    moves: str,
    target: str,
    client_name: str | None,
    as_json: bool,
) -> None:
    """Show what BOOK knows of a position: without FEN, of its root."""
    if _is_file(book):
        found = _read(Path(book))
        position = _find_position(found, fen, moves)
        shown, known = position.fen(), found.probe(position)
        if known is None:
            raise WrongInput(f"{shown} is not in {book}")
    else:
        wanted = position_pb2.Position(fen=fen or "", moves=moves.split())
        shown, known = call_gateway(
            target, client_name, lambda client: shelf.probe(client, book, wanted)
        )
    click.echo(dump(_probe_object(shown, known)) if as_json else _probe_text(known))


@book.command()
@either_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="jsonl",
    show_default=True,
    help="JSON lines, which can be imported; lines like EPD; a game with variations.",
)
@click.option(
    "-o", "out", type=click.File("w", encoding="utf-8"), default="-", help="Write to this file."
)
@call_options
def export(book: str, form: str, out: TextIO, target: str, client_name: str | None) -> None:
    """Write BOOK as text."""
    if _is_file(book):
        lines: Iterable[str] = FORMATS[form](_read(Path(book)))
    else:
        name = shelf.PREFIX + book
        lines = call_gateway(
            target, client_name, lambda client: client.export_book(name, shelf.FORMATS[form])
        )
    for line in lines:
        out.write(line + "\n")


@book.command("import")
@either_argument
@click.argument("file", type=click.File("rb"))
@call_options
def import_book(book: str, file: BinaryIO, target: str, client_name: str | None) -> None:
    """Add the JSON lines of FILE to BOOK, which is made if it is not there.

    Keys, moves and results are found anew; of scores the one with the stronger evidence stays.
    """
    lines = [text for _, text in read_lines(file)]
    if _is_file(book):
        with _explain_faults(Path(file.name)):
            header, addition = parse_json_lines(lines, MAX_POSITIONS)
        _add(Path(book), header, addition)
        return
    name = shelf.PREFIX + book
    done = call_gateway(target, client_name, lambda client: client.import_book(name, lines))
    click.echo(_added_text(book, done.book.positions, done.added))


@book.command("merge")
@file_argument
@click.argument("others", nargs=-1, required=True, type=click.Path(path_type=Path))
def merge_books(book: Path, others: tuple[Path, ...]) -> None:
    """Add the books OTHERS to BOOK, which is made if it is not there.

    Each must grow from BOOK's root, or from a position that is in it by then. Of scores the one
    with the stronger evidence stays.
    """
    found = [(path, _read(path)) for path in others]
    with _explain_faults(book), BookFile(book, _find_header(book, found[0][1])) as file:
        for path, other in found:
            with _explain_faults(path):
                merge(file, other)


@book.command()
@file_argument
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("fen", required=False)
@click.option("--moves", default="", metavar='"MOVE …"', help="Moves played from FEN.")
def subtree(book: Path, out: Path, fen: str | None, moves: str) -> None:
    """Add to the book OUT what BOOK has from a position on; OUT is made if it is not there."""
    found = _read(book)
    position = _find_position(found, fen, moves)
    with _explain_faults(book):
        addition = find_subtree(found, position)
    root = find_book_position(position)
    _add(out, Header(found.header.variant, found.header.rules_version, root), addition)


@book.command("report")
@file_argument
@json_option
def show_report(book: Path, as_json: bool) -> None:
    """Show what is in BOOK: its size, its best line, and what the first moves are worth."""
    fields = report(_read(book))
    if as_json:
        click.echo(dump(fields))
        return
    fields["plies"] = " ".join(map(str, fields["plies"]))
    fields["engines"] = ", ".join(f"{name}: {n}" for name, n in fields["engines"].items())
    fields["value"] = _object_text(fields["value"])
    moves = [f"{move} {_object_text(score)}" for move, score in fields["first_moves"].items()]
    fields["first_moves"] = ", ".join(moves)
    fields["line"] = " ".join(fields["line"])
    click.echo(show_fields(fields))


@book.command()
@file_argument
def check(book: Path) -> None:
    """Check BOOK by the rules: every key, result and move. Exit code 1 if something is wrong."""
    found = _read(book)
    faults = list(find_faults(found))
    for fault in faults:
        click.echo(fault)
    if faults:
        raise JobNotDone(f"{len(faults)} faults in {book}")
    click.echo(f"{len(found)} positions, no fault")


@contextmanager
def _explain_faults(path: Path) -> Iterator[None]:
    """Turn what is wrong with a book into the command's error, with its name."""
    try:
        yield
    except BookError as error:
        raise WrongInput(f"{path}: {error}") from error


def _read(path: Path) -> Book:
    with _explain_faults(path):
        return read_book(path)


def _add(path: Path, header: Header, addition: Addition) -> None:
    with _explain_faults(path), BookFile(path, header) as file:
        before = len(file.book)
        file.add(addition)
        click.echo(_added_text(str(path), len(file.book), len(file.book) - before))


def _added_text(name: str, positions: int, added: int) -> str:
    return f"{name}: {positions} positions, {added} of them new"


def _is_file(book: str) -> bool:
    return book.endswith(SUFFIX)


def _find_header(path: Path, first: Book) -> Header | None:
    """Return what a new book would be of; None where there is one."""
    return None if path.exists() else first.header


def _find_position(found: Book, fen: str | None, moves: str) -> Position:
    try:
        position = Position(found.header.variant, fen) if fen else find_start(found)
    except NotationError as error:
        raise WrongInput(str(error)) from error
    push_moves(position, moves.split())
    return position


def _tell_progress(progress: Progress, as_json: bool) -> None:
    value = progress.value or 0
    if as_json:
        click.echo(dump({**vars(progress), "value": score_object(value)}))
        return
    click.echo(
        f"{progress.positions} positions, {progress.expanded} expanded, root {unpack_value(value)}"
        f", {progress.nodes} nodes" + (f", {progress.failed} failed" if progress.failed else "")
    )


def _probe_object(fen: str, known: Probe) -> dict[str, Any]:
    return {
        "fen": fen,
        "value": score_object(known.value),
        "evidence": _evidence_object(known.evidence),
        "moves": [
            {
                "move": move.move,
                "value": score_object(move.value),
                "expanded": move.is_expanded,
                "evidence": _evidence_object(move.evidence),
            }
            for move in known.moves
        ],
    }


def _evidence_object(evidence: Any) -> dict[str, Any]:
    return {**vars(evidence), "score": score_object(evidence.score)}


def _probe_text(known: Probe) -> str:
    lines = [
        f"{'move':<7} {'value':>7} {'expanded':<8} {'score':>7} {'depth':>5} {'nodes':>9} engine"
    ]
    for move in known.moves:
        e = move.evidence
        expanded = "yes" if move.is_expanded else e.outcome or "no"
        lines.append(
            f"{move.move:<7} {unpack_value(move.value)!s:>7} {expanded:<8} "
            f"{unpack_value(e.score)!s:>7} {e.depth:>5} {e.nodes:>9} {e.engine}"
        )
    own = known.evidence
    lines.append(
        f"value {unpack_value(known.value)}, own score {unpack_value(own.score)} "
        f"(depth {own.depth}, {own.nodes} nodes, engine {own.engine})"
    )
    return "\n".join(lines)


def _object_text(score: dict[str, int] | None) -> str:
    if score is None:
        return "-"
    return f"#{score['mate']}" if "mate" in score else f"{score['cp'] / 100:+.2f}"
