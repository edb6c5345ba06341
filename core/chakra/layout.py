"""The board, pieces, flags and state record of Chakra, and how a move is packed into a number.

Square = 8 * rank + file (a1 = 0, h1 = 7, h8 = 63):

    56 57 58 59 60 61 62 63   rank 8
    ...
     0  1  2  3  4  5  6  7   rank 1
"""

from typing import Any

import numpy as np

from core.rules import build_state_type

KING = np.uint64(1)
QUEEN = np.uint64(2)
SAMURAI = np.uint64(3)
MONK = np.uint64(4)
APE = np.uint64(5)
COURTESAN = np.uint64(6)
PAWN = np.uint64(7)
TYPE_LETTERS = ".KQSMACP"

# Set-up numbers: a pawn promotes only to a type of which fewer are on the board.
SETUP_COUNTS = {QUEEN: 1, SAMURAI: 1, MONK: 1, APE: 2, COURTESAN: 2}

# Packed moves: from | to << 6 | promotion type << 12 | flip << 15. A chakra's move starts on a
# square without a piece. A pass, and a flip in place, ends where it starts.
TO_SHIFT = np.uint64(6)
PROMOTION_SHIFT = np.uint64(12)
FLIP_SHIFT = np.uint64(15)
FLIP_BIT = np.uint64(1 << 15)

FILE_A = np.uint64(0x0101_0101_0101_0101)
FILE_H = np.uint64(0x8080_8080_8080_8080)
RANK_1 = np.uint64(0xFF)
RANK_8 = np.uint64(0xFF << 56)
RANK_3 = np.uint64(0xFF << 16)
RANK_6 = np.uint64(0xFF << 40)

STATE_FIELDS: list[tuple[Any, ...]] = [
    # Rule flags of the variant, each all ones or zero, to be used as masks.
    ("samurai_jumps", np.uint64),  # king + knight instead of king + rook
    ("double_step", np.uint64),
    ("compulsory", np.uint64),  # transmission
    ("guard", np.uint64),  # own king on its chakra guards the transmitter
    # The two chakras of each side, none or two bits; which chakras of either are in king mode.
    ("chakras", np.uint64, (2,)),
    ("king_mode", np.uint64),
]
STATE = build_state_type(STATE_FIELDS)
