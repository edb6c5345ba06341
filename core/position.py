"""A position with the game that led to it: what people and services use."""

from typing import Any

import numpy as np

from core import counting
from core.games import Game, find_variant, load_game
from core.notation import MoveError
from core.rules import DRAW_NAMES
from core.variant import Variant

STARTPOS = "startpos"


class Position:
    """A position of a variant, with the moves played from where it began.

    >>> position = Position("chakra")
    >>> position.push("e2e4")
    >>> position.fen()
    'acmqksca/1pppppp1/8/8/4P3/8/1PPP1PP1/ACMQKSCA b a2n,h2n a7n,h7n 0 1'

    `fen` may be `startpos`. Raises UnknownVariant, or PositionError with every fault.
    """

    def __init__(self, variant: str, fen: str = STARTPOS) -> None:
        self.variant: Variant = find_variant(variant)
        self.game: Game = load_game(self.variant.game)
        self.moves: list[str] = []
        records = np.zeros(1, dtype=self.game.rules.STATE)
        self._state: Any = records[0]
        text = self.variant.startpos if fen == STARTPOS else fen
        self.game.rules.parse_position(self._state, self.game.rules.TABLES, self.variant, text)
        size = self.game.rules.STATE.fields["ply"][1]
        self._bytes = records.view(np.uint8)[:size]
        self._snapshots: list[bytes] = []
        self._keys: list[tuple[int, int]] = []

    def fen(self) -> str:
        """Return the canonical text of the position."""
        return str(self.game.rules.format_position(self._state))

    @property
    def key(self) -> int:
        """A 64-bit hash of all that legality depends on."""
        return int(self._state.key)

    @property
    def keys(self) -> tuple[int, int]:
        """Two independent hashes; equal pairs are taken for equal positions."""
        return int(self._state.key), int(self._state.key2)

    @property
    def legal_moves(self) -> list[str]:
        """The legal moves, sorted as text. Draws do not take them away."""
        return sorted(self._list_moves())

    def push(self, move: str) -> None:
        """Play a legal move, or raise MoveError and stay as before."""
        text = self.game.rules.normalise_move(move)
        packed = self._list_moves().get(text)
        if packed is None:
            raise MoveError(move, f"not legal in {self.fen()}")
        self._snapshots.append(self.snapshot())
        self._keys.append(self.keys)
        self.game.rules.make_move(self._state, self.game.rules.TABLES, np.uint64(packed))
        self._state.ply = 0
        self._state.key_count = 0
        self.moves.append(text)

    def pop(self) -> str:
        """Take back the last move and return it; IndexError when none was played."""
        move = self.moves.pop()
        self._bytes[:] = np.frombuffer(self._snapshots.pop(), dtype=np.uint8)
        self._keys.pop()
        return move

    def is_check(self) -> bool:
        """Return whether the side to move is in check."""
        return bool(self.game.rules.in_check(self._state, self.game.rules.TABLES))

    def result(self) -> str | None:
        """Return `checkmate`, `stalemate`, or None while there is a legal move."""
        if self.game.rules.count_moves(self._state, self.game.rules.TABLES):
            return None
        return "checkmate" if self.is_check() else "stalemate"

    def outcome(self) -> str | None:
        """Return what ended the game, or None: a result, else a draw.

        The draws are `repetition` (third time since this game's beginning), `move-limit` and
        `insufficient`, in this order.
        """
        result = self.result()
        if result:
            return result
        if self._keys.count(self.keys) >= 2:
            return "repetition"
        return DRAW_NAMES.get(int(self.game.rules.find_draw(self._state)))

    def perft(self, depth: int) -> int:
        """Return the number of legal lines of `depth` plies, exact at any size."""
        return counting.count_lines(self, depth)

    def copy(self) -> "Position":
        """Return the same position, without the game that led to it."""
        return Position(self.variant.name, self.fen())

    def snapshot(self) -> bytes:
        """Return the bytes of the position in its state record, from the beginning of it."""
        return self._bytes.tobytes()

    def write_state(self, state: Any, records: Any) -> None:
        """Write this position, with the keys of the game that can come again, into another state.

        `records`: the array of one record that `state` is.
        """
        records.view(np.uint8)[: len(self._bytes)] = self._bytes
        possible = min(int(self._state.reversible), len(state.keys) - len(state.moves))
        played = [key for key, _ in self._keys[max(len(self._keys) - possible, 0) :]]
        state.keys[: len(played)] = played
        state.key_count = len(played)
        state.root_count = len(played)
        state.ply = 0

    def _list_moves(self) -> dict[str, int]:
        count = int(self.game.rules.generate_moves(self._state, self.game.rules.TABLES))
        packed = self._state.moves[0][:count].tolist()
        return {self.game.rules.format_move(move): move for move in packed}

    def format_moves(self, packed: Any) -> list[str]:
        """Return the texts of packed moves."""
        return [self.game.rules.format_move(int(move)) for move in packed]
