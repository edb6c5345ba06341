"""One game between two engines: moves, clocks, and who lost how."""

from dataclasses import dataclass, field

from core.adjudication import Terms, find_ending_at
from core.notation import MoveError
from core.position import Position
from core.records import DRAWN, WON
from core.score import Score
from gateway.match.engines import PlayingEngine
from gateway.match.program import ProgramFault

SIDES = ("white", "black")
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


@dataclass
class Game:
    """A game that was played, with what each move took and was thought worth by its player.

    `moves`, `scores` and `seconds` begin after the opening. `is_forfeit`: the loser failed as a
    program, or played an illegal move; `reason` tells how.
    """

    opening: list[str]
    moves: list[str] = field(default_factory=list)
    scores: list[Score | None] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    result: str = DRAWN
    reason: str = ""
    is_forfeit: bool = False


def play_game(
    position: Position,
    engines: tuple[PlayingEngine, PlayingEngine],
    control: TimeControl,
    terms: Terms,
) -> Game:
    """Play on from `position`, which is moved, White's engine first, and return the game.

    It ends by the rules, or on terms by the scores that the engines give.
    """
    game = Game(opening=list(position.moves))
    clocks = [control.clock or 0.0] * 2
    while not _find_end(position, game, terms):
        side = len(position.moves) % 2
        try:
            answer = engines[side].choose_move(
                position.moves, _format_go(control, clocks), _find_patience(control, clocks[side])
            )
            clocks[side] -= answer.seconds
            position.push(answer.move)
        except (ProgramFault, MoveError) as error:
            return forfeit(game, side, error)
        game.moves.append(position.moves[-1])
        game.scores.append(answer.score)
        game.seconds.append(round(answer.seconds, 6))
    return game


def _find_end(position: Position, game: Game, terms: Terms) -> bool:
    """Return whether a game is over, and write its result and the reason into it."""
    plies = len(position.moves)
    outcome = position.outcome()
    if outcome is not None:
        game.reason = outcome
        if outcome == "checkmate":
            game.result = WON[1 - plies % 2]
        return True
    scores = [*[None] * len(game.opening), *game.scores]
    ending = find_ending_at(scores, plies, False, terms)
    if ending is not None:
        game.result, game.reason = ending.result, ending.reason
    return ending is not None


def forfeit(game: Game, side: int, error: Exception) -> Game:
    """End a game by a fault of one side, and return it."""
    game.result = WON[1 - side]
    game.reason = f"{SIDES[side]} forfeits: {error}"
    game.is_forfeit = True
    return game


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
