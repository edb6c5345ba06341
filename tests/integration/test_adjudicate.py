"""A file of games of mixed state through the whole service, each verdict as it must be."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.adjudication.games import TERMS, Case, make_cases
from tests.integration.stack import Service, objects


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    service = Service(tmp_path_factory.mktemp("service") / "log", "--workers", "2")
    yield service
    service.stop()


def adjudicate(service: Service, cases: list[Case], *options: str) -> list[dict[str, Any]]:
    """The rows of a file of games; its broken ones make the exit code 2."""
    text = "".join(case.text for case in cases)
    done = service.tilewarp("adjudicate", "-", *TERMS, "--json", *options, text=text)
    assert done.returncode == (2 if any(case.expected is None for case in cases) else 0)
    return objects(done.stdout)


def check(cases: list[Case], rows: list[dict[str, Any]]) -> None:
    *games, table = rows
    assert [row["index"] for row in games] == list(range(len(cases)))
    for case, row in zip(cases, games, strict=True):
        if case.expected is None:
            assert row["error"].startswith("line "), row
            continue
        assert {name: row[name] for name in case.expected} == case.expected, (case.text, row)
        assert (row["illegal"] is not None) == (row["reason"] == "illegal-move")
    expected = [case.expected for case in cases if case.expected]
    assert table["undecided"] == sum(e["result"] == "*" for e in expected)
    decided = len(expected) - table["undecided"]
    assert sum(player["points"] for player in table["standings"]) == decided


def test_games_of_every_state(service: Service) -> None:
    cases = make_cases(27, seed=1)
    check(cases, adjudicate(service, cases))


@pytest.mark.soak
def test_a_thousand_games_of_every_state(service: Service) -> None:
    cases = make_cases(1000, seed=2)
    rows = adjudicate(service, cases)
    check(cases, rows)


def test_a_job_that_is_left_alone_keeps_its_verdicts(service: Service) -> None:
    cases = [case for case in make_cases(9, seed=3) if case.expected]
    text = "".join(case.text for case in cases)
    detached = service.tilewarp("adjudicate", "-", *TERMS, "--detach", text=text)
    assert (detached.returncode, detached.stdout) == (0, b"")
    name = detached.stderr.decode().strip()
    done = service.tilewarp("jobs", "results", name, "--json")
    rows = objects(done.stdout)
    assert [row["result"] for row in rows] == [c.expected["result"] for c in cases if c.expected]


def test_a_search_says_what_a_verdict_rests_on(service: Service) -> None:
    moves = json.dumps({"variant": "caissa", "moves": ["c3c5", "e5e3"]})
    done = service.tilewarp("adjudicate", "-", "--nodes", "3000", "--json", text=moves)
    row, table = objects(done.stdout)
    assert (row["result"], row["reason"], row["ply"]) == ("*", "undecided", 2)
    (evidence,) = row["evidence"]
    assert (evidence["ply"], evidence["nodes"] <= 3000) == (2, True)
    assert row["nodes"] == evidence["nodes"]
    assert row["provenance"]["command"].startswith("tilewarp search caissa startpos --moves")
    assert table["undecided"] == 1


def test_an_interrupt_cancels_the_job(service: Service) -> None:
    with subprocess.Popen(
        service.command("adjudicate", "-", "--nodes", "200000"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        assert client.stderr is not None
        client.stdin.write(b'[Variant "chakra"]\n\n1. e2e4 *\n\n' * 500)
        client.stdin.close()
        name = client.stderr.readline().decode().strip()
        client.stdout.readline()
        client.send_signal(signal.SIGINT)
        client.stdout.read()
        client.stderr.read()
    assert client.returncode == 130
    (shown,) = objects(service.tilewarp("jobs", "show", name, "--json").stdout)
    assert (shown["state"], shown["kind"]) == ("CANCELLED", "adjudication")


@pytest.mark.soak
def test_verdicts_are_the_same_when_workers_are_killed(service: Service) -> None:
    cases = make_cases(180, seed=4)
    search = ("--nodes", "30000")
    undisturbed = adjudicate(service, cases, *search)
    is_done = threading.Event()

    def kill() -> None:
        while not is_done.wait(1.5):
            os.kill(service.pool()[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        disturbed = adjudicate(service, cases, *search)
    finally:
        is_done.set()
        killer.join()
    for row in (*undisturbed, *disturbed):
        row.pop("provenance", None)
    assert disturbed == undisturbed


def test_a_file_without_games_is_refused(service: Service) -> None:
    done = service.tilewarp("adjudicate", "-", text="\n\n")
    assert (done.returncode, done.stderr) == (2, b"Error: there is no game\n")


def test_broken_games_alone_need_no_service(service: Service) -> None:
    done = service.tilewarp("adjudicate", "-", "--json", text="e2e4 *\n")
    assert done.returncode == 2
    assert json.loads(done.stdout) == {
        "index": 0,
        "line": 1,
        "error": "line 1: there is no tag Variant",
    }
