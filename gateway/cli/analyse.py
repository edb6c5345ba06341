"""`tilewarp analyse`: a file of positions through a gateway, as one job."""

import asyncio
from typing import Any, BinaryIO

import click

from gateway.cli.errors import WrongInput
from gateway.cli.options import class_option, limit_options
from gateway.cli.remote import call_gateway, print_results, remote_options
from gateway.client import Client, parse_line
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2


@click.command()
@click.argument("variant")
@click.argument("file", type=click.File("rb"))
@limit_options
@class_option
@click.option("--no-cache", is_flag=True, help="Search also what has a cached result.")
@click.option("--detach", is_flag=True, help="Leave the job to the service.")
@remote_options
def analyse(
    variant: str,
    file: BinaryIO,
    limits: dict[str, Any],
    job_class: jobs_pb2.JobClass.ValueType,
    no_cache: bool,
    detach: bool,
    target: str,
    client_name: str | None,
    as_json: bool,
) -> None:
    """Analyse the positions of FILE, one a line, `-` for standard input.

    A line is a FEN or `startpos`, maybe followed by ` moves ` and moves. The limits are for each
    position. The job's name goes to standard error at once, the results to standard output in the
    order of the lines. Ctrl-C cancels the job.
    """
    lines, positions = read_positions(variant, file)
    if not positions:
        raise WrongInput("there is no position")
    specification = jobs_pb2.JobSpecification(job_class=job_class)
    specification.analysis.limits.MergeFrom(format_limits(limits))
    specification.analysis.no_cache = no_cache

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


def format_limits(limits: dict[str, Any]) -> analysis_pb2.Limits:
    """Return the message of the limits that `limit_options` gave."""
    message = analysis_pb2.Limits(**{k: v for k, v in limits.items() if k != "movetime"})
    if "movetime" in limits:
        message.time.FromMilliseconds(limits["movetime"])
    return message


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
