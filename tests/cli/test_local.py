"""The commands that work in this process, as other programs call them."""

import json
import subprocess

import pytest

from core.games import VARIANTS
from core.position import Position
from core.version import ENGINE_VERSION, RULES_VERSION
from tests.cli.command import (
    MATED,
    STALEMATED,
    TILEWARP,
    assert_refused,
    run,
    run_command,
    run_json,
)

START = VARIANTS["chakra"].startpos
CAISSA_START = VARIANTS["caissa"].startpos


# variants, version


def test_variants_as_objects() -> None:
    assert run_json("variants") == [
        {"name": v.name, "game": v.game, "startpos": v.startpos, "flags": dict(v.flags)}
        for v in VARIANTS.values()
    ]


def test_variants_as_a_table() -> None:
    result = run("variants")
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(VARIANTS)
    assert "samurai: king+knight" in lines[list(VARIANTS).index("chakra-pritchard")]
    assert "ply limit: 200" in lines[list(VARIANTS).index("caissa-codecup")]


def test_version_names_product_engine_and_rules() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("tilewarp ")
    assert f"(engine {ENGINE_VERSION}, rules {RULES_VERSION})" in result.stdout


def test_unknown_commands_are_refused() -> None:
    result = run("nonsense")
    assert result.exit_code == 2
    assert "No such command 'nonsense'" in result.stderr


# moves


@pytest.mark.parametrize("variant", VARIANTS)
def test_moves_of_the_start(variant: str) -> None:
    expected = {
        "fen": VARIANTS[variant].startpos,
        "moves": Position(variant).legal_moves,
        "check": False,
        "result": None,
    }
    assert run_json("moves", variant) == [expected]
    assert run_json("moves", variant, "startpos") == [expected]
    assert expected["moves"] == sorted(expected["moves"])


@pytest.mark.parametrize(
    ("fen", "check", "result"),
    [
        (MATED, True, "checkmate"),
        (STALEMATED, False, "stalemate"),
        ("7k/8/8/8/8/8/8/K6Q b - - 0 1", True, None),
        # Draws are not shown.
        ("k7/8/8/8/8/8/8/7K w - - 0 1", False, None),
        ("k7/8/8/8/8/8/8/1Q5K w - - 100 80", False, None),
    ],
)
def test_check_and_result(fen: str, check: bool, result: str | None) -> None:
    (found,) = run_json("moves", "chakra", fen)
    assert (found["fen"], found["check"], found["result"]) == (fen, check, result)
    assert (found["moves"] == []) == (result is not None)


def test_moves_as_text() -> None:
    legal = Position("caissa").legal_moves
    assert run("moves", "caissa").stdout == f"{len(legal)}: {' '.join(legal)}\n"
    assert run("moves", "chakra", MATED).stdout == "0: (checkmate)\n"
    assert run("moves", "chakra", "7k/8/8/8/8/8/8/K6Q b - - 0 1").stdout.endswith(" (check)\n")


def test_positions_are_written_canonically() -> None:
    (found,) = run_json("moves", "chakra", " 44/7k/8/8/8/1111K111/8/8  w h2k,a2n - 07   01 ")
    assert found["fen"] == "8/7k/8/8/8/4K3/8/8 w a2n,h2k - 7 1"


def test_wrong_positions_are_refused_with_every_fault() -> None:
    for command in (["moves"], ["perft"], ["search", "--nodes", "5"]):
        arguments = [command[0], "chakra", *(["2"] if command == ["perft"] else [])]
        fen = "P7/8/8/8/8/8/8/K7 x - - 0 0"
        assert_refused(
            *arguments, fen, *command[1:], reason="neither w nor b; full-move number '0'"
        )
        assert_refused(
            *arguments, fen, *command[1:], reason="(a8); Black has 0 kings instead of 1\n"
        )
    assert_refused("play", "chakra", "", reason="6 fields are required")
    assert_refused("moves", "chakra", CAISSA_START, reason="6 fields are required")
    assert_refused("moves", "chakra", "x\ny\x1b[31m", reason="unknown character '\\n'")


@pytest.mark.parametrize("command", ["moves", "play", "perft", "search"])
def test_unknown_variants_are_refused_with_those_there_are(command: str) -> None:
    arguments = {"perft": ["2"], "play": ["startpos"], "search": ["--depth", "1"]}.get(command, [])
    reason = f"unknown variant 'chess': known are {', '.join(VARIANTS)}"
    assert_refused(command, "chess", *arguments, reason=reason)


def test_a_stream_of_an_unknown_variant_is_refused_at_once() -> None:
    result = run("moves", "chess", "-", "--json", given="startpos\n")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "unknown variant 'chess'" in result.stderr


# moves of a stream


