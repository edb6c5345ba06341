"""The search as a service to Python: one position, limits, an answer."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.limits import MAX_DEPTH, MAX_NODES, Limits, size_table
from core.position import Position
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
        self._records: dict[str, Any] = {}
        self._table: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
        self._stop: NDArray[np.uint64] = np.zeros(1, dtype=np.uint64)
        self._latest: tuple[Any, Position] | None = None

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
        state = self._set_up(position, limits, begin)
        self._latest = (state, position)
        position.game.search.deepen(state, position.game.rules.TABLES)
        return self._report(state, position, begin)

    def stop(self) -> None:
        """End the search that runs now, within about a thousand nodes; from another thread."""
        self._stop[0] = 1

    @property
    def nodes(self) -> int:
        """Nodes of the search that runs, or ran last."""
        return int(self._latest[0].nodes) if self._latest else 0

    def read_line(self) -> tuple[int, Line] | None:
        """Return the last finished depth of the search that runs, or ran last, and its line."""
        if self._latest is None:
            return None
        state, position = self._latest
        while True:
            version = int(state.line_version)
            depth, score = int(state.line_depth), int(state.line_score)
            packed = state.line[: int(state.line_length)].copy()
            if version % 2 == 0 and version == int(state.line_version):
                break
        if depth == 0:
            return None
        return depth, Line(1, unpack_score(score), position.format_moves(packed))

    def _set_up(self, position: Position, limits: Limits, begin: int) -> Any:
        game = position.game
        if game.name not in self._records:
            self._records[game.name] = np.zeros(1, dtype=game.rules.STATE)
        records = self._records[game.name]
        state = records[0]
        position.write_state(state, records)
        state.max_nodes = limits.nodes or MAX_NODES
        state.max_depth = limits.depth or MAX_DEPTH
        state.deadline = begin + limits.movetime * 1_000_000 if limits.movetime else 0
        state.stop_address = self._stop.ctypes.data
        state.stopped = 0
        state.nodes = 0
        state.killers[:] = 0
        state.cutoffs[:] = 0
        state.line_length = 0
        state.line_depth = 0
        words = size_table(limits) * WORDS_PER_ENTRY
        if len(self._table) < words:
            self._table = np.zeros(words, dtype=np.uint64)
        else:
            self._table[:words] = 0
        state.tt_address = self._table.ctypes.data
        state.tt_mask = words // WORDS_PER_ENTRY - 1
        return state

    def _report(self, state: Any, position: Position, begin: int) -> Analysis:
        pv = position.format_moves(state.line[: int(state.line_length)])
        score = unpack_score(int(state.line_score))
        return Analysis(
            bestmove=pv[0],
            score=score,
            depth=int(state.line_depth),
            nodes=int(state.nodes),
            seconds=(time.monotonic_ns() - begin) / 1e9,
            lines=[Line(1, score, pv)],
            result=None,
            stopped=bool(state.stopped and self._stop[0]),
        )
