"""`tilewarp search`: a position searched in this process, its depths shown as they finish."""

import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import click

from core.engine import Analysis, Engine
from core.limits import Limits
from core.position import STARTPOS, Position
from gateway.cli.errors import WrongInput
from gateway.cli.options import json_option, limit_options
from gateway.cli.positions import exit_on_wrong_input, parse_position, push_moves
from gateway.cli.rows import analysis_object, analysis_text, dump, progress_text
from worker.results import format_analysis, format_progress

LOOK_SECONDS = 0.05
"""Between looks for another finished depth."""


@click.command()
@click.argument("variant")
@click.argument("fen", default=STARTPOS)
@click.option("--moves", default="", metavar='"MOVE …"', help="Moves played from FEN.")
@limit_options
@json_option
def search(variant: str, fen: str, moves: str, limits: dict[str, Any], as_json: bool) -> None:
    """Search a position with the engine; the first limit that is reached ends it.

    Scores are for the side to move: pawns, or `#N` for mate in N moves, with the chances to win,
    draw and lose in thousandths. A terminal is shown each depth as it is finished.
    """
    position = parse_position(variant, fen)
    push_moves(position, moves.split())
    try:
        wanted = Limits(**limits)
    except ValueError as error:
        raise WrongInput(str(error)) from error
    is_watched = sys.stdout.isatty() and not as_json
    with exit_on_wrong_input():
        analysis = _search_interruptibly(position, wanted, is_watched)
    result = format_analysis(analysis, wanted)
    click.echo(dump(analysis_object(result)) if as_json else analysis_text(result))


def _search_interruptibly(position: Position, limits: Limits, is_watched: bool) -> Analysis:
    """Search on a thread, as signals wait until a kernel returns; Ctrl-C stops the kernel."""
    engine = Engine()
    with ThreadPoolExecutor(1) as pool:
        search = pool.submit(engine.search, position, limits)
        try:
            if is_watched:
                _show_depths(engine, search)
            wait([search])
        except KeyboardInterrupt:
            while not search.done():  # a word set before the search has begun is lost
                engine.stop()
                wait([search], 0.1)
            raise
    return search.result()


def _show_depths(engine: Engine, search: "Future[Analysis]") -> None:
    """Show each depth that a look finds finished, until the search has ended."""
    begin, shown = time.monotonic(), 0
    while not wait([search], LOOK_SECONDS).done:
        progress = engine.read_progress()
        if progress is not None and progress.depth > shown:
            shown = progress.depth
            click.echo(progress_text(format_progress(progress, time.monotonic() - begin)))
