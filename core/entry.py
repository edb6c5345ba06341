"""What Python calls: kernels that take arrays of one record. Generic; knows no game.

Numba looks up the type of an array far faster than that of a record. `R` is the array of a state
record whose position is set and whose stacks are empty, `TR` that of the game's tables record.
"""

from typing import Any

from core.bind import generic
from core.bits import U0
from core.images import write_children, write_least_image
from core.perft import perft, perft_hashed
from core.rules import count_moves, find_draw, generate_moves, in_check, make_move, write_image
from core.search import deepen, prove_mate


@generic
def survey(R: Any, TR: Any) -> Any:
    """Return the number of legal moves, whether the side to move is in check, and the draw."""
    S, T = R[0], TR[0]
    return count_moves(S, T), in_check(S, T), find_draw(S)


@generic
def list_moves(R: Any, TR: Any) -> Any:
    """Write the legal moves into the first row of R's moves and return their number."""
    return generate_moves(R[0], TR[0])


@generic
def make_root_move(R: Any, TR: Any, move: Any) -> None:
    """Make a legal move that is not to be unmade: R's stacks are empty afterwards."""
    S = R[0]
    make_move(S, TR[0], move)
    S.ply = U0
    S.key_count = U0


@generic
def count_lines(R: Any, TR: Any, depth: Any) -> Any:
    """Return the number of legal lines of `depth` plies, modulo 2**64."""
    return perft(R[0], TR[0], depth)


@generic
def count_lines_hashed(R: Any, TR: Any, depth: Any, address: Any, mask: Any) -> Any:
    """Return the same, with counts kept in the table of `mask` + 1 buckets at `address`."""
    return perft_hashed(R[0], TR[0], depth, address, mask)


@generic
def find_image(R: Any, RD: Any, TR: Any, symmetry: Any) -> None:
    """Write into RD, another state record, the image of R's position under a symmetry."""
    write_image(R[0], RD[0], TR[0], symmetry)


@generic
def find_least_image(R: Any, RD: Any, TR: Any, count: Any) -> Any:
    """Write into RD the least image of R's position; return its symmetry."""
    return write_least_image(R[0], RD[0], TR[0], count)


@generic
def list_children(
    R: Any, RD: Any, TR: Any, count: Any, source: Any, target: Any, words: Any
) -> Any:
    """Write the position after each legal move, as its least image; return their number."""
    return write_children(R[0], RD[0], TR[0], count, source, target, words)


@generic
def search_root(R: Any, TR: Any) -> None:
    """Search the position of R within the limits written there."""
    S = R[0]
    if S.mate_plies > 0:
        prove_mate(S, TR[0])
    else:
        deepen(S, TR[0])
