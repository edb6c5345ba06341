"""The symmetries of Caïssa: the eight of the square, each also with the sides exchanged.

Every rule stands under all: no piece moves in a direction of its own. Whether the limit of moves in
`caissa-codecup`, an even number of half-moves, is met depends on the full-move number alone.
"""

from typing import Any

import numpy as np

from core.bits import U0, U1, U6, U63
from core.caissa.layout import BOARD, KO_BIT, WIDTH
from core.caissa.moves import permute_squares, write_board_image
from core.caissa.position import compute_key
from core.geometry import build_symmetry
from core.jit import kernel

_LAST = WIDTH - 1
# By name: where a rank and a file go. Rotations turn the board to the right.
_MAPS = {
    "identity": lambda rank, file: (rank, file),
    "rotate-90": lambda rank, file: (_LAST - file, rank),
    "rotate-180": lambda rank, file: (_LAST - rank, _LAST - file),
    "rotate-270": lambda rank, file: (file, _LAST - rank),
    "mirror": lambda rank, file: (rank, _LAST - file),
    "flip": lambda rank, file: (_LAST - rank, file),
    "transpose": lambda rank, file: (file, rank),
    "anti-transpose": lambda rank, file: (_LAST - file, _LAST - rank),
}
SYMMETRIES = tuple(
    build_symmetry(name + suffix, WIDTH, move, is_swapping=bool(suffix))
    for suffix in ("", "-swap")
    for name, move in _MAPS.items()
)
SYMMETRY_COUNT = np.uint64(len(SYMMETRIES))


@kernel
def write_image(S: Any, D: Any, T: Any, symmetry: Any) -> None:
    """Write into D the image of the position S."""
    write_board_image(S, D, T, symmetry)
    D.ply_limit = S.ply_limit
    D.tiles = BOARD & ~permute_squares(T, symmetry, BOARD & ~S.tiles)
    D.ko = S.ko
    if S.ko != U0:
        origin = T.image_squares[symmetry, S.ko & U63]
        D.ko = origin | (T.image_squares[symmetry, (S.ko >> U6) & U63] << U6) | KO_BIT
    D.key = compute_key(D, T, U0)
    D.key2 = compute_key(D, T, U1)
