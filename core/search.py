"""Iterative deepening alpha-beta with quiescence. Generic; knows no game.

Every function returns a score for the side to move at its node. Fail-soft: a score of at most
alpha is an upper bound, one of at least beta a lower bound, any other is exact. Once `S.stopped`
is set, returned scores mean nothing and are used by nobody.
"""

import math
from typing import Any

import numpy as np

from core.bind import generic
from core.bits import U0, U1, U2, load_word, read_clock, subtract
from core.lead import (
    STOP,
    find_lead,
    find_lead_depth,
    find_lead_move,
    find_lead_score,
    take_lead,
)
from core.ordering import (
    KILLER_VALUE,
    QUIET_VALUE,
    find_place,
    pick_move,
    rate_forcing,
    rate_moves,
    remember_cutoff,
)
from core.rules import (
    CHECK_PLIES,
    MAX_PLY,
    NO_DRAW,
    count_moves,
    evaluate,
    find_draw,
    find_gain,
    generate_captures,
    generate_forcing,
    generate_moves,
    in_check,
    make_move,
    make_null,
    may_pass,
    may_prune,
    unmake_move,
    unmake_null,
)
from core.score import DRAW, INFINITY, MATE, MIN_MATE
from core.tt import EXACT, LOWER, UPPER, find_bound, find_depth, find_move, find_score, probe, store

# The shared words and the clock are read every so many nodes; a power of two.
_POLL_MASK = np.uint64(1024 - 1)
_LAST_PLY = np.uint64(MAX_PLY - 2)

# Why a search unwinds: values of `S.stopped`.
STOPPED_BY_NODES = np.uint64(1)
STOPPED_BY_WORD = np.uint64(2)
STOPPED_BY_CLOCK = np.uint64(3)
# Another thread was sooner: only the iteration under way is given up.
_OVERTAKEN = np.uint64(4)

# How far, in plies, a mate that was found is searched for again without pruning, to have its exact
# distance. It costs what a full search of that depth costs.
_PROOF_PLIES = 7
# Sets the entries of that search apart from those of searches that prune, and by the counters on
# which draws depend: of 14 bits each, shifted to where they do not meet.
_PROOF_SALT = np.uint64(0x5C4F_17A3_9D0E_6B21)
_HALFMOVE_SHIFT = np.uint64(48)
_FULLMOVE_SHIFT = np.uint64(32)

# Centipawns. What a capture may win beyond its gain, in quiescence.
_GAIN_MARGIN = 150
# By depth left: how far above beta the static score must be to stop, or, with the second added,
# below alpha to leave quiet moves out.
_MARGIN_PER_PLY = 90
_FUTILITY_MARGIN = 60
_MAX_STATIC_DEPTH = 6
_MAX_FUTILITY_DEPTH = 4
# Quiet moves tried at so small a depth, and more by the depth squared.
_FIRST_QUIETS = 4
_QUIETS_PER_DEPTH = 3
_NULL_REDUCTION = 3
_WINDOW = 25
_WIDEST_WINDOW = 600


def _build_reductions() -> Any:
    """Return by how many plies a late quiet move is reduced, by depth and place."""
    table = np.zeros((32, 64), dtype=np.int64)
    for depth in range(1, 32):
        for place in range(1, 64):
            table[depth, place] = int(0.6 + math.log(depth) * math.log(place) / 1.8)
    return table


_REDUCTIONS = _build_reductions()


@generic
def is_repetition(S: Any) -> Any:
    """Return whether the position stands for the third time, or again within the search.

    Within the search one return is enough: what could be gained by a second could be gained at
    the first. Positions up to and including the root count as played, so two are needed. Two
    half-moves can be enough to come back: Chakra has passes.

    While a mate is proved, returns within the search are none: the quickest mate never comes back
    to a position, and so nothing in the table depends on the way to it.
    """
    first = S.key_count - min(S.reversible, S.key_count)
    played = U0
    # Below zero it wraps round, beyond the end.
    place = subtract(S.key_count, U2)
    while place < S.key_count and place >= first:
        if S.keys[place] == S.key:
            if place > S.root_count:
                if S.salt == U0:
                    return True
            else:
                played += U1
                if played == U2:
                    return True
        place = subtract(place, U2)
    return False


