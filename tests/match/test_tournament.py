"""Matches: which games are played, how they count, and that an end leaves nothing behind."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from core.adjudication import Terms
from core.match.game import Game
from gateway.match.control import TimeControl
from gateway.match.engines import Spec, parse_spec
from gateway.match.program import Keeper, ProgramFault
from gateway.match.rating import Sprt
from gateway.match.tournament import Plan, Round, Standing, find_identities, play_match
from tests.match.fakes import fake, wait_until_gone

MOVETIME = TimeControl(nodes=None, movetime=1000, clock=None, grace=10_000)
DRAW = Game([], reason="repetition")
WHITE = Game([], result="1-0", reason="checkmate")
BLACK = Game([], result="0-1", reason="checkmate")

TERMS = Terms(max_plies=400)


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Iterator[Keeper]:
    monkeypatch.setattr("gateway.match.engines.FAREWELL_SECONDS", 0.2)
    with Keeper() as keeper:
        yield keeper


def make_plan(
    first: Spec, second: Spec, pairs: int = 3, sprt: Sprt | None = None, concurrency: int = 2
) -> Plan:
    return Plan("caissa", (first, second), MOVETIME, TERMS, pairs, 1, sprt, concurrency)


def play(
    plan: Plan, keeper: Keeper, standing: Standing | None = None
) -> tuple[Standing, dict[Round, Game]]:
    standing = standing or Standing()
    games: dict[Round, Game] = {}
    play_match(plan, standing, keeper, lambda task, game: games.update({task: game}))
    return standing, games


# Counting


def test_games_and_pairs_count_for_the_first_engine() -> None:
    standing = Standing()
    standing.add(Round(1, 0), WHITE)
    assert (standing.won, standing.drawn, standing.lost, standing.pairs) == (1, 0, 0, [0] * 5)
    standing.add(Round(2, 1), WHITE)
    standing.add(Round(1, 1), BLACK)
    assert (standing.won, standing.drawn, standing.lost) == (2, 0, 1)
    assert standing.pairs == [0, 0, 0, 0, 1]
    standing.add(Round(2, 0), DRAW)
    assert standing.pairs == [0, 1, 0, 0, 1]
    assert standing.forfeits == [0, 0]


@pytest.mark.parametrize(
    ("first_white", "second_white", "kind"),
    [(BLACK, WHITE, 0), (DRAW, WHITE, 1), (DRAW, DRAW, 2), (WHITE, WHITE, 2), (WHITE, DRAW, 3)],
)
def test_kinds_of_pairs(first_white: Game, second_white: Game, kind: int) -> None:
    standing = Standing()
    standing.add(Round(9, 1), second_white)
    standing.add(Round(9, 0), first_white)
    assert standing.pairs.index(1) == kind


def test_forfeits_count_for_who_failed() -> None:
    standing = Standing()
    standing.add(Round(1, 0), Game([], result="1-0", is_forfeit=True))
    standing.add(Round(1, 1), Game([], result="1-0", is_forfeit=True))
    standing.add(Round(2, 1), Game([], result="0-1", is_forfeit=True))
    assert standing.forfeits == [1, 2]


# Playing


def test_each_opening_is_played_with_both_colours(keeper: Keeper) -> None:
    plan = make_plan(parse_spec("builtin", "a", "caissa"), parse_spec("builtin", "b", "caissa"))
    plan = Plan(**{**vars(plan), "control": TimeControl(50, None, None, 0)})
    standing, games = play(plan, keeper)
    assert set(games) == {Round(pair, white) for pair in (1, 2, 3) for white in (0, 1)}
    openings = [games[Round(pair, 0)].opening for pair in (1, 2, 3)]
    assert openings == [games[Round(pair, 1)].opening for pair in (1, 2, 3)]
    assert len({tuple(opening) for opening in openings}) == 3
    assert not any(game.is_forfeit for game in games.values())
    assert all(len(game.scores) == len(game.moves) == len(game.seconds) for game in games.values())
    # An engine that forgets at `ucinewgame` plays the same game with either colour.
    assert standing.pairs == [0, 0, 3, 0, 0]


@pytest.mark.parametrize(
    ("bounds", "go"),
    [
        ("nodes=70", "nodes 70"),
        ("depth=3,nodes=70", "nodes 70 depth 3"),
        ("movetime=9", "movetime 9"),
        ("hash-mb=1", ""),
    ],
)
def test_an_engine_may_have_bounds_of_its_own(bounds: str, go: str) -> None:
    first = parse_spec(f"builtin:{bounds}", "a", "caissa")
    plan = make_plan(first, parse_spec("builtin", "b", "caissa"))
    plan = replace(plan, control=TimeControl(None, None, 30.0, 10))
    controls = plan.find_control(0), plan.find_control(1)
    assert [control.format_bounds() for control in controls] == [go, ""]
    assert [control.clock for control in controls] == [None if go else 30.0, 30.0]


def test_codecup_games_begin_at_the_start(keeper: Keeper) -> None:
    standing, games = play(make_plan(fake("codecup"), fake("codecup")), keeper)
    assert [game.opening for game in games.values()] == [[]] * 6
    assert Counter(game.reason for game in games.values()) == {"checkmate": 6}
    assert (standing.won, standing.lost, standing.pairs) == (3, 3, [0, 0, 3, 0, 0])


def test_engines_that_fail_are_started_again(keeper: Keeper) -> None:
    standing, games = play(make_plan(fake("codecup", "crash"), fake("codecup")), keeper)
    assert standing.forfeits == [6, 0]
    assert all("ended with 3: last words" in game.reason for game in games.values())
    assert standing.pairs == [3, 0, 0, 0, 0]


def test_an_engine_that_no_longer_starts_forfeits(keeper: Keeper) -> None:
    standing, games = play(make_plan(fake("codecup"), fake("uci", "early"), pairs=1), keeper)
    assert standing.forfeits == [0, 2]
    assert all("early does not start: ended with 4" in game.reason for game in games.values())


def test_games_that_were_played_are_not_played_again(keeper: Keeper) -> None:
    standing = Standing()
    for task in (Round(1, 0), Round(1, 1), Round(2, 1)):
        standing.add(task, DRAW)
    _, games = play(make_plan(fake("codecup"), fake("codecup")), keeper, standing)
    assert set(games) == {Round(2, 0), Round(3, 0), Round(3, 1)}
    assert (standing.won, standing.drawn, standing.lost) == (1, 3, 2)


def test_a_decision_ends_the_match(keeper: Keeper) -> None:
    plan = make_plan(fake("codecup"), fake("codecup", "crash"), 1000, Sprt(0, 400))
    standing, games = play(plan, keeper)
    assert plan.sprt is not None
    assert plan.sprt.decide(standing.pairs) == 400
    assert len(games) < 60
    # No earlier pair would have decided.
    assert plan.sprt.decide([0, 0, 0, 0, standing.pairs[4] - 1]) is None
    wait_until_gone()


def test_a_decided_match_does_not_go_on(keeper: Keeper) -> None:
    standing = Standing()
    for pair in range(1, 31):
        standing.add(Round(pair, 0), WHITE)
        standing.add(Round(pair, 1), BLACK)
    plan = make_plan(fake("codecup"), fake("codecup"), 1000, Sprt(0, 400))
    assert play(plan, keeper, standing)[1] == {}


def test_an_error_in_between_leaves_nothing(keeper: Keeper) -> None:
    def fail(_task: Round, _game: Game) -> None:
        raise OSError("disk full")

    plan = make_plan(fake("codecup"), fake("codecup", "crash"), 100)
    with pytest.raises(OSError, match="disk full"):
        play_match(plan, Standing(), keeper, fail)
    wait_until_gone()


def test_identities(keeper: Keeper) -> None:
    engines = fake("uci"), fake("codecup", "crash")
    assert find_identities(engines, keeper) == ["fake well", "crash"]
    with pytest.raises(ProgramFault, match="early does not start"):
        find_identities((fake("uci"), fake("uci", "early")), keeper)
    wait_until_gone()
