"""Compiles every kernel in one process, before a pool is forked: its children find them ready."""

import logging
import time

from core.games import GAMES, load_game
from core.warmup import run_kernels

log = logging.getLogger(__name__)


def warm_up() -> None:
    """Have all kernels in this process: loaded, and before that compiled under the cache's lock."""
    began = time.monotonic()
    for name in GAMES:
        run_kernels(load_game(name))
    log.info("kernels ready in %.1f s", time.monotonic() - began)
