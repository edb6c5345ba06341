"""From the wire's limits to the engine's, and which of them leave nothing to chance."""

from core.limits import Limits
from tilewarp.v1 import analysis_pb2


def read_limits(limits: analysis_pb2.Limits) -> Limits:
    """Return the engine's limits; what the message leaves at zero is as if not given.

    A time is rounded up to milliseconds.

    Raises ValueError, which names the field, when the engine does not take them.
    """
    return Limits(
        nodes=limits.nodes or None,
        depth=limits.depth or None,
        movetime=-(-limits.time.ToNanoseconds() // 1_000_000) or None,
        mate=limits.mate or None,
        threads=limits.threads or 1,
        hash_mb=limits.hash_mb or None,
        multipv=limits.multipv or 1,
        searchmoves=tuple(limits.searchmoves),
    )


def is_reproducible(limits: Limits) -> bool:
    """Return whether equal searches within these limits have equal answers, on any worker."""
    return limits.movetime is None and limits.threads == 1
