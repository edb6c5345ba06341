"""Tables of Chakra, built once: geometry and symmetries of 8x8, pawn captures and hash keys."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.chakra.layout import FILE_A, FILE_H
from core.chakra.symmetry import SYMMETRIES
from core.chakra.weights import FEATURE_COUNT, WEIGHTS
from core.geometry import fill_symmetries, fill_tables, find_fields, find_symmetry_fields
from core.jit import build_record_type, view_record

# Any seeds do; the two sets of keys must not be the same.
_KEY_SEEDS = (0x43484B52, 0x32484B52)

TABLES_TYPE = build_record_type(
    [
        *find_fields(8, 8),
        *find_symmetry_fields(SYMMETRIES),
        # By side and square: where a pawn captures.
        ("pawn_captures", np.uint64, (2, 64)),
        # Of each of the two keys: by piece in the mailbox and square; by side, mode
        # (1: king) and square; for black to move.
        ("piece_keys", np.uint64, (2, 16, 64)),
        ("chakra_keys", np.uint64, (2, 2, 2, 64)),
        ("side_keys", np.uint64, (2,)),
        # Of features, in centipawns.
        ("weights", np.int64, (FEATURE_COUNT,)),
    ]
)


def build_tables() -> NDArray[Any]:
    """Return the tables, an array of one record."""
    array = np.zeros(1, dtype=TABLES_TYPE)
    tables = view_record(array)
    fill_tables(tables, 8, 8)
    fill_symmetries(tables, SYMMETRIES)
    for square in range(64):
        here = 1 << square
        west, east = here & ~int(FILE_A), here & ~int(FILE_H)
        tables.pawn_captures[0, square] = (west << 7 | east << 9) & (1 << 64) - 1
        tables.pawn_captures[1, square] = west >> 9 | east >> 7
    for index, seed in enumerate(_KEY_SEEDS):
        source = np.random.PCG64(seed)
        for name in ("piece_keys", "chakra_keys"):
            shape = tables[name][index].shape
            tables[name][index] = source.random_raw(int(np.prod(shape))).reshape(shape)
        tables.side_keys[index] = source.random_raw()
    tables.weights[:] = WEIGHTS
    return array


TABLES = build_tables()
