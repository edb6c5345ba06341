"""The board, pieces and state record of Caissa, and how a move is packed into a number.

Seven files and ranks on a board of stride 8: square = 8 * rank + file (a1 = 0, g1 = 6, a2 = 8,
g7 = 54). The eighth file and rank are never tiled: shifts of a bitboard cannot run from one rank
into the next. (The rules count squares without the gap, 7 * rank + file; no text shows either.)
"""

from typing import Any

import numpy as np

from core.rules import build_state_type

WIDTH = 7
QUEEN = np.uint64(1)
ROOK = np.uint64(2)
KNIGHT = np.uint64(3)
BISHOP = np.uint64(4)
TYPE_LETTERS = ".QRNB"

BOARD = np.uint64(0x007F_7F7F_7F7F_7F7F)

# Packed moves: from | to << 6. The ko move likewise, with this bit set; 0: there is none.
KO_BIT = np.uint64(1 << 12)

STATE_FIELDS: list[tuple[Any, ...]] = [
    # Half-moves played after which the game is drawn; 0: no such rule.
    ("ply_limit", np.uint64),
    # Bitboard of the tiled squares.
    ("tiles", np.uint64),
    ("ko", np.uint64),
]
STATE = build_state_type(STATE_FIELDS)
