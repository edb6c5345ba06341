"""`tilewarp uci`: the engine for match programs and boards."""

import sys

import click

from core.notation import UnknownVariant
from gateway.cli.errors import WrongInput
from gateway.cli.lines import read_lines
from gateway.match.uci import UciLoop


@click.command()
@click.argument("variant")
def uci(variant: str) -> None:
    """Speak the Universal Chess Interface on standard input and output.

    Positions are written as everywhere here: what stands between `fen` and `moves` is the position.
    """
    try:
        loop = UciLoop(variant, click.echo)
    except UnknownVariant as error:
        raise WrongInput(str(error)) from error
    loop.run(text for _, text in read_lines(sys.stdin.buffer))
