"""Plays the engine with a book against itself without: `python bench/book.py BOOK [PAIRS] [NODES]`.

Each pair begins at the book's root, colours exchanged, with a seed of its own for the choices from
the book. Moves that are searched are bounded by nodes, so that the result can be had again, and by
some more of them in each pair, so that games differ where the book leaves no choice.
"""

import sys
from pathlib import Path

from core.engine import Engine
from core.limits import Limits
from core.position import Position
from gateway.book.book import Book
from gateway.book.choice import BookChooser
from gateway.book.file import read_book
from gateway.book.tree import find_start
from gateway.match.rating import find_elo_bounds, find_share

HASH_MB = 16
MAX_PLIES = 400
STEP = 101
"""Nodes that each pair has more than the one before."""


def main() -> None:
    """Play, and tell how it stands after each pair."""
    book = read_book(Path(sys.argv[1]))
    pairs, nodes = (int(text) for text in (*sys.argv[2:], "50", "10000")[:2])
    counts = [0] * 5
    results = [0] * 3
    chosen = 0
    for seed in range(1, pairs + 1):
        points = 0
        for side in (0, 1):
            score, moves = play(book, BookChooser(book, seed), side, nodes + STEP * seed)
            results[1 - score] += 1
            points += 1 + score
            chosen += moves
        counts[points] += 1
        share, error = find_share(counts)
        elo, low, high = find_elo_bounds(counts)
        print(
            f"{seed} pairs: +{results[0]} ={results[1]} -{results[2]}, {100 * share:.1f} % "
            f"(standard error {100 * error:.1f}), Elo {elo:+.0f} [{low:+.0f}, {high:+.0f}], "
            f"{chosen / (2 * seed):.1f} moves a game from the book",
            flush=True,
        )


def play(book: Book, chooser: BookChooser, side: int, nodes: int) -> tuple[int, int]:
    """Return the result for the side that has the book, -1 to 1, and its moves from the book."""
    position: Position = find_start(book)
    engines = Engine(keep=True), Engine(keep=True)
    limits = Limits(nodes=nodes, hash_mb=HASH_MB)
    chosen = 0
    while (outcome := position.outcome()) is None and len(position.moves) < MAX_PLIES:
        mover = len(position.moves) % 2
        move = chooser.choose(position) if mover == side else None
        chosen += move is not None
        position.push(move or engines[mover].search(position, limits).pv[0])
    if outcome != "checkmate":
        return 0, chosen
    return 1 if len(position.moves) % 2 != side else -1, chosen


if __name__ == "__main__":
    main()
