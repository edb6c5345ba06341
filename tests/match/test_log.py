"""The file of a match: what is written is read again, and nothing else is."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.adjudication import Terms
from core.match.game import Game
from core.records import BrokenRecord, GameRecord, read_records
from core.score import Score
from gateway.match.control import TimeControl
from gateway.match.engines import parse_spec
from gateway.match.log import LogError, MatchLog, make_header
from gateway.match.rating import Sprt
from gateway.match.tournament import Plan, Round

NAMES = ("new", "old")
PLAN = Plan(
    variant="chakra",
    engines=(parse_spec("new=builtin", "", "chakra"), parse_spec("old=uci:x y", "", "chakra")),
    control=TimeControl(nodes=None, movetime=30, clock=None, grace=1000),
    terms=Terms(max_plies=400),
    pairs=10,
    seed=7,
    sprt=Sprt(0, 10),
    concurrency=2,
)
HEADER = make_header(PLAN, ["tilewarp 1", "x 2"], "search 1")
GAMES = [
    (
        Round(1, 1),
        Game(
            opening=["e2e4", "d7d5"],
            moves=["e4d5", "d8d5"],
            scores=[Score(cp=0), Score(mate=-3)],
            seconds=[0.01, 0.02],
            result="0-1",
            reason="checkmate",
        ),
    ),
    (Round(1, 0), Game([], scores=[None], moves=["e2e4"], seconds=[1.5], reason="repetition")),
    (Round(2, 0), Game(["e2e4"], result="1-0", reason="black forfeits: x", is_forfeit=True)),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "match.jsonl"


def write(path: Path) -> None:
    with MatchLog(path, HEADER, NAMES) as log:
        assert log.games == []
        for task, game in GAMES:
            log.add(task, game)


def test_what_is_written_is_read(path: Path) -> None:
    write(path)
    with MatchLog(path, HEADER, NAMES) as log:
        assert log.games == GAMES
        log.add(Round(3, 0), GAMES[0][1])
    with MatchLog(path, HEADER, NAMES) as log:
        assert len(log.games) == 4


def test_the_file_tells_settings_and_games(path: Path) -> None:
    write(path)
    header, game, *_ = [json.loads(line) for line in path.read_text().splitlines()]
    assert header == {
        "match": 2,
        "variant": "chakra",
        "engines": [
            {"name": "new", "spec": "new=builtin", "identity": "tilewarp 1"},
            {"name": "old", "spec": "old=uci:x y", "identity": "x 2"},
        ],
        "nodes": None,
        "movetime": 30,
        "clock": None,
        "grace": 1000,
        "terms": {
            "resign_score": 0,
            "resign_count": 0,
            "is_two_sided": False,
            "draw_score": 0,
            "draw_count": 0,
            "draw_after": 0,
            "max_plies": 400,
        },
        "seed": 7,
        "depth": None,
        "search": "search 1",
        "sprt": {"elo0": 0, "elo1": 10, "alpha": 0.05, "beta": 0.05},
    }
    assert game == {
        "pair": 1,
        "variant": "chakra",
        "white": "old",
        "black": "new",
        "opening": 2,
        "moves": ["e2e4", "d7d5", "e4d5", "d8d5"],
        "scores": [None, None, {"cp": 0}, {"mate": -3}],
        "seconds": [0.01, 0.02],
        "result": "0-1",
        "reason": "checkmate",
        "is_forfeit": False,
    }


def test_the_file_is_one_of_records(path: Path) -> None:
    write(path)
    with path.open("rb") as file:
        first, second, third = read_records(file)
    assert isinstance(first, GameRecord)
    assert (first.index, first.line, first.players) == (0, 2, ("old", "new"))
    assert [move.score for move in first.moves] == [None, None, Score(cp=0), Score(mate=-3)]
    assert not isinstance(second, BrokenRecord)
    assert not isinstance(third, BrokenRecord)


@pytest.mark.parametrize("kept", [1, 40])
def test_a_torn_last_line_is_cut_off(path: Path, kept: int) -> None:
    write(path)
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines()[1][:kept])
    with MatchLog(path, HEADER, NAMES) as log:
        assert log.games == GAMES
        assert path.read_bytes() == whole


@pytest.mark.parametrize("kept", [0, 1, 60])
def test_a_torn_header_is_written_anew(path: Path, kept: int) -> None:
    write(path)
    path.write_bytes(path.read_bytes()[:kept])
    with MatchLog(path, HEADER, NAMES) as log:
        assert log.games == []
    assert json.loads(path.read_text()) == HEADER


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"movetime": 40}, "it was played with movetime 30, not 40"),
        ({"terms": {}}, "it was played with terms {.*}, not {}"),
        ({"seed": 8}, "it was played with seed 7, not 8"),
        ({"sprt": None}, "it was played with sprt {.*}, not null"),
        ({"variant": "caissa"}, 'it was played with variant "chakra", not "caissa"'),
        ({"engines": []}, "it was played with engines .*x 2.*, not"),
    ],
)
def test_other_settings_are_refused(path: Path, change: dict[str, Any], reason: str) -> None:
    write(path)
    before = path.read_bytes()
    with pytest.raises(LogError, match=reason):
        MatchLog(path, {**HEADER, **change}, NAMES)
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["hello", "hello\nworld", '{"a":1}\n', "[]\n", "\n"])
def test_other_files_are_refused_and_left_alone(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(LogError):
        MatchLog(path, HEADER, NAMES)
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line 5 is not JSON"),
        ("3", "line 5 is not an object"),
        ('{"pair":1}', "line 5 is not a game of this match"),
        ("white", "line 5 is not a game of this match"),
        ("result", "line 5 is not a game of this match"),
        ("opening", "line 5 is not a game of this match: its opening has -1 moves"),
        ("unfinished", "line 5 is not a game of this match"),
        ("moves", "line 5 is not a game of this match"),
        ("again", "it has a game twice"),
    ],
)
def test_lines_that_are_no_games_are_refused(path: Path, line: str, reason: str) -> None:
    write(path)
    game = path.read_text().splitlines()[1]
    broken = {
        "white": game.replace('"old"', '"other"'),
        "result": game.replace('"0-1"', '"2-0"'),
        "opening": game.replace('"opening":2', '"opening":-1'),
        "unfinished": game.replace('"0-1"', '"*"'),
        "moves": game.replace('"e2e4"', '"e2"'),
        "again": game,
    }
    with path.open("a") as file:
        file.write(broken.get(line, line) + "\n")
    with pytest.raises(LogError, match=reason):
        MatchLog(path, HEADER, NAMES)


def test_one_match_at_a_time_writes(path: Path) -> None:
    with MatchLog(path, HEADER, NAMES), pytest.raises(LogError, match="another match writes this"):
        MatchLog(path, HEADER, NAMES)
    with MatchLog(path, HEADER, NAMES) as log:
        assert log.games == []
