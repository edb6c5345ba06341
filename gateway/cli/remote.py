"""What the commands that call a gateway share: their options, their errors, and printed results."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import click
import grpc
import grpc.aio

from gateway.cli.credentials import credential_options, find_credentials
from gateway.cli.errors import JobNotDone, ServiceAway, WrongInput
from gateway.cli.options import json_option
from gateway.cli.progress import CountBar
from gateway.cli.rows import ROW_HEADER, dump, outlook_text, row_object, row_text, state_name
from gateway.cli.verdicts import VERDICT_HEADER, verdict_object, verdict_text
from gateway.client import DEFAULT_GATEWAY, Client
from tilewarp.v1 import jobs_pb2

LOOK_SECONDS = 1.0
"""Between looks at a job whose progress is shown."""
PATIENCE_SECONDS = 30.0
"""How long a command that was in touch with the service waits for it to come back."""

Answer = TypeVar("Answer")

gateway_option = click.option(
    "--gateway",
    "target",
    envvar="TILEWARP_GATEWAY",
    default=DEFAULT_GATEWAY,
    show_default=True,
    metavar="HOST:PORT",
    help="The gateway to call.",
)
client_option = click.option(
    "--client",
    "client_name",
    envvar="TILEWARP_CLIENT",
    metavar="NAME",
    help="The name that owns the jobs; without it and a key, this machine's address.",
)

EXIT_ERRORS: dict[grpc.StatusCode, type[click.ClickException]] = {
    grpc.StatusCode.UNAVAILABLE: ServiceAway,
    grpc.StatusCode.DEADLINE_EXCEEDED: ServiceAway,
    grpc.StatusCode.INVALID_ARGUMENT: WrongInput,
    grpc.StatusCode.UNAUTHENTICATED: WrongInput,
    grpc.StatusCode.PERMISSION_DENIED: WrongInput,
    grpc.StatusCode.NOT_FOUND: WrongInput,
    grpc.StatusCode.ALREADY_EXISTS: WrongInput,
}
"""Everything else means that the job cannot be done."""


def remote_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of every command that calls a gateway."""
    return call_options(json_option(command))


def call_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of every call, for one that prints no objects."""
    return gateway_option(client_option(credential_options(command)))


def call_gateway(
    target: str, client_name: str | None, work: Callable[[Client], Awaitable[Answer]]
) -> Answer:
    """Run `work` with a client, under the credentials of the running command's options.

    Failed calls end the command with their exit code.

    An interrupt reaches `work` as a cancellation, and the command as KeyboardInterrupt.
    """

    async def run() -> Answer:
        key, tls = find_credentials()
        async with Client(target, name=client_name, key=key, tls=tls) as client:
            await client.list_variants()
            client.patience = PATIENCE_SECONDS
            return await work(client)

    try:
        return asyncio.run(run())
    except grpc.aio.AioRpcError as error:
        kind = EXIT_ERRORS.get(error.code(), JobNotDone)
        text = error.details() or error.code().name
        if kind is ServiceAway:
            text = f"the service at {target} cannot be reached: {text}"
        raise kind(text) from error


async def print_results(
    client: Client,
    job: jobs_pb2.Job,
    lines: Sequence[int] | None,
    *,
    as_json: bool,
    order: jobs_pb2.ResultOrder.ValueType = jobs_pb2.RESULT_ORDER_INPUT,
    follow: bool = True,
) -> None:
    """Print a job's rows as they come, then raise what the command has to end with.

    Args:
        client: a client of the job's gateway.
        job: the job.
        lines: for each index, its line in the file; None when not known.
        as_json: print objects rather than a table.
        order: the order of the rows.
        follow: whether to wait for a running job.

    Raises:
        JobNotDone: the job was cancelled, failed or lost, or positions were given up.
        WrongInput: positions were refused.
    """
    rejected = failed = 0
    is_of_games = job.kind == jobs_pb2.JOB_KIND_ADJUDICATION
    if not as_json:
        click.echo(VERDICT_HEADER if is_of_games else ROW_HEADER)
    async with job_bar(client, job.name):
        async for row in client.stream_results(job.name, order, follow=follow):
            line = lines[row.index] if lines is not None else None
            if as_json and is_of_games:
                click.echo(dump({"index": row.index, **verdict_object(row)}))
            elif as_json:
                click.echo(dump(row_object(row, line)))
            elif is_of_games:
                click.echo(verdict_text(row, row.index, None))
            else:
                click.echo(row_text(row, row.index if line is None else line))
            rejected += row.WhichOneof("outcome") == "rejection"
            failed += row.WhichOneof("outcome") == "failure"
    await conclude(client, job.name, rejected, failed)


async def conclude(
    client: Client, name: str, rejected: int, failed: int, units: str = "positions"
) -> None:
    """Raise what the command has to end with, once a job has ended or all its rows are out.

    `units`: what its units are called.

    Raises:
        JobNotDone: the job was cancelled, failed or lost, or units were given up.
        WrongInput: units were refused.
    """
    job = await client.get_job(name)
    if job.state in (
        jobs_pb2.JOB_STATE_CANCELLED,
        jobs_pb2.JOB_STATE_FAILED,
        jobs_pb2.JOB_STATE_LOST,
    ):
        raise JobNotDone(f"{job.name} is {state_name(job)}")
    if rejected:
        raise WrongInput(f"{rejected} of {job.counts.total} {units} were refused")
    if failed:
        raise JobNotDone(f"{failed} of {job.counts.total} {units} were given up")


@asynccontextmanager
async def job_bar(client: Client, name: str) -> AsyncIterator[None]:
    """Show on a terminal how far a job is and what lies before it, while the block runs."""
    with CountBar() as bar:
        showing = asyncio.create_task(_show_progress(client, name, bar))
        try:
            yield
        finally:
            showing.cancel()
            await asyncio.wait([showing])


async def _show_progress(client: Client, name: str, bar: CountBar) -> None:
    with suppress(grpc.aio.AioRpcError):  # what the block calls will say it
        while bar.is_on_terminal:
            await asyncio.sleep(LOOK_SECONDS)
            job = await client.get_job(name)
            counts = job.counts
            ready = counts.done + counts.rejected + counts.quarantined
            bar.update(ready, counts.total, outlook_text(job))


def show_fields(fields: dict[str, Any]) -> str:
    """Return an object's fields as lines of a name and a value."""
    width = max(map(len, fields))
    return "\n".join(f"{name:<{width}}  {value}" for name, value in fields.items())
