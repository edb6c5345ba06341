"""`tilewarp match`: games between two engines, and what their results say."""

import math
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from core.adjudication import Terms
from core.games import VARIANTS
from core.match.game import Game
from gateway.cli.errors import WrongInput
from gateway.cli.options import terms_options
from gateway.cli.rows import dump
from gateway.match.control import TimeControl
from gateway.match.engines import CODECUP, Spec, parse_spec
from gateway.match.log import LogError, MatchLog, make_header
from gateway.match.program import Keeper, ProgramFault
from gateway.match.rating import Sprt, find_elo_bounds, find_share
from gateway.match.tournament import Plan, Round, Standing, find_identities, play_match

DEFAULT_NAMES = ("first", "second")
MAX_PLIES = 400
"""Half-moves, its opening included, after which a game is drawn unless other terms are given."""


@click.command()
@click.argument("variant", type=click.Choice(list(VARIANTS)))
@click.option(
    "--engine",
    "engines",
    multiple=True,
    metavar="SPEC",
    help="An engine, given twice: [NAME=]builtin[:threads=N,hash-mb=MB,book=FILE,"
    "book-seed=N], [NAME=]uci:COMMAND or "
    "[NAME=]codecup:COMMAND.",
)
@click.option("--nodes", type=click.IntRange(1), metavar="N", help="Bound each move by nodes.")
@click.option("--movetime", type=click.IntRange(1), metavar="MS", help="Bound each move by time.")
@click.option(
    "--clock",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Give each side so much time for a whole game.",
)
@click.option(
    "--grace",
    type=click.IntRange(0),
    default=1000,
    show_default=True,
    metavar="MS",
    help="Forgive so much time beyond a move's or a game's.",
)
@click.option(
    "--pairs",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    metavar="N",
    help="Play N openings, each twice with colours exchanged.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Play N games at a time.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="Choose other openings.",
)
@terms_options
@click.option(
    "--sprt",
    type=(float, float),
    metavar="ELO0 ELO1",
    help="End when the first engine is found to be stronger by ELO0 rather, or by ELO1.",
)
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Chance to accept ELO1 wrongly."
)
@click.option(
    "--beta", type=float, default=0.05, show_default=True, help="Chance to accept ELO0 wrongly."
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write each game to FILE, and go on with the match that is there.",
)
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
    terms: Terms,
    sprt: tuple[float, float] | None,
    alpha: float,
    beta: float,
    out: Path | None,
    as_json: bool,
) -> None:
    """Play pairs of games between two engines, and judge how much stronger the first is."""
    try:
        plan = Plan(
            variant=variant,
            engines=_parse_engines(engines, variant),
            control=TimeControl(nodes, movetime, clock, grace),
            terms=replace(terms, max_plies=terms.max_plies or MAX_PLIES),
            pairs=pairs,
            seed=seed,
            sprt=Sprt(*sprt, alpha, beta) if sprt else None,
            concurrency=concurrency,
        )
        _check(plan)
    except ValueError as error:
        raise WrongInput(str(error)) from error
    standing = _play(plan, out)
    click.echo(dump(_summary_object(plan, standing)) if as_json else _summarise(plan, standing))


def _parse_engines(texts: tuple[str, ...], variant: str) -> tuple[Spec, Spec]:
    if len(texts) != 2:
        raise ValueError(f"--engine is needed twice, and given {len(texts)} times")
    first, second = (
        parse_spec(text, name, variant) for text, name in zip(texts, DEFAULT_NAMES, strict=True)
    )
    if first.name == second.name:
        raise ValueError(f"both engines are named {first.name}")
    return first, second


def _check(plan: Plan) -> None:
    """Raise ValueError for settings that do not go together."""
    control = plan.control
    given = [b for b in (control.nodes, control.movetime, control.clock) if b is not None]
    if len(given) != 1:
        raise ValueError("one of --nodes, --movetime and --clock is needed")
    if control.nodes and any(spec.protocol == CODECUP for spec in plan.engines):
        raise ValueError("a codecup engine cannot be told --nodes")


def _play(plan: Plan, out: Path | None) -> Standing:
    standing = Standing()
    with ExitStack() as stack:
        keeper = stack.enter_context(Keeper())
        try:
            identities = find_identities(plan.engines, keeper)
        except ProgramFault as error:
            raise WrongInput(str(error)) from error
        for spec, identity in zip(plan.engines, identities, strict=True):
            click.echo(f"{spec.name}: {identity}", err=True)
        log = stack.enter_context(_open_log(plan, identities, out)) if out else None
        for task, game in log.games if log else []:
            standing.add(task, game)

        def report(task: Round, game: Game) -> None:
            if log:
                log.add(task, game)
            click.echo(f"{_describe(plan, task, game)}; {_summarise(plan, standing)}", err=True)

        play_match(plan, standing, keeper, report)
    return standing


def _open_log(plan: Plan, identities: list[str], out: Path) -> MatchLog:
    first, second = plan.engines
    try:
        return MatchLog(out, make_header(plan, identities), (first.name, second.name))
    except (LogError, OSError) as error:
        raise WrongInput(f"{out}: {error}") from error


def _describe(plan: Plan, task: Round, game: Game) -> str:
    white, black = plan.engines[task.white].name, plan.engines[1 - task.white].name
    plies = len(game.opening) + len(game.moves)
    return f"pair {task.pair}: {white} - {black} {game.result}, {game.reason}, {plies} plies"


def _summarise(plan: Plan, standing: Standing) -> str:
    share, error = find_share(standing.pairs)
    elo, low, high = find_elo_bounds(standing.pairs)
    text = f"{plan.engines[0].name}: +{standing.won} ={standing.drawn} -{standing.lost}"
    if sum(standing.pairs):
        text += (
            f", {100 * share:.1f} % (standard error {100 * error:.1f})"
            f", Elo {elo:+.1f} [{low:+.1f}, {high:+.1f}], pairs {standing.pairs}"
        )
    if any(standing.forfeits):
        text += f", forfeits {standing.forfeits[0]} and {standing.forfeits[1]}"
    if plan.sprt is not None:
        lower, upper = plan.sprt.bounds
        text += f", LLR {plan.sprt.find_llr(standing.pairs):.2f} [{lower:.2f}, {upper:.2f}]"
        accepted = plan.sprt.decide(standing.pairs)
        text += f", Elo {accepted:g} accepted" if accepted is not None else ""
    return text


def _summary_object(plan: Plan, standing: Standing) -> dict[str, Any]:
    share, error = find_share(standing.pairs)
    elo, low, high = find_elo_bounds(standing.pairs)
    fields: dict[str, Any] = {
        "variant": plan.variant,
        "engines": [spec.name for spec in plan.engines],
        "won": standing.won,
        "drawn": standing.drawn,
        "lost": standing.lost,
        "forfeits": standing.forfeits,
        "pairs": standing.pairs,
        "percent": _finite(100 * share),
        "standard_error": _finite(100 * error),
        "elo": _finite(elo),
        "elo_low": _finite(low),
        "elo_high": _finite(high),
    }
    if plan.sprt is not None:
        fields["llr"] = round(plan.sprt.find_llr(standing.pairs), 4)
        fields["llr_bounds"] = [round(bound, 4) for bound in plan.sprt.bounds]
        fields["accepted"] = plan.sprt.decide(standing.pairs)
    return fields


def _finite(value: float) -> float | None:
    """Return a figure as JSON can have it; None stands for infinity."""
    return round(value, 2) if math.isfinite(value) else None
