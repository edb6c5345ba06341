"""`tilewarp explain`: the rule that allows or forbids a move."""

import click

from core.explain import explain as explain_move
from gateway.cli.options import json_option
from gateway.cli.positions import exit_on_wrong_input, parse_position
from gateway.cli.rows import dump


@click.command()
@click.argument("variant")
@click.argument("fen")
@click.argument("move")
@json_option
def explain(variant: str, fen: str, move: str, as_json: bool) -> None:
    """Tell which rule allows or forbids MOVE in FEN (or `startpos`), in one sentence."""
    position = parse_position(variant, fen)
    with exit_on_wrong_input():
        found = explain_move(position, move)
    if as_json:
        fields = {"fen": position.fen(), "move": position.game.rules.normalise_move(move)}
        click.echo(dump({**fields, "legal": found.is_legal, "rule": found.rule, "why": found.text}))
    else:
        click.echo(f"{'legal' if found.is_legal else 'illegal'} ({found.rule}): {found.text}")
