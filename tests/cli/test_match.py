"""`tilewarp match` as it is called."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gateway.book.book import make_header
from gateway.book.file import BookFile
from gateway.cli.__main__ import main
from tests.match.fakes import fake_text, find_processes, wait_until_gone

TILEWARP = Path(sys.executable).with_name("tilewarp")
BUILTIN = ("--engine", "builtin", "--engine", "builtin")
FAST = ("--movetime", "500", "--grace", "10000")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["match", "caissa", *arguments], catch_exceptions=False)


def engines(first: str, second: str) -> tuple[str, ...]:
    return ("--engine", first, "--engine", second)


EVEN = engines(f"a={fake_text('codecup')}", f"b={fake_text('codecup')}")


def summarise(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    summary: dict[str, Any] = json.loads(result.stdout)
    return summary


def test_summary_as_an_object() -> None:
    assert summarise(*EVEN, *FAST, "--pairs", "2", "--sprt", "0", "10") == {
        "variant": "caissa",
        "engines": ["a", "b"],
        "won": 2,
        "drawn": 0,
        "lost": 2,
        "forfeits": [0, 0],
        "pairs": [0, 0, 2, 0, 0],
        "percent": 50.0,
        "standard_error": None,
        "elo": 0.0,
        "elo_low": None,
        "elo_high": None,
        "llr": pytest.approx(-0.05, abs=0.01),
        "llr_bounds": [-2.9444, 2.9444],
        "accepted": None,
    }


def test_progress_and_summary_as_text() -> None:
    failing = engines(f"good={fake_text('codecup')}", f"bad={fake_text('codecup', 'crash')}")
    result = run(*failing, *FAST, "--sprt", "0", "400")
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert lines[:2] == ["good: good", "bad: bad"]
    assert lines[2] == (
        "pair 1: good - bad 1-0, black forfeits: ended with 3: last words, 1 plies; "
        "good: +1 =0 -0, forfeits 0 and 1, LLR 0.00 [-2.94, 2.94]"
    )
    assert result.stdout.startswith("good: +")
    assert "100.0 % (standard error inf), Elo +inf [-inf, +inf]" in result.stdout
    assert result.stdout.endswith(", Elo 400 accepted\n")


def test_a_match_goes_on_from_its_file(tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "match.jsonl"))
    assert summarise(*EVEN, *FAST, *out, "--pairs", "1")["pairs"] == [0, 0, 1, 0, 0]
    assert summarise(*EVEN, *FAST, *out, "--pairs", "3")["pairs"] == [0, 0, 3, 0, 0]
    before = Path(out[1]).read_text()
    result = run(*EVEN, *FAST, *out, "--pairs", "3")
    assert (result.stderr, Path(out[1]).read_text()) == ("a: a\nb: b\n", before)
    result = run(*EVEN, *FAST, *out, "--seed", "2")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == f"Error: {out[1]}: it was played with seed 1, not 2"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--movetime", "10"), "--engine is needed twice, and given 0 times"),
        ((*EVEN, "--engine", "builtin", "--movetime", "10"), "given 3 times"),
        (EVEN, "one of --nodes, --movetime and --clock is needed"),
        ((*EVEN, "--movetime", "10", "--clock", "3"), "one of --nodes, --movetime and --clock"),
        ((*EVEN, "--nodes", "10"), "a codecup engine cannot be told --nodes"),
        ((*EVEN, "--clock", "0"), "0.0 is not in the range"),
        ((*EVEN, *FAST, "--sprt", "5", "5"), "Elo 5 is not below 5"),
        ((*EVEN, *FAST, "--sprt", "0", "5", "--alpha", "2"), "alpha and beta"),
        ((*engines("x=builtin", "x=uci:y"), *FAST), "both engines are named x"),
        ((*engines("gnuchess", "builtin"), *FAST), "'gnuchess' is not [NAME=]builtin"),
        ((*engines("builtin", "uci:no-such-program"), *FAST), "second does not start: cannot be"),
        ((*EVEN, *FAST, "--out", "/no/such/folder/match"), "No such file or directory"),
        ((*engines("builtin:nodes=5", "builtin"),), "one of --nodes, --movetime and --clock"),
        ((*BUILTIN, *FAST[:2], "--detach"), "--detach needs --gateway"),
    ],
)
def test_wrong_settings_are_refused(arguments: tuple[str, ...], reason: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((*EVEN, "--movetime", "5"), "a: a gateway's workers play as builtin engines alone"),
        ((*engines("builtin", "uci:y"), "--nodes", "5"), "second: a gateway's workers play as"),
        ((*BUILTIN, "--clock", "5"), "--clock is for a match that is played here"),
        ((*BUILTIN, "--nodes", "5", "--grace", "5"), "--grace is for a match that is played here"),
        ((*BUILTIN, "--nodes", "5", "--concurrency", "2"), "--concurrency is for a match that"),
        ((*BUILTIN, "--nodes", "5", "--detach", "--sprt", "0", "5"), "--sprt needs the results"),
        ((*BUILTIN, "--nodes", "5", "--detach", "--out", "x"), "--out needs the results"),
    ],
)
def test_what_no_job_plays_is_refused_before_a_gateway_is_called(
    arguments: tuple[str, ...], reason: str
) -> None:
    result = run(*arguments, "--gateway", "127.0.0.1:1")
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in result.stderr


def test_a_book_is_of_this_machine(tmp_path: Path) -> None:
    path = tmp_path / "a.book"
    BookFile(path, make_header("caissa")).close()
    result = run(
        *engines(f"builtin:book={path}", "builtin"), "--nodes", "5", "--gateway", "127.0.0.1:1"
    )
    assert result.exit_code == 2
    assert "first: a gateway's workers have no books to play from" in result.stderr


def start_hanging(marker: str) -> "subprocess.Popen[bytes]":
    """A match whose engines hang, deaf, with a child: `marker` stands in all command lines."""
    hanging = fake_text("uci", "child", marker=marker)
    both = engines(f"a={hanging}", f"b={hanging}")
    process = subprocess.Popen(
        [TILEWARP, "match", "caissa", *both, "--movetime", "600000", "--concurrency", "2"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    # The match, and of each of two games one engine that waits, one that hangs, and its child.
    while len(find_processes(marker)) < 7:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_match(number: signal.Signals) -> None:
    marker = f"match-of-{os.getpid()}-{number.name}"
    process = start_hanging(marker)
    process.send_signal(number)
    code = process.wait(60)
    assert code == (130 if number == signal.SIGINT else -number)
    wait_until_gone(marker)
