"""`tilewarp serve`, `gateway` and `worker`: the parts of the service, together and apart."""

import asyncio
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gateway.cli.errors import INTERRUPTED, WrongInput
from worker.logs import configure_logging
from worker.settings import Settings, SettingsError, check_redis_url, table

HELP = {entry.name: str(entry.metadata["help"]) for entry in table()}


def _setting(
    flag: str, name: str, kind: type, metavar: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(flag, name, type=kind, default=None, metavar=metavar, help=HELP[name])


listen_option = _setting("--listen", "listen", str, "HOST:PORT")
workers_option = _setting("--workers", "workers", int, "N")
redis_option = _setting("--redis", "redis_url", str, "URL")
access_option = _setting("--access", "access", str, "WHO")
tls_options = (
    _setting("--tls-cert", "tls_cert", str, "FILE"),
    _setting("--tls-key", "tls_key", str, "FILE"),
    _setting("--tls-client-ca", "tls_client_ca", str, "FILE"),
)


@click.command()
@listen_option
@workers_option
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep jobs and books in DIR; without it they are gone at the end.",
)
def serve(listen: str | None, workers: int | None, data: Path | None) -> None:
    """Run the whole service for this machine alone, with an embedded Redis.

    Listens on a loopback address only. Prints one line `ready HOST:PORT` once a worker has answered
    through the queue.
    """
    from gateway.embedded import EmbeddedServerError
    from gateway.listening import is_loopback
    from gateway.supervisor import Stack, StackError

    settings = read_settings(listen=listen, workers=workers)
    if not is_loopback(settings.listen):
        raise WrongInput(
            f"{settings.listen} is not a loopback address: serve is for this machine alone; run "
            "`tilewarp gateway` and `tilewarp worker` for others"
        )
    configure_logging(settings)
    try:
        stack = Stack(settings, data)
        number = stack.run(lambda address: click.echo(f"ready {address}"))
    except (EmbeddedServerError, StackError) as error:
        raise click.ClickException(str(error)) from error
    _exit_after(number)


@click.command()
@listen_option
@redis_option
@access_option
@tls_options[0]
@tls_options[1]
@tls_options[2]
def gateway(**given: str | None) -> None:
    """Run a gateway on a Redis that is there already.

    Prints one line `listening HOST:PORT` once it serves. On an address that is not a loopback one
    it needs API keys (`--access keys`, `tilewarp keys create`) or TLS, unless `--access open` says
    that anybody may call.
    """
    from gateway.listening import ListenError
    from gateway.server import run_gateway
    from worker.store import EvictingPolicyError
    from worker.tracing import TracingError, configure_tracing

    settings = read_settings(**given)
    configure_logging(settings)
    try:
        configure_tracing(settings, "gateway")
        number = asyncio.run(
            run_gateway(settings, lambda address: click.echo(f"listening {address}"))
        )
    except ListenError as error:
        raise WrongInput(str(error)) from error
    except (EvictingPolicyError, TracingError, RuntimeError) as error:
        raise click.ClickException(str(error)) from error
    _exit_after(number)


@click.command()
@workers_option
@redis_option
def worker(workers: int | None, redis_url: str | None) -> None:
    """Run a worker host on a Redis that is there already."""
    from worker.host import run
    from worker.store import EvictingPolicyError
    from worker.tracing import TracingError

    settings = read_settings(workers=workers, redis_url=redis_url)
    try:
        sys.exit(run(settings))
    except (EvictingPolicyError, TracingError) as error:
        raise click.ClickException(str(error)) from error


def read_settings(**given: Any) -> Settings:
    """Return the settings of the environment and of options; a wrong one ends the command."""
    try:
        settings = Settings.read(**given)
        check_redis_url(settings)
    except SettingsError as error:
        raise WrongInput(str(error)) from error
    return settings


def _exit_after(number: int) -> None:
    if number == signal.SIGINT:
        sys.exit(INTERRUPTED)
