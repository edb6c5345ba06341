"""`tilewarp match`: games between two engines, and what their results say."""

from typing import Any

import click

from core.games import VARIANTS
from gateway.cli.errors import WrongInput
from gateway.cli.rows import dump
from gateway.match.engines import parse_spec
from gateway.match.game import Game, TimeControl
from gateway.match.program import ProgramFault
from gateway.match.rating import Sprt, find_elo_bounds, find_share
from gateway.match.tournament import Plan, Round, Standing, play_match

NAMES = ("first", "second")


@click.command()
@click.argument("variant", type=click.Choice(list(VARIANTS)))
@click.option("--engine", "engines", multiple=True, metavar="SPEC", help="An engine; twice.")
@click.option("--nodes", type=click.IntRange(1), metavar="N", help="Nodes for a move.")
@click.option("--movetime", type=click.IntRange(1), metavar="MS", help="Milliseconds for a move.")
@click.option("--clock", type=float, metavar="SECONDS", help="Seconds for all moves of a game.")
@click.option("--grace", type=click.IntRange(0), default=1000, show_default=True, metavar="MS")
@click.option("--pairs", type=click.IntRange(1), default=100, show_default=True, metavar="N")
@click.option("--concurrency", type=click.IntRange(1), default=1, show_default=True, metavar="N")
@click.option("--seed", type=int, default=1, show_default=True, metavar="N")
@click.option("--sprt", type=(float, float), metavar="ELO0 ELO1")
@click.option("--alpha", type=float, default=0.05, show_default=True)
@click.option("--beta", type=float, default=0.05, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one object.")
def match(
    variant: str,
    engines: tuple[str, ...],
    nodes: int | None,
    movetime: int | None,
    clock: float | None,
    grace: int,
    pairs: int,
    concurrency: int,
    seed: int,
    sprt: tuple[float, float] | None,
    alpha: float,
    beta: float,
    as_json: bool,
) -> None:
    """Play pairs of games between two engines, and judge the difference in strength.

    A SPEC is `[NAME=]builtin[:OPTION=VALUE,…]`, `[NAME=]uci:COMMAND` or `[NAME=]codecup:COMMAND`.
    """
    if len(engines) != 2:
        raise WrongInput("--engine is needed twice")
    if sum(bound is not None for bound in (nodes, movetime, clock)) != 1:
        raise WrongInput("one of --nodes, --movetime and --clock is needed")
    try:
        first, second = (
            parse_spec(text, name, variant) for text, name in zip(engines, NAMES, strict=True)
        )
        test = Sprt(*sprt, alpha, beta) if sprt else None
    except ValueError as error:
        raise WrongInput(str(error)) from error
    control = TimeControl(nodes, movetime, clock, grace)
    plan = Plan(variant, (first, second), control, pairs, seed, test, concurrency)
    standing = Standing()

    def report(task: Round, game: Game) -> None:
        white, black = plan.engines[task.white].name, plan.engines[1 - task.white].name
        click.echo(
            f"pair {task.pair + 1}: {white} - {black} {game.result}, {game.reason} after "
            f"{len(game.opening) + len(game.moves)} plies. {_summarise(plan, standing)}",
            err=True,
        )

    try:
        play_match(plan, standing, report)
    except ProgramFault as error:
        raise WrongInput(str(error)) from error
    click.echo(dump(_summary_object(plan, standing)) if as_json else _summarise(plan, standing))


def _summary_object(plan: Plan, standing: Standing) -> dict[str, Any]:
    tally = standing.tally
    share, error = find_share(tally.pairs)
    elo, low, high = find_elo_bounds(tally.pairs)
    summary = {
        "won": tally.won,
        "drawn": tally.drawn,
        "lost": tally.lost,
        "pairs": tally.pairs,
        "share": share,
        "error": error,
        "elo": elo,
        "elo_low": low,
        "elo_high": high,
    }
    if plan.sprt is not None:
        summary |= {
            "llr": plan.sprt.find_llr(tally.pairs),
            "accepted": plan.sprt.decide(tally.pairs),
        }
    return summary


def _summarise(plan: Plan, standing: Standing) -> str:
    tally = standing.tally
    share, error = find_share(tally.pairs)
    elo, low, high = find_elo_bounds(tally.pairs)
    text = (
        f"{plan.engines[0].name}: +{tally.won} ={tally.drawn} -{tally.lost}, "
        f"{100 * share:.1f} % (standard error {100 * error:.1f}), "
        f"Elo {elo:+.1f} [{low:+.1f}, {high:+.1f}], pairs {tally.pairs}"
    )
    if plan.sprt is not None:
        lower, upper = plan.sprt.bounds
        accepted = plan.sprt.decide(tally.pairs)
        text += f", LLR {plan.sprt.find_llr(tally.pairs):.2f} [{lower:.2f}, {upper:.2f}]"
        text += f", {accepted} accepted" if accepted else ""
    return text