def test_a_stream_gives_an_object_a_line() -> None:
    fens = [START, MATED, STALEMATED]
    found = run_json("moves", "chakra", "-", given="\n".join(fens))
    assert found == [run_json("moves", "chakra", fen)[0] for fen in fens]
    assert run_json("moves", "chakra", "-", given="") == []


def test_a_line_of_a_stream_may_have_moves() -> None:
    given = f"{START} moves e2e4 e7e5\nstartpos moves e2e5\n"
    result = run("moves", "chakra", "-", "--json", given=given)
    good, bad = (json.loads(line) for line in result.stdout.splitlines())
    after = Position("chakra")
    after.push("e2e4")
    after.push("e7e5")
    assert (good["fen"], good["moves"]) == (after.fen(), after.legal_moves)
    assert "e2e5" in bad["error"]
    assert result.exit_code == 2


def test_a_stream_may_have_crlf_blank_lines_a_mark_and_no_last_newline() -> None:
    text = f"\ufeff{START}\r\n\r\n   \n\t\n{MATED}\r\n  startpos"
    found = run_json("moves", "chakra", "-", given=text.encode())
    assert [row["fen"] for row in found] == [START, MATED, START]


BAD_LINES = {
    "two-kings": (b"7k/8/8/8/8/8/8/K1K5 w - - 0 1", "White has 2 kings instead of 1"),
    "last-rank": (b"P6k/8/8/8/8/8/8/K7 w - - 0 1", "White has a pawn on its last rank (a8)"),
    "unknown-letters": (b"7k/8/8/8/8/8/8/K6X w - - 0 1", "rank 1 has an unknown character 'X'"),
    "long": (b"x" * 1_000_000, "the position has 1000000 characters, more than 256"),
    "controls": (b"7k/8/\x00\x1b/8/8/8/8/K7 w - - 0 1", "unknown character '\\x1b'"),
    "not-utf-8": (b"7k/8/8/8/8/8/8/K6\xff w - - 0 1", "rank 1 has"),
    "other-game": (CAISSA_START.encode(), "6 fields are required"),
    "several": (b"P7/8/8/8/8/8/8/K7 x - - 0 0", "neither w nor b; full-move number '0'"),
}


@pytest.mark.parametrize("bad", BAD_LINES)
def test_a_bad_line_gives_an_error_in_its_place_and_the_rest_goes_on(bad: str) -> None:
    line, reason = BAD_LINES[bad]
    given = START.encode() + b"\n" + line + b"\n\n" + MATED.encode() + b"\n"
    result = run("moves", "chakra", "-", "--json", given=given)
    assert (result.exit_code, result.stderr) == (2, "")
    first, wrong, last = map(json.loads, result.stdout.splitlines())
    assert (first["fen"], last["fen"]) == (START, MATED)
    assert set(wrong) == {"fen", "error"}
    assert reason in wrong["error"]
    assert len(wrong["fen"]) <= 200
    assert wrong["fen"].isprintable()
    assert wrong["error"].isprintable()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("4q2/7/7/7/7/7/4Q2 w - 0 1", "the queens see each other"),
        ("5q1/*******/7/7/7/7/4Q2 w - 0 1", "the tiles are not connected"),
        (START, "5 fields are required"),
    ],
)
def test_bad_lines_of_caissa(line: str, reason: str) -> None:
    result = run("moves", "caissa", "-", "--json", given=f"{line}\n{CAISSA_START}\n")
    assert result.exit_code == 2
    wrong, good = map(json.loads, result.stdout.splitlines())
    assert reason in wrong["error"]
    assert good["fen"] == CAISSA_START


def test_a_stream_of_bad_lines_as_text() -> None:
    result = run("moves", "chakra", "-", given=f"bad\n{MATED}\n")
    assert result.exit_code == 2
    error, moves = result.stdout.splitlines()
    assert error.startswith("error: 6 fields are required")
    assert moves == "0: (checkmate)"


