"""The search as a service to Python: one position, limits, an answer."""

import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.lead import LEAD, SHARED_WORDS, STOP, find_lead_depth
from core.limits import MAX_DEPTH, MAX_NODES, Limits, size_table
from core.notation import MoveError
from core.position import Position
from core.record import Record
from core.rules import MAX_LINES
from core.score import Score, estimate_wdl, unpack_score
from core.search import STOPPED_BY_CLOCK, STOPPED_BY_NODES, STOPPED_BY_WORD
from core.tt import WORDS_PER_ENTRY

# What a search ended by, as `Analysis.ended` tells it.
_STOP_NAMES = {
    int(STOPPED_BY_NODES): "nodes",
    int(STOPPED_BY_WORD): "stopped",
    int(STOPPED_BY_CLOCK): "movetime",
}


@dataclass(frozen=True)
class Line:
    """One line of play: its place (1 is best), its score, its moves.

    `wdl`: chances in thousandths that the side to move wins, draws and loses.
    """

    rank: int
    score: Score
    wdl: tuple[int, int, int]
    pv: list[str]


@dataclass(frozen=True)
class Progress:
    """What a running search has found: its last finished depth and that depth's lines.

    `seldepth`: the longest line looked at, in plies; `nodes`: positions visited so far.
    """

    depth: int
    seldepth: int
    nodes: int
    lines: list[Line]


@dataclass(frozen=True)
class Analysis:
    """What a search found; scores are for the side to move.

    `depth`: plies finished (0: not even one, the move is a guess); `seldepth`: the longest line
    looked at. `result`: what ended the game, if it is over; then there is no best move, no line,
    and depth 0. `ended`: the limit that was reached (`nodes`, `depth`, `movetime`), `mate` when the
    question for a mate was answered, `solved` when the exact distance of a mate is known, `stopped`
    by `Engine.stop`, or `over`, the game being over. `mate_verdict`: `proved`, `refuted` or
    `unknown` if a mate was asked for.
    """

    bestmove: str | None
    score: Score
    wdl: tuple[int, int, int]
    depth: int
    seldepth: int
    nodes: int
    seconds: float
    lines: list[Line]
    result: str | None
    ended: str
    mate_verdict: str | None = None

    @property
    def pv(self) -> list[str]:
        """The moves of the best line."""
        return self.lines[0].pv if self.lines else []

    @property
    def nps(self) -> int:
        """Nodes per second."""
        return round(self.nodes / self.seconds) if self.seconds else 0


