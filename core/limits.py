"""What bounds a search, and the table size that follows from it."""

from dataclasses import dataclass

from core.rules import MAX_PLY

# A search's depth ends well below the stacks' height, so that quiescence has room.
MAX_DEPTH = MAX_PLY - 28
MAX_NODES = 2**63 - 1

_MIN_TABLE_ENTRIES = 1 << 10
_MAX_TABLE_ENTRIES = 1 << 22
# More than any machine searches.
_NODES_PER_MILLISECOND = 5_000
# 16 MB: what a search gets that only its depth limits.
_DEFAULT_TABLE_ENTRIES = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Bounds of one search, the first reached ends it; at least one is given.

    `nodes`: positions visited; `depth`: plies of the main search; `movetime`: milliseconds.
    Raises ValueError, which names the bound, when one is out of range or none is given.
    """

    nodes: int | None = None
    depth: int | None = None
    movetime: int | None = None

    def __post_init__(self) -> None:
        if self.nodes is None and self.depth is None and self.movetime is None:
            raise ValueError("at least one limit is required: nodes, depth or movetime")
        for name, value, most in (
            ("nodes", self.nodes, MAX_NODES),
            ("depth", self.depth, MAX_DEPTH),
            ("movetime", self.movetime, 2**40),
        ):
            if value is not None and not 1 <= value <= most:
                raise ValueError(f"{name} {value} is not between 1 and {most}")


def size_table(limits: Limits) -> int:
    """Return the entries of the transposition table, a power of two, from the limits alone.

    Never from the machine, so that equal requests give equal answers; and small for a small
    search, since clearing a table costs as much as thousands of nodes.
    """
    nodes = limits.nodes
    if nodes is None and limits.movetime is not None:
        nodes = limits.movetime * _NODES_PER_MILLISECOND
    if nodes is None:
        return _DEFAULT_TABLE_ENTRIES
    entries = 1 << (nodes - 1).bit_length()
    return min(max(entries, _MIN_TABLE_ENTRIES), _MAX_TABLE_ENTRIES)
