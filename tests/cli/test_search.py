"""`tilewarp search`, as other programs call it and as a terminal shows it."""

import os
import pty
import re
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from core.games import VARIANTS
from core.position import Position
from tests.cli.command import MATED, STALEMATED, TILEWARP, assert_refused, run, run_json

FIELDS = [
    *("bestmove", "score", "wdl", "depth", "seldepth", "nodes", "seconds", "nps", "pv", "lines"),
    *("ended", "result"),
]
LINE_FIELDS = ["rank", "score", "wdl", "pv"]
MATE_IN_2 = "k7/8/2K5/8/8/8/8/6Q1 w - - 0 1"


@pytest.mark.parametrize("variant", VARIANTS)
def test_search(variant: str) -> None:
    (found,) = run_json("search", variant, "--nodes", "2000")
    assert list(found) == FIELDS
    assert found["nodes"] == 2000
    assert found["seconds"] >= 0
    assert found["depth"] >= 1
    assert found["bestmove"] == found["pv"][0]
    assert found["bestmove"] in Position(variant).legal_moves
    assert found["lines"] == [
        {"rank": 1, "score": found["score"], "wdl": found["wdl"], "pv": found["pv"]}
    ]
    assert list(found["score"]) == ["cp"]
    assert sum(found["wdl"]) == 1000
    assert found["seldepth"] >= found["depth"]
    assert found["nps"] == pytest.approx(found["nodes"] / found["seconds"], rel=0.01)
    assert (found["ended"], found["result"]) == ("nodes", None)
    (again,) = run_json("search", variant, "startpos", "--nodes", "2000")
    assert {**again, "seconds": 0, "nps": 0} == {**found, "seconds": 0, "nps": 0}


def test_search_tells_mates() -> None:
    (found,) = run_json("search", "chakra", "7k/8/6K1/8/8/8/2Q5/8 w - - 0 1", "--depth", "3")
    assert (found["bestmove"], found["score"], found["pv"]) == ("c2c8", {"mate": 1}, ["c2c8"])
    text = run("search", "chakra", "7k/8/6K1/8/8/8/2Q5/8 w - - 0 1", "--depth", "3").stdout
    assert re.match(r"c2c8  #1  1000/0/0  depth 1/\d+  c2c8\n", text)


def test_search_after_moves() -> None:
    fen = "7k/1q6/8/2a5/5A2/8/8/6K1 b f4n,g6n c5n,d7n 0 1"
    arguments = ("search", "chakra", fen, "--depth", "4", "--moves")
    (lost,) = run_json(*arguments, "c5c5")
    assert lost["score"]["cp"] < -100
    (drawn,) = run_json(*arguments, "  c5c5 f4f4  c5c5 ")
    assert (drawn["bestmove"], drawn["score"]) == ("f4f4", {"cp": 0})
    assert_refused(*arguments, "c5c5 c5c5", reason="2. move 'c5c5': not legal in")


def test_search_ends_at_the_first_limit() -> None:
    arguments = ("search", "caissa", "--nodes", "1500", "--depth", "2", "--movetime", "1000000")
    (found,) = run_json(*arguments)
    assert found["depth"] == 2
    assert found["nodes"] < 1500
    assert found["ended"] == "depth"
    (timed,) = run_json("search", "caissa", "--movetime", "20")
    assert timed["nodes"] > 0
    assert timed["ended"] == "movetime"


@pytest.mark.parametrize("variant", ["chakra", "caissa"])
def test_lines_are_ranked_and_differ(variant: str) -> None:
    arguments = ("search", variant, "--nodes", "5000", "--multipv", "4")
    (found,) = run_json(*arguments)
    assert [list(line) for line in found["lines"]] == [LINE_FIELDS] * 4
    assert [line["rank"] for line in found["lines"]] == [1, 2, 3, 4]
    scores = [line["score"]["cp"] for line in found["lines"]]
    assert scores == sorted(scores, reverse=True)
    assert len({line["pv"][0] for line in found["lines"]}) == 4
    assert found["pv"] == found["lines"][0]["pv"]
    *lines, last = run(*arguments).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [line["pv"][0] for line in found["lines"]]
    assert last.endswith("ended: nodes")


def test_only_the_moves_to_consider_are_considered() -> None:
    moves = ["b2b4", "g2g4"]
    arguments = ("search", "chakra", "--nodes", "3000", "--multipv", "5", "--searchmoves")
    (found,) = run_json(*arguments, "  b2b4 g2g4 ")
    assert sorted(line["pv"][0] for line in found["lines"]) == moves
    assert_refused(*arguments, "b2b4 b2b5", reason="move 'b2b5': not legal in")
    assert_refused(*arguments, "nonsense", reason="move 'nonsense': not two squares")


@pytest.mark.parametrize(
    ("arguments", "verdict", "ended"),
    [
        (("--mate", "2"), "proved", "mate"),
        (("--mate", "1"), "refuted", "mate"),
        (("--mate", "2", "--nodes", "1"), "unknown", "nodes"),
    ],
)
def test_the_question_for_a_mate_is_answered(
    arguments: tuple[str, ...], verdict: str, ended: str
) -> None:
    (found,) = run_json("search", "chakra", MATE_IN_2, *arguments)
    assert list(found) == [*FIELDS, "mate"]
    assert found["mate"] == {"within": int(arguments[1]), "verdict": verdict}
    assert found["ended"] == ended
    if verdict == "proved":
        assert found["score"] == {"mate": 2}
    text = run("search", "chakra", MATE_IN_2, *arguments).stdout
    assert f"\nmate in {arguments[1]}: {verdict}\n" in text