class Engine:
    """A searcher, with its buffers kept between searches; one search at a time.

    With one thread a search is deterministic by nodes and depth: nothing of an earlier one is left
    in the buffers. Not so with `keep`, for the moves of one game: what the last search found out
    helps the next.
    """

    def __init__(self, keep: bool = False) -> None:
        self._keep = keep
        self._records: dict[str, list[Record]] = {}
        self._table: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
        self._shared: NDArray[np.uint64] = np.zeros(SHARED_WORDS, dtype=np.uint64)
        self._latest: tuple[list[NDArray[Any]], Position] | None = None

    def search(self, position: Position, limits: Limits) -> Analysis:
        """Return what is best in `position`, once a limit is reached or another thread stops it.

        Blocks; the GIL is free meanwhile. Raises MoveError when a move to be considered is not
        legal.
        """
        begin = time.monotonic_ns()
        self._shared[:] = 0
        self._latest = None
        result = position.outcome()
        if result:
            return _report_finished(result, limits)
        records = self._set_up(position, limits, begin)
        self._latest = (records, position)
        entry, TR = position.game.entry, position.game.rules.TABLES
        helpers = [
            threading.Thread(target=entry.search_root, args=(R, TR), daemon=True)
            for R in records[1:]
        ]
        for helper in helpers:
            helper.start()
        entry.search_root(records[0], TR)
        self._shared[STOP] = 1
        for helper in helpers:
            helper.join()
        return self._report(position, limits, begin)

    def stop(self) -> None:
        """End the search that runs now, within about a thousand nodes; from another thread."""
        self._shared[STOP] = 1

    def forget(self) -> None:
        """Tell nothing more of the search that ran last."""
        self._latest = None

    @property
    def nodes(self) -> int:
        """Nodes of the search that runs, or ran last, by all its threads."""
        return sum(int(R["nodes"][0]) for R in self._latest[0]) if self._latest else 0

    def read_progress(self) -> Progress | None:
        """Return what the search that runs, or ran last, has found; None before depth 1."""
        if self._latest is None:
            return None
        records, position = self._latest
        depth, lines = self._read_lines(records, position)
        if depth == 0:
            return None
        return Progress(depth, _find_seldepth(records), self.nodes, lines)

    def _set_up(self, position: Position, limits: Limits, begin: int) -> list[NDArray[Any]]:
        """Return the records of the search, one a thread, ready."""
        game = position.game
        records = self._records.setdefault(game.name, [])
        while len(records) < limits.threads:
            records.append(Record(game))
        ignored, candidates = _choose_moves(position, limits)
        words = size_table(limits) * WORDS_PER_ENTRY
        if len(self._table) < words:
            self._table = np.zeros(words, dtype=np.uint64)
        elif not self._keep:
            self._table[:words] = 0
        arrays = []
        for thread, record in enumerate(records[: limits.threads]):
            R = record.array
            position.write_state(record)
            for name in ("stopped", "nodes", "selective_depth", "killers", "first_move"):
                R[name] = 0
            for name in ("line_counts", "line_depths"):
                R[name] = 0
            if not self._keep:
                R["history"] = 0
                R["continuations"] = 0
            R["last_moves"] = 0
            R["thread"] = thread
            share, rest = divmod(limits.nodes or MAX_NODES, limits.threads)
            R["max_nodes"] = share + rest if thread == 0 else share
            R["max_depth"] = limits.depth or MAX_DEPTH
            R["mate_plies"] = 2 * limits.mate - 1 if limits.mate else 0
            R["deadline"] = begin + limits.movetime * 1_000_000 if limits.movetime else 0
            R["shared_address"] = self._shared.ctypes.data
            R["lines_wanted"] = min(limits.multipv, candidates)
            R["excluded"][0, : len(ignored)] = ignored
            R["excluded_count"] = R["ignored_count"] = len(ignored)
            R["tt_address"] = self._table.ctypes.data
            R["tt_mask"] = words // WORDS_PER_ENTRY - 1
            arrays.append(R)
        return arrays

    def _read_lines(
        self, records: list[NDArray[Any]], position: Position
    ) -> tuple[int, list[Line]]:
        """Return the last finished depth and its lines: the first thread's, unless it is behind."""
        depth, lines = _read_lines(records[0], position)
        lead = int(find_lead_depth(self._shared[LEAD]))
        for R in records[1:]:
            if depth < lead:
                depth, lines = _read_lines(R, position)
        return depth, lines

    def _report(self, position: Position, limits: Limits, begin: int) -> Analysis:
        assert self._latest is not None
        records = self._latest[0]
        depth, lines = self._read_lines(records, position)
        best = lines[0]
        stopped = int(records[0]["stopped"][0])
        verdict = None
        if limits.mate:
            is_proved = best.score.mate is not None and 0 < best.score.mate <= limits.mate
            verdict = "proved" if is_proved else "unknown" if stopped else "refuted"
        if stopped:
            ended = _STOP_NAMES[stopped]
        elif verdict:
            ended = "mate"
        else:
            ended = "depth" if depth >= (limits.depth or MAX_DEPTH) else "solved"
        return Analysis(
            bestmove=best.pv[0],
            score=best.score,
            wdl=best.wdl,
            depth=depth,
            seldepth=_find_seldepth(records),
            nodes=self.nodes,
            seconds=(time.monotonic_ns() - begin) / 1e9,
            lines=lines,
            result=None,
            ended=ended,
            mate_verdict=verdict,
        )


def _report_finished(result: str, limits: Limits) -> Analysis:
    score = Score(mate=0) if result == "checkmate" else Score(cp=0)
    wdl = (0, 0, 1000) if result == "checkmate" else (0, 1000, 0)
    verdict = "refuted" if limits.mate else None
    return Analysis(None, score, wdl, 0, 0, 0, 0.0, [], result, "over", verdict)


def _choose_moves(position: Position, limits: Limits) -> tuple[list[int], int]:
    """Return the packed root moves not to be searched, and the number of the others."""
    legal = position.packed_moves()
    if not limits.searchmoves:
        return [], len(legal)
    wanted = set()
    for move in limits.searchmoves:
        text = position.game.rules.normalise_move(move)
        if text not in legal:
            raise MoveError(move, f"not legal in {position.fen()}")
        wanted.add(text)
    return [packed for text, packed in legal.items() if text not in wanted], len(wanted)


def _read_lines(R: NDArray[Any], position: Position) -> tuple[int, list[Line]]:
    """Return the last finished depth and its lines, whole while the search goes on writing."""
    while True:
        version, page = int(R["line_version"][0]), int(R["line_page"][0])
        depth, count = int(R["line_depths"][0, page]), int(R["line_counts"][0, page])
        scores = R["line_scores"][0, page, :count].tolist()
        lengths = R["line_lengths"][0, page, :count].tolist()
        moves = R["lines"][0, page, :count].copy()
        if version % 2 == 0 and version == int(R["line_version"][0]):
            break
    lines = []
    for index in range(min(count, MAX_LINES)):
        pv = position.format_moves(moves[index, : lengths[index]])
        score = unpack_score(scores[index])
        wdl = estimate_wdl(score, position.game.rules.WDL)
        lines.append(Line(index + 1, score, wdl, pv))
    return depth, lines


def _find_seldepth(records: list[NDArray[Any]]) -> int:
    return max(int(R["selective_depth"][0]) for R in records)
