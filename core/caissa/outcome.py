"""Draws of Caissa that the position alone decides; repetition is judged over the game."""

from typing import Any

from core.bits import U0, U1
from core.caissa.layout import QUEEN
from core.jit import kernel
from core.rules import INSUFFICIENT, MOVE_LIMIT, NO_DRAW


@kernel
def find_draw(S: Any) -> Any:
    """Return MOVE_LIMIT (by the counters), INSUFFICIENT (only the two queens) or NO_DRAW."""
    played = ((S.fullmove - U1) << U1) + S.side
    if S.ply_limit != U0 and played >= S.ply_limit:
        return MOVE_LIMIT
    if S.by_type[QUEEN] == S.by_side[0] | S.by_side[1]:
        return INSUFFICIENT
    return NO_DRAW
