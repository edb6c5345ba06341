"""The bench signature: a change that moves it says so, by changing the number on file."""

from pathlib import Path

from core.position import Position
from core.signature import WORKLOAD, run_workload

ON_FILE = Path(__file__).with_name("bench-signature.txt")


def test_nodes_of_the_workload_are_those_on_file() -> None:
    assert run_workload()[0] == int(ON_FILE.read_text())


def test_the_workload_is_of_both_games_and_goes_on() -> None:
    positions = [Position(variant, fen) for variant, fen in WORKLOAD]
    assert {position.variant.game for position in positions} == {"chakra", "caissa"}
    assert not any(position.outcome() for position in positions)
