"""Games that end on terms, by what the engines think."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from core.adjudication import Terms
from core.match.game import Answer, Game
from core.position import Position
from core.score import Score
from gateway.match.control import TimeControl, play_timed_game


@dataclass
class Player:
    """Plays the first legal move that leaves the game open, and tells one score after the other."""

    scores: list[int]
    identity: str = "player"
    told: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        self.told = iter(self.scores)

    def begin_game(self) -> None:
        pass

    def choose_move(self, moves: list[str], go: str, seconds: float) -> Answer:
        position = Position("chakra")
        for move in moves:
            position.push(move)
        return Answer(position.legal_moves[0], Score(cp=next(self.told)), 0.01)

    def close(self) -> None:
        pass


def play(white: list[int], black: list[int], terms: Terms) -> Game:
    position = Position("chakra")
    position.push("e2e4")
    position.push("e7e5")
    control = TimeControl(nodes=10, movetime=None, clock=None, grace=0)
    return play_timed_game(position, (Player(white), Player(black)), (control, control), terms)


def test_a_side_that_thinks_it_has_lost_loses() -> None:
    terms = Terms(resign_score=500, resign_count=2, max_plies=20)
    game = play([0, 0, 0], [-600, -500], terms)
    assert (game.result, game.reason, game.is_forfeit) == ("1-0", "resign", False)
    assert len(game.moves) == len(game.scores) == 4


def test_scores_of_an_opening_are_missing() -> None:
    terms = Terms(draw_score=5, draw_count=1, max_plies=20)
    game = play([0], [0], terms)
    assert (game.result, game.reason, len(game.moves)) == ("1/2-1/2", "draw-score", 2)


def test_a_game_that_is_too_long_is_drawn() -> None:
    game = play([0, 0], [0, 0], Terms(max_plies=5))
    assert (game.result, game.reason, len(game.moves)) == ("1/2-1/2", "length", 3)
