"""A player of the CodeCup protocol: one game, on standard input and output, against a clock."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from core.engine import Engine
from core.limits import Limits
from core.position import Position
from core.records.moves import format_codecup, parse_codecup
from gateway.book.choice import BookChooser
from gateway.match.clock import allot

START = "start"
ENDS = ("end", "quit")
# What each move takes by the other side's clock and not by ours: two pipes, two awakenings.
UNSEEN_SECONDS = 0.002


class UnreadableLine(Exception):
    """A line of the other side is no legal move; the text says why."""


class CodecupPlayer:
    """Plays one game; the time before it reads its first line is not its clock's.

    Args:
        variant: the name of the variant; raises UnknownVariant.
        clock: seconds for all its moves.
        threads: that search together.
        hash_mb: size of the transposition table.
        chooser: of moves from a book of the variant; None: there is no book.
    """

    def __init__(
        self,
        variant: str,
        clock: float,
        threads: int,
        hash_mb: int,
        chooser: BookChooser | None = None,
    ) -> None:
        self._position = Position(variant)
        self._chooser = chooser
        self._engine = Engine(keep=True)
        self._remaining = clock
        self._means = Limits(depth=1, threads=threads, hash_mb=hash_mb)
        # Whatever is done but once is done now.
        self._engine.search(self._position, self._means)

    def run(self, lines: Iterable[str], write: Callable[[str], None]) -> None:
        """Answer each line with a move, written at once, until `end` or `quit` or no more come.

        The first line is `start`, when the player has the first move, or a move. Nothing is written
        when the game is over.

        Raises:
            UnreadableLine: there is no answer to a line.
        """
        for number, line in enumerate(lines):
            begin = time.monotonic()
            if line.lower() in ENDS:
                return
            if number > 0 or line.lower() != START:
                self._read_move(line)
            if self._position.result() is None:
                write(format_codecup(self._choose_move()))
            self._remaining -= time.monotonic() - begin + UNSEEN_SECONDS

    def _read_move(self, line: str) -> None:
        try:
            self._position.push(parse_codecup(line))
        except ValueError as error:
            raise UnreadableLine(str(error)) from None

    def _choose_move(self) -> str:
        """Return a move, which is made; any one when the game is drawn, though played on."""
        move = self._chooser.choose(self._position) if self._chooser else None
        if move is None:
            seconds = allot(self._remaining, len(self._position.moves) // 2)
            limits = replace(self._means, depth=None, movetime=max(int(seconds * 1000), 1))
            found = self._engine.search(self._position, limits)
            move = found.bestmove or self._position.legal_moves[0]
        self._position.push(move)
        return move
