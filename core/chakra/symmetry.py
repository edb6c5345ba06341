"""The symmetries of Chakra: files mirrored, and the sides exchanged with the ranks mirrored.

Every rule stands under both: steps and lines, the pawns' way and their ranks, promotion, the
transmitter of each side with its modes, and the guard. The start is no image of itself by the
files, as king and queen stand there as in chess.
"""

from typing import Any

import numpy as np

from core.bits import U0, U1
from core.chakra.moves import permute_squares, write_board_image
from core.chakra.position import compute_key
from core.geometry import build_symmetry
from core.jit import kernel

SYMMETRIES = (
    build_symmetry("identity", 8, lambda rank, file: (rank, file), is_swapping=False),
    build_symmetry("mirror", 8, lambda rank, file: (rank, 7 - file), is_swapping=False),
    build_symmetry("swap", 8, lambda rank, file: (7 - rank, file), is_swapping=True),
    build_symmetry("mirror-swap", 8, lambda rank, file: (7 - rank, 7 - file), is_swapping=True),
)
SYMMETRY_COUNT = np.uint64(len(SYMMETRIES))


@kernel
def write_image(S: Any, D: Any, T: Any, symmetry: Any) -> None:
    """Write into D the image of the position S."""
    write_board_image(S, D, T, symmetry)
    D.samurai_jumps = S.samurai_jumps
    D.double_step = S.double_step
    D.compulsory = S.compulsory
    D.guard = S.guard
    swap = T.image_swaps[symmetry]
    D.chakras[swap] = permute_squares(T, symmetry, S.chakras[0])
    D.chakras[swap ^ U1] = permute_squares(T, symmetry, S.chakras[1])
    D.king_mode = permute_squares(T, symmetry, S.king_mode)
    D.key = compute_key(D, T, U0)
    D.key2 = compute_key(D, T, U1)
