"""Compiling every kernel once: in one process, under a lock, before others use them.

Two processes that compile into one cold directory can give each other wrong code; here the first
one compiles, and the others wait and load.
"""

import numpy as np
from filelock import FileLock

from core.games import GAMES, VARIANTS, Game, bind_game
from core.jit import CACHE_DIRECTORY, IS_JIT_ON


def warm_game(game: Game) -> bool:
    """Have every kernel of a game compiled in the cache; return whether any had to be."""
    done = CACHE_DIRECTORY / f"{game.name}.warm"
    if not IS_JIT_ON or done.exists():
        return False
    with FileLock(CACHE_DIRECTORY / "warmup.lock"):
        if done.exists():
            return False
        run_kernels(game)
        done.touch()
    return True


def warm_all() -> dict[str, bool]:
    """Warm every game; return by name whether anything had to be compiled."""
    return {name: warm_game(bind_game(name)) for name in GAMES}


def run_kernels(game: Game) -> None:
    """Call every kernel that Python calls; what these call is compiled with them."""
    rules, tables = game.rules, game.rules.TABLES
    variant = next(v for v in VARIANTS.values() if v.game == game.name)
    records = np.zeros(1, dtype=rules.STATE)
    state = records[0]
    rules.parse_position(state, tables, variant, variant.startpos)
    game.perft(state, tables, np.uint64(2))
    rules.count_moves(state, tables)
    rules.generate_moves(state, tables)
    rules.in_check(state, tables)
    rules.find_draw(state)
    rules.make_move(state, tables, state.moves[0][0])
    rules.unmake_move(state, tables)
    table = np.zeros(2, dtype=np.uint64)
    stop = np.zeros(1, dtype=np.uint64)
    state.tt_address, state.stop_address = table.ctypes.data, stop.ctypes.data
    state.max_nodes, state.max_depth = 100, 2
    game.search.deepen(state, tables)
