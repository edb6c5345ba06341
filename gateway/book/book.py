"""A book in memory: positions with the evidence of their scores, in a graph, to be probed."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

from core.games import find_variant
from core.position import STARTPOS, Position
from core.version import RULES_VERSION
from gateway.book.graph import Graph
from gateway.book.positions import BookPosition, find_book_position, find_own_moves
from gateway.book.values import back_up, is_mate


class BookError(Exception):
    """A book is refused, or what is to be added to it; the text says why."""


@dataclass(frozen=True)
class Evidence:
    """What a position's own score rests on.

    `score`: its value, for the side to move; `depth` and `nodes` of the search; `engine`: its
    version; `time`: when, in seconds of the Unix epoch. `outcome`: what ended the game, None where
    it goes on; the score is then the rules', and depth and nodes are 0.
    """

    score: int
    depth: int
    nodes: int
    engine: str
    time: int
    outcome: str | None = None

    def is_stronger(self, other: "Evidence") -> bool:
        """Return whether this replaces the other: rules, then mates, then depth, then nodes."""
        return self._strength > other._strength

    @property
    def _strength(self) -> tuple[bool, bool, int, int]:
        return self.outcome is not None, is_mate(self.score), self.depth, self.nodes


@dataclass(frozen=True)
class Entry:
    """A position of a book and the evidence of its score."""

    position: BookPosition
    evidence: Evidence


@dataclass(frozen=True)
class Addition:
    """What is added to a book in one step.

    `moves`: for each position that is expanded, by its key, all its moves and the keys of the
    positions they lead to, each of them in `entries` or in the book.
    """

    entries: list[Entry]
    moves: dict[bytes, dict[str, bytes]] = field(default_factory=dict)


@dataclass(frozen=True)
class Header:
    """What a book is of. A book's scores hold for these rules and no others."""

    variant: str
    rules_version: str
    root: BookPosition

    @property
    def game(self) -> str:
        """The name of the variant's game."""
        return find_variant(self.variant).game


@dataclass(frozen=True)
class ProbedMove:
    """A move from a probed position, in its orientation, and what it is worth to its side."""

    move: str
    value: int
    is_expanded: bool
    evidence: Evidence


@dataclass(frozen=True)
class Probe:
    """What a book knows of a position: its value, its own evidence, its moves, best first."""

    value: int
    evidence: Evidence
    moves: list[ProbedMove]


def make_header(variant: str, fen: str = STARTPOS) -> Header:
    """Return the header of a new book; raises NotationError."""
    return Header(variant, RULES_VERSION, find_book_position(Position(variant, fen)))


class Book:
    """The positions of a book, the first of them its root, with settled values.

    Threads may use one book at the same time: each method is a step, apart from `find_leaves`.
    """

    def __init__(self, header: Header) -> None:
        self.header = header
        self.graph = Graph()
        self.entries: list[Entry] = []
        self._numbers: dict[bytes, int] = {}
        self.lock = threading.RLock()
        """Held while a book changes, and to be held for looks that belong together."""

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.entries)

    def __contains__(self, key: bytes) -> bool:
        """Return whether the position of this key is in the book."""
        return key in self._numbers

    def find_new(self, addition: Addition) -> Addition:
        """Return what of an addition the book has not, or has on weaker evidence.

        Raises BookError for a move to a position that is nowhere, or one from such a position.
        """
        entries: dict[bytes, Entry] = {}
        for entry in addition.entries:
            known = entries.get(entry.position.key) or self.find_entry(entry.position.key)
            if known is None or entry.evidence.is_stronger(known.evidence):
                entries[entry.position.key] = entry
        for key, moves in addition.moves.items():
            for one in (key, *moves.values()):
                if one not in self and one not in entries:
                    raise BookError(f"moves stand beside a position that is missing: {one.hex()}")
        unknown = {k: m for k, m in addition.moves.items() if not self.is_expanded(k)}
        return Addition(list(entries.values()), unknown)

    def add(self, addition: Addition) -> None:
        """Add what `find_new` returned, and settle the values."""
        numbers = self.find_numbers(addition)
        with self.lock:
            for entry in addition.entries:
                number = numbers[entry.position.key]
                if number < len(self.entries):
                    self.entries[number] = entry
                    self.graph.nodes[number].score = entry.evidence.score
                else:
                    self.graph.add(entry.evidence.score, entry.evidence.outcome is not None)
                    self.entries.append(entry)
            self._numbers.update(numbers)
            for key, moves in addition.moves.items():
                self.graph.expand(numbers[key], {m: numbers[k] for m, k in moves.items()})
            changed = {numbers[entry.position.key] for entry in addition.entries}
            self.graph.settle(changed | {numbers[key] for key in addition.moves})

    def find_numbers(self, addition: Addition) -> dict[bytes, int]:
        """Return by key the numbers that the positions of an addition have, or will have."""
        keys = [entry.position.key for entry in addition.entries]
        new = (key for key in keys if key not in self._numbers)
        numbers = {key: len(self.entries) + place for place, key in enumerate(new)}
        for key, moves in addition.moves.items():
            keys += [key, *moves.values()]
        return numbers | {key: self._numbers[key] for key in keys if key in self._numbers}

    def find_entry(self, key: bytes) -> Entry | None:
        """Return the position of this key, None if it is not there."""
        number = self._numbers.get(key)
        return None if number is None else self.entries[number]

    def is_expanded(self, key: bytes) -> bool:
        """Return whether the position is there with all its moves."""
        number = self._numbers.get(key)
        return number is not None and bool(self.graph.nodes[number].moves)

    def list_moves(self, key: bytes) -> dict[str, bytes]:
        """Return the moves of a position that is there, with the keys of where they lead."""
        moves = self.graph.nodes[self._numbers[key]].moves
        return {move: self.entries[child].position.key for move, child in moves.items()}

    def copy(self) -> Addition:
        """Return all that is in the book, in the order in which it came."""
        with self.lock:
            keys = [entry.position.key for entry in self.entries]
            moves = {key: self.list_moves(key) for key in keys if self.is_expanded(key)}
            return Addition(list(self.entries), moves)

    def probe(self, position: Position) -> Probe | None:
        """Return what the book knows of a position of its variant; None where that is nothing."""
        key = find_book_position(position).key
        with self.lock:
            number = self._numbers.get(key)
            if number is None:
                return None
            node, nodes = self.graph.nodes[number], self.graph.nodes
            found = [(move, child, nodes[child]) for move, child in node.moves.items()]
            own = find_own_moves(position)
            moves = [
                ProbedMove(own[m], back_up(n.value), bool(n.moves), self.entries[child].evidence)
                for m, child, n in found
                if m in own
            ]
            moves.sort(key=lambda move: (-move.value, move.move))
            return Probe(node.value, self.entries[number].evidence, moves)

    def find_leaves(self, seed: int) -> Iterator[tuple[Entry, int]]:
        """Yield the leaves that may be expanded, with their plies, the most urgent first.

        `seed` decides between leaves that are as urgent as each other. Hold `lock` meanwhile.
        """

        def rank(number: int) -> bytes:
            key = self.entries[number].position.key
            return blake2b(key, digest_size=8, key=seed.to_bytes(8, signed=True)).digest()

        for number, plies in self.graph.find_leaves(rank) if self.entries else ():
            yield self.entries[number], plies
