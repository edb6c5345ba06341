"""`tilewarp jobs`: the jobs of a gateway, their progress and their results."""

from pathlib import Path

import click

from gateway.cli.errors import JobNotDone, WrongInput
from gateway.cli.perft import finish_perft
from gateway.cli.remote import (
    call_gateway,
    call_options,
    job_bar,
    print_results,
    remote_options,
    show_fields,
)
from gateway.cli.rows import JOB_HEADER, dump, job_object, job_text, state_name
from gateway.client import Client
from tilewarp.v1 import jobs_pb2

STATES = {
    name.removeprefix("JOB_STATE_").lower(): value
    for name, value in jobs_pb2.JobState.items()
    if value != jobs_pb2.JOB_STATE_UNSPECIFIED
}
ORDERS = {"input": jobs_pb2.RESULT_ORDER_INPUT, "finished": jobs_pb2.RESULT_ORDER_FINISHED}


@click.group()
def jobs() -> None:
    """List, show, watch, pause, resume and cancel jobs, and print their results and proofs."""


@jobs.command("list")
@click.option("--state", type=click.Choice(list(STATES)), help="Only jobs in this state.")
@remote_options
def list_jobs(state: str | None, target: str, client_name: str | None, as_json: bool) -> None:
    """List one's own jobs, the newest first."""
    wanted = jobs_pb2.JOB_STATE_UNSPECIFIED if state is None else STATES[state]

    async def work(client: Client) -> None:
        if not as_json:
            click.echo(JOB_HEADER)
        async for job in client.list_jobs(wanted):
            click.echo(dump(job_object(job)) if as_json else job_text(job))

    call_gateway(target, client_name, work)


@jobs.command()
@click.argument("name")
@remote_options
def show(name: str, target: str, client_name: str | None, as_json: bool) -> None:
    """Show a job."""
    _print_job(call_gateway(target, client_name, lambda client: client.get_job(name)), as_json)


@jobs.command()
@click.argument("name")
@remote_options
def watch(name: str, target: str, client_name: str | None, as_json: bool) -> None:
    """Follow a job until it has ended; exit code 1 unless it succeeded."""

    async def work(client: Client) -> jobs_pb2.Job:
        job = await client.get_job(name)
        async with job_bar(client, name):
            async for job in client.watch_job(name):
                if as_json:
                    click.echo(dump(job_object(job)))
        return job

    job = call_gateway(target, client_name, work)
    if not as_json:
        _print_job(job, as_json)
    if job.state != jobs_pb2.JOB_STATE_SUCCEEDED:
        raise JobNotDone(f"{job.name} is {state_name(job)}")


@jobs.command()
@click.argument("name")
@click.option(
    "--order",
    type=click.Choice(list(ORDERS)),
    default="input",
    show_default=True,
    help="Their order.",
)
@click.option("--follow/--no-follow", default=True, help="Whether to wait for a running job.")
@remote_options
def results(
    name: str, order: str, follow: bool, target: str, client_name: str | None, as_json: bool
) -> None:
    """Print a job's results."""

    async def work(client: Client) -> None:
        job = await client.get_job(name)
        await print_results(client, job, None, as_json=as_json, order=ORDERS[order], follow=follow)

    call_gateway(target, client_name, work)


@jobs.command()
@click.argument("name")
@remote_options
def cancel(name: str, target: str, client_name: str | None, as_json: bool) -> None:
    """Cancel a job; the results it has are kept."""
    _print_job(call_gateway(target, client_name, lambda client: client.cancel_job(name)), as_json)


@jobs.command()
@click.argument("name")
@remote_options
def pause(name: str, target: str, client_name: str | None, as_json: bool) -> None:
    """Hold a job back; what workers have begun of it goes on."""
    _print_job(call_gateway(target, client_name, lambda client: client.pause_job(name)), as_json)


@jobs.command()
@click.argument("name")
@remote_options
def resume(name: str, target: str, client_name: str | None, as_json: bool) -> None:
    """Let a paused job go on, at its old place."""
    _print_job(call_gateway(target, client_name, lambda client: client.resume_job(name)), as_json)


@jobs.command()
@click.argument("name")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@call_options
def proof(name: str, file: Path, target: str, client_name: str | None) -> None:
    """Write the proof of a perft job to FILE, once it has succeeded; `perft-check` checks it."""

    async def work(client: Client) -> None:
        job = await client.get_job(name)
        if job.kind != jobs_pb2.JOB_KIND_PERFT:
            raise WrongInput(f"{name} is no perft")
        await finish_perft(client, name, file)

    call_gateway(target, client_name, work)


def _print_job(job: jobs_pb2.Job, as_json: bool) -> None:
    fields = job_object(job)
    click.echo(dump(fields) if as_json else show_fields(fields))
