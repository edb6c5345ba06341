"""One game between two players: moves, scores, and who lost how."""

from collections.abc import Callable
from dataclasses import dataclass, field

from core.adjudication import Terms, find_ending_at
from core.notation import MoveError
from core.position import Position
from core.records import DRAWN, WON
from core.score import Score

SIDES = ("white", "black")


class PlayerFault(Exception):
    """A player did not do what it must; the text says what, for people to read."""


@dataclass(frozen=True)
class Answer:
    """A player's move, the score it gave for itself, and the wall time that it took."""

    move: str
    score: Score | None
    seconds: float


ChooseMove = Callable[[Position], Answer]
"""A player: answers a position, which it leaves as it is. Raises PlayerFault when it fails."""


@dataclass
class Game:
    """A game that was played, with what each move took and was thought worth by its player.

    `moves`, `scores` and `seconds` begin after the opening. `is_forfeit`: the loser failed as a
    player, or played an illegal move; `reason` tells how.
    """

    opening: list[str]
    moves: list[str] = field(default_factory=list)
    scores: list[Score | None] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    result: str = DRAWN
    reason: str = ""
    is_forfeit: bool = False


def play_game(position: Position, players: tuple[ChooseMove, ChooseMove], terms: Terms) -> Game:
    """Play on from `position`, which is moved, White's player first, and return the game.

    It ends by the rules, or on terms by the scores that the players give.
    """
    game = Game(opening=list(position.moves))
    while not _find_end(position, game, terms):
        side = len(position.moves) % 2
        try:
            answer = players[side](position)
            position.push(answer.move)
        except (PlayerFault, MoveError) as error:
            return forfeit(game, side, error)
        game.moves.append(position.moves[-1])
        game.scores.append(answer.score)
        game.seconds.append(round(answer.seconds, 6))
    return game


def forfeit(game: Game, side: int, error: Exception) -> Game:
    """End a game by a fault of one side, and return it."""
    game.result = WON[1 - side]
    game.reason = f"{SIDES[side]} forfeits: {error}"
    game.is_forfeit = True
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
