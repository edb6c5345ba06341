"""Perft through positions: every line of the data files, and how counts divide among moves."""

import pytest

from core import counting
from core.counting import CountTable
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
        counts = counting.divide(position, depth)
        assert list(counts) == position.legal_moves
        assert sum(counts.values()) == count
        for move, below in counts.items():
            position.push(move)
            assert position.perft(depth - 1) == below
            position.pop()


@each_entry
@pytest.mark.parametrize(
    ("kernel_depth", "threads", "megabytes"), [(1, 1, 0), (1, 3, 1), (2, 3, 0), (2, 1, 1)]
)
def test_units_on_threads_and_with_a_table_add_up(
    entry: PerftEntry,
    kernel_depth: int,
    threads: int,
    megabytes: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beyond the kernel's depth, counts are added up in Python; here that depth is small."""
    monkeypatch.setattr(counting, "KERNEL_DEPTH", kernel_depth)
    position = Position(entry.variant, entry.fen)
    table = CountTable(megabytes) if megabytes else None
    for depth, count in entry.counts.items():
        if depth <= DIVIDE_DEPTH:
            assert counting.count_lines(position, depth, threads, table) == count


@each_entry
def test_a_table_that_is_far_too_small_does_no_harm(entry: PerftEntry) -> None:
    position = Position(entry.variant, entry.fen)
    table = CountTable(1)
    for depth, count in entry.counts.items():
        assert counting.count_lines(position, depth, 2, table) == count
        assert counting.count_lines(position, depth, 1, table) == count


def test_progress_ends_at_all_units(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(counting, "_PROGRESS_SECONDS", 0)
    position = Position("caissa")
    counting.divide(position, 5, on_progress=lambda done, total: seen.append((done, total)))
    assert {total for _, total in seen} == {position.perft(counting.SPLIT_DEPTH)}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize("variant", VARIANTS)
def test_perft_of_depth_zero_is_one(variant: str) -> None:
    assert Position(variant).perft(0) == 1


def test_perft_of_a_finished_game() -> None:
    mated = Position("chakra", "k7/1Q6/1K6/8/8/8/8/8 b - - 0 1")
    assert [mated.perft(depth) for depth in range(4)] == [1, 0, 0, 0]
    assert counting.divide(mated, 2) == {}


def test_counts_larger_than_a_machine_word_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "KERNEL_DEPTH", 1)
    monkeypatch.setattr(counting, "_make_counter", lambda *_: lambda _: 2**64 - 1)
    position = Position("caissa")
    assert counting.count_lines(position, 2) == len(position.legal_moves) * (2**64 - 1)
