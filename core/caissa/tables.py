"""Tables of Caissa, built once: geometry and symmetries of 7x7, local connection and hash keys."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.caissa.layout import WIDTH
from core.caissa.symmetry import SYMMETRIES
from core.caissa.weights import FEATURE_COUNT, WEIGHTS
from core.geometry import fill_symmetries, fill_tables, find_fields, find_symmetry_fields
from core.jit import build_record_type, view_record

# Any seeds do; the two sets of keys must not be the same.
_KEY_SEEDS = (0x43414953, 0x32414953)

TABLES_TYPE = build_record_type(
    [
        *find_fields(WIDTH, WIDTH),
        *find_symmetry_fields(SYMMETRIES),
        # By the tiles of a 3x3 window (rank by rank, lowest bit south-west): 1 if those
        # around the middle are there and connected among themselves.
        ("ring_connected", np.uint64, (512,)),
        # Of each of the two keys: by piece in the mailbox and square; by square: of a
        # hole, of the ko move's ends; for black to move.
        ("piece_keys", np.uint64, (2, 16, 64)),
        ("hole_keys", np.uint64, (2, 64)),
        ("ko_keys", np.uint64, (2, 2, 64)),
        ("side_keys", np.uint64, (2,)),
        # Of features, in centipawns.
        ("weights", np.int64, (FEATURE_COUNT,)),
    ]
)


def build_tables() -> NDArray[Any]:
    """Return the tables, an array of one record."""
    array = np.zeros(1, dtype=TABLES_TYPE)
    tables = view_record(array)
    fill_tables(tables, WIDTH, WIDTH)
    fill_symmetries(tables, SYMMETRIES)
    for window in range(512):
        tables.ring_connected[window] = _is_ring_connected(window)
    for index, seed in enumerate(_KEY_SEEDS):
        source = np.random.PCG64(seed)
        for name in ("piece_keys", "hole_keys", "ko_keys"):
            shape = tables[name][index].shape
            tables[name][index] = source.random_raw(int(np.prod(shape))).reshape(shape)
        tables.side_keys[index] = source.random_raw()
    tables.weights[:] = WEIGHTS
    return array


def _is_ring_connected(window: int) -> bool:
    cells = {divmod(bit, 3) for bit in range(9) if window >> bit & 1 and bit != 4}
    if not cells:
        return False
    reached = {min(cells)}
    while True:
        more = {
            (r, f)
            for r, f in cells - reached
            if any(abs(r - x) <= 1 and abs(f - y) <= 1 for x, y in reached)
        }
        if not more:
            return reached == cells
        reached |= more


TABLES = build_tables()
