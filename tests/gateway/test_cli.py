"""The commands' own part: files of positions, objects, exit codes, and a start that is light."""

import io
import json
import subprocess
import sys
from datetime import UTC
from typing import Any

import pytest
from click.testing import CliRunner
from google.protobuf import duration_pb2

from gateway.cli.__main__ import COMMANDS, main
from gateway.cli.analyse import read_positions
from gateway.cli.rows import (
    analysis_object,
    dump,
    job_object,
    job_text,
    row_object,
    row_text,
)
from gateway.client import MAX_TEXT
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2

AWAY = "127.0.0.1:1"

WDL = analysis_pb2.WinDrawLoss(win=300, draw=250, loss=450)
LOST = analysis_pb2.WinDrawLoss(loss=1000)
RESULT = jobs_pb2.ResultRow(
    index=1,
    fen="a fen",
    analysis=analysis_pb2.AnalysisResult(
        best_move="b2b4",
        score=analysis_pb2.Score(centipawns=-35, wdl=WDL),
        lines=[
            analysis_pb2.Line(
                rank=1,
                score=analysis_pb2.Score(centipawns=-35, wdl=WDL),
                moves=["b2b4", "g7g5"],
            ),
            analysis_pb2.Line(
                rank=2, score=analysis_pb2.Score(mate=-2, wdl=LOST), moves=["c2c4", "g7g5"]
            ),
        ],
        depth=3,
        selective_depth=9,
        nodes=2000,
        time=duration_pb2.Duration(nanos=500_000_000),
        stop_reason=analysis_pb2.STOP_REASON_LIMIT,
        reached_limit=analysis_pb2.REACHED_LIMIT_TIME,
        mate=analysis_pb2.MateAnswer(within=4, verdict=analysis_pb2.MATE_VERDICT_UNKNOWN),
        outcome=position_pb2.OUTCOME_ONGOING,
        provenance=analysis_pb2.Provenance(
            engine_version="1", command="tilewarp search", threads=1
        ),
    ),
)
FINISHED = jobs_pb2.ResultRow(
    index=2,
    fen="another",
    analysis=analysis_pb2.AnalysisResult(
        score=analysis_pb2.Score(mate=0), outcome=position_pb2.OUTCOME_CHECKMATE
    ),
)
REJECTED = jobs_pb2.ResultRow(fen="wrong", rejection=jobs_pb2.Rejection(faults=["one", "two"]))
GIVEN_UP = jobs_pb2.ResultRow(
    fen="hard",
    failure=jobs_pb2.Failure(
        attempts=2, cause="it hung", workers=["a:1", "b:2"], command="tilewarp search chakra"
    ),
)


def test_a_result_is_an_object_as_the_contract_says() -> None:
    shown = json.loads(dump(row_object(RESULT, 4)))
    provenance = shown.pop("provenance")
    assert shown == {
        "index": 1,
        "line": 4,
        "fen": "a fen",
        "bestmove": "b2b4",
        "score": {"cp": -35},
        "wdl": [300, 250, 450],
        "depth": 3,
        "seldepth": 9,
        "nodes": 2000,
        "seconds": 0.5,
        "nps": 4000,
        "pv": ["b2b4", "g7g5"],
        "lines": [
            {
                "rank": 1,
                "score": {"cp": -35},
                "wdl": [300, 250, 450],
                "pv": ["b2b4", "g7g5"],
            },
            {"rank": 2, "score": {"mate": -2}, "wdl": [0, 0, 1000], "pv": ["c2c4", "g7g5"]},
        ],
        "ended": "movetime",
        "result": None,
        "mate": {"within": 4, "verdict": "unknown"},
    }
    assert provenance["command"] == "tilewarp search"
    assert provenance["threads"] == 1


def test_a_finished_root_names_its_result_and_has_no_move() -> None:
    shown = row_object(FINISHED, 1)
    assert shown["bestmove"] is None
    assert shown["score"] == {"mate": 0}
    assert shown["result"] == "checkmate"
    assert shown["pv"] == shown["lines"] == []


