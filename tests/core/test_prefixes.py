"""Splits of a perft: every total is the same, and what is merged is the same."""

import pytest

from core.counting import Counter, CountTable
from core.games import load_game
from core.position import Position
from core.prefixes import Split, TooManyPrefixes
from core.record import Record
from core.symmetry import find_canonical
from tests.core.judge import VARIANT_NAMES, PerftEntry, read_perft_entries

MOST = 10**6
ENTRIES = [e for e in read_perft_entries() if e.counts.get(3, 0) < 100_000]


def sum_up(split: Split, position: Position, depth: int) -> int:
    return sum(
        p.multiplicity * Position(position.variant.name, split.format_fen(p)).perft(depth)
        for p in split.prefixes
    )


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.variant}/{entry.name}")
@pytest.mark.parametrize("keeps_images", [False, True], ids=["merged", "apart"])
def test_prefixes_add_up_at_every_depth(entry: PerftEntry, keeps_images: bool) -> None:
    position = Position(entry.variant, entry.fen)
    split = Split(position, keeps_images)
    for rest in (3, 2, 1):
        assert sum_up(split, position, rest) == entry.counts[3]
        split.advance(MOST)
    assert sum(p.multiplicity for p in split.prefixes) == entry.counts[3]


@pytest.mark.parametrize("variant", VARIANT_NAMES)
def test_prefixes_differ_and_images_are_canonical(variant: str) -> None:
    merged, apart = Split(Position(variant)), Split(Position(variant), keeps_images=True)
    for _ in range(2):
        merged.advance(MOST)
        apart.advance(MOST)
    positions = [Position(variant, merged.format_fen(p)) for p in merged.prefixes]
    assert len({p.keys for p in positions}) == len(positions)
    assert all(find_canonical(p)[0].fen() == p.fen() for p in positions)
    images = {
        find_canonical(Position(variant, apart.format_fen(p)))[0].keys for p in apart.prefixes
    }
    assert images == {p.keys for p in positions}
    assert len(apart.prefixes) <= Position(variant).perft(2)


def test_mirrored_prefixes_are_merged() -> None:
    """Kings on d and e, and their mirror images: d2 d7 and e2 e7 are the same."""
    position = Position("chakra", "4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    counts = []
    for keeps_images in (False, True):
        split = Split(position, keeps_images)
        split.advance(MOST)
        split.advance(MOST)
        counts.append(len(split.prefixes))
        assert sum_up(split, position, 2) == position.perft(4)
    assert counts == [23, 25]


def test_a_line_that_ends_early_is_left_out() -> None:
    """Stalemate after one of the king's moves, or none: no prefix is left of it."""
    split = Split(Position("chakra", "k7/8/1Q6/8/8/8/8/K7 b - - 0 1"))
    split.advance(MOST)
    assert split.prefixes == []
    split.advance(MOST)
    assert (split.plies, split.prefixes) == (2, [])


def test_a_split_that_grows_too_large_stays_where_it_is() -> None:
    split = Split(Position("chakra"))
    split.advance(28)
    with pytest.raises(TooManyPrefixes):
        split.advance(783)
    assert (split.plies, len(split.prefixes)) == (1, 28)
    split.advance(784)


# Counting them


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.variant}/{entry.name}")
def test_counts_are_the_same_with_either_order_of_keys(entry: PerftEntry) -> None:
    position = Position(entry.variant, entry.fen)
    table = CountTable(1)
    for has_other_keys in (False, True, False):
        counter = Counter(position.game, Record(position.game), table, has_other_keys)
        for depth, count in entry.counts.items():
            if depth <= 4:
                assert counter.count(position, depth) == count
    assert counter.count(position, 0) == 1


def test_the_other_order_of_keys_uses_the_table_otherwise() -> None:
    """What was stored under one order is not found under the other."""
    game, position = load_game("chakra"), Position("chakra")
    table = CountTable(1)
    visited = []
    for has_other_keys in (False, False, True):
        counter = Counter(game, Record(game), table, has_other_keys)
        counter.count(position, 4)
        visited.append(counter.nodes)
    assert visited[1] == 0
    assert visited[2] > 100


def test_counts_pass_64_bits() -> None:
    """Two bare kings far apart, each with many moves, for many plies: more lines than 2**64."""
    position = Position("chakra", "k7/8/8/8/8/8/8/7K w - - 0 1")
    counter = Counter(position.game, Record(position.game), CountTable(16))
    depth = 26
    split = Split(position)
    for _ in range(depth):
        split.advance(MOST)
    total = sum(p.multiplicity for p in split.prefixes)
    assert total > 2**64
    split = Split(position)
    for _ in range(depth - 9):
        split.advance(MOST)
    counted = [counter.count(Position("chakra", split.format_fen(p)), 9) for p in split.prefixes]
    assert total == sum(
        p.multiplicity * (count or 0) for p, count in zip(split.prefixes, counted, strict=True)
    )


def test_a_stopped_count_is_none_and_leaves_the_table_right() -> None:
    position = Position("chakra")
    table = CountTable(1)
    counter = Counter(position.game, Record(position.game), table)
    counter.stop()
    assert counter.count(position, 5) is None
    assert counter.count(position, 8) is None
    again = Counter(position.game, Record(position.game), table)
    assert again.count(position, 5) == 24799856
