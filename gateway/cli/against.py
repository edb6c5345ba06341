"""`tilewarp perft --against`: divide against another generator, down to where they differ."""

import re
import shlex
import subprocess

import click

from core import counting
from core.notation import escape_text
from core.position import Position
from gateway.cli.errors import Differ, WrongInput

# A line of the other program that counts: a move, a colon perhaps, and a number.
_COUNT = re.compile(r"([a-g][1-7]-?[a-g][1-7]|[a-h][1-8][a-h][1-8][a-z]?):?\s+([0-9]+)\s*")
_PATIENCE_SECONDS = 3600


def compare_perft(position: Position, depth: int, command: str) -> None:
    """Print that both agree, or the smallest position where they differ and both move lists.

    Raises:
        Differ: the other generator differs.
        WrongInput: it cannot be run, or prints nothing of use.
    """
    if depth == 0:
        raise WrongInput("--against needs a depth of at least 1")
    words = shlex.split(command)
    line: list[str] = []
    while True:
        ours = counting.divide(position, depth)
        theirs = _divide_by(words, position, depth)
        differing = sorted(m for m in ours.keys() | theirs if ours.get(m) != theirs.get(m))
        if not differing:
            if line:
                raise Differ(f"after {' '.join(line)} the other counts what it did not before")
            click.echo(f"both agree: perft {depth} is {sum(ours.values())} from {position.fen()}")
            return
        if depth == 1 or ours.keys() != theirs.keys():
            _show_difference(position, line, ours, theirs)
            raise Differ("the generators differ")
        move = differing[0]
        click.echo(f"depth {depth}: {move} {ours[move]} here, {theirs[move]} there", err=True)
        position.push(move)
        line.append(move)
        depth -= 1


def _divide_by(words: list[str], position: Position, depth: int) -> dict[str, int]:
    """Return what the other program prints for a position."""
    call = [*words, str(depth), position.fen()]
    try:
        done = subprocess.run(
            call, capture_output=True, text=True, errors="replace", timeout=_PATIENCE_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WrongInput(f"{shlex.join(call)}: {error}") from error
    if done.returncode:
        said = escape_text((done.stderr or done.stdout).strip())
        raise WrongInput(f"{shlex.join(call)} ended with code {done.returncode}: {said}")
    matches = (_COUNT.fullmatch(text) for text in done.stdout.splitlines())
    return {match[1].replace("-", ""): int(match[2]) for match in matches if match}


def _show_difference(
    position: Position, line: list[str], ours: dict[str, int], theirs: dict[str, int]
) -> None:
    if line:
        click.echo(f"moves: {' '.join(line)}")
    click.echo(f"position: {position.fen()}")
    click.echo(f"here  ({len(ours)}): {' '.join(sorted(ours))}")
    click.echo(f"there ({len(theirs)}): {' '.join(sorted(theirs))}")
    for name, extra in (("here", ours.keys() - theirs), ("there", theirs.keys() - ours)):
        if extra:
            click.echo(f"only {name}: {' '.join(sorted(extra))}")
