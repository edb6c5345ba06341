"""Draws of Chakra that the position alone decides; repetition is judged over the game."""

from typing import Any

import numpy as np

from core.bits import U0
from core.chakra.layout import KING
from core.jit import kernel
from core.rules import INSUFFICIENT, MOVE_LIMIT, NO_DRAW

# Half-moves without a capture and without a pawn changing its square.
HALFMOVE_LIMIT = np.uint64(100)


@kernel
def find_draw(S: Any) -> Any:
    """Return MOVE_LIMIT, INSUFFICIENT (two bare kings and no chakra) or NO_DRAW."""
    if S.halfmove >= HALFMOVE_LIMIT:
        return MOVE_LIMIT
    if S.by_type[KING] == S.by_side[0] | S.by_side[1] and S.chakras[0] | S.chakras[1] == U0:
        return INSUFFICIENT
    return NO_DRAW
