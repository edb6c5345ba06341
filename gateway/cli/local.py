"""Commands that work in this process: variants, moves, play, bench, warmup."""

import sys
import time

import click

from core.games import VARIANTS
from core.notation import NotationError, escape_text
from core.position import STARTPOS, Position
from core.signature import run_workload
from gateway.cli.errors import WrongInput
from gateway.cli.lines import read_lines, split_line
from gateway.cli.options import json_option
from gateway.cli.positions import exit_on_wrong_input, parse_position, push_moves
from gateway.cli.rows import dump

STREAM = "-"


@click.command()
@json_option
def variants(as_json: bool) -> None:
    """List the variants and the flags by which their rules differ."""
    for variant in VARIANTS.values():
        if as_json:
            fields = {"name": variant.name, "game": variant.game, "startpos": variant.startpos}
            click.echo(dump({**fields, "flags": dict(variant.flags)}))
        else:
            flags = ", ".join(f"{name}: {_word(value)}" for name, value in variant.flags.items())
            click.echo(f"{variant.name:<18} {flags.replace('_', ' ')}")


@click.command()
@click.argument("variant")
@click.argument("fen", default=STARTPOS)
@json_option
def moves(variant: str, fen: str, as_json: bool) -> None:
    """List the legal moves of a position, sorted as text, with check and result.

    FEN `-` reads one position a line from standard input, maybe followed by ` moves ` and moves. A
    wrong one gives an error in its place, the rest goes on, and the exit code is 2. Draws are not
    shown: they take no move away.
    """
    if fen != STREAM:
        _show_moves(parse_position(variant, fen), as_json)
        return
    with exit_on_wrong_input():
        Position(variant)
    is_any_wrong = False
    for _, text in read_lines(sys.stdin.buffer):
        fen, played = split_line(text)
        try:
            position = Position(variant, fen)
            for move in played:
                position.push(move)
            _show_moves(position, as_json)
        except NotationError as error:
            is_any_wrong = True
            echo = {"fen": escape_text(text), "error": str(error)}
            click.echo(dump(echo) if as_json else f"error: {error}")
    if is_any_wrong:
        sys.exit(WrongInput.exit_code)


@click.command()
@click.argument("variant")
@click.argument("fen")
@click.argument("moves", nargs=-1)
@json_option
def play(variant: str, fen: str, moves: tuple[str, ...], as_json: bool) -> None:
    """Show the position after MOVES from FEN (or `startpos`)."""
    position = parse_position(variant, fen)
    push_moves(position, list(moves))
    click.echo(dump({"fen": position.fen()}) if as_json else position.fen())


@click.command()
@json_option
def bench(as_json: bool) -> None:
    """Show the bench signature: the nodes that the search takes for a fixed workload."""
    nodes, seconds = run_workload()
    fields = {"nodes": nodes, "seconds": round(seconds, 6)}
    click.echo(dump(fields) if as_json else f"{nodes} nodes in {seconds:.3f} s")


@click.command()
def warmup() -> None:
    """Compile every kernel once, under a lock; quick when that was done before."""
    from core.games import GAMES, load_game
    from core.jit import CACHE_DIRECTORY
    from core.warmup import is_warm

    for name in GAMES:
        if is_warm(name):
            click.echo(f"{name}: compiled before")
            continue
        click.echo(f"{name}: compiling …", nl=False)
        begin = time.perf_counter()
        load_game(name)
        click.echo(f" {time.perf_counter() - begin:.1f} s")
    click.echo(f"kernels in {CACHE_DIRECTORY}")


def _show_moves(position: Position, as_json: bool) -> None:
    legal, check, result = position.legal_moves, position.is_check(), position.result()
    if as_json:
        fields = {"fen": position.fen(), "moves": legal, "check": check, "result": result}
        click.echo(dump(fields))
    else:
        state = result or ("check" if check else "")
        click.echo(" ".join([f"{len(legal)}:", *legal]) + (f" ({state})" if state else ""))


def _word(value: bool | int | str | None) -> str:
    if isinstance(value, bool) or value is None:
        return "yes" if value else "no"
    return str(value)
