"""What names an engine, and games against engines that fail in every way."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.adjudication import Terms
from core.match.game import Game
from core.position import Position
from core.score import Score
from gateway.book.book import make_header
from gateway.book.file import BookFile
from gateway.match.control import TimeControl, play_timed_game
from gateway.match.engines import Spec, parse_spec, start_engine
from gateway.match.program import Keeper, ProgramFault
from tests.match.fakes import MATE, fake, wait_until_gone

MOVETIME = TimeControl(nodes=None, movetime=100, clock=None, grace=300)
CLOCK = TimeControl(nodes=None, movetime=None, clock=0.4, grace=0)
NODES = TimeControl(nodes=10, movetime=None, clock=None, grace=0)

TERMS = Terms(max_plies=400)


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Iterator[Keeper]:
    monkeypatch.setattr("gateway.match.engines.FAREWELL_SECONDS", 0.2)
    with Keeper() as keeper:
        yield keeper


def play(keeper: Keeper, white: Spec, black: Spec, control: TimeControl = MOVETIME) -> Game:
    engines = start_engine(white, keeper), start_engine(black, keeper)
    try:
        for engine in engines:
            engine.begin_game()
        return play_timed_game(Position("caissa"), engines, (control, control), TERMS)
    finally:
        for engine in engines:
            engine.close()


# Descriptions


def test_descriptions_are_read() -> None:
    spec = parse_spec("new=builtin:threads=2,hash-mb=16", "first", "chakra")
    assert (spec.name, spec.protocol) == ("new", "builtin")
    assert spec.command == (sys.executable, "-P", "-m", "gateway.cli", "uci", "chakra")
    assert spec.options == (("Threads", "2"), ("Hash", "16"))
    spec = parse_spec("uci:env A=b python -c 'x y'", "first", "chakra")
    assert (spec.name, spec.command) == ("first", ("env", "A=b", "python", "-c", "x y"))
    assert parse_spec("builtin", "first", "chakra").options == ()
    spec = parse_spec("builtin:nodes=70,hash-mb=1,depth=3,movetime=9", "first", "chakra")
    assert spec.options == (("Hash", "1"),)
    assert spec.bounds == (("nodes", 70), ("depth", 3), ("movetime", 9))


def test_a_book_of_an_engine_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "a.book"
    BookFile(path, make_header("chakra")).close()
    spec = parse_spec(f"builtin:book={path},book-seed=3", "first", "chakra")
    assert spec.options == (("BookFile", str(path)), ("BookSeed", "3"))
    with pytest.raises(ValueError, match="it is a book of chakra, not of caissa"):
        parse_spec(f"builtin:book={path}", "first", "caissa")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not"),
        ("xboard:gnuchess", "is not"),
        ("uci", "names no command"),
        ("codecup: ", "names no command"),
        ("uci:'open", "No closing quotation"),
        ("builtin:hash=3", "'hash=3' is not an option"),
        ("builtin:threads=many", "'threads=many' is not an option"),
        ("builtin:hash-mb=1234567890", "'hash-mb=1234567890' is not an option"),
        ("builtin:nodes=0", "'nodes=0' is not an option"),
        ("builtin:depth=100", "'depth=100' is not an option"),
        ("a b=builtin", "is not"),
    ],
)
def test_other_descriptions_are_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_spec(text, "first", "chakra")


# Games


@pytest.mark.parametrize("protocol", ["uci", "codecup"])
@pytest.mark.parametrize("control", [MOVETIME, CLOCK])
def test_a_game_to_mate(keeper: Keeper, protocol: str, control: TimeControl) -> None:
    game = play(keeper, fake(protocol), fake(protocol), control)
    assert (game.result, game.reason, game.is_forfeit) == ("0-1", "checkmate", False)
    assert game.moves == list(MATE)
    assert all(seconds > 0 for seconds in game.seconds)
    assert game.scores == ([Score(mate=-2)] * 2 if protocol == "uci" else [None] * 2)


def test_a_game_by_nodes(keeper: Keeper) -> None:
    assert play(keeper, fake("uci"), fake("uci"), NODES).reason == "checkmate"


@pytest.mark.parametrize("protocol", ["uci", "codecup"])
@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("crash", "forfeits: ended with 3: last words"),
        ("hang", "forfeits: no answer in time"),
        ("child", "forfeits: no answer in time"),
        ("illegal", "forfeits: move 'a1b1': not legal in 7/"),
        ("nonsense", r"\x07sign'"),
    ],
)
def test_who_fails_has_lost(keeper: Keeper, protocol: str, behaviour: str, reason: str) -> None:
    for side, name in enumerate(("white", "black")):
        players = [fake(protocol), fake(protocol)]
        players[side] = fake(protocol, behaviour)
        game = play(keeper, *players)
        assert game.is_forfeit
        assert game.result == ("0-1", "1-0")[side]
        assert game.reason.startswith(name)
        assert reason in game.reason
        assert game.reason.isprintable()
        assert game.moves == list(MATE[:side])


def test_who_talks_without_end_has_lost(keeper: Keeper) -> None:
    game = play(keeper, fake("uci", "flood"), fake("uci"))
    assert (game.is_forfeit, game.reason) == (True, "white forfeits: no answer in time")


def test_who_does_not_start_again_has_lost_and_can_be_closed(keeper: Keeper) -> None:
    engine = start_engine(fake("codecup"), keeper)
    engine.choose_move([], "", 60)
    keeper.close()
    with pytest.raises(ProgramFault, match="the match is over"):
        engine.begin_game()
    engine.close()
    engine.close()


def test_a_move_beyond_time_but_within_grace_counts(keeper: Keeper) -> None:
    control = TimeControl(nodes=None, movetime=100, clock=None, grace=30_000)
    assert play(keeper, fake("uci", "late"), fake("uci"), control).reason == "checkmate"
    control = TimeControl(nodes=None, movetime=None, clock=0.1, grace=30_000)
    assert play(keeper, fake("uci", "late"), fake("uci"), control).reason == "checkmate"


def test_a_clock_runs_dry_over_several_moves(keeper: Keeper) -> None:
    """Each answer is in time, all of them are not; the other side's clock does not count."""
    line = ("b2c4", "f6d5", "c4b2", "d5f6")
    late = fake("uci", "late", line)
    control = TimeControl(nodes=None, movetime=None, clock=0.9, grace=0)
    game = play(keeper, late, fake("uci", line=line), control)
    assert (game.result, game.is_forfeit) == ("0-1", True)
    assert game.moves == list(line[:2])


