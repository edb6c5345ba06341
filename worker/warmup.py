"""Compiles every kernel in one process, before a pool is forked: its children find them ready."""

import logging
import time

from core.games import warm_all

log = logging.getLogger(__name__)


def warm_up() -> None:
    """Compile or load all kernels in this process, alone under the cache's lock."""
    began = time.monotonic()
    warm_all()
    log.info("kernels ready in %.1f s", time.monotonic() - began)
