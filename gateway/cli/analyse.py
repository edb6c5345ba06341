"""`tilewarp analyse`: a file of positions through a gateway, as one job."""

import asyncio
from typing import BinaryIO

import click

from gateway.cli.errors import WrongInput
from gateway.cli.remote import call_gateway, print_results, remote_options
from gateway.client import Client, parse_line
from tilewarp.v1 import jobs_pb2, position_pb2

CLASSES = {
    "interactive": jobs_pb2.JOB_CLASS_INTERACTIVE,
    "bulk": jobs_pb2.JOB_CLASS_BULK,
    "background": jobs_pb2.JOB_CLASS_BACKGROUND,
}


@click.command()
@click.argument("variant")
@click.argument("file", type=click.File("rb"))
@click.option("--nodes", type=click.IntRange(1), metavar="N", help="Nodes for each position.")
@click.option("--depth", type=click.IntRange(1), metavar="D", help="Depth for each position.")
@click.option(
    "--movetime", type=click.IntRange(1), metavar="MS", help="Milliseconds for each position."
)
@click.option(
    "--class",
    "job_class",
    type=click.Choice(list(CLASSES)),
    default="bulk",
    show_default=True,
    help="How urgent it is.",
)
@click.option("--detach", is_flag=True, help="Leave the job to the service.")
@remote_options
def analyse(
    variant: str,
    file: BinaryIO,
    nodes: int | None,
    depth: int | None,
    movetime: int | None,
    job_class: str,
    detach: bool,
    target: str,
    client_name: str | None,
    as_json: bool,
) -> None:
    """Analyse the positions of FILE, one a line, `-` for standard input.

    A line is a FEN or `startpos`, maybe followed by ` moves ` and moves. The job's name goes to
    standard error at once, the results to standard output in the order of the lines. Ctrl-C
    cancels the job.
    """
    if nodes is None and depth is None and movetime is None:
        raise WrongInput("at least one of --nodes, --depth and --movetime is required")
    lines, positions = read_positions(variant, file)
    if not positions:
        raise WrongInput("there is no position")
    specification = jobs_pb2.JobSpecification(job_class=CLASSES[job_class])
    limits = specification.analysis.limits
    limits.nodes = nodes or 0
    limits.depth = depth or 0
    if movetime is not None:
        limits.time.FromMilliseconds(movetime)

    async def work(client: Client) -> None:
        job = await client.create_job(specification, positions)
        click.echo(job.name, err=True)
        if detach:
            return
        try:
            await print_results(client, job, lines, as_json=as_json)
        except asyncio.CancelledError:
            await client.cancel_job(job.name)
            raise

    call_gateway(target, client_name, work)


def read_positions(variant: str, file: BinaryIO) -> tuple[list[int], list[position_pb2.Position]]:
    """Return the line numbers, from 1, and the positions of the lines that are not blank.

    Bytes that are not UTF-8 become escapes, which no position allows.
    """
    numbers, positions = [], []
    for number, line in enumerate(file, 1):
        text = line.decode("utf-8-sig" if number == 1 else "utf-8", "backslashreplace").strip()
        if text:
            numbers.append(number)
            positions.append(parse_line(variant, text))
    return numbers, positions