def test_the_start_of_a_codecup_player_is_not_its_clocks(keeper: Keeper) -> None:
    slow = Spec("", "slow", "codecup", ("sh", "-c", f"sleep 1; exec {_command(fake('codecup'))}"))
    game = play(keeper, slow, slow, CLOCK)
    assert (game.reason, game.result) == ("checkmate", "0-1")
    assert max(game.seconds) < 1


def _command(spec: Spec) -> str:
    return " ".join(spec.command)


@pytest.mark.parametrize(
    ("behaviour", "reason"), [("early", "ended with 4"), ("mute", "no answer in time")]
)
def test_who_does_not_start_is_named(
    keeper: Keeper, behaviour: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.match.engines.START_SECONDS", 0.3)
    with pytest.raises(ProgramFault, match=f"{behaviour} .*{reason}"):
        start_engine(fake("uci", behaviour), keeper)


def test_a_command_that_does_not_exist_is_named(keeper: Keeper) -> None:
    with pytest.raises(ProgramFault, match=r"lost .*cannot be run: .*no-such-program"):
        start_engine(parse_spec("uci:no-such-program x", "lost", "caissa"), keeper)


# Nothing is left


def test_a_hanging_engine_and_its_child_die_when_it_is_closed(keeper: Keeper) -> None:
    assert play(keeper, fake("uci", "child"), fake("uci")).is_forfeit
    wait_until_gone()


def test_a_closed_keeper_wakes_and_refuses() -> None:
    keeper = Keeper()
    engine = start_engine(fake("uci", "hang"), keeper)
    keeper.close()
    with pytest.raises(ProgramFault, match="ended with -9"):
        engine.choose_move([], "movetime 100", 60)
    engine.close()
    with pytest.raises(ProgramFault, match="the match is over"):
        start_engine(fake("uci"), keeper)
    wait_until_gone()
