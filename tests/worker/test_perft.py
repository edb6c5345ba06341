"""A unit of a perft becomes a row with its count."""

import threading
import time

import pytest

from core.position import Position
from core.version import RULES_VERSION
from tilewarp.v1 import jobs_pb2, position_pb2
from worker.perft import PerftRunner, is_counted_again
from worker.store import ClaimedUnit, UnitIndex


def spec(variant: str, share: float = 0.0) -> bytes:
    work = jobs_pb2.PerftWork(position=position_pb2.Position(variant=variant), verify_share=share)
    return jobs_pb2.JobSpecification(perft=work).SerializeToString()


def unit(variant: str, depth: int, counted: int = 0) -> ClaimedUnit:
    count = jobs_pb2.PerftCount(depth=depth, multiplicity="3")
    row = jobs_pb2.ResultRow(fen=Position(variant).fen(), perft=count)
    return ClaimedUnit(UnitIndex(7), row.SerializeToString(), 1, counted)


@pytest.mark.parametrize("counted", [0, 1])
def test_a_row_has_the_count_and_who_found_it(counted: int) -> None:
    runner = PerftRunner("w")
    for variant, nodes in (("chakra", 24142), ("caissa", 16251), ("chakra", 24142)):
        finished = runner.run(spec(variant), unit(variant, 3, counted))
        assert finished is not None
        row = jobs_pb2.ResultRow.FromString(finished.payload)
        assert (row.index, row.fen) == (7, Position(variant).fen())
        assert (row.perft.count, row.perft.multiplicity) == (str(nodes), "3")
        assert (list(row.perft.workers), row.perft.rules_version) == (["w"], RULES_VERSION)
        assert (finished.amount, finished.needs_agreement) == (3 * nodes, False)
        assert finished.nodes == row.perft.nodes > 0
        assert runner.nodes == 0


def test_a_share_of_the_prefixes_is_counted_again() -> None:
    fens = [f"prefix {number}" for number in range(1000)]
    counts = [sum(is_counted_again(fen, share) for fen in fens) for share in (0, 0.1, 1)]
    assert counts[0] == 0
    assert 60 < counts[1] < 140
    assert counts[2] == 1000
    finished = PerftRunner("w").run(spec("chakra", 1.0), unit("chakra", 2))
    assert finished is not None
    assert finished.needs_agreement


def test_a_count_moves_on_and_can_be_stopped() -> None:
    runner = PerftRunner("w")
    found: list[object] = []
    thread = threading.Thread(
        target=lambda: found.append(runner.run(spec("chakra"), unit("chakra", 10)))
    )
    thread.start()
    seen = set()
    while len(seen) < 3:
        seen.add(runner.nodes)
        time.sleep(0.02)
    runner.stop()
    thread.join(20)
    assert found == [None]