def test_threads_and_table_are_as_asked() -> None:
    arguments = ("search", "chakra", "--depth", "5", "--threads", "2", "--hash-mb", "2")
    (found,) = run_json(*arguments)
    assert found["depth"] == 5
    assert found["bestmove"] in Position("chakra").legal_moves
    assert_refused(*arguments, "--nodes", "1", reason="nodes 1 are fewer than threads 2")


def test_a_position_that_explodes_ends_in_its_time() -> None:
    queens = "qqqqqqqk/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQQQQK w - - 0 1"
    (found,) = run_json("search", "chakra", queens, "--depth", "50", "--movetime", "200")
    assert found["ended"] == "movetime"
    assert 0.2 <= found["seconds"] < 2


def test_a_terminal_is_shown_each_depth_that_a_look_finds() -> None:
    main, terminal = pty.openpty()
    arguments = [TILEWARP, "search", "chakra", "--movetime", "700", "--multipv", "2"]
    with subprocess.Popen(arguments, stdout=terminal, stderr=subprocess.PIPE) as process:
        os.close(terminal)
        text = b""
        try:
            while part := os.read(main, 65536):
                text += part
        except OSError:  # the other end is closed
            os.close(main)
        assert process.wait() == 0
    lines = text.decode().splitlines()
    shown = [re.match(r"depth (\d+)/\d+  (\d)\. [+-]\d+\.\d\d  ", line) for line in lines[:-3]]
    places = [(int(match[1]), int(match[2])) for match in shown if match]
    assert len(places) == len(shown) >= 4
    depths = [depth for depth, rank in places if rank == 1]
    assert depths == sorted(set(depths))
    assert places == [(depth, rank) for depth in depths for rank in (1, 2)]
    assert lines[-1].endswith("ended: movetime")


@pytest.mark.parametrize(
    ("variant", "fen", "moves", "result"),
    [
        ("chakra", MATED, "", "checkmate"),
        ("chakra", STALEMATED, "", "stalemate"),
        ("chakra", "7k/8/8/8/8/8/8/K7 w d4n,e5n - 0 1", "a1b1 h8g8 b1a1 g8h8 " * 2, "repetition"),
        ("chakra", "k7/8/8/8/8/8/8/1Q5K w - - 100 80", "", "move-limit"),
        ("caissa-codecup", "5q1/7/7/7/7/7/R3Q2 w - 0 101", "", "move-limit"),
        ("caissa", "5q1/7/7/7/7/7/4Q2 w - 0 1", "", "insufficient"),
    ],
)
def test_search_of_a_finished_game(variant: str, fen: str, moves: str, result: str) -> None:
    arguments = ("search", variant, fen, "--moves", moves, "--nodes", "100")
    (found,) = run_json(*arguments)
    assert found == {
        "bestmove": None,
        "score": {"mate": 0} if result == "checkmate" else {"cp": 0},
        "wdl": [0, 0, 1000] if result == "checkmate" else [0, 1000, 0],
        "depth": 0,
        "seldepth": 0,
        "nodes": 0,
        "seconds": 0.0,
        "nps": 0,
        "pv": [],
        "lines": [],
        "ended": "over",
        "result": result,
    }
    assert run(*arguments).stdout == f"the game is over: {result}\n"


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ((), "at least one of --nodes, --depth, --movetime and --mate is required"),
        (("--threads", "2", "--multipv", "2"), "at least one of --nodes"),
        (("--depth", "101"), "depth 101 is not between 1 and 100"),
        (("--depth", "1", "--threads", "257"), "threads 257 is not between 1 and 256"),
        (("--depth", "1", "--multipv", "33"), "multipv 33 is not between 1 and 32"),
        (("--mate", "51"), "mate 51 is not between 1 and 50"),
    ],
)
def test_search_refuses_other_limits(limits: tuple[str, ...], reason: str) -> None:
    assert_refused("search", "chakra", *limits, reason=reason)


@pytest.mark.parametrize(
    ("option", "value"),
    [("--nodes", "0"), ("--movetime", "-1"), ("--nodes", "9" * 30), ("--hash-mb", "0")],
)
def test_search_refuses_what_is_out_of_range(option: str, value: str) -> None:
    result = run("search", "chakra", "--depth", "1", option, value)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Invalid value for '{option}': {value} is not in the range" in result.stderr


def test_search_refuses_what_is_not_a_number() -> None:
    result = run("search", "chakra", "--nodes", "many")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "'many' is not a valid integer" in result.stderr


@pytest.mark.skipif(not Path("/proc").exists(), reason="threads are counted in /proc")
def test_interrupted_search_ends_with_130() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    arguments = [TILEWARP, "search", "chakra", "--movetime", str(2**40)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, env=environment) as process:
        # The second thread is the one that searches.
        while len(os.listdir(f"/proc/{process.pid}/task")) < 2:
            threading.Event().wait(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
