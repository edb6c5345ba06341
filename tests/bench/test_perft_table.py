"""The columns of perft: the same as counted from the reference's positions before and after."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from bench.perft_table import COLUMNS, find_kinds, format_table, parse_board, reaches, tabulate
from core.games import VARIANTS
from core.reference import caissa, chakra
from core.reference.text import parse_square
from tests.core.judge import PerftEntry, read_perft_entries

ENTRIES = list(read_perft_entries())
SMALL = [entry for entry in ENTRIES if entry.counts[2] < 1600]
each_small_entry = pytest.mark.parametrize("entry", SMALL, ids=lambda e: f"{e.variant}:{e.name}")


@each_small_entry
def test_columns_equal_those_of_the_reference(entry: PerftEntry) -> None:
    rows = tabulate(entry.variant, entry.fen, 2)
    assert rows == [count_by_reference(entry.variant, entry.fen, depth) for depth in (1, 2)]
    assert [row["nodes"] for row in rows] == [entry.counts[1], entry.counts[2]]


def test_small_positions_cover_every_column() -> None:
    seen = Counter[str]()
    for entry in SMALL:
        for row in tabulate(entry.variant, entry.fen, 2):
            seen.update(row)
    assert set(seen) == {column for columns in COLUMNS.values() for column in columns}


@pytest.mark.parametrize("variant", [v.name for v in VARIANTS.values() if v.game == "chakra"])
def test_formal_moves_equal_those_of_the_reference(variant: str) -> None:
    """Of all pieces to all squares without a friendly piece, not only to chakras."""
    for entry in ENTRIES:
        if entry.variant != variant or entry.fen == "startpos":
            continue
        state, board = chakra.parse_fen(variant, entry.fen), parse_board(variant, entry.fen)
        own = {s for s, piece in board.pieces.items() if piece.isupper() == board.is_white}
        squares = {(file, rank) for file in range(8) for rank in range(8)}
        for origin in own:
            ends = {end for end in squares - own if reaches(board, origin, end)}
            formal = chakra._formal_ends(state, 8 * origin[1] + origin[0])
            found = {(end % 8, end // 8) for end in formal}
            assert ends == found - own, origin


@pytest.mark.parametrize(
    ("fen", "move", "kinds"),
    [
        # The ape on f4 stands on a chakra and covers the other one: a pass.
        ("4k3/8/8/8/5A2/8/8/4K3 w f4n,g6n - 0 1", "f4f4", ["transmissions"]),
        ("4k3/8/8/8/5A2/8/8/4K3 w f4n,g6n - 0 1", "f4g6", []),
        # The pawn steps onto c4 and ends on f8.
        ("k7/8/8/8/8/2P5/8/4K3 w c4n,f8n - 0 1", "c3f8q", ["promotions", "transmissions"]),
        ("k7/8/8/8/8/2P5/8/4K3 w c4n,f8n - 0 1", "c3c4", []),
        ("k4m2/8/8/8/8/2P5/8/4K3 w c4n,f7n - 0 1", "c3f7", ["transmissions"]),
        ("k7/5m2/8/8/8/2P5/8/4K3 w c4n,f7n - 0 1", "c3f7", ["captures", "transmissions"]),
        # The queen reaches h1 by herself as well as through a1: by herself.
        ("k7/8/8/8/3Q4/8/8/4K3 w a1n,h4n - 0 1", "d4h4", []),
        # A king on a vacant enemy chakra captures the transmitter.
        ("k7/8/8/8/8/8/8/4K3 w - e2n,h4n 0 1", "e1e2", ["captures"]),
        ("k7/8/8/8/8/8/8/4K3 w a2n,h4n - 0 1", "a2a2f", ["flips"]),
        ("k7/8/8/8/8/8/8/4K3 w a2n,h4n - 0 1", "a2b4f", ["chakra moves", "flips"]),
        ("k7/8/8/8/8/8/8/4K3 w a2n,h4n - 0 1", "a2b4", ["chakra moves"]),
    ],
)
def test_kinds_of_chakra_moves(fen: str, move: str, kinds: list[str]) -> None:
    assert move in chakra.legal_moves(chakra.parse_fen("chakra", fen))
    assert find_kinds("chakra", parse_board("chakra", fen), move) == kinds


@pytest.mark.parametrize(
    ("fen", "move", "kinds"),
    [
        ("q6/7/7/7/7/2*4/1QR4 w - 0 1", "b1a1", ["tile removals"]),
        ("q6/7/7/7/7/1n*4/1QR4 w - 0 1", "b1b2", ["tile removals", "captures"]),
        ("q6/7/7/7/7/2*4/1QR4 w - 0 1", "c1c2", ["tile carries"]),
        ("q6/7/7/7/7/2N4/1QR4 w - 0 1", "c1c2", ["exchanges"]),
        ("q6/7/7/7/7/2n4/1QR4 w - 0 1", "c1c3", []),
    ],
)
def test_kinds_of_caissa_moves(fen: str, move: str, kinds: list[str]) -> None:
    assert find_kinds("caissa", parse_board("caissa", fen), move) == kinds


def test_a_table_has_a_line_for_each_depth() -> None:
    lines = format_table("caissa", tabulate("caissa", "startpos", 2)).splitlines()
    assert lines[0].startswith("| depth | nodes | captures | exchanges |")
    assert [line.split(" | ")[:2] for line in lines[2:]] == [["| 1", "26"], ["| 2", "630"]]


def count_by_reference(variant: str, fen: str, depth: int) -> Counter[str]:
    """Return the row of a depth, each move judged by the positions before and after it."""
    game: Any = chakra if variant in chakra.VARIANTS else caissa
    find = find_chakra_columns if game is chakra else find_caissa_columns
    if fen == "startpos":
        fen = game.START_FENS[variant]
    states = [game.parse_fen(variant, fen)]
    for _ in range(depth - 1):
        states = [following for state in states for following in game.successors(state).values()]
    row: Counter[str] = Counter()
    for state in states:
        for move, following in game.successors(state).items():
            row.update(["nodes", *find(state, move, following)])
            row.update(["checks"] * game.in_check(following))
            row.update(["mates"] * (game.result(following) == "checkmate"))
    return row


def find_chakra_columns(state: Any, move: str, following: Any) -> Iterator[str]:
    is_white = state.side == "w"
    own, enemy = ("PQSMAC", "kqsmacp") if is_white else ("pqsmac", "KQSMACP")
    chakras = [(s.white_chakras if is_white else s.black_chakras) for s in (state, following)]
    others = [(s.black_chakras if is_white else s.white_chakras) for s in (state, following)]
    if count_letters(following, enemy) < count_letters(state, enemy) or others[0] != others[1]:
        yield "captures"
    if count_letters(following, own[0]) < count_letters(state, own[0]):
        yield "promotions"
    if {c.square for c in chakras[0]} != {c.square for c in chakras[1]}:
        yield "chakra moves"
    if sorted(c.mode for c in chakras[0]) != sorted(c.mode for c in chakras[1]):
        yield "flips"
    is_piece_move = chakras[0] == chakras[1]
    origin, end = parse_square(move[:2], 8), parse_square(move[2:4], 8)
    assert origin is not None
    if is_piece_move and end not in chakra._formal_ends(state, origin):
        yield "transmissions"


def find_caissa_columns(state: Any, move: str, following: Any) -> Iterator[str]:
    enemy = "qrnb" if state.side == "w" else "QRNB"
    if count_letters(following, enemy) < count_letters(state, enemy):
        yield "captures"
    holes = [[n for n, content in enumerate(s.board) if content == "*"] for s in (state, following)]
    if len(holes[1]) > len(holes[0]):
        yield "tile removals"
    elif holes[1] != holes[0]:
        yield "tile carries"
    origin, end = parse_square(move[:2], 7), parse_square(move[2:], 7)
    assert origin is not None and end is not None
    swapped = (following.board[end], following.board[origin])
    if swapped == (state.board[origin], state.board[end]) and state.board[end] not in ".*":
        yield "exchanges"


def count_letters(state: Any, letters: str) -> int:
    return sum(state.board.count(letter) for letter in letters)
