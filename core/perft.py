"""Perft: the number of legal lines of a given length. Generic; knows no game."""

from typing import Any

from core.bind import generic
from core.bits import U0, U1, U2
from core.rules import count_moves, generate_moves, make_unkeyed, unmake_unkeyed


@generic
def perft(S: Any, T: Any, depth: Any) -> Any:
    """Return the number of legal lines of `depth` plies, modulo 2**64; 1 for depth 0.

    The last ply is counted without making its moves. S is as before afterwards.
    """
    if depth == U0:
        return U1
    if depth == U1:
        return count_moves(S, T)
    return count_below(S, T, depth)


@generic
def count_below(S: Any, T: Any, depth: Any) -> Any:
    """Return the perft of a depth of two or more."""
    nodes = U0
    ply = S.ply
    for index in range(generate_moves(S, T)):
        make_unkeyed(S, T, S.moves[ply, index])
        nodes += count_moves(S, T) if depth == U2 else count_below(S, T, depth - U1)
        unmake_unkeyed(S, T)
    return nodes
