"""Perft through positions: every line of the data files, and how counts divide among moves."""

import pytest

from core import position as position_module
from core.games import VARIANTS
from core.position import Position
from tests.core.judge import PerftEntry, read_perft_entries

ENTRIES = list(read_perft_entries())
DIVIDE_DEPTH = 3
each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: f"{e.variant}:{e.name}")


def test_files_cover_every_game_with_its_start() -> None:
    assert {VARIANTS[entry.variant].game for entry in ENTRIES} == {
        variant.game for variant in VARIANTS.values()
    }
    starts = [entry for entry in ENTRIES if entry.fen == "startpos"]
    assert {entry.variant for entry in starts} == {entry.variant for entry in ENTRIES}
    assert all(len(entry.counts) >= 5 for entry in starts)


@each_entry
def test_perft(entry: PerftEntry) -> None:
    position = Position(entry.variant, entry.fen)
    fen, keys = position.fen(), position.keys
    assert {depth: position.perft(depth) for depth in entry.counts} == entry.counts
    assert (position.fen(), position.keys) == (fen, keys)


@each_entry
def test_divide_adds_up_and_counts_below_each_legal_move(entry: PerftEntry) -> None:
    position = Position(entry.variant, entry.fen)
    for depth, count in entry.counts.items():
        if depth > DIVIDE_DEPTH:
            continue
        counts = position.divide(depth)
        assert list(counts) == position.legal_moves
        assert sum(counts.values()) == count
        for move, below in counts.items():
            position.push(move)
            assert position.perft(depth - 1) == below
            position.pop()


@each_entry
def test_perft_added_up_over_first_moves_is_the_same(
    entry: PerftEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond a depth, counts are added up in Python; here that depth is 1."""
    monkeypatch.setattr(position_module, "KERNEL_DEPTH", 1)
    position = Position(entry.variant, entry.fen)
    for depth, count in entry.counts.items():
        if depth <= DIVIDE_DEPTH:
            assert position.perft(depth) == count


@pytest.mark.parametrize("variant", VARIANTS)
def test_perft_of_depth_zero_is_one(variant: str) -> None:
    assert Position(variant).perft(0) == 1


def test_perft_of_a_finished_game() -> None:
    mated = Position("chakra", "k7/1Q6/1K6/8/8/8/8/8 b - - 0 1")
    assert [mated.perft(depth) for depth in range(4)] == [1, 0, 0, 0]
    assert mated.divide(2) == {}


def test_counts_larger_than_a_machine_word_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position_module, "KERNEL_DEPTH", 0)
    position = Position("caissa")
    monkeypatch.setattr(position, "_list_moves", dict)
    monkeypatch.setattr(position, "divide", lambda _: {"a": 2**64 - 1, "b": 2**64 - 1})
    assert position.perft(9) == 2**65 - 2
