"""How much of its clock an engine spends on a move: a pure function of what is left."""

# Moves that a side is expected to have before it at the start, and at least at any time.
_EXPECTED_MOVES = 45
_MIN_EXPECTED_MOVES = 20
# A side's moves in the longest game for which time is kept back; later, so many more at least.
_LONGEST_GAME = 200
_MIN_REST = 20
# What a move may take beyond its search, by the clock, on a busy machine.
_OVERHEAD_SECONDS = 0.005
# Kept back for one long stall of the machine.
_STALL_SECONDS = 0.1
# Of what is left, what a move may take at most, and what it may always take.
_MOST = 0.5
_LEAST = 0.002
_SHARE_OF_INCREMENT = 0.75


def allot(
    remaining: float, played: int, increment: float = 0.0, moves_to_go: int | None = None
) -> float:
    """Return the seconds to search for the next move.

    Args:
        remaining: seconds on the clock.
        played: moves that this side has made.
        increment: seconds that the clock gains by each move.
        moves_to_go: moves until the clock is set anew; None when that never happens.

    It is more than 0 and less than `remaining`, as far as that is more than 0.
    """
    remaining = max(remaining, 0.0)
    rest = max(_LONGEST_GAME - played, _MIN_REST)
    expected = max(_EXPECTED_MOVES - played // 2, _MIN_EXPECTED_MOVES)
    if moves_to_go is not None:
        rest = min(rest, max(moves_to_go, 1))
        expected = min(expected, rest)
    kept = _STALL_SECONDS + _OVERHEAD_SECONDS * rest
    wanted = (remaining - kept) / expected + _SHARE_OF_INCREMENT * increment
    return min(max(wanted, _LEAST * remaining), _MOST * remaining)
