"""`tilewarp adjudicate`: what became of the games of a file, through a gateway, as one job."""

import asyncio
from collections.abc import Iterator
from typing import BinaryIO

import click

from core.adjudication import Crosstable, Terms
from core.records import BrokenRecord, GameRecord, Record, read_records
from gateway.cli.errors import WrongInput
from gateway.cli.options import class_option, terms_options
from gateway.cli.remote import call_gateway, conclude, job_bar, remote_options
from gateway.cli.rows import dump
from gateway.cli.verdicts import (
    VERDICT_HEADER,
    standings_object,
    standings_text,
    verdict_object,
    verdict_text,
)
from gateway.client import Client
from tilewarp.v1 import adjudication_pb2, jobs_pb2
from worker.games import format_terms


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option("--variant", default="", help="The variant of games that name none.")
@click.option(
    "--nodes", type=click.IntRange(1), metavar="N", help="Search each position by N nodes."
)
@click.option(
    "--depth", type=click.IntRange(1), metavar="D", help="Search each position to depth D."
)
@terms_options
@class_option
@click.option("--detach", is_flag=True, help="Leave the job to the service.")
@remote_options
def adjudicate(
    file: BinaryIO,
    variant: str,
    nodes: int | None,
    depth: int | None,
    terms: Terms,
    job_class: jobs_pb2.JobClass.ValueType,
    detach: bool,
    target: str,
    client_name: str | None,
    as_json: bool,
) -> None:
    """Tell what became of each game of FILE, `-` for standard input.

    FILE has games in the form of PGN, lists of moves of the CodeCup, or lines of JSON. The rules
    decide first: an illegal move forfeits. A game without an end is judged on the terms that are
    given, by a search of its last positions, or, without --nodes and --depth, by its own scores. A
    broken game gives an error in its place. The standings of the players come last.
    """
    records = list(read_records(file, variant))
    games = [record for record in records if isinstance(record, GameRecord)]
    if not records:
        raise WrongInput("there is no game")
    specification = _specify(nodes, depth, terms, job_class)

    async def work(client: Client) -> None:
        job = await client.create_job(specification, [format_game(game) for game in games])
        click.echo(job.name, err=True)
        if detach:
            return
        try:
            await _print_verdicts(client, job, records, as_json)
        except asyncio.CancelledError:
            await client.cancel_job(job.name)
            raise

    if games:
        call_gateway(target, client_name, work)
    else:
        for broken in records:
            _print_broken(broken, as_json)
        raise WrongInput(f"{len(records)} of {len(records)} games are broken")


def format_game(record: GameRecord) -> adjudication_pb2.Game:
    """Return the message of a game."""
    game = adjudication_pb2.Game(variant=record.variant, fen=record.fen, result=record.result)
    for move in record.moves:
        played = game.moves.add(move=move.text)
        if move.score is not None:
            played.score.SetInParent()
            if move.score.mate is not None:
                played.score.mate = move.score.mate
            else:
                played.score.centipawns = move.score.cp or 0
            if move.depth is not None:
                played.depth = move.depth
    return game


def _specify(
    nodes: int | None, depth: int | None, terms: Terms, job_class: jobs_pb2.JobClass.ValueType
) -> jobs_pb2.JobSpecification:
    work = adjudication_pb2.AdjudicationWork(terms=format_terms(terms))
    if nodes is not None or depth is not None:
        work.limits.nodes = nodes or 0
        work.limits.depth = depth or 0
    return jobs_pb2.JobSpecification(job_class=job_class, adjudication=work)


async def _print_verdicts(
    client: Client, job: jobs_pb2.Job, records: list[Record], as_json: bool
) -> None:
    """Print a row for each record, in their order, then the standings."""
    if not as_json:
        click.echo(VERDICT_HEADER)
    table = Crosstable()
    rejected = failed = 0
    waiting = iter(records)
    indices = [record.index for record in records if isinstance(record, GameRecord)]
    async with job_bar(client, job.name):
        async for row in client.stream_results(job.name, jobs_pb2.RESULT_ORDER_INPUT, follow=True):
            record = _print_broken_before(waiting, indices[row.index], as_json)
            if as_json:
                white, black = record.players
                place = {"index": record.index, "line": record.line, "white": white, "black": black}
                click.echo(dump({**place, **verdict_object(row)}))
            else:
                click.echo(verdict_text(row, record.line, record.players))
            rejected += row.WhichOneof("outcome") == "rejection"
            failed += row.WhichOneof("outcome") == "failure"
            if row.HasField("adjudication"):
                table.add(record.players, row.adjudication.result)
    for rest in waiting:
        _print_broken(rest, as_json)
    standings = table.rank()
    show = standings_object if as_json else standings_text
    shown = show(standings, table.undecided)
    click.echo(dump(shown) if isinstance(shown, dict) else shown)
    await conclude(client, job.name, rejected, failed, "games")
    broken = len(records) - len(indices)
    if broken:
        raise WrongInput(f"{broken} of {len(records)} games are broken")


def _print_broken_before(waiting: Iterator[Record], index: int, as_json: bool) -> GameRecord:
    """Print the broken records before that of an index, and return this one."""
    for record in waiting:
        if record.index == index and isinstance(record, GameRecord):
            return record
        _print_broken(record, as_json)
    raise AssertionError(f"a row for a game that was not sent: {index}")


def _print_broken(record: Record, as_json: bool) -> None:
    """Print the error of a broken record; a game without a row, after a cancellation, has none."""
    if not isinstance(record, BrokenRecord):
        return
    error = f"line {record.fault_line}: {record.reason}"
    if as_json:
        click.echo(dump({"index": record.index, "line": record.line, "error": error}))
    else:
        click.echo(f"{record.line:>6} error: {error}")