def test_a_wrong_position_is_an_object_with_all_faults_in_one_text() -> None:
    assert row_object(REJECTED, 7) == {"index": 0, "line": 7, "fen": "wrong", "error": "one; two"}
    assert row_object(GIVEN_UP, None) == {
        "index": 0,
        "fen": "hard",
        "error": "given up after 2 attempts (a:1, b:2): it hung; to see it: tilewarp search chakra",
    }


def test_the_table_shows_the_same() -> None:
    assert row_text(RESULT, 4).split() == [
        *("4", "b2b4", "-0.35", "3/9", "2000", "movetime"),
        *("a", "fen:", "b2b4", "g7g5"),
        *("c2c4", "#-2", "c2c4", "g7g5"),
    ]
    assert "#0" in row_text(FINISHED, 1)
    assert "checkmate" in row_text(FINISHED, 1)
    assert row_text(REJECTED, 7).split(maxsplit=1) == ["7", "error: one; two"]


@pytest.mark.parametrize(
    ("reason", "limit", "outcome", "name"),
    [
        ("UNSPECIFIED", "UNSPECIFIED", "ONGOING", None),
        ("LIMIT", "NODES", "ONGOING", "nodes"),
        ("LIMIT", "DEPTH", "ONGOING", "depth"),
        ("LIMIT", "TIME", "ONGOING", "movetime"),
        ("LIMIT", "MATE", "ONGOING", "mate"),
        ("LIMIT", "UNSPECIFIED", "ONGOING", "limit"),
        ("FINISHED", "UNSPECIFIED", "ONGOING", "solved"),
        ("FINISHED", "UNSPECIFIED", "STALEMATE", "over"),
        ("STOPPED", "UNSPECIFIED", "ONGOING", "stopped"),
    ],
)
def test_every_end_has_its_name(reason: str, limit: str, outcome: str, name: str | None) -> None:
    result = analysis_pb2.AnalysisResult(
        stop_reason=analysis_pb2.StopReason.Value(f"STOP_REASON_{reason}"),
        reached_limit=analysis_pb2.ReachedLimit.Value(f"REACHED_LIMIT_{limit}"),
        outcome=position_pb2.Outcome.Value(f"OUTCOME_{outcome}"),
    )
    assert analysis_object(result)["ended"] == name


def test_a_job_is_an_object() -> None:
    job = jobs_pb2.Job(
        name="jobs/1",
        kind=jobs_pb2.JOB_KIND_ANALYSIS,
        state=jobs_pb2.JOB_STATE_RUNNING,
        counts=jobs_pb2.JobCounts(total=5, done=2),
    )
    job.create_time.FromJsonString("2026-01-02T03:04:05Z")
    shown = job_object(job)
    assert shown["kind"] == "analysis"
    assert shown["state"] == "RUNNING"
    assert (shown["total"], shown["done"]) == (5, 2)
    assert shown["created"] == "2026-01-02T03:04:05Z"
    assert shown["ended"] is shown["error"] is None
    assert shown["waits"] is shown["place"] is shown["expected_end"] is None
    assert job_text(job).split()[:3] == ["jobs/1", "RUNNING", "2"]


