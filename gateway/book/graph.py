"""The graph of a book: values that settle, and leaves in the order in which they are due. Pure.

Nodes are numbers from 0 on, in the order in which they were added; node 0 is the root. A node that
was expanded has all its moves, each to a node; any other is a leaf.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from gateway.book.values import DRAW, back_up, is_mate

ROOT = 0
PLY_COST = 5
"""What a ply costs a line, in centipawns of moves that drop from the best."""


@dataclass(slots=True)
class Node:
    """A position: its own score, by search or by the rules; its value; its moves to other nodes."""

    score: int
    is_over: bool
    value: int
    moves: dict[str, int] = field(default_factory=dict)
    parents: set[int] = field(default_factory=set)


class Graph:
    """Positions and moves, whose values are what either side can force.

    A leaf is worth its score. From an expanded node a side can force a value if it can reach a leaf
    of at least that value, or keep the other side from anything less; play that never ends is a
    draw. So a position's value depends on nothing that was played before it, transpositions share
    it, and a line into repetition is worth a draw and not more. A mate is a ply further with each
    move.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def add(self, score: int, is_over: bool) -> int:
        """Add a leaf and return its number; `is_over`: it can never be expanded."""
        self.nodes.append(Node(score, is_over, score))
        return len(self.nodes) - 1

    def expand(self, number: int, moves: dict[str, int]) -> None:
        """Give a leaf all its moves, at least one. Values are as before until `settle`."""
        self.nodes[number].moves = moves
        for child in moves.values():
            self.nodes[child].parents.add(number)

    def settle(self, changed: Iterable[int]) -> None:
        """Bring all values up to date, after the nodes `changed` have got other scores or moves.

        Only they and what leads to them can change. Among these the values settle from the
        greatest magnitude down, so that each is final when it is met: a node has the first value
        that is good for its side, or, once all its moves turned out bad, the best of those. What is
        left has neither: from there both sides can go on for ever, or reach a drawn leaf.
        """
        waiting = dict.fromkeys(self._find_ancestors(changed), 0)
        best: dict[int, int] = {}
        heap: list[tuple[int, int, int]] = []

        def tell(number: int, value: int) -> None:
            """Tell a node of a value that one of its moves has."""
            best[number] = max(best.get(number, value), value)
            if value > DRAW:
                heapq.heappush(heap, (-value, number, value))
            elif waiting[number] == 0 and best[number] < DRAW:
                heapq.heappush(heap, (best[number], number, best[number]))

        for number in waiting:
            node = self.nodes[number]
            if not node.moves:
                heapq.heappush(heap, (-abs(node.score), number, node.score))
                continue
            children = set(node.moves.values())
            waiting[number] = len(children)
            for child in children - waiting.keys():
                waiting[number] -= 1
                tell(number, back_up(self.nodes[child].value))
        while heap:
            _, number, value = heapq.heappop(heap)
            if number not in waiting:
                continue
            del waiting[number]
            self.nodes[number].value = value
            for parent in self.nodes[number].parents:
                if parent in waiting:
                    waiting[parent] -= 1
                    tell(parent, back_up(value))
        for number in waiting:
            self.nodes[number].value = DRAW

    def find_leaves(self, rank: Callable[[int], Any]) -> Iterator[tuple[int, int]]:
        """Yield the leaves that may be expanded, with their plies, the most urgent first.

        That is drop-out expansion (Lincke, 2001): a leaf's line costs what its moves drop from the
        best ones of the side that makes them, and PLY_COST for each; of all lines to a leaf the
        cheapest counts, and its plies. `rank` orders leaves of equal cost. Games that are over and
        mates are left out. Values must be settled, and stay as they are meanwhile.
        """
        heap = [(0, rank(ROOT), ROOT, 0)]
        seen: set[int] = set()
        while heap:
            cost, _, number, plies = heapq.heappop(heap)
            if number in seen:
                continue
            seen.add(number)
            node = self.nodes[number]
            if not node.moves:
                if not node.is_over and not is_mate(node.score):
                    yield number, plies
                continue
            for child in set(node.moves.values()) - seen:
                drop = node.value - back_up(self.nodes[child].value)
                heapq.heappush(heap, (cost + PLY_COST + drop, rank(child), child, plies + 1))

    def _find_ancestors(self, numbers: Iterable[int]) -> list[int]:
        """Return the nodes and all from which one of them can be reached, in order."""
        found = set(numbers)
        todo = list(found)
        while todo:
            new = self.nodes[todo.pop()].parents - found
            found |= new
            todo += new
        return sorted(found)
