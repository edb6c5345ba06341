"""What is done with whole books: merging, cutting out a subtree, reporting and checking."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from core.notation import NotationError
from core.position import Position
from gateway.book.book import Addition, Book, BookError
from gateway.book.exchange import score_object
from gateway.book.file import BookFile
from gateway.book.graph import ROOT
from gateway.book.positions import find_book_position, list_children
from gateway.book.tree import find_start
from gateway.book.values import is_mate


def merge(file: BookFile, book: Book) -> None:
    """Add another book: its positions, moves, and evidence where it is stronger.

    Raises BookError when it is of another variant, or grows from a position that is not in the
    file's book.
    """
    ours, theirs = file.book.header, book.header
    if (ours.variant, ours.rules_version) != (theirs.variant, theirs.rules_version):
        raise BookError(f"it is a book of {theirs.variant}, not of {ours.variant}")
    if theirs.root != ours.root and theirs.root.key not in file.book:
        raise BookError("its root is not in the book")
    file.add(book.copy())


def find_subtree(book: Book, position: Position) -> Addition:
    """Return what can be reached from a position, which comes first; BookError if it is unknown."""
    root = find_book_position(position).key
    if root not in book:
        raise BookError(f"{position.fen()} is not in it")
    entries, moves = [], {}
    found, todo = {root}, [root]
    for key in todo:
        entry = book.find_entry(key)
        assert entry is not None
        entries.append(entry)
        if book.is_expanded(key):
            moves[key] = book.list_moves(key)
            new = [child for child in dict.fromkeys(moves[key].values()) if child not in found]
            found.update(new)
            todo += new
    return Addition(entries, moves)


def report(book: Book) -> dict[str, Any]:
    """Return what is in a book: sizes, positions by plies, first moves and the best line.

    `plies`: positions by the fewest moves from the root; `nodes`: of the searches that the scores
    rest on. Values are for the side to move in the root.
    """
    nodes = book.graph.nodes
    evidence = [entry.evidence for entry in book.entries]
    plies = Counter(_find_plies(book).values())
    position = find_start(book)
    probe = book.probe(position)
    return {
        "game": book.header.game,
        "variant": book.header.variant,
        "root": position.fen(),
        "positions": len(book),
        "expanded": sum(bool(node.moves) for node in nodes),
        "moves": sum(len(node.moves) for node in nodes),
        "over": sum(node.is_over for node in nodes),
        "mates": sum(is_mate(node.value) and not node.is_over for node in nodes),
        "nodes": sum(one.nodes for one in evidence),
        "engines": dict(Counter(one.engine for one in evidence)),
        "plies": [plies[number] for number in range(max(plies, default=-1) + 1)],
        "value": score_object(nodes[ROOT].value) if nodes else None,
        "first_moves": {m.move: score_object(m.value) for m in probe.moves} if probe else {},
        "line": list(find_line(book)),
    }


def find_line(book: Book) -> Iterator[str]:
    """Yield the best moves from the root on, until the book ends or a position comes again."""
    position = find_start(book)
    seen = set()
    while (probe := book.probe(position)) and probe.moves:
        key = find_book_position(position).key
        if key in seen:
            return
        seen.add(key)
        yield probe.moves[0].move
        position.push(probe.moves[0].move)


def find_faults(book: Book) -> Iterator[str]:
    """Yield what is wrong with a book by the rules: keys, results, moves and where they lead."""
    variant = book.header.variant
    for entry in book.entries:
        fen = entry.position.fen
        try:
            position = Position(variant, fen)
        except NotationError as error:
            yield f"{fen}: {error}"
            continue
        if find_book_position(position) != entry.position:
            yield f"{fen}: its key is another position's, or it is not the canonical one"
        if position.outcome() != entry.evidence.outcome:
            yield f"{fen}: its result is {position.outcome() or 'none'}"
        if book.is_expanded(entry.position.key):
            wanted = {m: child.key for m, child in list_children(variant, fen).items()}
            found = book.list_moves(entry.position.key)
            wrong = sorted(m for m in wanted.keys() | found if wanted.get(m) != found.get(m))
            if wrong:
                yield f"{fen}: wrong, missing or illegal moves: {' '.join(wrong)}"
    missing = len(book) - len(_find_plies(book))
    if missing:
        yield f"{missing} positions cannot be reached from the root"


def _find_plies(book: Book) -> dict[int, int]:
    """Return the fewest moves that lead from the root to each position that can be reached."""
    found = {ROOT: 0} if len(book) else {}
    todo = list(found)
    for number in todo:
        new = [c for c in dict.fromkeys(book.graph.nodes[number].moves.values()) if c not in found]
        found.update(dict.fromkeys(new, found[number] + 1))
        todo += new
    return found
