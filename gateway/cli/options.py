"""Options that commands share: what is asked of a search, and how it is printed."""

import functools
from collections.abc import Callable
from typing import Any

import click

from core.adjudication.terms import Terms
from gateway.cli.errors import WrongInput
from tilewarp.v1.jobs_pb2 import JobClass

json_option = click.option("--json", "as_json", is_flag=True, help="Print one object a line.")

BOUNDS = ("nodes", "depth", "movetime", "mate")
"""Of these one at least must be given."""
MEANS = ("threads", "multipv", "hash_mb", "searchmoves")
INT32 = 2**31 - 1


def _number(flag: str, name: str, metavar: str, text: str, most: int = INT32) -> Any:
    return click.option(flag, name, type=click.IntRange(1, most), metavar=metavar, help=text)


OPTIONS = (
    _number("--nodes", "nodes", "N", "End after N nodes.", 2**63 - 1),
    _number("--depth", "depth", "D", "End after depth D."),
    _number("--movetime", "movetime", "MS", "End after MS milliseconds.", 2**40),
    _number("--mate", "mate", "N", "End when mate in N moves is proved or refuted."),
    _number("--threads", "threads", "N", "Search on N threads."),
    _number("--multipv", "multipv", "K", "Show the K best lines."),
    _number("--hash-mb", "hash_mb", "MB", "Size of the transposition table."),
    click.option(
        "--searchmoves",
        metavar='"MOVE …"',
        callback=lambda _context, _option, text: tuple((text or "").split()) or None,
        help="Consider only these moves in the position itself.",
    ),
)


def limit_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options; it gets those given as one dict `limits`.

    The names are those of `core.limits.Limits` and of the wire's, save `movetime`, in milliseconds.
    """

    @functools.wraps(command)
    def gather(*args: Any, **given: Any) -> None:
        values = {name: given.pop(name) for name in (*BOUNDS, *MEANS)}
        limits = {name: value for name, value in values.items() if value is not None}
        if not limits.keys() & set(BOUNDS):
            raise WrongInput("at least one of --nodes, --depth, --movetime and --mate is required")
        command(*args, limits=limits, **given)

    for option in reversed(OPTIONS):
        gather = option(gather)
    return gather


CLASSES = ("interactive", "bulk", "background")
class_option = click.option(
    "--class",
    "job_class",
    type=click.Choice(CLASSES),
    default="bulk",
    show_default=True,
    callback=lambda _context, _option, name: JobClass.Value(f"JOB_CLASS_{name.upper()}"),
    help="How urgent it is.",
)

TERMS = (
    click.option(
        "--resign",
        type=(int, int),
        metavar="SCORE COUNT",
        help="A side whose last COUNT scores are all at or below -SCORE centipawns loses.",
    ),
    click.option(
        "--two-sided",
        is_flag=True,
        help="It loses only where the other side's last COUNT scores are at or above SCORE, too.",
    ),
    click.option(
        "--draw",
        type=(int, int, int),
        metavar="SCORE COUNT AFTER",
        help="Drawn when the last COUNT scores of each side are all within SCORE centipawns, and "
        "given after AFTER moves.",
    ),
    click.option("--max-plies", type=int, default=0, metavar="N", help="Drawn after N half-moves."),
)


def terms_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the terms of adjudication; it gets them as `terms`."""

    @functools.wraps(command)
    def gather(
        *args: Any,
        resign: tuple[int, int] | None,
        two_sided: bool,
        draw: tuple[int, int, int] | None,
        max_plies: int,
        **given: Any,
    ) -> None:
        try:
            terms = Terms(*(resign or (0, 0)), two_sided, *(draw or (0, 0, 0)), max_plies)
        except ValueError as error:
            raise WrongInput(str(error)) from error
        command(*args, terms=terms, **given)

    for option in reversed(TERMS):
        gather = option(gather)
    return gather
