"""Iterative deepening alpha-beta with quiescence. Generic; knows no game.

Every function returns a score for the side to move at its node. Fail-soft: a score of at most
alpha is an upper bound, one of at least beta a lower bound, any other is exact. Once `S.stopped`
is set, returned scores mean nothing and are used by nobody.
"""

from typing import Any

import numpy as np

from core.bind import generic
from core.bits import U0, U1, U2, load_word, read_clock, subtract
from core.ordering import pick_move, rate_gains, rate_moves, remember_cutoff
from core.rules import (
    MAX_PLY,
    NO_DRAW,
    count_moves,
    evaluate,
    find_draw,
    generate_moves,
    in_check,
    make_move,
    unmake_move,
)
from core.score import DRAW, INFINITY, MATE
from core.tt import EXACT, LOWER, UPPER, find_bound, find_depth, find_move, find_score, probe, store

# Stop word and clock are read every so many nodes; a power of two.
_POLL_MASK = np.uint64(1024 - 1)
_LAST_PLY = np.uint64(MAX_PLY - 2)


@generic
def is_repetition(S: Any) -> Any:
    """Return whether the position stands for the third time, or again within the search.

    Within the search one return is enough: what could be gained by a second could be gained at
    the first. Positions up to and including the root count as played, so two are needed. Two
    half-moves can be enough to come back: Chakra has passes.
    """
    first = S.key_count - min(S.reversible, S.key_count)
    played = U0
    # Below zero it wraps round, beyond the end.
    place = subtract(S.key_count, U2)
    while place < S.key_count and place >= first:
        if S.keys[place] == S.key:
            played += U1
            if place > S.root_count or played == U2:
                return True
        place = subtract(place, U2)
    return False


@generic
def count_node(S: Any) -> Any:
    """Count a node and return whether the search must end now."""
    if S.stopped != U0:
        return True
    if S.nodes >= S.max_nodes:
        S.stopped = U1
        return True
    S.nodes += U1
    if S.nodes & _POLL_MASK == U0:
        if load_word(S.stop_address, U0) != U0:
            S.stopped = U1
        elif S.deadline != U0 and read_clock() >= S.deadline:
            S.stopped = U1
    return S.stopped != U0


@generic
def find_end(S: Any, T: Any) -> Any:
    """Return the score of a side to move without a legal move: mated or stalemate."""
    return np.int64(S.ply) - MATE if in_check(S, T) else np.int64(DRAW)


@generic
def quiesce(S: Any, T: Any, alpha: Any, beta: Any) -> Any:
    """Return the score after captures and promotions alone, in check after every move.

    The side to move may decline all of them, unless it is in check, so that a mate found here is
    one.
    """
    ply = S.ply
    S.pv_length[ply] = U0
    if count_node(S):
        return np.int64(0)
    count = generate_moves(S, T)
    if count == U0:
        return find_end(S, T)
    if find_draw(S) != NO_DRAW:
        return np.int64(DRAW)
    if ply >= _LAST_PLY:
        return np.int64(evaluate(S, T))
    best = np.int64(-INFINITY)
    if in_check(S, T):
        rate_moves(S, count, U0)
    else:
        best = np.int64(evaluate(S, T))
        if best >= beta:
            return best
        alpha = max(alpha, best)
        count = rate_gains(S, count)
    index = U0
    while index < count:
        move = pick_move(S, index, count)
        index += U1
        make_move(S, T, move)
        score = -quiesce(S, T, -beta, -alpha)
        unmake_move(S, T)
        if S.stopped != U0:
            return np.int64(0)
        if score > best:
            best = score
            if score > alpha:
                alpha = score
                update_pv(S, move)
                if score >= beta:
                    break
    return best


