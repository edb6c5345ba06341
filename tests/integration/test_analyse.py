"""Files of positions through the real service: one result for each, whatever happens meanwhile."""

import json
import os
import signal
import subprocess
from typing import Any

import pytest

from core.position import Position
from tests.integration.stack import COMMAND, Service, objects, random_lines, wait_until

NODES = 2000
GAMES = ["chakra", "caissa"]


def _check_rows(rows: list[dict[str, Any]], lines: list[str], variant: str) -> None:
    assert [row["index"] for row in rows] == list(range(len(lines)))
    assert [row["line"] for row in rows] == list(range(1, len(lines) + 1))
    for row, line in zip(rows[::50], lines[::50], strict=True):
        position = Position(variant)
        for move in line.split()[2:]:
            position.push(move)
        assert row["fen"] == position.fen()
        assert row["bestmove"] in (position.legal_moves or [None])
        assert row["provenance"]["engine_version"]


@pytest.mark.parametrize("variant", GAMES)
def test_a_thousand_positions_have_a_thousand_results(service: Service, variant: str) -> None:
    lines = random_lines(variant, 1000, seed=1)
    rows = service.analyse(variant, "\n".join(lines), "--nodes", str(NODES))
    _check_rows(rows, lines, variant)
    assert all(row["nodes"] <= NODES for row in rows)