@pytest.mark.parametrize(
    ("waits", "text"),
    [
        ({"wait_reason": jobs_pb2.WAIT_REASON_NO_WORKER}, "no worker is up"),
        ({"wait_reason": jobs_pb2.WAIT_REASON_PAUSED}, "paused"),
        (
            {"wait_reason": jobs_pb2.WAIT_REASON_BEHIND, "units_before": 7},
            "behind 7 units",
        ),
        ({"wait_reason": jobs_pb2.WAIT_REASON_BEHIND}, "behind many jobs"),
        ({"wait_reason": jobs_pb2.WAIT_REASON_NEXT}, "next"),
        (
            {"wait_reason": jobs_pb2.WAIT_REASON_LEFT_TO_OTHERS},
            "what failed is left to other workers for some seconds",
        ),
    ],
)
def test_a_job_says_why_it_waits_and_when_it_ends(waits: dict[str, Any], text: str) -> None:
    job = jobs_pb2.Job(name="jobs/1", place=3, **waits)
    job.expected_end_time.FromJsonString("2026-01-02T03:04:05Z")
    shown = job_object(job)
    assert (shown["waits"], shown["place"]) == (text, 3)
    assert shown["expected_end"] == "2026-01-02T03:04:05Z"
    clock = job.expected_end_time.ToDatetime(UTC).astimezone().strftime("%H:%M:%S")
    assert job_text(job).endswith(f"  waits: {text}, ends about {clock}")
    job.expected_end_time.FromJsonString("2126-01-02T03:04:05Z")
    assert "ends about 2126-01-0" in job_text(job)


def test_lines_are_counted_and_blank_ones_skipped() -> None:
    file = io.BytesIO(
        b"\xef\xbb\xbfstartpos\r\n\r\n  \nstartpos moves b2b4\r\n\xff\xfe\n" + b"x" * 10**6
    )
    lines, positions = read_positions("chakra", file)
    assert lines == [1, 4, 5, 6]
    assert positions[0] == position_pb2.Position(variant="chakra")
    assert positions[1].moves == ["b2b4"]
    assert positions[2].fen == "\\xff\\xfe"
    assert len(positions[3].fen) == MAX_TEXT


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["analyse", "chakra", "-"], 2, "--nodes"),
        (["analyse", "chakra", "-", "--nodes", "0"], 2, "--nodes"),
        (["analyse", "chakra", "-", "--depth", "9" * 30], 2, "--depth"),
        (["analyse", "chakra", "-", "--threads", "2"], 2, "at least one of --nodes, --depth"),
        (["analyse", "chakra", "/does/not/exist", "--nodes", "1"], 2, "exist"),
        (["jobs", "show"], 2, "NAME"),
        (["nonsense"], 2, "nonsense"),
        (["serve", "--workers", "-1"], 2, "TILEWARP_WORKERS"),
        (["gateway", "--listen", "nowhere"], 2, "TILEWARP_LISTEN"),
        (["jobs", "show", "jobs/1", "--gateway", AWAY], 3, AWAY),
        (["health", "--gateway", AWAY], 3, AWAY),
    ],
)
def test_exit_codes(arguments: list[str], code: int, text: str) -> None:
    ended = CliRunner().invoke(main, arguments, input="startpos\n")
    assert ended.exit_code == code
    assert text in ended.stderr
    assert not ended.stdout


def test_an_empty_file_is_wrong_input() -> None:
    ended = CliRunner().invoke(main, ["analyse", "chakra", "-", "--nodes", "1"], input="\n\n")
    assert ended.exit_code == 2
    assert "no position" in ended.stderr


def test_an_interrupt_has_its_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gateway.cli.jobs.call_gateway", interrupt)
    assert CliRunner().invoke(main, ["jobs", "cancel", "jobs/1"]).exit_code == 130


def test_every_command_is_there_and_has_help() -> None:
    for name in COMMANDS:
        ended = CliRunner().invoke(main, [name, "--help"])
        assert ended.exit_code == 0, name
        assert ended.stdout.startswith("Usage: ")


def test_versions_are_told() -> None:
    ended = CliRunner().invoke(main, ["--version"])
    assert ended.stdout.startswith("tilewarp ")
    assert "engine" in ended.stdout
    assert "rules" in ended.stdout


def test_help_imports_neither_kernels_nor_the_network() -> None:
    script = (
        "import sys; sys.argv[1:] = ['--help']\n"
        "from gateway.cli.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "assert not {'numba', 'grpc', 'celery', 'redis', 'rich'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
