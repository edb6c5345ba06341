"""Compiling every kernel once: in one process, under a lock, before others use them.

Two processes that compile into one cold directory can give each other wrong code; here the first
one compiles, and the others wait and load.
"""

from pathlib import Path

import numpy as np
from filelock import FileLock

from core.counting import CountTable
from core.games import GAMES, VARIANTS, Game, load_game
from core.jit import CACHE_DIRECTORY, IS_JIT_ON
from core.lead import SHARED_WORDS
from core.rules import MAX_MOVES


def warm_game(game: Game) -> bool:
    """Have every kernel of a game compiled in the cache; return whether any had to be."""
    if is_warm(game.name):
        return False
    with FileLock(CACHE_DIRECTORY / "warmup.lock"):
        if is_warm(game.name):
            return False
        run_kernels(game)
        _mark(game.name).touch()
    return True


def is_warm(game: str) -> bool:
    """Return whether every kernel of a game is in the cache; with the JIT off, none is needed."""
    return not IS_JIT_ON or _mark(game).exists()


def _mark(game: str) -> Path:
    return CACHE_DIRECTORY / f"{game}.warm"


def warm_all() -> None:
    """Have every kernel of every game compiled in the cache, and load what Python calls."""
    for name in GAMES:
        load_game(name)


def run_kernels(game: Game) -> None:
    """Call every kernel that Python calls; what these call is compiled with them."""
    rules, entry, TR = game.rules, game.entry, game.rules.TABLES
    variant = next(v for v in VARIANTS.values() if v.game == game.name)
    R = np.zeros(1, dtype=rules.STATE)
    rules.parse_position(R, TR, variant, variant.startpos)
    entry.survey(R, TR)
    entry.count_lines(R, TR, np.uint64(2))
    table = np.zeros(2, dtype=np.uint64)
    shared = np.zeros(SHARED_WORDS, dtype=np.uint64)
    R["tt_address"], R["shared_address"] = table.ctypes.data, shared.ctypes.data
    counts = CountTable(1)
    entry.count_lines_hashed(R, TR, np.uint64(3), counts.address, counts.mask)
    R["max_nodes"], R["max_depth"], R["lines_wanted"] = 100, 2, 1
    entry.search_root(R, TR)
    entry.list_moves(R, TR)
    RD = np.zeros(1, dtype=rules.STATE)
    entry.find_image(R, RD, TR, np.uint64(0))
    entry.find_least_image(R, RD, TR, np.uint64(1))
    source, target = np.uint64(RD.ctypes.data), np.zeros(MAX_MOVES, dtype=np.uint64)
    entry.list_children(
        R, RD, TR, np.uint64(1), source, np.uint64(target.ctypes.data), np.uint64(1)
    )
    entry.make_root_move(R, TR, R["moves"][0, 0, 0])
