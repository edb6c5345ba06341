"""What bounds the moves of engines, and a game under that."""

from dataclasses import dataclass
from functools import partial

from core.adjudication import Terms
from core.match.game import Answer, Game, play_game
from core.position import Position
from gateway.match.engines import PlayingEngine

# What an engine is allowed for a move that only a number of nodes, or a depth, bounds.
_NODES_SECONDS = 60.0
_SLOWEST_NODES_PER_SECOND = 10_000
_DEPTH_SECONDS = 3600.0


@dataclass(frozen=True)
class TimeControl:
    """What bounds the moves: nodes, milliseconds, depth of a move, or seconds for a whole game.

    One or more of them are given. `grace` is the time, in milliseconds, by which an engine may
    overstep a move's time or, in all, a game's.
    """

    nodes: int | None
    movetime: int | None
    clock: float | None
    grace: int
    depth: int | None = None

    def format_bounds(self) -> str:
        """Return the bounds of each move in the words of UCI; empty when a clock bounds it."""
        bounds = {"nodes": self.nodes, "depth": self.depth, "movetime": self.movetime}
        return " ".join(f"{name} {value}" for name, value in bounds.items() if value is not None)


def play_timed_game(
    position: Position,
    engines: tuple[PlayingEngine, PlayingEngine],
    controls: tuple[TimeControl, TimeControl],
    terms: Terms,
) -> Game:
    """Play a game of two engines on from `position`, as `play_game` does."""
    clocks = [control.clock or 0.0 for control in controls]

    def choose_move(side: int, position: Position) -> Answer:
        go = controls[side].format_bounds() or _format_clocks(clocks)
        patience = _find_patience(controls[side], clocks[side])
        answer = engines[side].choose_move(position.moves, go, patience)
        clocks[side] -= answer.seconds
        return answer

    return play_game(position, (partial(choose_move, 0), partial(choose_move, 1)), terms)


def _format_clocks(clocks: list[float]) -> str:
    white, black = (max(round(clock * 1000), 1) for clock in clocks)
    return f"wtime {white} btime {black}"


def _find_patience(control: TimeControl, clock: float) -> float:
    """Return the seconds after which no answer is waited for."""
    if control.movetime is not None:
        return (control.movetime + control.grace) / 1000
    if control.nodes is not None:
        return _NODES_SECONDS + control.nodes / _SLOWEST_NODES_PER_SECOND
    return _DEPTH_SECONDS if control.depth is not None else clock + control.grace / 1000
