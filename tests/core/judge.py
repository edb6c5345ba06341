"""What several tests share: the judge of a variant, samples of positions, records, data files."""

import functools
import importlib
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from core.games import VARIANTS, Game, load_game
from core.jit import view_record
from core.record import Record
from core.variant import Variant

TESTS = Path(__file__).parent.parent
VARIANT_NAMES = list(VARIANTS)
GOLDEN = [
    json.loads(line)
    for line in (TESTS / "core/data/golden-positions.jsonl").read_text().splitlines()
]

GAME_PLIES = 70
RANDOM_STATES = 160
# Positions of Chakra with the mover's king on an enemy chakra, where moves are found another way.
KING_ON_CHAKRA_STATES = 120


@dataclass(frozen=True)
class PerftEntry:
    """One position of a perft file, with its counts by depth."""

    variant: str
    name: str
    fen: str
    counts: dict[int, int]


@dataclass(frozen=True)
class Sample:
    """A position as the reference sees it, with the position after each legal move."""

    state: Any
    fen: str
    following: dict[str, Any]


@dataclass(frozen=True)
class Symmetry:
    """A transformation of the board under which a game keeps its moves."""

    name: str
    transform_fen: Callable[[str], str]
    transform_move: Callable[[str], str]


@dataclass
class Kernels:
    """A state record of a variant set up from a FEN, and the functions of its game."""

    variant: Variant
    game: Game
    record: Record
    state: Any
    tables: Any

    @property
    def position_bytes(self) -> bytes:
        """The bytes of what makes up the position; stacks and search come after."""
        return self.record.read_position()

    def list_moves(self) -> dict[str, Any]:
        """The packed legal moves by their texts; a move listed twice is an error."""
        rules = self.game.rules
        count = int(rules.generate_moves(self.state, self.tables))
        packed = self.state.moves[int(self.state.ply)][:count].copy()
        moves = {rules.format_move(int(move)): move for move in packed}
        assert len(moves) == count
        return moves

    def make_move(self, move: Any) -> None:
        self.game.rules.make_move(self.state, self.tables, move)

    def unmake_move(self) -> None:
        self.game.rules.unmake_move(self.state, self.tables)

    def fen(self) -> str:
        return str(self.game.rules.format_position(self.record.array))

    def compute_keys(self) -> tuple[int, int]:
        """Both keys, from scratch."""
        compute_key = self.game.rules.compute_key
        first, second = (compute_key(self.state, self.tables, np.uint64(i)) for i in (0, 1))
        return int(first), int(second)

    @property
    def keys(self) -> tuple[int, int]:
        """Both keys, as they were kept up to date."""
        return int(self.state.key), int(self.state.key2)


def set_up(variant: str, fen: str) -> Kernels:
    """A fresh record with the position in it."""
    game = load_game(VARIANTS[variant].game)
    record, tables = Record(game), game.rules.TABLES
    game.rules.parse_position(record.array, tables, VARIANTS[variant], fen)
    state = view_record(record.array)
    return Kernels(VARIANTS[variant], game, record, state, view_record(tables))


def find_judge(variant: str) -> ModuleType:
    """The reference of a variant's game."""
    return importlib.import_module(f"core.reference.{VARIANTS[variant].game}")


def find_symmetries(variant: str) -> list[Symmetry]:
    """The symmetries that the reference of the variant's game offers."""
    judge = find_judge(variant)
    found = [
        Symmetry(name, getattr(judge, f"{name}_fen"), getattr(judge, f"{name}_move", str))
        for name in ("mirror", "swap")
        if hasattr(judge, f"{name}_fen")
    ]
    if hasattr(judge, "transform_fen"):
        for n in range(1, 8):
            fen = functools.partial(judge.transform_fen, n=n)
            found.append(
                Symmetry(f"transform {n}", fen, functools.partial(judge.transform_move, n=n))
            )
    return found


def is_king_on_enemy_chakra(state: Any) -> bool:
    """Whether the king of Chakra's side to move stands on a chakra of the other side."""
    king = state.board.index("K" if state.side == "w" else "k")
    chakras = state.black_chakras if state.side == "w" else state.white_chakras
    return any(chakra.square == king for chakra in chakras)


def sample(variant: str, state: Any) -> Sample:
    judge = find_judge(variant)
    return Sample(state, judge.format_fen(state), judge.successors(state))


@functools.cache
def find_samples(variant: str) -> list[Sample]:
    """Positions of two random games and positions placed at random, the same in every run."""
    judge, rng = find_judge(variant), random.Random(f"samples of {variant}")
    states = [s for _ in range(2) for s in judge.random_game(rng, variant, GAME_PLIES)]
    states += [judge.random_state(rng, variant) for _ in range(RANDOM_STATES)]
    if VARIANTS[variant].game == "chakra":
        states += find_king_on_chakra_states(variant, rng)
    return [sample(variant, state) for state in states]


def find_king_on_chakra_states(variant: str, rng: random.Random) -> list[Any]:
    judge = find_judge(variant)
    found: list[Any] = []
    while len(found) < KING_ON_CHAKRA_STATES:
        state = judge.random_state(rng, variant)
        if is_king_on_enemy_chakra(state):
            found.append(state)
    return found


def read_perft_entries() -> Iterator[PerftEntry]:
    """Every position of the perft files, one file a variant."""
    for path in sorted((TESTS / "perft").glob("*.perft")):
        for block in path.read_text().strip().split("\n\n"):
            lines = [line.partition(" ")[::2] for line in block.splitlines()]
            words = dict(lines)
            counts = {
                int(d): int(n) for word, rest in lines if word == "perft" for d, n in [rest.split()]
            }
            yield PerftEntry(path.stem, words["id"], words["fen"], counts)
