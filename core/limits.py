"""What is asked of a search: its bounds, its means, and the table size that follows from them."""

from dataclasses import dataclass

from core.rules import MAX_LINES, MAX_PLY

# A search's depth ends well below the stacks' height, so that quiescence has room.
MAX_DEPTH = MAX_PLY - 28
MAX_NODES = 2**63 - 1
MAX_MOVETIME = 2**40
MAX_MATE = MAX_DEPTH // 2
MAX_THREADS = 256
MAX_HASH_MB = 1 << 20

_MIN_TABLE_ENTRIES = 1 << 10
_MAX_TABLE_ENTRIES = 1 << 22
# More than any machine searches.
_NODES_PER_MILLISECOND = 5_000
# 16 MB: what a search gets that only its depth limits.
_DEFAULT_TABLE_ENTRIES = 1 << 20
_ENTRIES_PER_MB = (1 << 20) // 16


@dataclass(frozen=True)
class Limits:
    """What is asked of one search. At least one of the first four is given.

    The first of these that is reached ends it. `nodes`: positions visited, by all threads together;
    `depth`: plies of the main search; `movetime`: milliseconds; `mate`: prove or refute that the
    side to move mates in so many moves. `threads` search together. `hash_mb`: size of the
    transposition table, None for one that follows from the limits. `multipv`: lines wanted.
    `searchmoves`: the root moves considered, none for all.

    Raises ValueError, which names the field, when one is out of range or no limit is given.
    """

    nodes: int | None = None
    depth: int | None = None
    movetime: int | None = None
    mate: int | None = None
    threads: int = 1
    hash_mb: int | None = None
    multipv: int = 1
    searchmoves: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.nodes, self.depth, self.movetime, self.mate) == (None, None, None, None):
            raise ValueError("at least one limit is required: nodes, depth, movetime or mate")
        for name, value, most in (
            ("nodes", self.nodes, MAX_NODES),
            ("depth", self.depth, MAX_DEPTH),
            ("movetime", self.movetime, MAX_MOVETIME),
            ("mate", self.mate, MAX_MATE),
            ("threads", self.threads, MAX_THREADS),
            ("hash_mb", self.hash_mb, MAX_HASH_MB),
            ("multipv", self.multipv, MAX_LINES),
        ):
            if value is not None and not 1 <= value <= most:
                raise ValueError(f"{name} {value} is not between 1 and {most}")
        if self.nodes is not None and self.nodes < self.threads:
            raise ValueError(f"nodes {self.nodes} are fewer than threads {self.threads}")


def size_table(limits: Limits) -> int:
    """Return the entries of the transposition table, a power of two, from the limits alone.

    Never from the machine, so that equal requests give equal answers; and small for a small
    search, since clearing a table costs as much as thousands of nodes.
    """
    if limits.hash_mb is not None:
        return 1 << (limits.hash_mb * _ENTRIES_PER_MB).bit_length() - 1
    nodes = limits.nodes
    if nodes is None and limits.movetime is not None:
        nodes = limits.movetime * _NODES_PER_MILLISECOND * limits.threads
    if nodes is None:
        return _DEFAULT_TABLE_ENTRIES
    entries = 1 << (nodes - 1).bit_length()
    return min(max(entries, _MIN_TABLE_ENTRIES), _MAX_TABLE_ENTRIES)
