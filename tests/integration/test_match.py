"""Matches through the whole service: the games of a match that is played here, and its end."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gateway.supervisor import COMMAND
from tests.integration.stack import Service, objects

PLAYERS = (
    *("--engine", "a=builtin:nodes=200,hash-mb=1"),
    *("--engine", "b=builtin:depth=1,hash-mb=2"),
)
TERMS = ("--resign", "300", "2", "--max-plies", "30")


def read_games(path: Path) -> dict[tuple[int, str], dict[str, Any]]:
    """The games of a match's file, without the times of their moves."""
    _, *rows = objects(path.read_bytes())
    for row in rows:
        assert len(row.pop("seconds")) == len(row["moves"]) - row["opening"]
    games = {(row["pair"], row["white"]): row for row in rows}
    assert len(games) == len(rows)
    return games


@pytest.mark.parametrize("variant", ["caissa", pytest.param("chakra", marks=pytest.mark.soak)])
def test_workers_play_the_games_that_are_played_here(
    service: Service, tmp_path: Path, variant: str
) -> None:
    arguments = ("match", variant, *PLAYERS, *TERMS, "--json", "--out")
    here, there = tmp_path / "here", tmp_path / "there"
    local = subprocess.run(
        [*COMMAND, *arguments, here, "--pairs", "2"], capture_output=True, check=True, timeout=110
    )
    first = service.tilewarp(*arguments, str(there), "--pairs", "1")
    assert first.returncode == 0, first.stderr
    begun = there.read_bytes()
    remote = service.tilewarp(*arguments, str(there), "--pairs", "2")
    assert remote.returncode == 0, remote.stderr
    assert there.read_bytes().startswith(begun)
    assert b"pair 1:" not in remote.stderr
    assert read_games(there) == read_games(here)
    assert len(read_games(there)) == 4
    assert json.loads(remote.stdout) == json.loads(local.stdout)
    # All is played: there is nothing left for a job.
    assert b"jobs/" not in service.tilewarp(*arguments, str(there), "--pairs", "2").stderr


def test_a_decision_cancels_the_job(service: Service) -> None:
    test = ("--sprt", "0", "400", "--alpha", "0.4", "--beta", "0.4", "--pairs", "500")
    done = service.tilewarp("match", "caissa", *PLAYERS, *TERMS, *test, "--json")
    assert done.returncode == 0, done.stderr
    (summary,) = objects(done.stdout)
    assert summary["accepted"] in (0, 400)
    assert sum(summary["pairs"]) < 50
    name = find_name(done.stderr)
    (shown,) = objects(service.tilewarp("jobs", "show", name, "--json").stdout)
    assert (shown["state"], shown["kind"], shown["total"]) == ("CANCELLED", "match", 500)
    assert shown["match"]["first"]["nodes"] == "200"


def test_an_interrupt_cancels_the_job(service: Service) -> None:
    with subprocess.Popen(
        service.command("match", "caissa", *PLAYERS, *TERMS, "--pairs", "500"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as client:
        assert client.stderr is not None
        lines = [client.stderr.readline()]
        while not lines[-1].startswith(b"pair "):
            lines.append(client.stderr.readline())
            assert lines[-1]
        client.send_signal(signal.SIGINT)
        client.stderr.read()
    assert client.returncode == 130
    (shown,) = objects(
        service.tilewarp("jobs", "show", find_name(b"".join(lines)), "--json").stdout
    )
    assert shown["state"] == "CANCELLED"


def test_a_match_that_is_left_alone_keeps_its_games(service: Service) -> None:
    detached = service.tilewarp("match", "chakra", *PLAYERS, *TERMS, "--pairs", "1", "--detach")
    assert (detached.returncode, detached.stdout) == (0, b"")
    name = find_name(detached.stderr)
    (row,) = objects(service.tilewarp("jobs", "results", name, "--json").stdout)
    assert (row["index"], row["pair"], len(row["games"])) == (0, 1, 2)
    for game in row["games"]:
        assert game["variant"] == "chakra"
        assert len(game["moves"]) == len(game["scores"]) > row["opening"]
        assert game["scores"][0] is None
    table = service.tilewarp("jobs", "results", name).stdout.decode()
    assert f"pair 1: {row['games'][0]['result']} {row['games'][0]['reason']}" in table


def find_name(stderr: bytes) -> str:
    """The name of the job, which stands in a line of its own."""
    (name,) = [line for line in stderr.decode().splitlines() if line.startswith("jobs/")]
    return name
