"""`tilewarp perft` and `perft-check`: counting lines, here or through a gateway, and its proofs."""

import asyncio
import time
from pathlib import Path
from typing import Any, BinaryIO

import click

from core import counting
from core.counting import CountTable
from core.limits import MAX_HASH_MB, MAX_THREADS
from core.position import STARTPOS, Position
from core.prefixes import MAX_PERFT_DEPTH
from gateway.cli.against import compare_perft
from gateway.cli.credentials import credential_options
from gateway.cli.errors import Differ, JobNotDone, WrongInput
from gateway.cli.options import json_option
from gateway.cli.positions import parse_position
from gateway.cli.progress import CountBar
from gateway.cli.remote import call_gateway, client_option, conclude, job_bar
from gateway.cli.rows import dump
from gateway.client import Client
from gateway.positions import read_position
from gateway.proof import (
    FalseProof,
    ProofHeader,
    ProofLine,
    UnreadableProof,
    check_proof,
    write_proof,
)
from tilewarp.v1 import jobs_pb2, position_pb2

MAX_SAMPLE = 1_000_000
SHARES = {"none": 0.0, "all": 1.0}


class Share(click.ParamType[float]):
    """`none`, `all`, or a share between 0 and 1."""

    name = "share"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return the share."""
        if value in SHARES:
            return SHARES[value]
        try:
            share = float(value)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            self.fail(f"{value!r} is neither none nor all nor from 0 to 1", param, ctx)
        return share


@click.command()
@click.argument("variant")
@click.argument("depth", type=click.IntRange(0, MAX_PERFT_DEPTH))
@click.argument("fen", default=STARTPOS)
@click.option("--divide", is_flag=True, help="Show the count below each first move, too.")
@click.option(
    "--threads",
    type=click.IntRange(1, MAX_THREADS),
    default=1,
    show_default=True,
    metavar="N",
    help="Count on N threads.",
)
@click.option(
    "--hash-mb",
    type=click.IntRange(1, MAX_HASH_MB),
    metavar="MB",
    help="Keep the counts of positions met before in a table of this size.",
)
@click.option(
    "--against",
    metavar="COMMAND",
    help="Compare with another generator down to the smallest position where they differ. COMMAND "
    "is called with a depth and a FEN added, and prints lines of a move and a count.",
)
@click.option(
    "--gateway",
    "target",
    metavar="HOST:PORT",
    help="Count as a job of the service there, instead of in this process. The options below are "
    "for such a job, those above for this process.",
)
@click.option(
    "--proof",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a file that `perft-check` can check.",
)
@click.option(
    "--verify",
    type=Share(),
    default="none",
    show_default=True,
    metavar="none|all|SHARE",
    help="Have another worker count all prefixes, or a share of them, again.",
)
@click.option("--keep-images", is_flag=True, help="Count mirrored positions apart.")
@click.option("--detach", is_flag=True, help="Leave the job to the service.")
@client_option
@credential_options
@json_option
def perft(
    variant: str,
    depth: int,
    fen: str,
    divide: bool,
    threads: int,
    hash_mb: int | None,
    against: str | None,
    target: str | None,
    proof: Path | None,
    verify: float,
    keep_images: bool,
    detach: bool,
    client_name: str | None,
    as_json: bool,
) -> None:
    """Count the legal lines of DEPTH plies from FEN."""
    if target is not None:
        if divide or against is not None or hash_mb is not None or threads > 1:
            raise WrongInput("--divide, --threads, --hash-mb and --against are not for a job")
        if detach and proof is not None:
            raise WrongInput("--detach does not wait; `jobs proof` writes a proof later")
        work = jobs_pb2.PerftWork(
            position=position_pb2.Position(variant=variant, fen="" if fen == STARTPOS else fen),
            depth=depth,
            keep_images=keep_images,
            verify_share=verify,
        )
        call_gateway(
            target, client_name, lambda client: _run_job(client, work, proof, detach, as_json)
        )
        return
    if proof is not None or verify or keep_images or detach:
        raise WrongInput("--proof, --verify, --keep-images and --detach need --gateway")
    position = parse_position(variant, fen)
    if against is not None:
        compare_perft(position, depth, against)
        return
    begin = time.perf_counter()
    table = CountTable(hash_mb) if hash_mb else None
    with CountBar() as bar:
        counts = counting.divide(position, depth, threads, table, bar.update) if depth else {}
    nodes = sum(counts.values()) if depth else 1
    _print_count(position, depth, nodes, time.perf_counter() - begin, as_json, counts, divide)


@click.command("perft-check")
@click.argument("file", type=click.File("rb"))
@click.option(
    "--sample",
    type=click.IntRange(0, MAX_SAMPLE),
    default=10,
    show_default=True,
    metavar="N",
    help="Count N prefixes, chosen at random.",
)
@json_option
def perft_check(file: BinaryIO, sample: int, as_json: bool) -> None:
    """Check a proof that `perft --proof` wrote: add it up, split anew, count a sample.

    The exit code is 1 for a proof that is wrong, 2 for a file that is none.
    """
    try:
        with CountBar() as bar:
            header = check_proof(file, sample, bar.update)
    except UnreadableProof as error:
        raise WrongInput(str(error)) from error
    except FalseProof as error:
        raise Differ(f"the proof is wrong: {error}") from error
    recounted = min(sample, header.prefixes)
    fields = {name: getattr(header, name) for name in ("variant", "fen", "depth", "nodes")}
    if as_json:
        click.echo(dump({**fields, "prefixes": header.prefixes, "recounted": recounted}))
    else:
        click.echo(
            f"perft {header.depth}: {header.nodes}, proved by {header.prefixes} prefixes, "
            f"{recounted} of them counted here"
        )


async def finish_perft(client: Client, name: str, proof: Path | None) -> int:
    """Wait for a perft job to succeed; return its total, and write its proof.

    Raises:
        JobNotDone: it was cancelled, failed or lost.
    """
    rows: list[jobs_pb2.ResultRow] = []
    async with job_bar(client, name):
        async for row in client.stream_results(name):
            rows.append(row)
            _tell_wrong_counts(row)
    failed = sum(row.HasField("failure") for row in rows)
    await conclude(client, name, 0, failed, "prefixes")
    job = await client.get_job(name)
    nodes = sum(int(row.perft.count) * int(row.perft.multiplicity) for row in rows)
    if str(nodes) != job.perft_count or len(rows) != job.counts.total:
        raise JobNotDone(f"the rows of {name} are not those of its total {job.perft_count}")
    if proof is not None:
        work = job.specification.perft
        header = ProofHeader(
            variant=work.position.variant,
            fen=read_position(work.position).fen(),
            depth=work.depth,
            plies=work.depth - rows[0].perft.depth,
            keeps_images=work.keep_images,
            prefixes=len(rows),
            nodes=nodes,
            rules_version=rows[0].perft.rules_version,
        )
        write_proof(proof, header, map(_format_line, rows))
    return nodes


async def _run_job(
    client: Client, work: jobs_pb2.PerftWork, proof: Path | None, detach: bool, as_json: bool
) -> None:
    """Have a perft counted; print it, and write its proof."""
    begin = time.perf_counter()
    job = await client.create_job(jobs_pb2.JobSpecification(perft=work), [])
    click.echo(job.name, err=True)
    if detach:
        return
    try:
        nodes = await finish_perft(client, job.name, proof)
    except asyncio.CancelledError:
        await client.cancel_job(job.name)
        raise
    seconds = time.perf_counter() - begin
    _print_count(read_position(work.position), work.depth, nodes, seconds, as_json)


def _format_line(row: jobs_pb2.ResultRow) -> ProofLine:
    perft = row.perft
    return ProofLine(row.fen, int(perft.multiplicity), int(perft.count), list(perft.workers))


def _tell_wrong_counts(row: jobs_pb2.ResultRow) -> None:
    for wrong in row.perft.wrong_counts:
        click.echo(
            f"worker {wrong.worker} counted {wrong.count} instead of {row.perft.count} lines of "
            f"{row.perft.depth} plies from {row.fen}",
            err=True,
        )


def _print_count(
    position: Position,
    depth: int,
    nodes: int,
    seconds: float,
    as_json: bool,
    counts: dict[str, int] | None = None,
    divide: bool = False,
) -> None:
    fields: dict[str, Any] = {"variant": position.variant.name, "fen": position.fen()}
    fields |= {"depth": depth, "nodes": nodes, "seconds": round(seconds, 6)}
    if as_json:
        click.echo(dump({**fields, "divide": counts} if divide else fields))
        return
    for move, count in (counts or {}).items() if divide else ():
        click.echo(f"{move} {count}")
    click.echo(f"perft {depth}: {nodes} in {seconds:.3f} s")
