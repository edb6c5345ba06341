"""The search as a service to Python: one position, limits, an answer."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.limits import MAX_DEPTH, MAX_NODES, Limits, size_table
from core.position import Position
from core.record import Record
from core.score import Score, unpack_score
from core.tt import WORDS_PER_ENTRY


@dataclass(frozen=True)
class Line:
    """One line of play: its place (1 is best), its score, its moves."""

    rank: int
    score: Score
    pv: list[str]


@dataclass(frozen=True)
class Analysis:
    """What a search found; scores are for the side to move.

    `depth`: plies finished (0: not even one, the move is a guess). `result`: what ended the game,
    if it is over; then there is no best move, no line, and depth 0. `stopped`: ended by `stop`,
    before a limit.
    """

    bestmove: str | None
    score: Score
    depth: int
    nodes: int
    seconds: float
    lines: list[Line]
    result: str | None
    stopped: bool

    @property
    def pv(self) -> list[str]:
        """The moves of the best line."""
        return self.lines[0].pv if self.lines else []


class Engine:
    """One searcher, with its buffers kept between searches; one search at a time.

    A search is deterministic by nodes and depth: nothing of an earlier one is left in the buffers.
    """

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}
        self._table: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
        self._stop: NDArray[np.uint64] = np.zeros(1, dtype=np.uint64)
        self._latest: tuple[NDArray[Any], Position] | None = None

    def search(self, position: Position, limits: Limits) -> Analysis:
        """Return what is best in `position`, once a limit is reached or another thread stops it.

        Blocks; the GIL is free meanwhile.
        """
        begin = time.monotonic_ns()
        self._stop[0] = 0
        result = position.outcome()
        if result:
            score = Score(mate=0) if result == "checkmate" else Score(cp=0)
            return Analysis(None, score, 0, 0, 0.0, [], result, False)
        R = self._set_up(position, limits, begin)
        self._latest = (R, position)
        position.game.entry.search_root(R, position.game.rules.TABLES)
        return self._report(R, position, begin)

    def stop(self) -> None:
        """End the search that runs now, within about a thousand nodes; from another thread."""
        self._stop[0] = 1

    @property
    def nodes(self) -> int:
        """Nodes of the search that runs, or ran last."""
        return int(self._latest[0]["nodes"][0]) if self._latest else 0

    def read_line(self) -> tuple[int, Line] | None:
        """Return the last finished depth of the search that runs, or ran last, and its line."""
        if self._latest is None:
            return None
        R, position = self._latest
        while True:
            version = int(R["line_version"][0])
            depth, score = int(R["line_depth"][0]), int(R["line_score"][0])
            packed = R["line"][0, : R["line_length"][0]].copy()
            if version % 2 == 0 and version == int(R["line_version"][0]):
                break
        if depth == 0:
            return None
        return depth, Line(1, unpack_score(score), position.format_moves(packed))

    def _set_up(self, position: Position, limits: Limits, begin: int) -> NDArray[Any]:
        game = position.game
        if game.name not in self._records:
            self._records[game.name] = Record(game)
        record = self._records[game.name]
        position.write_state(record)
        R = record.array
        R["max_nodes"] = limits.nodes or MAX_NODES
        R["max_depth"] = limits.depth or MAX_DEPTH
        R["deadline"] = begin + limits.movetime * 1_000_000 if limits.movetime else 0
        R["stop_address"] = self._stop.ctypes.data
        for name in ("stopped", "nodes", "killers", "history", "line_length", "line_depth"):
            R[name] = 0
        words = size_table(limits) * WORDS_PER_ENTRY
        if len(self._table) < words:
            self._table = np.zeros(words, dtype=np.uint64)
        else:
            self._table[:words] = 0
        R["tt_address"] = self._table.ctypes.data
        R["tt_mask"] = words // WORDS_PER_ENTRY - 1
        return R

    def _report(self, R: NDArray[Any], position: Position, begin: int) -> Analysis:
        pv = position.format_moves(R["line"][0, : R["line_length"][0]])
        score = unpack_score(int(R["line_score"][0]))
        return Analysis(
            bestmove=pv[0],
            score=score,
            depth=int(R["line_depth"][0]),
            nodes=int(R["nodes"][0]),
            seconds=(time.monotonic_ns() - begin) / 1e9,
            lines=[Line(1, score, pv)],
            result=None,
            stopped=bool(R["stopped"][0] and self._stop[0]),
        )
