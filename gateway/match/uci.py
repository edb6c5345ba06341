"""The engine behind the Universal Chess Interface, as match programs and boards speak it."""

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillSearching
from dataclasses import dataclass
from importlib.metadata import version

from core.engine import Analysis, Engine, Line
from core.limits import MAX_DEPTH, Limits
from core.notation import NotationError, escape_text
from core.position import STARTPOS, Position
from core.score import Score
from core.version import ENGINE_VERSION
from gateway.match.clock import allot

_INFO_SECONDS = 0.1
_STOP_SECONDS = 0.005
_CLOCKS = (("wtime", "winc"), ("btime", "binc"))


@dataclass(frozen=True)
class Request:
    """What `go` asks for; `is_open`: the move is told only after `stop`."""

    limits: Limits
    is_open: bool


class UciLoop:
    """Reads commands and answers them; a search runs beside the reading.

    A command that would change what is searched ends the search first.

    Args:
        variant: the name of the variant that is played; raises UnknownVariant.
        write: writes a line at once.
    """

    def __init__(self, variant: str, write: Callable[[str], None]) -> None:
        self._variant = variant
        self._write = write
        self._lock = threading.Lock()
        self._position: Position | None = Position(variant)
        self._fen = STARTPOS
        self._moves: list[str] = []
        self._engine = Engine()
        self._searcher = ThreadPoolExecutor(1)
        self._talker = ThreadPoolExecutor(1)
        self._talk: Future[None] | None = None
        self._is_stopped = threading.Event()

    def run(self, lines: Iterable[str]) -> None:
        """Answer each line until `quit` or the end of them."""
        commands: dict[str, Callable[[list[str]], None]] = {
            "uci": self._introduce,
            "isready": lambda _: self._say("readyok"),
            "ucinewgame": self._begin_game,
            "position": self._set_position,
            "go": self._go,
            "stop": lambda _: self._stop(),
        }
        with self._searcher, self._talker:
            for line in lines:
                name, *words = line.split() or [""]
                if name == "quit":
                    break
                if name in commands:
                    commands[name](words)
                elif name:
                    self._complain(f"unknown command {escape_text(name)}")
            self._stop()

    def _say(self, line: str) -> None:
        with self._lock:
            self._write(line)

    def _complain(self, text: str) -> None:
        self._say(f"info string {text}")

    def _introduce(self, _: list[str]) -> None:
        self._say(f"id name tilewarp {version('tilewarp')} {self._variant} engine {ENGINE_VERSION}")
        self._say("id author tilewarp contributors")
        self._say("uciok")

    def _begin_game(self, _: list[str]) -> None:
        self._stop()
        self._engine = Engine()

    def _set_position(self, words: list[str]) -> None:
        self._stop()
        split = words.index("moves") if "moves" in words else len(words)
        place, moves = words[:split], words[split + 1 :]
        fen = STARTPOS if place[:1] == [STARTPOS] else " ".join(place[1:])
        try:
            self._move_to(fen, moves)
        except NotationError as error:
            self._position = None
            self._complain(str(error))

    def _move_to(self, fen: str, moves: list[str]) -> None:
        """Set the position; moves that were made before are not made again."""
        known = len(self._moves)
        if self._position is None or fen != self._fen or moves[:known] != self._moves:
            self._position, known = Position(self._variant, fen), 0
        for move in moves[known:]:
            self._position.push(move)
        self._fen, self._moves = fen, moves

    def _go(self, words: list[str]) -> None:
        self._stop()
        position = self._position
        if position is None:
            self._complain("there is no position")
            self._say("bestmove (none)")
            return
        try:
            request = _read_request(words, position)
        except ValueError as error:
            self._complain(str(error))
            self._say("bestmove (none)")
            return
        self._is_stopped.clear()
        self._talk = self._talker.submit(self._search, position, request)

    def _search(self, position: Position, request: Request) -> None:
        """Search, tell what is found meanwhile, and the move in the end."""
        found = self._searcher.submit(self._engine.search, position, request.limits)
        depth = 0
        while True:
            with contextlib.suppress(StillSearching):
                analysis = found.result(_INFO_SECONDS)
                break
            latest = self._engine.read_line()
            if latest and latest[0] > depth:
                depth = latest[0]
                self._say(_format_line(depth, latest[1]))
        for line in _format_analysis(analysis):
            self._say(line)
        if request.is_open:
            self._is_stopped.wait()
        self._say(f"bestmove {analysis.bestmove or '(none)'}")

    def _stop(self) -> None:
        """End the search that runs, if any, and wait until its move is told."""
        self._is_stopped.set()
        while self._talk is not None:
            # A word set before the search has begun is lost, so it is said again.
            self._engine.stop()
            with contextlib.suppress(StillSearching):
                self._talk.result(_STOP_SECONDS)
                self._talk = None


def _read_request(words: list[str], position: Position) -> Request:
    """Return what the words after `go` ask for; ValueError for what cannot be understood."""
    numbers = _read_numbers(words)
    movetime = numbers.get("movetime")
    time_name, increment_name = _CLOCKS[len(position.moves) % 2]
    if time_name in numbers:
        seconds = allot(
            numbers[time_name] / 1000,
            len(position.moves) // 2,
            numbers.get(increment_name, 0) / 1000,
            numbers.get("movestogo"),
        )
        movetime = max(int(seconds * 1000), 1)
    nodes, depth = numbers.get("nodes"), numbers.get("depth")
    if (nodes, depth, movetime) == (None, None, None):
        return Request(Limits(depth=MAX_DEPTH), is_open=True)
    return Request(Limits(nodes, depth, movetime), is_open="infinite" in words)


def _read_numbers(words: list[str]) -> dict[str, int]:
    """Return the numbers that follow a word of `go`."""
    pairs = itertools.pairwise(words)
    return {word: int(value) for word, value in pairs if value.lstrip("-").isdecimal()}


def _format_analysis(analysis: Analysis) -> Iterator[str]:
    if not analysis.lines:
        yield f"info depth 0 score {_format_score(analysis.score)}"
    time = round(analysis.seconds * 1000)
    nps = round(analysis.nodes / max(analysis.seconds, 1e-6))
    for line in analysis.lines:
        yield _format_line(analysis.depth, line, f" nodes {analysis.nodes} nps {nps} time {time}")


def _format_line(depth: int, line: Line, work: str = "") -> str:
    score, pv = _format_score(line.score), " ".join(line.pv)
    return f"info depth {depth} multipv {line.rank} score {score}{work} pv {pv}"


def _format_score(score: Score) -> str:
    return f"cp {score.cp}" if score.mate is None else f"mate {score.mate}"
