"""A game becomes a verdict: by its own scores or by search, with where it comes from."""

import threading

from core.version import ENGINE_VERSION
from tilewarp.v1 import adjudication_pb2, analysis_pb2, jobs_pb2
from worker.adjudicator import Adjudicator
from worker.store import ClaimedUnit, Finished, UnitIndex


def specification(nodes: int = 0) -> bytes:
    message = jobs_pb2.JobSpecification()
    message.adjudication.terms.resign_score = 500
    message.adjudication.terms.resign_count = 1
    if nodes:
        message.adjudication.limits.nodes = nodes
    return message.SerializeToString()


def unit(*moves: tuple[str, int]) -> ClaimedUnit:
    played = [
        adjudication_pb2.PlayedMove(move=move, score=analysis_pb2.Score(centipawns=score), depth=7)
        for move, score in moves
    ]
    game = adjudication_pb2.Game(variant="chakra", moves=played, result="*")
    return ClaimedUnit(UnitIndex(3), game.SerializeToString(), 2)


def run(spec: bytes, claimed: ClaimedUnit) -> tuple[Finished, jobs_pb2.ResultRow]:
    finished = Adjudicator("w").run(spec, claimed)
    assert finished is not None
    return finished, jobs_pb2.ResultRow.FromString(finished.payload)


def test_own_scores_are_judged_without_a_search() -> None:
    finished, row = run(specification(), unit(("e2e4", 0), ("e7e5", -600)))
    found = row.adjudication
    assert (row.index, found.result, found.reason, found.ply) == (3, "1-0", "resign", 2)
    (evidence,) = found.evidence
    assert (evidence.ply, evidence.score.centipawns, evidence.depth) == (1, -600, 7)
    assert not evidence.HasField("nodes")
    assert finished.nodes == found.nodes == 0
    assert (found.provenance.worker, found.provenance.attempt) == ("w", 2)
    assert found.provenance.engine_version == ENGINE_VERSION


def test_a_search_counts_its_nodes_and_ends_equal_games_alike() -> None:
    spec, game = specification(nodes=1500), unit(("e2e4", 0), ("e7e5", -600))
    finished, row = run(spec, game)
    assert (row.adjudication.reason, len(row.adjudication.evidence)) == ("undecided", 1)
    assert 0 < finished.nodes == row.adjudication.nodes <= 2 * 1500
    again = run(spec, game)[1]
    assert again.adjudication.evidence == row.adjudication.evidence


def test_a_game_is_stopped_at_its_search() -> None:
    adjudicator, found = Adjudicator("w"), []
    thread = threading.Thread(
        target=lambda: found.append(adjudicator.run(specification(nodes=10**9), unit()))
    )
    thread.start()
    while thread.is_alive():
        adjudicator.stop()
        thread.join(0.05)
    assert found == [None]
