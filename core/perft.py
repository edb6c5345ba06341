"""Perft: the number of legal lines of a given length. Generic; knows no game."""

from typing import Any

from core.bind import generic
from core.bits import U0, U1, U2, U3, load_word, store_word
from core.lead import STOP
from core.rules import (
    count_moves,
    generate_moves,
    make_move,
    make_unkeyed,
    unmake_move,
    unmake_unkeyed,
)

# A bucket of a table of counts, one cache line: two entries of four words, `key ^ count`,
# `key2 ^ count ^ depth`, `count`, nothing. 128 bits must fit, so that a false hit is not to be
# expected, nor a true one of halves that two threads wrote.
WORDS_PER_BUCKET = 8
_BUCKET_SHIFT = U3
_ENTRY_WORDS = U2 + U2


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


@generic
def perft_hashed(S: Any, T: Any, depth: Any, address: Any, mask: Any) -> Any:
    """Return the perft, with counts kept in the table of `mask` + 1 buckets at `address`.

    Adds to `S.nodes` the positions that were not found there. When the word STOP at
    `S.shared_address` is written, `S.stopped` is 1 soon after and what is returned means nothing.
    """
    if depth < U2:
        return perft(S, T, depth)
    found = probe_count(S, depth, address, mask)
    if found != U0:
        return found
    S.nodes += U1
    nodes = U0
    if depth == U2:
        nodes = count_below(S, T, depth)
    else:
        if load_word(S.shared_address, STOP) != U0:
            S.stopped = U1
        ply = S.ply
        for index in range(generate_moves(S, T)):
            if S.stopped != U0:
                return U0
            make_move(S, T, S.moves[ply, index])
            nodes += perft_hashed(S, T, depth - U1, address, mask)
            unmake_move(S, T)
        if S.stopped != U0:
            return U0
    store_count(S, depth, address, mask, nodes)
    return nodes


@generic
def probe_count(S: Any, depth: Any, address: Any, mask: Any) -> Any:
    """Return the count stored for this position and depth, 0 if there is none."""
    place = (S.key & mask) << _BUCKET_SHIFT
    for entry in (place, place + _ENTRY_WORDS):
        count = load_word(address, entry + U2)
        if (
            load_word(address, entry) ^ count == S.key
            and load_word(address, entry + U1) ^ count ^ depth == S.key2
        ):
            return count
    return U0


@generic
def store_count(S: Any, depth: Any, address: Any, mask: Any, count: Any) -> None:
    """Write a count: the first entry of a bucket keeps the largest, the second the latest."""
    entry = (S.key & mask) << _BUCKET_SHIFT
    if load_word(address, entry + U2) > count:
        entry += _ENTRY_WORDS
    store_word(address, entry, S.key ^ count)
    store_word(address, entry + U1, S.key2 ^ count ^ depth)
    store_word(address, entry + U2, count)
