"""The engine behind the Universal Chess Interface, as match programs and boards speak it."""

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillSearching
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from core.engine import Analysis, Engine, Line
from core.jit import CACHE_DIRECTORY
from core.limits import (
    MAX_DEPTH,
    MAX_HASH_MB,
    MAX_MATE,
    MAX_MOVETIME,
    MAX_NODES,
    MAX_THREADS,
    Limits,
)
from core.notation import MoveError, NotationError, escape_text
from core.position import STARTPOS, Position
from core.rules import MAX_LINES
from core.score import Score
from core.version import ENGINE_VERSION
from gateway.book.book import Book, BookError
from gateway.book.choice import BookChooser
from gateway.book.file import read_book
from gateway.match import DEFAULT_HASH_MB
from gateway.match.clock import allot

MAX_BOOK_SEED = 2**31 - 1
_INFO_SECONDS = 0.1
_STOP_SECONDS = 0.005
_CLOCK_WORDS = ("wtime", "btime", "winc", "binc", "movestogo")
_GO_WORDS = {"depth", "nodes", "mate", "movetime", "infinite", "ponder", *_CLOCK_WORDS}
# By the letter of the side to move.
_CLOCKS = {"w": ("wtime", "winc"), "b": ("btime", "binc")}
_LARGEST = {"depth": MAX_DEPTH, "nodes": MAX_NODES, "mate": MAX_MATE, "movetime": MAX_MOVETIME}


