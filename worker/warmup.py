"""Compiles every kernel in one process, before a pool is forked: its children find them ready."""

import logging
import time

from core.games import GAMES, load_game
from core.warmup import run_kernels, warm_all

log = logging.getLogger(__name__)


def warm_up() -> None:
    """Have all kernels in this process: compiled once, under the cache's lock, then loaded."""
    began = time.monotonic()
    warm_all()
    for name in GAMES:
        run_kernels(load_game(name))
    log.info("kernels ready in %.1f s", time.monotonic() - began)