@generic
def search(S: Any, T: Any, depth: Any, alpha: Any, beta: Any) -> Any:
    """Return the score of the position to `depth` plies, quiescence below."""
    ply = S.ply
    S.pv_length[ply] = U0
    if ply > U0 and is_repetition(S):
        return np.int64(DRAW)
    if depth <= 0:
        return quiesce(S, T, alpha, beta)
    if count_node(S):
        return np.int64(0)
    if ply > U0:
        if find_draw(S) != NO_DRAW:
            # Checkmate comes before every draw.
            return find_end(S, T) if count_moves(S, T) == U0 else np.int64(DRAW)
        # No line from here is better than a mate at once, or worse than being mated now.
        alpha = max(alpha, np.int64(ply) - MATE)
        beta = min(beta, MATE - 1 - np.int64(ply))
        if alpha >= beta:
            return alpha
    is_pv = beta - alpha > 1
    data = probe(S.tt_address, S.tt_mask, S.key)
    if data != U0 and not is_pv and find_depth(data) >= depth:
        known = find_score(data, ply)
        bound = find_bound(data)
        if (
            bound == EXACT
            or (bound == LOWER and known >= beta)
            or (bound == UPPER and known <= alpha)
        ):
            return known
    count = generate_moves(S, T)
    if count == U0:
        return find_end(S, T)
    if ply >= _LAST_PLY:
        return np.int64(evaluate(S, T))
    rate_moves(S, count, find_move(data))
    floor = alpha
    best = np.int64(-INFINITY)
    best_move = U0
    index = U0
    while index < count:
        move = pick_move(S, index, count)
        make_move(S, T, move)
        if index == U0:
            score = -search(S, T, depth - 1, -beta, -alpha)
        else:
            # Others need only be refuted; one that is not is searched in full.
            score = -search(S, T, depth - 1, -alpha - 1, -alpha)
            if score > alpha and score < beta:
                score = -search(S, T, depth - 1, -beta, -alpha)
        unmake_move(S, T)
        index += U1
        if S.stopped != U0:
            return np.int64(0)
        if score > best:
            best = score
            if score > alpha:
                alpha = score
                best_move = move
                update_pv(S, move)
                if score >= beta:
                    remember_cutoff(S, move, depth)
                    break
    bound = EXACT
    if best >= beta:
        bound = LOWER
    elif best <= floor:
        bound = UPPER
    store(S.tt_address, S.tt_mask, S.key, best_move, best, depth, bound, ply)
    return best


@generic
def update_pv(S: Any, move: Any) -> None:
    """Make the line at this ply a move followed by the line below."""
    ply = S.ply
    below = ply + U1
    length = S.pv_length[below]
    S.pv[ply, 0] = move
    for index in range(length):
        S.pv[ply, index + 1] = S.pv[below, index]
    S.pv_length[ply] = length + U1


@generic
def publish_line(S: Any, depth: Any, score: Any) -> None:
    """Copy the root's line to where another thread may read it."""
    S.line_version += U1
    for index in range(S.pv_length[0]):
        S.line[index] = S.pv[0, index]
    S.line_length = S.pv_length[0]
    S.line_depth = depth
    S.line_score = score
    S.line_version += U1


@generic
def deepen(S: Any, T: Any) -> None:
    """Search a position that has a legal move, depth by depth, until a limit is reached.

    The result is the published line of the last depth that was finished; before that, of depth 0:
    the move that would be tried first, and the static score. Ends early once a mate is found
    within the depth searched, since no shorter one exists then.
    """
    count = generate_moves(S, T)
    rate_moves(S, count, U0)
    S.pv[0, 0] = pick_move(S, U0, count)
    S.pv_length[0] = U1
    publish_line(S, U0, np.int64(evaluate(S, T)))
    depth = np.int64(1)
    while depth <= S.max_depth:
        score = search(S, T, depth, np.int64(-INFINITY), np.int64(INFINITY))
        if S.stopped != U0:
            return
        publish_line(S, np.uint64(depth), score)
        if MATE - abs(score) <= depth:
            return
        depth += 1