@pytest.mark.parametrize("variant", GAMES)
def test_a_killed_worker_process_costs_no_result(service: Service, variant: str) -> None:
    lines = random_lines(variant, 1000, seed=2)
    with subprocess.Popen(
        service.command("analyse", variant, "-", "--json", "--nodes", str(NODES)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        client.stdin.write("\n".join(lines).encode())
        client.stdin.close()
        first = [client.stdout.readline() for _ in range(200)]
        victim = service.pool()[0]
        os.kill(victim, signal.SIGKILL)
        rest = client.stdout.read()
    assert client.returncode == 0
    _check_rows(objects(b"".join(first) + rest), lines, variant)
    wait_until(lambda: len(service.pool()) == 2 and victim not in service.pool(), 20)


def test_equal_requests_have_equal_answers_on_either_worker(service: Service) -> None:
    line = "startpos moves b2b4 g7g5"
    rows = service.analyse("chakra", "\n".join([line] * 200), "--nodes", "5000")
    assert {row["provenance"]["worker"] for row in rows}
    for row in rows:
        del row["provenance"], row["index"], row["line"], row["seconds"], row["nps"]
    assert all(row == rows[0] for row in rows)


FINISHED = {
    ("chakra", "7K/6s1/5k2/8/8/8/7a/8 w - g2k,h8n 10 59"): ("checkmate", {"mate": 0}),
    ("chakra", "8/3a4/8/7k/8/6pK/8/5sca w - g1k,g2k 21 78"): ("stalemate", {"cp": 0}),
    ("chakra", "7k/8/8/8/8/8/8/K7 w - - 0 1"): ("insufficient", {"cp": 0}),
    ("chakra", "7k/8/8/8/8/8/4P3/7K w c2n,e3n - 100 90"): ("move-limit", {"cp": 0}),
    ("caissa", "7/4q2/7/7/7/2Q4/7 w - 0 9"): ("insufficient", {"cp": 0}),
    ("caissa", "1*5/1q*1*2/1***2b/2*2*Q/2**1*1/2**1**/1**3* w - 0 29"): ("stalemate", {"cp": 0}),
    (
        "caissa",
        "7/3bqn1/4r2/7/2R4/1NQB3/7 w - 0 1 moves c3a3 e5a5 a3c3 a5e5 c3a3 e5a5 a3c3 a5e5",
    ): ("repetition", {"cp": 0}),
}


@pytest.mark.parametrize("variant", GAMES)
def test_finished_roots_answer_as_the_contract_says(service: Service, variant: str) -> None:
    asked = {line: expected for (of, line), expected in FINISHED.items() if of == variant}
    rows = service.analyse(variant, "\n".join(asked), "--nodes", "1000")
    for row, (result, score) in zip(rows, asked.values(), strict=True):
        assert row["result"] == result
        assert row["score"] == score
        assert row["bestmove"] is None
        assert row["depth"] == 0
        assert row["pv"] == row["lines"] == []


MATE_IN_2 = "k7/8/2K5/8/8/8/8/6Q1 w - - 0 1"
START = "acmqksca/1pppppp1/8/8/8/8/1PPPPPP1/ACMQKSCA"
CAISSA_START = "7/3bqn1/4r2/7/2R4/1NQB3/7 w - 0 1"
BAD_LINES = {
    "chakra": {
        "two kings": b"acmqksca/1pppppp1/8/8/8/8/1PPPPPP1/ACMKKSCA w a2n,h2n a7n,h7n 0 1",
        "pawn on its last rank": b"P3k3/8/8/8/8/8/8/4K3 w - - 0 1",
        "unknown letters": b"acmqksca/1ppxppp1/8/8/8/8/1PPPZPP1/ACMQKSCA w a2n,h2n a7n,h7n 0 1",
        "a megabyte": b"x" * 1_000_000,
        "control characters": b"\x1b[2J\x07" + START.encode() + b" w - - 0 1",
        "invalid UTF-8": b"\xff\xfe" + START.encode() + b" w - - 0 1",
        "the other game": CAISSA_START.encode(),
        "an illegal move": b"startpos moves b2b4 b4b5",
        "a NUL": START.encode() + b" w \x00 - 0 1",
    },
    "caissa": {
        "two queens": b"7/3bqn1/4r2/7/2R4/1NQQ3/7 w - 0 1",
        "queens in sight": b"7/2q4/7/7/7/2Q4/7 w - 0 9",
        "split tiles": b"7/3bqn1/4r2/*******/2R4/1NQB3/7 w - 0 1",
        "unknown letters": b"7/3bqn1/4r2/3z3/2R4/1NQB3/7 w - 0 1",
        "a megabyte": b"7/" * 500_000,
        "control characters": b"7/3bqn1/4r2/7/2R4/1NQB3/7 w - 0 1\x1b[31m",
        "invalid UTF-8": b"\xc3\x28",
        "the other game": START.encode() + b" w a2n,h2n a7n,h7n 0 1",
    },
}


@pytest.mark.parametrize("variant", GAMES)
def test_every_bad_line_has_its_error_and_every_good_one_its_result(
    service: Service, variant: str
) -> None:
    bad = list(BAD_LINES[variant].values())
    lines = [part for text in bad for part in (b"startpos", text, b"", b"startpos\r")]
    ended = service.tilewarp(
        *("analyse", variant, "-", "--json", "--nodes", "500"), text=b"\n".join(lines)
    )
    assert ended.returncode == 2, ended.stderr
    rows = objects(ended.stdout)
    assert [row["index"] for row in rows] == list(range(3 * len(bad)))
    numbers = [number for number, line in enumerate(lines, 1) if line]
    assert [row["line"] for row in rows] == numbers
    for place, row in enumerate(rows):
        if place % 3 == 1:
            assert set(row) == {"index", "line", "fen", "error"}
            assert row["error"]
            assert len(row["fen"]) <= 200
            assert row["fen"].isprintable()
            assert row["error"].isprintable()
        else:
            assert row["bestmove"], row
    assert len(ended.stdout) < 100_000


def test_a_line_with_several_faults_tells_all(service: Service) -> None:
    text = "P3k3/8/8/8/8/8/8/3KK3 x - - 0 0"
    ended = service.tilewarp("analyse", "chakra", "-", "--json", "--nodes", "1", text=text)
    (row,) = objects(ended.stdout)
    assert row["error"].count(";") >= 2


def test_the_command_in_the_provenance_gives_the_same_again(service: Service) -> None:
    import shlex

    asked = [
        ("chakra", "startpos moves b2b4 g7g5", ()),
        ("caissa", CAISSA_START, ("--hash-mb", "1", "--multipv", "2")),
        ("chakra", "startpos", ("--multipv", "9", "--searchmoves", "b2b4 c2c4")),
        ("chakra", MATE_IN_2, ("--mate", "2")),
    ]
    for variant, line, limits in asked:
        (row,) = service.analyse(variant, line, "--nodes", "3000", *limits)
        name, *arguments = shlex.split(row["provenance"]["command"])
        assert name == "tilewarp"
        ended = subprocess.run(
            [*COMMAND, *arguments, "--json"], capture_output=True, check=True, timeout=100
        )
        again = json.loads(ended.stdout)
        for key in row.keys() - {"index", "line", "fen", "provenance", "seconds", "nps"}:
            assert again[key] == row[key]


def test_a_job_searches_as_it_is_told(service: Service) -> None:
    limits = ("--nodes", "6000", "--multipv", "3", "--threads", "2", "--hash-mb", "4")
    (row,) = service.analyse("chakra", "startpos", *limits)
    assert [line["rank"] for line in row["lines"]] == [1, 2, 3]
    assert len({line["pv"][0] for line in row["lines"]}) == 3
    assert all(sum(line["wdl"]) == 1000 for line in row["lines"])
    assert (row["ended"], row["provenance"]["threads"]) == ("nodes", 2)
    lines = f"{MATE_IN_2}\nstartpos"
    rows = service.analyse("chakra", lines, "--mate", "2", "--movetime", "20000")
    assert [row["mate"]["verdict"] for row in rows] == ["proved", "refuted"]
    assert [row["ended"] for row in rows] == ["mate", "mate"]


def test_a_position_without_a_move_to_consider_is_refused_alone(service: Service) -> None:
    ended = service.tilewarp(
        *("analyse", "chakra", "-", "--json", "--nodes", "100", "--searchmoves", "b2b4 b2b3"),
        text="startpos\nstartpos moves b2b4",
    )
    assert ended.returncode == 2
    good, refused = objects(ended.stdout)
    assert good["bestmove"] in ("b2b4", "b2b3")
    assert refused["error"] == "searchmoves that are not legal: b2b4 b2b3"


@pytest.mark.parametrize("name", ["threads", "hash-mb", "multipv", "mate"])
def test_more_than_the_service_allows_is_refused_by_the_setting(
    service: Service, name: str
) -> None:
    ended = service.tilewarp(
        *("analyse", "chakra", "-", "--nodes", "100", f"--{name}", "1000"), text="startpos"
    )
    assert ended.returncode == 2
    assert f"1000 is more than max_{name.replace('-', '_')} allows" in ended.stderr.decode()


def test_a_position_that_explodes_ends_in_its_time(service: Service) -> None:
    queens = "qqqqqqqk/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQQQQK w - - 0 1"
    (row,) = service.analyse("chakra", queens, "--depth", "50", "--movetime", "300")
    assert row["ended"] == "movetime"
    assert 0.3 <= row["seconds"] < 2


def test_a_detached_job_is_found_shown_and_printed(service: Service) -> None:
    ended = service.tilewarp(
        *("analyse", "chakra", "-", "--nodes", "1000", "--detach"), text="startpos\nnonsense\n"
    )
    assert ended.returncode == 0
    assert not ended.stdout
    name = ended.stderr.decode().strip()
    assert name.startswith("jobs/")
    assert service.tilewarp("jobs", "watch", name).returncode == 0
    (shown,) = objects(service.tilewarp("jobs", "show", name, "--json").stdout)
    assert (shown["state"], shown["done"], shown["rejected"]) == ("SUCCEEDED", 1, 1)
    results = service.tilewarp("jobs", "results", name, "--json")
    assert results.returncode == 2
    assert [row["index"] for row in objects(results.stdout)] == [0, 1]
    listed = objects(service.tilewarp("jobs", "list", "--json").stdout)
    assert name in [job["name"] for job in listed]
    assert service.tilewarp("jobs", "show", name).stdout.decode().startswith("name ")


def test_cancelling_frees_the_workers_and_keeps_what_is_finished(service: Service) -> None:
    text = "startpos\n" * 3000
    ended = service.tilewarp(*("analyse", "chakra", "-", "--nodes", "20000", "--detach"), text=text)
    name = ended.stderr.decode().strip()

    def done() -> int:
        (shown,) = objects(service.tilewarp("jobs", "show", name, "--json").stdout)
        count: int = shown["done"]
        return count

    wait_until(lambda: done() > 0, 30)
    (cancelled,) = objects(service.tilewarp("jobs", "cancel", name, "--json").stdout)
    assert cancelled["state"] == "CANCELLED"
    service.analyse("caissa", "startpos", "--depth", "1")
    kept = service.tilewarp("jobs", "results", name, "--json")
    assert kept.returncode == 1
    rows = objects(kept.stdout)
    assert 3000 > len(rows) == done() >= cancelled["done"] > 0
    assert all(row["bestmove"] for row in rows)


def test_an_interrupt_cancels_the_job(service: Service) -> None:
    with subprocess.Popen(
        service.command("analyse", "chakra", "-", "--json", "--nodes", "20001"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        assert client.stderr is not None
        client.stdin.write(b"startpos\n" * 3000)
        client.stdin.close()
        name = client.stderr.readline().decode().strip()
        client.stdout.readline()
        client.send_signal(signal.SIGINT)
        client.stdout.read()
        client.stderr.read()
    assert client.returncode == 130
    (shown,) = objects(service.tilewarp("jobs", "show", name, "--json").stdout)
    assert shown["state"] == "CANCELLED"