def test_lines_are_answered_as_they_come() -> None:
    """A program may write a line, read its answer, and write the next."""
    with subprocess.Popen(
        [TILEWARP, "moves", "chakra", "-", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for fen in (START, MATED, "bad"):
            process.stdin.write(fen.encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["fen"] == fen
        process.stdin.close()
        assert process.wait() == 2


# play


def test_play() -> None:
    after = "acmqksca/1ppp1pp1/8/4p3/4P3/8/1PPP1PP1/ACMQKSCA w a2n,h2n a7n,h7n 0 2"
    assert run_json("play", "chakra", "startpos", "e2e4", "e7e5") == [{"fen": after}]
    assert run("play", "chakra", START, "e2e4", "e7e5").stdout == after + "\n"
    assert run_json("play", "chakra", "44/7k/8/8/8/4K3/8/8 w - - 0 1") == [
        {"fen": "8/7k/8/8/8/4K3/8/8 w - - 0 1"}
    ]


def test_play_takes_the_contest_s_moves_of_caissa() -> None:
    (found,) = run_json("play", "caissa", "startpos", "C3-C5")
    assert found == {"fen": "7/3bqn1/2R1r2/7/7/1NQB3/7 b - 1 1"}


def test_wrong_moves_are_refused_by_their_number() -> None:
    assert_refused(
        "play", "chakra", "startpos", "e2e4", "e2e5", reason="2. move 'e2e5': not legal in"
    )
    assert_refused("play", "chakra", "startpos", "zz", reason="1. move 'zz': not two squares")
    assert_refused("play", "chakra", "startpos", "a\x1b", reason="\\x1b")
    assert_refused("play", "chakra", MATED, "a8b8", reason="not legal")


# perft


@pytest.mark.parametrize(("depth", "nodes"), [(0, 1), (1, 28), (2, 784), (3, 24142)])
def test_perft(depth: int, nodes: int) -> None:
    (found,) = run_json("perft", "chakra", str(depth))
    assert found.pop("seconds") >= 0
    assert found == {"variant": "chakra", "fen": START, "depth": depth, "nodes": nodes}
    assert run("perft", "chakra", str(depth)).stdout.startswith(f"perft {depth}: {nodes} in ")


def test_perft_from_a_position() -> None:
    (found,) = run_json("perft", "caissa", "2", "3n1*q/2r1**1/b*1N3/**4*/1Q3RB/2*4/7 w - 7 12")
    assert found["nodes"] == 711
    (found,) = run_json("perft", "chakra", "3", MATED)
    assert found["nodes"] == 0


def test_perft_divided() -> None:
    (found,) = run_json("perft", "caissa", "2", "--divide")
    assert list(found) == ["variant", "fen", "depth", "nodes", "seconds", "divide"]
    assert sum(found["divide"].values()) == found["nodes"] == 630
    assert list(found["divide"]) == Position("caissa").legal_moves
    *lines, last = run("perft", "caissa", "2", "--divide").stdout.splitlines()
    assert [line.split() for line in lines] == [[m, str(n)] for m, n in found["divide"].items()]
    assert last.startswith("perft 2: 630 in ")


def test_perft_divided_at_its_ends() -> None:
    (zero,) = run_json("perft", "chakra", "0", "--divide")
    assert (zero["nodes"], zero["divide"]) == (1, {})
    (one,) = run_json("perft", "chakra", "1", "--divide")
    assert set(one["divide"].values()) == {1}
    (over,) = run_json("perft", "chakra", "2", MATED, "--divide")
    assert (over["nodes"], over["divide"]) == (0, {})


@pytest.mark.parametrize("depth", ["-1", "41", "x", "1.5", ""])
def test_perft_refuses_other_depths(depth: str) -> None:
    result = run("perft", "chakra", "--", depth)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "DEPTH" in result.stderr


def test_perft_in_a_pipe_says_nothing_on_standard_error() -> None:
    done = run_command("perft", "chakra", "3", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["nodes"] == 24142


# The real command, and warm-up


def test_the_command_itself() -> None:
    done = run_command("moves", "chakra", "-", "--json", given=b"startpos\n\xff\n")
    assert (done.returncode, done.stderr) == (2, b"")
    good, wrong = map(json.loads, done.stdout.splitlines())
    assert good["moves"] == Position("chakra").legal_moves
    assert wrong["fen"] == "\\xff"
    done = run_command("play", "chakra", "startpos", "e2e5")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == f"Error: 1. move 'e2e5': not legal in {START}\n".encode()


def test_warm_up_has_nothing_left_to_do_where_kernels_are_compiled() -> None:
    for variant in VARIANTS:
        Position(variant)
    lines = run("warmup").stdout.splitlines()
    games = dict.fromkeys(variant.game for variant in VARIANTS.values())
    assert lines[:-1] == [f"{game}: compiled before" for game in games]
    assert lines[-1].startswith("kernels in ")


# explain


def test_an_allowed_move_is_explained() -> None:
    assert run_json("explain", "chakra", "startpos", "a2b4f") == [
        {
            "fen": START,
            "move": "a2b4f",
            "legal": True,
            "rule": "chakra-move",
            "why": "the vacant chakra on a2 moves like a knight to b4 and flips",
        }
    ]


def test_a_forbidden_move_is_explained() -> None:
    result = run("explain", "caissa", "startpos", "C3-C2")
    assert result.exit_code == 0
    assert result.stdout == (
        "illegal (exchange): White's rook on c3 cannot exchange places with its own queen\n"
    )


def test_what_is_no_move_is_not_explained() -> None:
    assert_refused("explain", "chakra", "startpos", "e9e4", reason="move 'e9e4': not two squares")
