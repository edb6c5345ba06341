"""A unit becomes a row: score, line, outcome, and where they come from."""

import shlex
import threading
import time
from typing import Any

import pytest
from google.protobuf import duration_pb2

from core.position import Position
from core.version import ENGINE_VERSION, RULES_VERSION
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2
from worker.engine import Analyst
from worker.outcomes import OUTCOMES
from worker.store import ClaimedUnit, Finished, UnitIndex


def specification(**limits: Any) -> bytes:
    message = jobs_pb2.JobSpecification()
    message.analysis.limits.MergeFrom(analysis_pb2.Limits(**limits))
    return message.SerializeToString()


def unit(variant: str, fen: str = "", moves: str = "", attempt: int = 1) -> ClaimedUnit:
    position = position_pb2.Position(variant=variant, fen=fen, moves=moves.split())
    return ClaimedUnit(UnitIndex(7), position.SerializeToString(), attempt)


def run(spec: bytes, claimed: ClaimedUnit, worker: str = "w") -> jobs_pb2.ResultRow:
    finished = Analyst(worker).run(spec, claimed)
    assert isinstance(finished, Finished)
    row = jobs_pb2.ResultRow.FromString(finished.payload)
    assert (finished.nodes, finished.index) == (row.analysis.nodes, 7)
    return row


def test_a_row_says_where_it_comes_from():
    row = run(specification(nodes=2000), unit("chakra", moves="e2e4 e7e5", attempt=2))
    position = Position("chakra")
    for move in ("e2e4", "e7e5"):
        position.push(move)
    assert (row.index, row.fen) == (0, position.fen())
    analysis = row.analysis
    assert analysis.best_move == analysis.lines[0].moves[0]
    assert analysis.best_move in position.legal_moves
    assert 0 < analysis.nodes <= 2000
    assert analysis.stop_reason == analysis_pb2.STOP_REASON_LIMIT
    assert analysis.reached_limit == analysis_pb2.REACHED_LIMIT_NODES
    assert analysis.selective_depth >= analysis.depth
    assert analysis.score == analysis.lines[0].score
    wdl = analysis.score.wdl
    assert wdl.win + wdl.draw + wdl.loss == 1000
    assert not analysis.HasField("mate")
    assert analysis.outcome == position_pb2.OUTCOME_ONGOING
    provenance = analysis.provenance
    assert (provenance.engine_version, provenance.rules_version) == (ENGINE_VERSION, RULES_VERSION)
    assert (provenance.worker, provenance.threads, provenance.attempt) == ("w", 1, 2)
    assert not provenance.from_cache
    assert abs(provenance.finish_time.seconds - time.time()) < 10
    assert shlex.split(provenance.command) == [
        *("tilewarp", "search", "chakra", "startpos"),
        *("--moves", "e2e4 e7e5", "--nodes", "2000"),
    ]


def test_the_command_quotes_the_position():
    fen = Position("caissa").fen()
    row = run(specification(nodes=500, depth=3), unit("caissa", fen))
    assert shlex.split(row.analysis.provenance.command) == [
        *("tilewarp", "search", "caissa", fen, "--nodes", "500", "--depth", "3")
    ]


def test_every_limit_is_passed_on_and_stands_in_the_command():
    limits = {
        "nodes": 4000,
        "depth": 30,
        "time": duration_pb2.Duration(seconds=60, nanos=1),
        "threads": 2,
        "hash_mb": 3,
        "multipv": 3,
        "searchmoves": ["b2b4", "g2g4"],
    }
    analysis = run(specification(**limits), unit("chakra")).analysis
    assert sorted(line.moves[0] for line in analysis.lines) == limits["searchmoves"]
    assert [line.rank for line in analysis.lines] == [1, 2]
    assert analysis.provenance.threads == 2
    assert shlex.split(analysis.provenance.command) == [
        *("tilewarp", "search", "chakra", "startpos", "--nodes", "4000", "--depth", "30"),
        *("--movetime", "60001", "--threads", "2", "--hash-mb", "3", "--multipv", "3"),
        *("--searchmoves", "b2b4 g2g4"),
    ]


