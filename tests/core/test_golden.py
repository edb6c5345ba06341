"""The golden positions: agreed moves, check, result, perft, and their text both ways."""

from typing import Any

import pytest

from core.games import VARIANTS
from core.position import Position
from tests.core.judge import GOLDEN


def find_rows(variant: str) -> list[dict[str, Any]]:
    rows = [row for row in GOLDEN if row["variant"] == variant]
    assert rows
    return rows


@pytest.mark.parametrize("variant", VARIANTS)
def test_moves_check_and_result(variant: str) -> None:
    for row in find_rows(variant):
        position = Position(variant, row["fen"])
        found = {
            "moves": position.legal_moves,
            "check": position.is_check(),
            "result": position.result(),
        }
        assert found == {name: row[name] for name in found}, row["fen"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_text_is_written_as_read_and_after_each_move_read_again(variant: str) -> None:
    for row in find_rows(variant):
        position = Position(variant, row["fen"])
        assert position.fen() == row["fen"]
        for move in row["moves"]:
            position.push(move)
            again = Position(variant, position.fen())
            assert (again.fen(), again.keys) == (position.fen(), position.keys)
            assert position.pop() == move
        assert position.fen() == row["fen"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_perft(variant: str) -> None:
    for row in find_rows(variant):
        position = Position(variant, row["fen"])
        counts = {depth: position.perft(int(depth)) for depth in row["perft"]}
        assert counts == row["perft"], row["fen"]


def test_rows_contain_both_results_of_both_games() -> None:
    games = {variant.game for variant in VARIANTS.values()}
    ended = {(VARIANTS[row["variant"]].game, row["result"]) for row in GOLDEN if row["result"]}
    assert ended == {(game, result) for game in games for result in ("checkmate", "stalemate")}