@generic
def count_node(S: Any) -> Any:
    """Count a node and return whether the search must end now."""
    if S.stopped != U0:
        return True
    if S.nodes >= S.max_nodes:
        S.stopped = STOPPED_BY_NODES
        return True
    S.nodes += U1
    if S.nodes & _POLL_MASK == U0:
        if load_word(S.shared_address, STOP) != U0:
            S.stopped = STOPPED_BY_WORD
        elif S.deadline != U0 and read_clock() >= S.deadline:
            S.stopped = STOPPED_BY_CLOCK
        elif S.salt == U0 and find_lead_depth(find_lead(S.shared_address)) >= S.depth:
            S.stopped = _OVERTAKEN
    return S.stopped != U0


@generic
def find_end(S: Any, T: Any) -> Any:
    """Return the score of a side to move without a legal move: mated or stalemate."""
    return np.int64(S.ply) - MATE if in_check(S, T) else np.int64(DRAW)


@generic
def quiesce(S: Any, T: Any, check_plies: Any, alpha: Any, beta: Any) -> Any:
    """Return the score after captures and promotions alone, in check after every move.

    For `check_plies` plies out of check, checks are tried too if the game's `generate_forcing` has
    them. The side to move may decline all of them, unless it is in check, so
    that a mate found here is one. A stalemate is not seen.
    """
    ply = S.ply
    S.pv_length[ply] = U0
    if count_node(S):
        return np.int64(0)
    S.selective_depth = max(S.selective_depth, ply)
    is_check = in_check(S, T)
    if is_check:
        count = generate_moves(S, T)
        if count == U0:
            return np.int64(ply) - MATE
        if find_draw(S) != NO_DRAW:
            return np.int64(DRAW)
        if ply >= _LAST_PLY:
            return np.int64(evaluate(S, T))
        best = np.int64(-INFINITY)
        rate_moves(S, count, U0)
    else:
        if find_draw(S) != NO_DRAW:
            return np.int64(DRAW)
        best = np.int64(evaluate(S, T))
        if best >= beta or ply >= _LAST_PLY:
            return best
        alpha = max(alpha, best)
        count = generate_forcing(S, T) if check_plies != U0 else generate_captures(S, T)
        # What cannot lift the score to alpha need not be tried.
        count = rate_forcing(S, count, alpha - best - _GAIN_MARGIN, check_plies)
        check_plies = subtract(check_plies, U1) if check_plies != U0 else U0
    index = U0
    while index < count:
        move = pick_move(S, index, count)
        is_quiet = not is_check and S.values[ply, index] == QUIET_VALUE
        index += U1
        S.last_moves[ply + U1] = find_place(S, move)
        make_move(S, T, move)
        if is_quiet and not in_check(S, T):
            unmake_move(S, T)
            continue
        score = -quiesce(S, T, check_plies, -beta, -alpha)
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
def search(S: Any, T: Any, depth: Any, alpha: Any, beta: Any, may_null: Any) -> Any:
    """Return the score of the position to `depth` plies, quiescence below.

    `may_null`: 1 if this side may try to pass, 0 right after the other's pass. A mate is never
    claimed because of moves that were left out: none is, until one is found that does not lose by
    force.
    """
    ply = S.ply
    S.pv_length[ply] = U0
    if ply > U0 and is_repetition(S):
        return np.int64(DRAW)
    is_proof = S.salt != U0
    is_check = in_check(S, T)
    if is_check and not is_proof and np.int64(ply) < 2 * S.depth:
        depth += 1
    if depth <= 0:
        if is_proof:
            count_node(S)
            is_mated = is_check and count_moves(S, T) == U0
            return np.int64(ply) - MATE if is_mated else np.int64(DRAW)
        return quiesce(S, T, CHECK_PLIES, alpha, beta)
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
    key = S.key
    if is_proof:
        key ^= S.salt ^ (S.halfmove << _HALFMOVE_SHIFT) ^ (S.fullmove << _FULLMOVE_SHIFT)
    data = probe(S.tt_address, S.tt_mask, key)
    if data != U0 and not is_pv and find_depth(data) >= depth:
        known = find_score(data, ply)
        bound = find_bound(data)
        if (
            bound == EXACT
            or (bound == LOWER and known >= beta)
            or (bound == UPPER and known <= alpha)
        ):
            return known
    if ply >= _LAST_PLY:
        return np.int64(evaluate(S, T))

    is_bounded = not is_proof and not is_pv and not is_check and abs(beta) < MIN_MATE
    is_pruning = is_bounded and may_prune(S)
    is_passing = is_bounded and may_null != U0 and depth >= 3 and may_pass(S)
    static = np.int64(0)
    if is_pruning or is_passing:
        static = np.int64(evaluate(S, T))
        # Far above beta: what is left of the depth will hardly change it.
        is_settled = is_pruning and depth <= _MAX_STATIC_DEPTH
        if is_settled and static - _MARGIN_PER_PLY * depth >= beta:
            return static
        if is_passing and static >= beta:
            # Even to pass would be enough.
            S.last_moves[ply + U1] = U0
            make_null(S, T)
            score = -search(S, T, depth - _NULL_REDUCTION - depth // 4, -beta, 1 - beta, U0)
            unmake_null(S, T)
            if S.stopped != U0:
                return np.int64(0)
            if score >= beta:
                return min(score, np.int64(MIN_MATE - 1))

    count = generate_moves(S, T)
    if count == U0:
        return np.int64(ply) - MATE if is_check else np.int64(DRAW)
    rate_moves(S, count, S.first_move if ply == U0 else find_move(data))
    floor = alpha
    best = np.int64(-INFINITY)
    best_move = U0
    index = U0
    tried = np.int64(0)
    quiets = np.int64(0)
    while index < count:
        move = pick_move(S, index, count)
        is_quiet = S.values[ply, index] < KILLER_VALUE
        index += U1
        if ply == U0 and is_excluded(S, move):
            continue
        if is_quiet:
            if is_pruning and depth <= _MAX_FUTILITY_DEPTH and best > -MIN_MATE:
                if quiets >= _FIRST_QUIETS + _QUIETS_PER_DEPTH * depth * depth:
                    continue
                if static + _FUTILITY_MARGIN + _MARGIN_PER_PLY * depth <= alpha:
                    continue
            quiets += 1
        tried += 1
        S.last_moves[ply + U1] = find_place(S, move)
        make_move(S, T, move)
        if tried == 1:
            score = -search(S, T, depth - 1, -beta, -alpha, U1)
        else:
            reduction = np.int64(0)
            if depth >= 3 and is_quiet and not is_check and not is_proof:
                reduction = _REDUCTIONS[min(depth, 31), min(tried, 63)]
                if is_pv:
                    reduction -= 1
                reduction = max(min(reduction, depth - 2), np.int64(0))
            # Others need only be refuted; one that is not is searched in full.
            score = -search(S, T, depth - 1 - reduction, -alpha - 1, -alpha, U1)
            if score > alpha and reduction > 0:
                score = -search(S, T, depth - 1, -alpha - 1, -alpha, U1)
            if score > alpha and score < beta:
                score = -search(S, T, depth - 1, -beta, -alpha, U1)
        unmake_move(S, T)
        if S.stopped != U0:
            return np.int64(0)
        if score > best:
            best = score
            if score > alpha:
                alpha = score
                best_move = move
                update_pv(S, move)
                if ply == U0:
                    S.root_score = score
                if score >= beta:
                    if find_gain(S, move) <= 0:
                        remember_cutoff(S, move, index, depth)
                    break
    bound = EXACT
    if best >= beta:
        bound = LOWER
    elif best <= floor:
        bound = UPPER
    if ply > U0 or S.excluded_count == U0:
        store(S.tt_address, S.tt_mask, key, best_move, best, depth, bound, ply)
    return best


@generic
def is_excluded(S: Any, move: Any) -> Any:
    """Return whether a root move is not to be searched."""
    for index in range(S.excluded_count):
        if S.excluded[index] == move:
            return True
    return False


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
def keep_line(S: Any, rank: Any, score: Any) -> None:
    """Copy the root's line to the page under way, below those among its first `rank` as good."""
    page = S.line_page ^ U1
    place = rank
    while place > U0 and S.line_scores[page, place - U1] < score:
        above = place - U1
        S.line_scores[page, place] = S.line_scores[page, above]
        S.line_lengths[page, place] = S.line_lengths[page, above]
        for index in range(S.line_lengths[page, above]):
            S.lines[page, place, index] = S.lines[page, above, index]
        place = above
    S.line_scores[page, place] = score
    S.line_lengths[page, place] = S.pv_length[0]
    for index in range(S.pv_length[0]):
        S.lines[page, place, index] = S.pv[0, index]
    S.line_counts[page] = rank + U1


@generic
def publish_lines(S: Any, depth: Any) -> None:
    """Turn the page under way to where other threads may read it."""
    S.line_depths[S.line_page ^ U1] = depth
    S.line_version += U1
    S.line_page ^= U1
    S.line_version += U1


@generic
def guess_line(S: Any, T: Any) -> None:
    """Publish, as depth 0, the move that would be tried first, and the static score."""
    count = generate_moves(S, T)
    rate_moves(S, count, U0)
    index = U0
    move = pick_move(S, index, count)
    while is_excluded(S, move):
        index += U1
        move = pick_move(S, index, count)
    S.pv[0, 0] = move
    S.pv_length[0] = U1
    keep_line(S, U0, np.int64(evaluate(S, T)))
    publish_lines(S, U0)


@generic
def deepen(S: Any, T: Any) -> None:
    """Search a position that has a legal move, depth by depth, until a limit is reached.

    The result is the published lines: of the last depth that was finished, or, if only one line is
    wanted, a better move that was found in the next. Before depth 1 that is a guess. Ends early
    once the exact distance of a mate is known, one line being wanted.

    Several threads race: each takes up the depth after the lead, every other one the depth after
    that, and whoever is overtaken gives up its own. So much of what a thread searches is in the
    table already, and a depth takes as long as it takes the luckiest.
    """
    guess_line(S, T)
    # Once it is known that there is none, mates in fewer plies than this.
    refuted = np.int64(0)
    lead = find_lead_depth(find_lead(S.shared_address))
    while lead < S.max_depth:
        S.depth = min(lead + 1 + np.int64(S.thread & U1), S.max_depth)
        search_lines(S, T, S.depth)
        if S.stopped == _OVERTAKEN:
            S.stopped = U0
        elif S.stopped != U0:
            if S.lines_wanted == U1 and S.pv_length[0] > U0 and abs(S.root_score) < MIN_MATE:
                keep_line(S, U0, S.root_score)
                publish_lines(S, S.line_depths[S.line_page])
            return
        else:
            publish_lines(S, np.uint64(S.depth))
            known = S.line_scores[S.line_page, 0]
            if S.lines_wanted == U1 and abs(known) >= MIN_MATE:
                plies = MATE - abs(known)
                if plies <= _PROOF_PLIES or (refuted == 0 and plies <= S.depth):
                    if prove_distance(S, T, known) or S.stopped != U0:
                        return
                    refuted = np.int64(_PROOF_PLIES + 1)
                if plies <= refuted + 1:
                    return
            take_lead(S.shared_address, S.depth, S.lines[S.line_page, 0, 0], known)
        lead = find_lead_depth(find_lead(S.shared_address))


@generic
def search_lines(S: Any, T: Any, depth: Any) -> None:
    """Find the lines wanted, each after the first without the first moves of those before."""
    last = S.line_page
    lead = find_lead(S.shared_address)
    S.excluded_count = S.ignored_count
    for rank in range(S.lines_wanted):
        guess = np.int64(0)
        if rank == 0 and lead != U0:
            S.first_move = find_lead_move(lead)
            guess = find_lead_score(lead)
        elif rank < S.line_counts[last]:
            S.first_move = S.lines[last, rank, 0]
            guess = S.line_scores[last, rank]
        score = search_window(S, T, depth, guess)
        if S.stopped != U0:
            break
        keep_line(S, rank, score)
        S.excluded[S.excluded_count] = S.pv[0, 0]
        S.excluded_count += U1
    S.excluded_count = S.ignored_count


@generic
def search_window(S: Any, T: Any, depth: Any, guess: Any) -> Any:
    """Return the exact score of the root, looked for in a window around a guess that widens."""
    if depth < 4:
        return search(S, T, depth, np.int64(-INFINITY), np.int64(INFINITY), U0)
    margin = np.int64(_WINDOW)
    alpha = max(guess - margin, np.int64(-INFINITY))
    beta = min(guess + margin, np.int64(INFINITY))
    while True:
        score = search(S, T, depth, alpha, beta, U0)
        if S.stopped != U0 or (score > alpha and score < beta):
            return score
        margin *= 3
        if margin > _WIDEST_WINDOW:
            alpha, beta = np.int64(-INFINITY), np.int64(INFINITY)
        elif score <= alpha:
            alpha = score - margin
        else:
            beta = score + margin


@generic
def prove_distance(S: Any, T: Any, known: Any) -> Any:
    """Publish the exact score of a root where a mate was found, and return whether that is known.

    `known`: the score it was found with, which cannot be too good for the side that mates. Nothing
    is left out in _PROOF_PLIES plies; a mate that takes more may still be told too long.
    """
    # Narrower windows would cost the line its end: it is whole only inside of them.
    alpha, beta = np.int64(DRAW), np.int64(INFINITY)
    if known < 0:
        alpha, beta = np.int64(-INFINITY), np.int64(DRAW)
    S.salt = _PROOF_SALT
    score = search(S, T, min(MATE - abs(known), np.int64(_PROOF_PLIES)), alpha, beta, U0)
    S.salt = U0
    if S.stopped != U0 or abs(score) < MIN_MATE:
        return False
    keep_line(S, U0, score)
    publish_lines(S, S.line_depths[S.line_page])
    return True


@generic
def prove_mate(S: Any, T: Any) -> None:
    """Look for the quickest mate by the side to move in at most `S.mate_plies`.

    Nothing is left out. A mate that is found is published; otherwise, unless the search was
    stopped, there is none, and the published line is that of depth 1.
    """
    guess_line(S, T)
    S.depth = np.int64(1)
    search_lines(S, T, S.depth)
    if S.stopped != U0:
        return
    publish_lines(S, U1)
    S.salt = _PROOF_SALT
    plies = np.int64(1)
    while plies <= S.mate_plies and S.stopped == U0:
        S.depth = plies
        if search(S, T, plies, MATE - plies - 1, MATE - plies, U0) >= MATE - plies:
            # Again, for the whole line.
            score = search(S, T, plies, np.int64(DRAW), np.int64(INFINITY), U0)
            if S.stopped == U0:
                keep_line(S, U0, score)
                publish_lines(S, np.uint64(plies))
            break
        plies += 2
    S.salt = U0
