"""Completing a position of Caissa read from text: what kernels have to add and to judge."""

from typing import Any

from core.bits import U0, U1, U6, U63, bit, is_single
from core.board import TYPE_MASK
from core.caissa.attacks import are_queens_in_sight, is_connected, is_queen_attacked
from core.caissa.layout import QUEEN
from core.caissa.movegen import find_slides
from core.caissa.moves import place_pieces
from core.caissa.position import compute_key
from core.jit import kernel


@kernel
def complete_position(R: Any, TR: Any) -> Any:
    """Write what follows from the other fields: bitboards, keys, no history.

    Return whether the tiles are torn apart, whether the queens see each other, whether the side
    not to move is in check (both False unless each has one queen), and whether the ko move's piece
    reaches its end.
    """
    S, T = R[0], TR[0]
    place_pieces(S)
    S.reversible = U0
    S.key = compute_key(S, T, U0)
    S.key2 = compute_key(S, T, U1)
    is_torn = S.tiles != U0 and not is_connected(S.tiles)
    is_in_sight = False
    is_check = False
    queens = S.by_type[QUEEN]
    if is_single(queens & S.by_side[0]) and is_single(queens & S.by_side[1]):
        is_in_sight = are_queens_in_sight(S, T)
        is_check = is_queen_attacked(S, T, S.side ^ U1)
    origin, end = S.ko & U63, (S.ko >> U6) & U63
    occupied = S.by_side[0] | S.by_side[1]
    reached = find_slides(T, S.board[origin] & TYPE_MASK, origin, occupied)
    return is_torn, is_in_sight, is_check, reached & bit(end) != U0
