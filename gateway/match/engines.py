"""Engines of a match: what names them, and how each protocol is spoken."""

import re
import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.match.game import Answer
from core.records.moves import format_codecup, parse_codecup
from core.score import Score
from gateway.book.book import BookError
from gateway.book.file import read_book
from gateway.match.program import Keeper, ProgramFault

START_SECONDS = 120.0
"""The longest time that a program may take to be ready: it may have to compile first."""
FAREWELL_SECONDS = 1.0

CODECUP = "codecup"
# -P: a folder named as one of ours, where the match is started, is not taken for it.
_BUILTIN = (sys.executable, "-P", "-m", "gateway.cli", "uci")
_SPEC = re.compile(r"(?:([\w.+-]+)=)?(builtin|uci|codecup)(?::(.*))?", re.ASCII)
# What an option of ours is called by UCI, and what its value looks like.
_BUILTIN_OPTIONS = {
    "threads": ("Threads", "N", re.compile("[0-9]{1,9}")),
    "hash-mb": ("Hash", "N", re.compile("[0-9]{1,9}")),
    "book": ("BookFile", "FILE", re.compile(".+")),
    "book-seed": ("BookSeed", "N", re.compile("[0-9]{1,9}")),
}
# What bounds each of its moves, in place of the match's bounds.
_BOUNDS = {
    "nodes": ("N", re.compile("[1-9][0-9]{0,17}")),
    "depth": ("D", re.compile("[1-9][0-9]?")),
    "movetime": ("MS", re.compile("[1-9][0-9]{0,11}")),
}
_SCORE = re.compile(r"\bscore (cp|mate) (-?[0-9]+)\b", re.ASCII)
_OTHER_LINE = re.compile(r"\bmultipv (?!1\b)", re.ASCII)


@dataclass(frozen=True)
class Spec:
    """An engine of a match: the text that describes it, and what that says.

    `options` are set by UCI; `bounds` of its moves, by name, are its own and not the match's.
    """

    text: str
    name: str
    protocol: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    bounds: tuple[tuple[str, int], ...] = ()


class PlayingEngine(Protocol):
    """A running engine. Each method raises ProgramFault when the engine fails."""

    identity: str
    """What the engine calls itself."""

    def begin_game(self) -> None:
        """Make ready for another game."""

    def choose_move(self, moves: list[str], go: str, seconds: float) -> Answer:
        """Return its move after `moves` from the start, for which it has so many seconds.

        `go`: the bound of its search in the words of UCI.
        """

    def close(self) -> None:
        """End it."""


def parse_spec(text: str, name: str, variant: str) -> Spec:
    """Return the engine that `[NAME=]PROTOCOL[:DETAILS]` describes; `name` is for one without.

    Raises ValueError, which tells what is wrong.
    """
    match = _SPEC.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} is not [NAME=]builtin[:OPTION=VALUE,…], "
            "[NAME=]uci:COMMAND or [NAME=]codecup:COMMAND"
        )
    name, protocol, details = match[1] or name, match[2], match[3] or ""
    if protocol == "builtin":
        options, bounds = _parse_options(details)
        _check_book(options.get("BookFile"), variant)
        return Spec(
            text,
            name,
            protocol,
            (*_BUILTIN, variant),
            tuple(options.items()),
            tuple(bounds.items()),
        )
    command = tuple(shlex.split(details))
    if not command:
        raise ValueError(f"{text!r} names no command")
    return Spec(text, name, protocol, command)


def _parse_options(text: str) -> tuple[dict[str, str], dict[str, int]]:
    """Return the options by their names in UCI, and the bounds."""
    options: dict[str, str] = {}
    bounds: dict[str, int] = {}
    for part in text.split(",") if text else []:
        key, _, value = part.partition("=")
        name, _, form = _BUILTIN_OPTIONS.get(key, ("", "", None))
        if form is not None and form.fullmatch(value):
            options[name] = value
        elif key in _BOUNDS and _BOUNDS[key][1].fullmatch(value):
            bounds[key] = int(value)
        else:
            known = [f"{key}={what}" for key, (_, what, _) in _BUILTIN_OPTIONS.items()]
            known += [f"{key}={what}" for key, (what, _) in _BOUNDS.items()]
            raise ValueError(f"{part!r} is not an option of a builtin engine: {', '.join(known)}")
    return options, bounds


