"""The player of the CodeCup protocol: its dialogue, its clock, whole games."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from core.games import VARIANTS
from core.limits import Limits
from core.notation import UnknownVariant
from core.position import Position
from gateway.match.player import UNSEEN_SECONDS, CodecupPlayer, UnreadableLine


def answer(player: CodecupPlayer, *lines: str) -> list[str]:
    said: list[str] = []
    player.run(lines, said.append)
    return said


def make_player(variant: str = "caissa", clock: float = 0.5) -> CodecupPlayer:
    return CodecupPlayer(variant, clock, threads=1, hash_mb=1)


class Script:
    """An engine that knows its moves; by its clock it takes a little longer than it may."""

    OVERHEAD = 0.003

    def __init__(self, moves: Iterator[str]) -> None:
        self._moves = moves
        self.now = 0.0
        self.given: list[int] = []

    def search(self, position: Position, limits: Limits) -> SimpleNamespace:
        if limits.movetime is None:  # the one before the game
            return SimpleNamespace()
        self.given.append(limits.movetime)
        self.now += limits.movetime / 1000 + self.OVERHEAD
        return SimpleNamespace(bestmove=None if position.outcome() else next(self._moves))


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Stands in for the player's engine and clock; its moves are a knight's to and fro."""
    script = Script(iter(["h1g3", "g3h1"] * 1000))
    monkeypatch.setattr("gateway.match.player.Engine", lambda keep: script)
    monkeypatch.setattr("gateway.match.player.time.monotonic", lambda: script.now)
    return script


# Dialogue


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_first_move(variant: str) -> None:
    [move] = answer(make_player(variant), "start")
    assert move[2] == "-"
    assert move.replace("-", "") in Position(variant).legal_moves


def test_the_answer_to_the_first_move() -> None:
    [move] = answer(make_player("chakra"), "a2-b4f")
    position = Position("chakra")
    position.push("a2b4f")
    assert move.replace("-", "") in position.legal_moves


def test_answers_go_out_before_the_next_line_is_read() -> None:
    said: list[str] = []

    def give() -> Iterator[str]:
        yield "START"
        assert len(said) == 1
        position = Position("caissa")
        position.push(said[0].replace("-", ""))
        reply = position.legal_moves[-1]
        yield f"{reply[:2]}-{reply[2:]}".upper()
        assert len(said) == 2

    make_player().run(give(), said.append)
    assert len(said) == 2


@pytest.mark.parametrize("end", ["end", "quit", "Quit"])
def test_end(end: str) -> None:
    assert answer(make_player(), end, "nonsense") == []
    assert len(answer(make_player(), "start", end, "nonsense")) == 1


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["c2-c9"], "'c2-c9' is not a move such as"),
        (["c2d1"], "'c2d1' is not a move such as"),
        (["c2-a2"], "move 'c2a2': not legal in 7/"),
        (["re\x07sign"], r"'re\\\\x07sign' is not a move"),
        (["start", "start"], "'start' is not a move"),
        (["c2-d1", "c1-c1"], "move 'c1c1': not legal in"),
    ],
)
def test_lines_without_an_answer(lines: list[str], reason: str) -> None:
    with pytest.raises(UnreadableLine, match=reason) as caught:
        answer(make_player(), *lines)
    assert str(caught.value).isprintable()


def test_unknown_variants_are_refused() -> None:
    with pytest.raises(UnknownVariant):
        make_player("chess")


# The end of a game


def test_its_mate_is_told_and_nothing_after() -> None:
    """White's first move allows a mate at once."""
    assert answer(make_player(), "c2-d1", "end") == ["e5-e1"]
    with pytest.raises(UnreadableLine, match="not legal"):
        answer(make_player(), "c2-d1", "b2-c4")


def test_nothing_is_said_when_mated(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(iter(["c2d1"]))
    monkeypatch.setattr("gateway.match.player.Engine", lambda keep: script)
    assert answer(make_player(), "start", "e5-e1", "end") == ["c2-d1"]


def test_a_drawn_game_is_played_on_if_the_other_side_wants(script: Script) -> None:
    """The start comes for the third time after eight moves; the engine has nothing to say then."""
    said = answer(make_player("chakra"), "start", *(["h8-g6", "g6-h8"] * 3))
    assert said[:4] == ["h1-g3", "g3-h1"] * 2
    assert said[4] != "h1-g3"
    assert said[4].replace("-", "") == Position("chakra").legal_moves[0]


# The clock


@dataclass
class Shuffling:
    """Lines of a game in which two knights go to and fro, with time between them."""

    script: Script
    moves: int

    def __iter__(self) -> Iterator[str]:
        yield "start"
        for number in range(self.moves - 1):
            self.script.now += 7.0
            yield ("h8-g6", "g6-h8")[number % 2]


@pytest.mark.parametrize("clock", [3.0, 30.0])
def test_the_clock_lasts_for_a_game_of_400_plies(
    script: Script, monkeypatch: pytest.MonkeyPatch, clock: float
) -> None:
    """The other side's time does not count; each move takes longer than it is given."""
    monkeypatch.setattr(Position, "outcome", Position.result)
    said: list[str] = []
    make_player("chakra", clock).run(Shuffling(script, 200), said.append)
    assert len(said) == len(script.given) == 200
    spent = sum(script.given) / 1000 + 200 * (Script.OVERHEAD + UNSEEN_SECONDS)
    assert 0.9 * clock < spent < clock
    assert script.given[0] > 5 * script.given[-1]
