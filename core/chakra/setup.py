"""Completing a position of Chakra read from text: what kernels have to add and to judge."""

from typing import Any

from core.bits import U0, U1, is_single
from core.chakra.attacks import is_king_attacked
from core.chakra.layout import KING
from core.chakra.moves import place_pieces
from core.chakra.position import compute_key
from core.jit import kernel


@kernel
def complete_position(R: Any, TR: Any) -> Any:
    """Write what follows from the other fields: bitboards, keys, no history.

    Return whether the side not to move is in check; False unless each has one king.
    """
    S, T = R[0], TR[0]
    place_pieces(S)
    S.reversible = U0
    S.key = compute_key(S, T, U0)
    S.key2 = compute_key(S, T, U1)
    kings = S.by_type[KING]
    if is_single(kings & S.by_side[0]) and is_single(kings & S.by_side[1]):
        return is_king_attacked(S, T, S.side ^ U1)
    return False
