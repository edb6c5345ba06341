"""A position with the game that led to it: what people and services use."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import counting
from core.games import Game, find_variant, load_game
from core.notation import MoveError
from core.picture import build_scene, draw_svg
from core.record import Record, borrow_record
from core.rules import DRAW_NAMES, MAX_HISTORY
from core.variant import Variant

STARTPOS = "startpos"


class Position:
    """A position of a variant, with the moves played from where it began.

    >>> position = Position("chakra")
    >>> position.push("e2e4")
    >>> position.fen()
    'acmqksca/1pppppp1/8/8/4P3/8/1PPP1PP1/ACMQKSCA b a2n,h2n a7n,h7n 0 1'

    `fen` may be `startpos`. Raises UnknownVariant, or PositionError with every fault.

    Threads may use different positions at the same time.
    """

    def __init__(self, variant: str, fen: str = STARTPOS) -> None:
        self.variant: Variant = find_variant(variant)
        self.game: Game = load_game(self.variant.game)
        self.moves: list[str] = []
        record = borrow_record(self.game)
        text = self.variant.startpos if fen == STARTPOS else fen
        self.game.rules.parse_position(record.array, self.game.rules.TABLES, self.variant, text)
        self._bytes = record.read_position()
        self._snapshots: list[bytes] = []
        self._keys: list[tuple[int, int]] = []

    def fen(self) -> str:
        """Return the canonical text of the position."""
        return str(self.game.rules.format_position(self._view()))

    @property
    def key(self) -> int:
        """A 64-bit hash of all that legality depends on."""
        return int(self._view()["key"][0])

    @property
    def keys(self) -> tuple[int, int]:
        """Two independent hashes; equal pairs are taken for equal positions."""
        view = self._view()
        return int(view["key"][0]), int(view["key2"][0])

    @property
    def legal_moves(self) -> list[str]:
        """The legal moves, sorted as text. Draws do not take them away."""
        return sorted(self.packed_moves())

    def push(self, move: str) -> None:
        """Play a legal move, or raise MoveError and stay as before."""
        text = self.game.rules.normalise_move(move)
        packed = self.packed_moves().get(text)
        if packed is None:
            raise MoveError(move, f"not legal in {self.fen()}")
        self._snapshots.append(self._bytes)
        self._keys.append(self.keys)
        record = self._load()
        self.game.entry.make_root_move(record.array, self.game.rules.TABLES, np.uint64(packed))
        self._bytes = record.read_position()
        self.moves.append(text)

    def pop(self) -> str:
        """Take back the last move and return it; IndexError when none was played."""
        move = self.moves.pop()
        self._bytes = self._snapshots.pop()
        self._keys.pop()
        return move

    def is_check(self) -> bool:
        """Return whether the side to move is in check."""
        return self._survey()[1]

    def result(self) -> str | None:
        """Return `checkmate`, `stalemate`, or None while there is a legal move."""
        count, is_check, _ = self._survey()
        return _name_result(count, is_check)

    def outcome(self) -> str | None:
        """Return what ended the game, or None: a result, else a draw.

        The draws are `repetition` (third time since this game's beginning), `move-limit` and
        `insufficient`, in this order.
        """
        count, is_check, draw = self._survey()
        result = _name_result(count, is_check)
        if result:
            return result
        if self._keys and self._keys.count(self.keys) >= 2:
            return "repetition"
        return DRAW_NAMES.get(draw)

    def perft(self, depth: int) -> int:
        """Return the number of legal lines of `depth` plies, exact at any size."""
        return counting.count_lines(self, depth)

    def svg(
        self, line: Sequence[str] = (), *, is_flipped: bool = False, theme: str = "light"
    ) -> str:
        """Return a picture of the position as SVG, the last move and check marked in it.

        `line`: moves from here on, drawn as arrows; MoveError when one is not legal. `is_flipped`:
        as Black sees the board. `theme`: `light` or `dark`, or ValueError.
        """
        return draw_svg(build_scene(self, line), is_flipped=is_flipped, theme=theme)

    def _repr_svg_(self) -> str:
        """Return the picture that notebooks show."""
        return self.svg()

    def copy(self) -> "Position":
        """Return the same position, without the game that led to it."""
        return Position(self.variant.name, self.fen())

    def snapshot(self) -> bytes:
        """Return the bytes of the position in its state record, from the beginning of it."""
        return self._bytes

    def write_state(self, record: Record) -> None:
        """Write this position, with the keys of the game that can come again, into a record."""
        record.write_position(self._bytes)
        R = record.array
        possible = min(int(R["reversible"][0]), MAX_HISTORY)
        played = [key for key, _ in self._keys[max(len(self._keys) - possible, 0) :]]
        R["keys"][0, : len(played)] = played
        R["key_count"] = R["root_count"] = len(played)
        R["ply"] = 0

    def _load(self) -> Record:
        """Return this thread's record with the position in it."""
        record = borrow_record(self.game)
        record.write_position(self._bytes)
        return record

    def _view(self) -> NDArray[Any]:
        """Return the fields of the position, to be read: an array of one record."""
        return np.frombuffer(self._bytes, dtype=self.game.position_type)

    def _survey(self) -> tuple[int, bool, int]:
        """Return the number of legal moves, whether there is check, and the draw, if any."""
        found = self.game.entry.survey(self._load().array, self.game.rules.TABLES)
        return int(found[0]), bool(found[1]), int(found[2])

    def packed_moves(self) -> dict[str, int]:
        """Return the legal moves by their text, as kernels take them."""
        record = self._load()
        count = self.game.entry.list_moves(record.array, self.game.rules.TABLES)
        format_move = self.game.rules.format_move
        return {format_move(move): move for move in record.read_moves(count)}

    def format_moves(self, packed: Any) -> list[str]:
        """Return the texts of packed moves."""
        return [self.game.rules.format_move(int(move)) for move in packed]


def _name_result(count: int, is_check: bool) -> str | None:
    """Return how a game ended in a position with `count` legal moves; None with any."""
    if count:
        return None
    return "checkmate" if is_check else "stalemate"
