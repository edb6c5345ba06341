"""The games' own tables: entries by hand, keys that are all different, flags of the variants."""

import itertools
from typing import Any

import numpy as np
import pytest

from core.caissa import tables as caissa_tables
from core.caissa.attacks import is_connected, is_removable
from core.caissa.layout import BOARD
from core.chakra import tables as chakra_tables
from core.chakra.layout import SETUP_COUNTS
from core.games import VARIANTS
from core.jit import view_record
from core.reference import caissa, chakra
from tests.core.judge import find_samples, set_up
from tests.core.test_geometry import square, squares

CHAKRA_TABLES = view_record(chakra_tables.TABLES)
CAISSA_TABLES = view_record(caissa_tables.TABLES)


def test_pawn_captures() -> None:
    white, black = CHAKRA_TABLES.pawn_captures
    for start, expected in (("a2", "b3"), ("h2", "g3"), ("d4", "c5 e5"), ("e1", "d2 f2")):
        assert int(white[square(start)]) == squares(expected)
    for start, expected in (("a7", "b6"), ("h7", "g6"), ("d4", "c3 e3"), ("e8", "d7 f7")):
        assert int(black[square(start)]) == squares(expected)
    assert not any(int(white[s]) for s in range(56, 64))
    assert not any(int(black[s]) for s in range(8))


@pytest.mark.parametrize(
    ("tables", "names"),
    [
        (CHAKRA_TABLES, ("piece_keys", "chakra_keys", "side_keys")),
        (CAISSA_TABLES, ("piece_keys", "hole_keys", "ko_keys", "side_keys")),
    ],
    ids=["chakra", "caissa"],
)
def test_hash_keys_all_differ_and_so_do_their_sums(tables: Any, names: tuple[str, ...]) -> None:
    keys = np.concatenate([tables[name].ravel() for name in names])
    assert len(set(keys.tolist())) == len(keys)
    assert 0 not in keys
    # No two pairs cancel each other, in a part small enough to look at all of them.
    part = keys[:: len(keys) // 300].tolist()
    sums = [a ^ b for a, b in itertools.combinations(part, 2)]
    assert len(set(sums)) == len(sums)


def window(*rows: str) -> int:
    """The number of a 3x3 window drawn from its northern row down, # for a tile."""
    cells = "".join(reversed(rows))
    return sum(1 << place for place, cell in enumerate(cells) if cell == "#")


@pytest.mark.parametrize(
    ("rows", "connected"),
    [
        (("...", ".#.", "..."), False),
        (("#..", ".#.", "..."), True),
        (("###", "#.#", "###"), True),
        (("###", ".#.", "..."), True),
        (("#.#", ".#.", "..."), False),
        (("#..", ".#.", "..#"), False),
        ((".#.", "#.#", ".#."), True),
        ((".#.", "##.", "..."), True),
        (("..#", "###", "..."), False),
        (("#.#", "###", "#.#"), False),
    ],
)
def test_connection_around_a_square(rows: tuple[str, ...], connected: bool) -> None:
    found = CAISSA_TABLES.ring_connected
    assert bool(found[window(*rows)]) == connected
    # The middle itself plays no part.
    assert found[window(*rows) ^ 16] == found[window(*rows)]


@pytest.mark.parametrize("variant", caissa.VARIANTS)
def test_tiles_may_be_removed_that_leave_the_others_connected(variant: str) -> None:
    """By flooding square by square, on boards with many holes."""
    removable = 0
    looked_at = 0
    for one in find_samples(variant)[::6]:
        kernels = set_up(variant, one.fen)
        tiles = {s for s in range(64) if int(kernels.state.tiles) >> s & 1}
        assert is_connected(kernels.state.tiles)
        assert int(kernels.state.tiles) & ~int(BOARD) == 0
        for s in tiles:
            expected = flood(tiles - {s}) == tiles - {s}
            found = is_removable(kernels.state, kernels.tables, np.uint64(s))
            assert bool(found) == expected, (one.fen, s)
            assert bool(is_connected(kernels.state.tiles & ~np.uint64(1 << s))) == expected
            removable += expected
            looked_at += 1
    assert looked_at // 4 < removable < looked_at


def flood(tiles: set[int]) -> set[int]:
    """The tiles connected to the first, all of them if they are one group."""
    waiting = [min(tiles)]
    reached = set(waiting)
    while waiting:
        rank, file = divmod(waiting.pop(), 8)
        for r, f in itertools.product((rank - 1, rank, rank + 1), (file - 1, file, file + 1)):
            s = 8 * r + f
            if 0 <= f < 8 and s in tiles and s not in reached:
                reached.add(s)
                waiting.append(s)
    return reached


def test_flags_of_chakra_are_those_of_the_rules() -> None:
    for name, flags in chakra.VARIANTS.items():
        shown = VARIANTS[name].flags
        assert shown == {
            "samurai": "king+knight" if flags.samurai_leaps else "king+rook",
            "double_step": flags.double_step,
            "transmission": "compulsory" if flags.compulsory else "optional",
            "guard": flags.guard,
            "start_mode": {"n": "knight", "k": "king"}[flags.start_mode],
        }


def test_flags_of_caissa_are_those_of_the_rules() -> None:
    for name, flags in caissa.VARIANTS.items():
        assert VARIANTS[name].flags["ply_limit"] == flags.move_limit
    free = [name for name in caissa.VARIANTS if VARIANTS[name].flags["free_setup"]]
    assert free == ["caissa-pritchard"]


def test_set_up_numbers_are_those_of_the_start() -> None:
    board = VARIANTS["chakra"].startpos.split()[0]
    letters = ".KQSMACP"
    for piece_type, count in SETUP_COUNTS.items():
        letter = letters[int(piece_type)]
        assert board.count(letter) == board.count(letter.lower()) == count
        assert chakra.SET_UP_COUNTS[letter] == count