def _check_book(path: str | None, variant: str) -> None:
    """Raise ValueError for a book that the engine would not use."""
    try:
        if path is not None:
            read_book(Path(path), variant)
    except BookError as error:
        raise ValueError(f"{path}: {error}") from None


def start_engine(spec: Spec, keeper: Keeper) -> PlayingEngine:
    """Start an engine and wait until it is there; ProgramFault, with its name, if it never is."""
    engine = CodecupEngine if spec.protocol == CODECUP else UciEngine
    try:
        return engine(spec, keeper)
    except ProgramFault as error:
        raise ProgramFault(f"{spec.name} does not start: {error}") from None


class UciEngine:
    """An engine that speaks UCI; it plays game after game."""

    def __init__(self, spec: Spec, keeper: Keeper) -> None:
        self.identity = spec.name
        self._program = keeper.start(spec.command)
        try:
            self._greet(spec)
        except ProgramFault:
            self.close()
            raise

    def begin_game(self) -> None:
        """Make ready for another game."""
        self._program.send("ucinewgame")
        self._await("isready", "readyok")

    def choose_move(self, moves: list[str], go: str, seconds: float) -> Answer:
        """Return its move after `moves` from the start; `go` bounds its search."""
        played = " ".join(["moves", *moves]) if moves else ""
        self._program.send(f"position startpos {played}".rstrip())
        begin = time.monotonic()
        self._program.send(f"go {go}")
        score = None
        while True:
            line = self._program.read_line(begin + seconds)
            if line.startswith("info "):
                score = _read_score(line) or score
            elif line.startswith("bestmove"):
                taken = time.monotonic() - begin
                return Answer([*line.split(), ""][1], score, taken)

    def close(self) -> None:
        """End it."""
        self._program.close("quit", FAREWELL_SECONDS)

    def _greet(self, spec: Spec) -> None:
        for line in self._await("uci", "uciok"):
            if line.startswith("id name "):
                self.identity = line.removeprefix("id name ")
        for name, value in spec.options:
            self._program.send(f"setoption name {name} value {value}")
        self._await("isready", "readyok")

    def _await(self, question: str, answer: str) -> list[str]:
        """Ask, and return the lines that came before the answer."""
        deadline = time.monotonic() + START_SECONDS
        self._program.send(question)
        lines = []
        while (line := self._program.read_line(deadline)) != answer:
            lines.append(line)
        return lines


class CodecupEngine:
    """A player of the CodeCup protocol: a program for each game, which keeps its own clock."""

    def __init__(self, spec: Spec, keeper: Keeper) -> None:
        self.identity = spec.name
        self._spec = spec
        self._keeper = keeper
        self._program = keeper.start(spec.command)
        self._is_fresh = True

    def begin_game(self) -> None:
        """Start a new program, unless the one that runs has not played yet."""
        if not self._is_fresh:
            self.close()
            self._program = self._keeper.start(self._spec.command)
            self._is_fresh = True

    def choose_move(self, moves: list[str], go: str, seconds: float) -> Answer:
        """Return its answer to the last move.

        The time before it has read its first line is its start, and does not count.
        """
        self._program.send(format_codecup(moves[-1]) if moves else "start")
        if self._is_fresh:
            self._program.await_reading(time.monotonic() + START_SECONDS)
            self._is_fresh = False
        begin = time.monotonic()
        line = self._program.read_line(begin + seconds)
        taken = time.monotonic() - begin
        try:
            return Answer(parse_codecup(line), None, taken)
        except ValueError as error:
            raise ProgramFault(str(error)) from None

    def close(self) -> None:
        """End it."""
        self._program.close("end", FAREWELL_SECONDS)


def _read_score(line: str) -> Score | None:
    match = _SCORE.search(line)
    if match is None or _OTHER_LINE.search(line):
        return None
    value = int(match[2])
    return Score(cp=value) if match[1] == "cp" else Score(mate=value)
