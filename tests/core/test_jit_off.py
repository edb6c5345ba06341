"""The kernels as plain Python: the same answers, and no warning of an overflow."""

import json

from tests.core.exercise import exercise, finish, start

PLIES, NODES = 12, 300


def test_without_the_jit_everything_is_the_same_and_nothing_warns() -> None:
    """Moves, keys, perft and search; numpy warns of words that overflow, which is an error here."""
    plain = finish(start(PLIES, NODES, "-W", "error", NUMBA_DISABLE_JIT="1"))
    assert plain["misses"] == 0
    assert "signatures" not in plain
    assert plain["found"] == json.loads(json.dumps(exercise(PLIES, NODES)))
