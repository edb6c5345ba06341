"""What bounds the moves of engines, and a game under that."""

from dataclasses import dataclass
from functools import partial

from core.adjudication import Terms
from core.match.game import Answer, Game, play_game
from core.position import Position
from gateway.match.engines import PlayingEngine

# What an engine is allowed for a move that only a number of nodes bounds.
_NODES_SECONDS = 60.0
_SLOWEST_NODES_PER_SECOND = 10_000


@dataclass(frozen=True)
class TimeControl:
    """What bounds the moves: nodes a move, milliseconds a move, or seconds for a whole game.

    One of the first three is given. `grace` is the time, in milliseconds, by which an engine may
    overstep a move's time or, in all, a game's.
    """

    nodes: int | None
    movetime: int | None
    clock: float | None
    grace: int


def play_timed_game(
    position: Position,
    engines: tuple[PlayingEngine, PlayingEngine],
    control: TimeControl,
    terms: Terms,
) -> Game:
    """Play a game of two engines on from `position`, as `play_game` does."""
    clocks = [control.clock or 0.0] * 2

    def choose_move(side: int, position: Position) -> Answer:
        answer = engines[side].choose_move(
            position.moves, _format_go(control, clocks), _find_patience(control, clocks[side])
        )
        clocks[side] -= answer.seconds
        return answer

    return play_game(position, (partial(choose_move, 0), partial(choose_move, 1)), terms)


def _format_go(control: TimeControl, clocks: list[float]) -> str:
    if control.nodes is not None:
        return f"nodes {control.nodes}"
    if control.movetime is not None:
        return f"movetime {control.movetime}"
    white, black = (max(round(clock * 1000), 1) for clock in clocks)
    return f"wtime {white} btime {black}"


def _find_patience(control: TimeControl, clock: float) -> float:
    """Return the seconds after which no answer is waited for."""
    if control.nodes is not None:
        return _NODES_SECONDS + control.nodes / _SLOWEST_NODES_PER_SECOND
    bound = clock if control.movetime is None else control.movetime / 1000
    return bound + control.grace / 1000
