"""`tilewarp match`: games between two engines, and what their results say."""

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from core.adjudication import Terms
from core.games import VARIANTS
from core.jit import CACHE_DIRECTORY
from core.limits import MAX_MOVETIME, MAX_NODES
from core.match.game import Game
from gateway.cli.credentials import credential_options
from gateway.cli.errors import WrongInput
from gateway.cli.match_job import WORKERS, play_on_workers, specify
from gateway.cli.options import terms_options
from gateway.cli.remote import client_option
from gateway.cli.rows import dump
from gateway.match.control import TimeControl
from gateway.match.engines import CODECUP, Spec, parse_spec
from gateway.match.log import LogError, MatchLog, make_header
from gateway.match.program import Keeper, ProgramFault
from gateway.match.rating import Sprt, find_elo_bounds, find_share
from gateway.match.tournament import (
    Plan,
    Report,
    Round,
    Standing,
    find_identities,
    play_match,
)

DEFAULT_NAMES = ("first", "second")
DEFAULT_GRACE = 1000
MAX_PAIRS = 1_000_000
MAX_SEED = 2**63 - 1
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
    "book-seed=N,nodes=N,depth=D,movetime=MS], [NAME=]uci:COMMAND or "
    "[NAME=]codecup:COMMAND.",
)
@click.option(
    "--nodes", type=click.IntRange(1, MAX_NODES), metavar="N", help="Bound each move by nodes."
)
@click.option(
    "--movetime",
    type=click.IntRange(1, MAX_MOVETIME),
    metavar="MS",
    help="Bound each move by time.",
)
@click.option(
    "--clock",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Give each side so much time for a whole game.",
)
@click.option(
    "--grace",
    type=click.IntRange(0),
    default=DEFAULT_GRACE,
    show_default=True,
    metavar="MS",
    help="Forgive so much time beyond a move's or a game's.",
)
@click.option(
    "--pairs",
    type=click.IntRange(1, MAX_PAIRS),
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
    type=click.IntRange(-MAX_SEED - 1, MAX_SEED),
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
@click.option(
    "--gateway",
    "target",
    metavar="HOST:PORT",
    help="Let the workers of the service there play, as a job. The options below are for such a "
    "match; --concurrency, --clock and --grace are not.",
)
@click.option("--detach", is_flag=True, help="Leave the job to the service.")
@client_option
@credential_options
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
    target: str | None,
    detach: bool,
    client_name: str | None,
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
        if target is not None:
            _check_job(plan, out, detach)
        elif detach:
            raise ValueError("--detach needs --gateway")
    except ValueError as error:
        raise WrongInput(str(error)) from error
    standing = Standing()
    if target is None:
        _play_here(plan, standing, out)
    else:
        _play_remotely(plan, standing, out, target, client_name, detach)
    if not detach:
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
    if len(given) > 1 or (not given and not all(spec.bounds for spec in plan.engines)):
        raise ValueError("one of --nodes, --movetime and --clock is needed")
    if control.nodes and any(spec.protocol == CODECUP for spec in plan.engines):
        raise ValueError("a codecup engine cannot be told --nodes")


def _check_job(plan: Plan, out: Path | None, detach: bool) -> None:
    """Raise ValueError for settings that are not for a job."""
    if plan.concurrency != 1:
        raise ValueError("--concurrency is for a match that is played here")
    if plan.control.grace != DEFAULT_GRACE:
        raise ValueError("--grace is for a match that is played here")
    if detach and plan.sprt is not None:
        raise ValueError("--sprt needs the results, which --detach does not wait for")
    if detach and out is not None:
        raise ValueError("--out needs the results, which --detach does not wait for")
    specify(plan, Standing())


def _play_here(plan: Plan, standing: Standing, out: Path | None) -> None:
    with ExitStack() as stack:
        keeper = stack.enter_context(Keeper())
        try:
            identities = find_identities(plan.engines, keeper)
        except ProgramFault as error:
            raise WrongInput(str(error)) from error
        report = stack.enter_context(
            _reporting(plan, identities, CACHE_DIRECTORY.name, standing, out)
        )
        play_match(plan, standing, keeper, report)


def _play_remotely(
    plan: Plan,
    standing: Standing,
    out: Path | None,
    target: str,
    client_name: str | None,
    detach: bool,
) -> None:
    with _reporting(plan, [WORKERS] * 2, WORKERS, standing, out) as report:
        play_on_workers(plan, standing, report, target, client_name, detach)


@contextmanager
def _reporting(
    plan: Plan, identities: list[str], search: str, standing: Standing, out: Path | None
) -> Iterator[Report]:
    """Take up the match of the file; give what shows each further game, and writes it there."""
    for spec, identity in zip(plan.engines, identities, strict=True):
        click.echo(f"{spec.name}: {identity}", err=True)
    with ExitStack() as stack:
        log = None
        if out is not None:
            header = make_header(plan, identities, search)
            log = stack.enter_context(_open_log(plan, header, out))
            for task, game in log.games:
                standing.add(task, game)

        def report(task: Round, game: Game) -> None:
            if log is not None:
                log.add(task, game)
            click.echo(f"{_describe(plan, task, game)}; {_summarise(plan, standing)}", err=True)

        yield report


def _open_log(plan: Plan, header: dict[str, Any], out: Path) -> MatchLog:
    first, second = plan.engines
    try:
        return MatchLog(out, header, (first.name, second.name))
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
