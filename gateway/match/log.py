"""The file of a match: a line of its settings, then a line for each game, so that it can go on."""

import fcntl
import json
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from core.match.game import Game
from core.records import (
    UNFINISHED,
    GameRecord,
    RecordedMove,
    format_object,
    parse_object,
)
from gateway.match.tournament import Plan, Round

FORMAT = 2


class LogError(Exception):
    """A file cannot be the one of this match; the text says why."""


class MatchLog:
    """The games of a match in a file, which one process at a time may write.

    A last line that was not written to its end is cut off.

    Args:
        path: the file; made if there is none.
        header: the settings; a file with others is refused.
        names: of the two engines.

    Raises:
        LogError: the file has other settings, is not a match's, or is in use.
        OSError: it cannot be written.
    """

    def __init__(self, path: Path, header: dict[str, Any], names: tuple[str, str]) -> None:
        self._names = names
        self._variant: str = header["variant"]
        self._file = path.open("a+b")
        try:
            self.games = self._read(header)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "MatchLog":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, task: Round, game: Game) -> None:
        """Write a game."""
        scores = [*[None] * len(game.opening), *game.scores]
        moves = zip([*game.opening, *game.moves], scores, strict=True)
        record = GameRecord(
            self._variant,
            moves=tuple(RecordedMove(move, score) for move, score in moves),
            result=game.result,
            tags={"White": self._names[task.white], "Black": self._names[1 - task.white]},
        )
        rest = {"seconds": game.seconds, "reason": game.reason, "is_forfeit": game.is_forfeit}
        row = {"pair": task.pair, "opening": len(game.opening), **format_object(record), **rest}
        self._write(row)

    def _read(self, header: dict[str, Any]) -> list[tuple[Round, Game]]:
        """Return the games of the file, after it has a header."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LogError("another match writes this file") from None
        self._file.seek(0)
        *lines, torn = self._file.read().split(b"\n")
        if lines:
            _compare(_parse(lines[0], 1), header)
        elif not _encode(header).startswith(torn):
            raise LogError("it is not the file of a match")
        self._file.truncate(self._file.tell() - len(torn))
        if not lines:
            self._write(header)
        games = [self._parse_game(line, number) for number, line in enumerate(lines[1:], 2)]
        if len({task for task, _ in games}) < len(games):
            raise LogError("it has a game twice")
        return games

    def _parse_game(self, line: bytes, number: int) -> tuple[Round, Game]:
        row = _parse(line, number)
        try:
            task = Round(row["pair"], self._names.index(row["white"]))
            record = parse_object(row)
            if record.result == UNFINISHED:
                raise ValueError("it has no result")
            if row["opening"] not in range(len(record.moves) + 1):
                raise ValueError(f"its opening has {row['opening']} moves")
            opening = [move.text for move in record.moves[: row["opening"]]]
            played = record.moves[len(opening) :]
            game = Game(
                opening,
                moves=[move.text for move in played],
                scores=[move.score for move in played],
                seconds=row["seconds"],
                result=record.result,
                reason=row["reason"],
                is_forfeit=row["is_forfeit"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise LogError(f"line {number} is not a game of this match: {error}") from None
        return task, game

    def _write(self, row: dict[str, Any]) -> None:
        self._file.write(_encode(row))
        self._file.flush()


def make_header(plan: Plan, identities: list[str], search: str) -> dict[str, Any]:
    """Return all that decides what the games are, and when the match ends.

    `search`: the build of the search, on which openings depend.
    """
    engines = [
        {"name": spec.name, "spec": spec.text, "identity": identity}
        for spec, identity in zip(plan.engines, identities, strict=True)
    ]
    return {
        "match": FORMAT,
        "variant": plan.variant,
        "engines": engines,
        **asdict(plan.control),
        "terms": asdict(plan.terms),
        "seed": plan.seed,
        "search": search,
        "sprt": asdict(plan.sprt) if plan.sprt else None,
    }


def _encode(row: dict[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def _parse(line: bytes, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise LogError(f"line {number} is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise LogError(f"line {number} is not an object")
    return row


def _compare(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    if "match" not in found:
        raise LogError("it is not the file of a match")
    for name in {**wanted, **found}:
        if found.get(name) != wanted.get(name):
            raise LogError(
                f"it was played with {name} {json.dumps(found.get(name))}, "
                f"not {json.dumps(wanted.get(name))}"
            )