@dataclass
class _Spin:
    """An option that is a number."""

    value: int
    least: int
    most: int


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
        self._spins = {
            "Hash": _Spin(DEFAULT_HASH_MB, 1, MAX_HASH_MB),
            "Threads": _Spin(1, 1, MAX_THREADS),
            "MultiPV": _Spin(1, 1, MAX_LINES),
        }
        self._shows_wdl = False
        self._book: Book | None = None
        self._book_seed: int | None = None
        self._chooser: BookChooser | None = None
        self._engine = Engine(keep=True)
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
            "setoption": self._set_option,
            "position": self._set_position,
            "go": self._go,
            "stop": lambda _: self._stop(),
        }
        with self._searcher, self._talker:
            try:
                for line in lines:
                    name, *words = line.split() or [""]
                    if name == "quit":
                        break
                    if name in commands:
                        commands[name](words)
                    elif name:
                        self._complain(f"unknown command {escape_text(name)}")
            finally:
                self._stop()

    def _say(self, line: str) -> None:
        with self._lock:
            self._write(line)

    def _complain(self, text: str) -> None:
        self._say(f"info string {text}")

    def _introduce(self, _: list[str]) -> None:
        # The last word names the state of the sources, so that a match can tell two of them apart.
        build = f"engine {ENGINE_VERSION} {CACHE_DIRECTORY.name}"
        self._say(f"id name tilewarp {version('tilewarp')} {self._variant} {build}")
        self._say("id author tilewarp contributors")
        for name, spin in self._spins.items():
            limits = f"min {spin.least} max {spin.most}"
            self._say(f"option name {name} type spin default {spin.value} {limits}")
        self._say("option name UCI_ShowWDL type check default false")
        self._say("option name BookFile type string default <empty>")
        self._say(f"option name BookSeed type spin default 0 min 0 max {MAX_BOOK_SEED}")
        self._say("uciok")

    def _begin_game(self, _: list[str]) -> None:
        self._stop()
        self._engine = Engine(keep=True)

    def _set_option(self, words: list[str]) -> None:
        """Set `name NAME value VALUE`; a number beyond its range becomes the nearest within."""
        self._stop()
        _, _, rest = " ".join(words).partition("name ")
        name, _, value = rest.partition(" value ")
        spin = self._spins.get(name)
        if spin is not None and value.isdecimal():
            spin.value = min(max(int(value), spin.least), spin.most)
        elif name == "UCI_ShowWDL" and value in ("true", "false"):
            self._shows_wdl = value == "true"
        elif name == "BookFile":
            self._set_book(value)
        elif name == "BookSeed" and value.isdecimal():
            self._book_seed = min(int(value), MAX_BOOK_SEED) or None
            self._begin_choice()
        else:
            self._complain(f"no option is set by {escape_text(rest)!r}")

    def _set_book(self, path: str) -> None:
        """Play from a book in a file, or without one, if it is refused or none is named."""
        self._book = None
        if path not in ("", "<empty>"):
            try:
                self._book = read_book(Path(path), self._variant)
            except BookError as error:
                self._complain(f"no book is used: {escape_text(path)}: {error}")
        self._begin_choice()

    def _begin_choice(self) -> None:
        self._chooser = BookChooser(self._book, self._book_seed) if self._book else None

    def _set_position(self, words: list[str]) -> None:
        """Set `startpos` or `fen FEN`, maybe followed by `moves MOVE…`."""
        self._stop()
        split = words.index("moves") if "moves" in words else len(words)
        place, moves = words[:split], words[split + 1 :]
        fen = " ".join(place[1:]) if place[:1] == ["fen"] else " ".join(place)
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
        if self._position is None:
            self._give_up("there is no position")
            return
        limits = self._read_limits(words, self._position)
        # Bounded by nothing, the search is over when `stop` says so.
        is_open = limits is None or "infinite" in words
        move = None
        if self._chooser is not None and not is_open and "searchmoves" not in words:
            move = self._chooser.choose(self._position)
        if move is not None:
            self._say(f"info string {move} is from the book")
            self._say(f"bestmove {move}")
            return
        limits = limits or self._make_limits({"depth": MAX_DEPTH}, words)
        self._is_stopped.clear()
        self._talk = self._talker.submit(self._search, self._position, limits, is_open)

    def _read_limits(self, words: list[str], position: Position) -> Limits | None:
        """Return what the words after `go` ask for; None if they bound nothing."""
        numbers = _read_numbers(words)
        bounds = {
            name: min(max(numbers[name], 1), most)
            for name, most in _LARGEST.items()
            if name in numbers
        }
        if any(word in words for word in _CLOCK_WORDS):
            fields = position.fen().split()
            clock, increment = _CLOCKS[fields[1]]
            seconds = allot(
                remaining=numbers.get(clock, 0) / 1000,
                played=int(fields[-1]) - 1,
                increment=numbers.get(increment, 0) / 1000,
                moves_to_go=numbers.get("movestogo"),
            )
            bounds["movetime"] = max(int(seconds * 1000), 1)
        return self._make_limits(bounds, words) if bounds else None

    def _make_limits(self, bounds: dict[str, int], words: list[str]) -> Limits:
        threads = self._spins["Threads"].value
        if "nodes" in bounds:
            bounds = {**bounds, "nodes": max(bounds["nodes"], threads)}
        return Limits(
            **bounds,
            threads=threads,
            hash_mb=self._spins["Hash"].value,
            multipv=self._spins["MultiPV"].value,
            searchmoves=_read_searchmoves(words),
        )

    def _search(self, position: Position, limits: Limits, is_open: bool) -> None:
        """Search, tell what is found meanwhile, and the move in the end."""
        begin = time.monotonic()
        found = self._searcher.submit(self._engine.search, position, limits)
        try:
            analysis = self._watch(found, begin)
        except MoveError as error:
            self._give_up(str(error))
            return
        self._tell_analysis(analysis)
        if is_open:
            self._is_stopped.wait()
        self._say(f"bestmove {analysis.bestmove or '(none)'}")

    def _watch(self, found: "Future[Analysis]", begin: float) -> Analysis:
        """Tell each depth that is finished until the search is, and return what it found."""
        told = 0
        while True:
            with contextlib.suppress(StillSearching):
                return found.result(_INFO_SECONDS)
            progress = self._engine.read_progress()
            if progress and progress.depth > told:
                told = progress.depth
                work = _format_work(progress.nodes, time.monotonic() - begin)
                self._tell_lines(progress.depth, progress.seldepth, progress.lines, work)

    def _tell_analysis(self, analysis: Analysis) -> None:
        work = _format_work(analysis.nodes, analysis.seconds)
        self._tell_lines(analysis.depth, analysis.seldepth, analysis.lines, work)
        if analysis.result:
            self._say(f"info depth 0 score {_format_score(analysis.score)}")
            self._complain(f"the game is over: {analysis.result}")

    def _tell_lines(self, depth: int, seldepth: int, lines: list[Line], work: str) -> None:
        for line in lines:
            score = _format_score(line.score)
            if self._shows_wdl:
                score += " wdl {} {} {}".format(*line.wdl)
            place = f"depth {depth} seldepth {seldepth} multipv {line.rank}"
            self._say(f"info {place} score {score} {work} pv {' '.join(line.pv)}")

    def _give_up(self, reason: str) -> None:
        self._complain(reason)
        self._say("bestmove (none)")

    def _stop(self) -> None:
        """End the search that runs, if any, and wait until its move is told."""
        self._is_stopped.set()
        while self._talk is not None:
            # A word set before the search has begun is lost, so it is said again.
            self._engine.stop()
            with contextlib.suppress(StillSearching):
                self._talk.result(_STOP_SECONDS)
                self._talk = None


def _read_numbers(words: list[str]) -> dict[str, int]:
    """Return the numbers that follow a word of `go`."""
    pairs = itertools.pairwise(words)
    return {word: int(value) for word, value in pairs if value.lstrip("-").isdecimal()}


def _read_searchmoves(words: list[str]) -> tuple[str, ...]:
    if "searchmoves" not in words:
        return ()
    rest = words[words.index("searchmoves") + 1 :]
    return tuple(itertools.takewhile(lambda word: word not in _GO_WORDS, rest))


def _format_work(nodes: int, seconds: float) -> str:
    return f"nodes {nodes} nps {round(nodes / max(seconds, 1e-6))} time {round(seconds * 1000)}"


def _format_score(score: Score) -> str:
    return f"cp {score.cp}" if score.mate is None else f"mate {score.mate}"