def test_the_question_for_a_mate_is_answered():
    fen = "k7/8/2K5/8/8/8/8/6Q1 w - - 0 1"
    for within, verdict in ((2, "PROVED"), (1, "REFUTED")):
        analysis = run(specification(mate=within), unit("chakra", fen)).analysis
        assert analysis.stop_reason == analysis_pb2.STOP_REASON_LIMIT
        assert analysis.reached_limit == analysis_pb2.REACHED_LIMIT_MATE
        assert analysis.mate.within == within
        assert analysis.mate.verdict == analysis_pb2.MateVerdict.Value(f"MATE_VERDICT_{verdict}")
        assert shlex.split(analysis.provenance.command)[-2:] == ["--mate", str(within)]


def test_progress_is_of_the_running_search_and_taken_once():
    analyst = Analyst("w")
    assert analyst.take_progress() is None
    analyst.run(specification(depth=4), unit("chakra"))
    running = threading.Thread(
        target=analyst.run, args=(specification(nodes=10**12), unit("caissa"))
    )
    running.start()
    taken: list[analysis_pb2.AnalysisResult] = []
    while running.is_alive():
        progress = analyst.take_progress()
        if progress is not None:
            assert analyst.nodes > 0
            taken.append(analysis_pb2.AnalysisResult.FromString(progress))
        if len(taken) >= 3:
            analyst.stop()
        running.join(0.01)
    depths = [result.depth for result in taken]
    assert depths == sorted(set(depths))
    legal = Position("caissa").legal_moves
    for result in taken:
        assert result.best_move == result.lines[0].moves[0]
        assert result.best_move in legal
        assert result.stop_reason == analysis_pb2.STOP_REASON_UNSPECIFIED
        assert result.outcome == position_pb2.OUTCOME_ONGOING
    assert taken[-1].nodes > taken[0].nodes > 0
    assert analyst.take_progress() is None


@pytest.mark.parametrize("variant", ["chakra", "caissa"])
def test_equal_units_give_equal_answers_whatever_ran_before(variant: str):
    def known(row: jobs_pb2.ResultRow) -> tuple[Any, ...]:
        analysis = row.analysis
        return str(analysis.score), [str(line) for line in analysis.lines], analysis.nodes

    spec = specification(nodes=3000)
    fresh = run(spec, unit(variant))
    used = Analyst("other")
    for other in ("caissa", "chakra"):
        used.run(specification(nodes=5000), unit(other))
    again = used.run(spec, unit(variant))
    assert again is not None
    assert known(jobs_pb2.ResultRow.FromString(again.payload)) == known(fresh)


@pytest.mark.parametrize("variant", ["chakra", "caissa"])
def test_nothing_is_told_of_an_earlier_unit(variant: str):
    analyst = Analyst("w")
    analyst.run(specification(depth=4), unit(variant))
    assert analyst.nodes == 0
    assert analyst.take_progress() is None


def test_a_stopped_search_is_no_result():
    analyst = Analyst("w")
    timer = threading.Timer(0.3, analyst.stop)
    timer.start()
    began = time.monotonic()
    assert analyst.run(specification(nodes=10**12), unit("chakra")) is None
    assert time.monotonic() - began < 5
    assert analyst.nodes == 0
    timer.join()


def test_a_finished_game_has_its_outcome_and_no_line():
    position = Position("caissa")
    moves: list[str] = []
    for _ in range(400):
        if position.outcome():
            break
        move = position.legal_moves[len(moves) % len(position.legal_moves)]
        moves.append(move)
        position.push(move)
    row = run(specification(nodes=1000), unit("caissa", moves=" ".join(moves)))
    analysis = row.analysis
    assert analysis.outcome == OUTCOMES[position.outcome()] != position_pb2.OUTCOME_ONGOING
    assert (analysis.best_move, len(analysis.lines), analysis.depth) == ("", 0, 0)
    assert analysis.stop_reason == analysis_pb2.STOP_REASON_FINISHED
    assert analysis.score.WhichOneof("value") is not None
