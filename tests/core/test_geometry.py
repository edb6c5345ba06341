"""Steps, lines and slides on both boards: fast, portable and by walking, entries by hand."""

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core import geometry
from core.bind import bind
from core.bits import HAS_PEXT
from core.geometry import BISHOP_STEPS, KING_STEPS, KNIGHT_STEPS, ROOK_STEPS, Board

WIDTHS = (7, 8)
OCCUPATIONS = 40
each_width = pytest.mark.parametrize("width", WIDTHS)
SLIDERS = {"rook": ROOK_STEPS, "bishop": BISHOP_STEPS}


@pytest.fixture(scope="module")
def kernels() -> SimpleNamespace:
    return bind(geometry, "test_geometry", {})


@pytest.fixture(scope="module", params=WIDTHS)
def board(request: pytest.FixtureRequest) -> tuple[int, Any]:
    """The width of a board and its tables."""
    fields = np.dtype(geometry.find_fields(request.param, request.param), align=True)
    tables = np.zeros(1, dtype=np.dtype((np.record, fields)))[0]
    geometry.fill_tables(tables, request.param, request.param)
    return request.param, tables


def squares(text: str) -> int:
    """The bitboard of named squares."""
    return sum(1 << (ord(s[0]) - ord("a") + 8 * (int(s[1]) - 1)) for s in text.split())


def square(name: str) -> int:
    return squares(name).bit_length() - 1


def list_squares(width: int) -> list[int]:
    return [8 * rank + file for rank in range(width) for file in range(width)]


def walk(width: int, start: int, steps: list[tuple[int, int]], occupied: int, far: bool) -> int:
    """What is reached square by square, one step or, `far`, until something stands in the way."""
    reached = 0
    for rank_step, file_step in steps:
        rank, file = divmod(start, 8)
        while True:
            rank, file = rank + rank_step, file + file_step
            if not (0 <= rank < width and 0 <= file < width):
                break
            here = 1 << (8 * rank + file)
            reached |= here
            if occupied & here or not far:
                break
    return reached


def choose_occupations(width: int, rng: random.Random) -> list[int]:
    """Occupied squares of any number: none, all, and random ones, sparse to dense."""
    board = sum(1 << s for s in list_squares(width))
    chosen = [0, board]
    for _ in range(OCCUPATIONS):
        occupied = rng.getrandbits(64) & board
        for _ in range(rng.randrange(3)):
            occupied = rng.choice(
                (occupied & rng.getrandbits(64), occupied | (rng.getrandbits(64) & board))
            )
        chosen.append(occupied)
    return chosen


@pytest.mark.parametrize("slider", SLIDERS)
def test_slides_are_what_is_reached_by_walking(
    slider: str, board: tuple[int, Any], kernels: SimpleNamespace
) -> None:
    width, tables = board
    functions = [getattr(kernels, f"{slider}_slides_portable")]
    if HAS_PEXT:
        functions.append(getattr(kernels, f"{slider}_slides_pext"))
    rng = random.Random(f"{slider} {width}")
    for start in list_squares(width):
        for occupied in choose_occupations(width, rng):
            expected = walk(width, start, SLIDERS[slider], occupied, far=True)
            for function in functions:
                found = function(tables, np.uint64(start), np.uint64(occupied))
                assert int(found) == expected, (start, hex(occupied))


def test_steps_and_rays_are_what_is_reached_by_walking(board: tuple[int, Any]) -> None:
    width, tables = board
    for start in list_squares(width):
        for name, steps, far in (
            ("king_steps", KING_STEPS, False),
            ("knight_steps", KNIGHT_STEPS, False),
            ("rook_rays", ROOK_STEPS, True),
            ("bishop_rays", BISHOP_STEPS, True),
            ("file_line", [(1, 0), (-1, 0)], True),
            ("rising_line", [(1, 1), (-1, -1)], True),
            ("falling_line", [(1, -1), (-1, 1)], True),
        ):
            assert int(tables[name][start]) == walk(width, start, steps, 0, far), (name, start)


def test_tables_are_empty_off_the_board(board: tuple[int, Any]) -> None:
    width, tables = board
    on_board = sum(1 << s for s in list_squares(width))
    for name in ("king_steps", "knight_steps", "rook_rays", "bishop_rays"):
        for s in range(64):
            if on_board >> s & 1:
                assert int(tables[name][s]) & ~on_board == 0
            else:
                assert int(tables[name][s]) == 0
    assert not np.any(tables.slides & np.uint64(~on_board & (1 << 64) - 1))


def test_lines_are_symmetric_and_contain_what_is_between(board: tuple[int, Any]) -> None:
    width, tables = board
    for a in list_squares(width):
        for b in list_squares(width):
            between, line = int(tables.between[a, b]), int(tables.line[a, b])
            assert (between, line) == (int(tables.between[b, a]), int(tables.line[b, a]))
            rank, file = b // 8 - a // 8, b % 8 - a % 8
            if a == b or not (rank == 0 or file == 0 or abs(rank) == abs(file)):
                assert (between, line) == (0, 0)
                continue
            step = (rank and rank // abs(rank), file and file // abs(file))
            behind = (-step[0], -step[1])
            assert line == walk(width, a, [step, behind], 0, far=True) | 1 << a
            assert between == walk(width, a, [step], 1 << b, far=True) & ~(1 << b)


@each_width
def test_entries_by_hand(width: int) -> None:
    board = Board(width, width)
    assert board.find_steps(square("a1"), KING_STEPS) == squares("a2 b1 b2")
    assert board.find_steps(square("a1"), KNIGHT_STEPS) == squares("b3 c2")
    assert board.find_steps(square("d4"), KNIGHT_STEPS) == squares("b3 b5 c2 c6 e2 e6 f3 f5")
    occupied = squares("a4 c1")
    assert board.find_slides(square("a1"), ROOK_STEPS, occupied) == squares("a2 a3 a4 b1 c1")
    between, line = board.find_line(square("b2"), square("e5"))
    assert between == squares("c3 d4")
    edge = "" if width == 7 else " h8"
    assert line == squares("a1 b2 c3 d4 e5 f6 g7" + edge)
    assert board.find_line(square("b2"), square("c4")) == (0, 0)
    rook, bishop = board.slider_masks(square("a1"))
    if width == 7:
        assert rook == squares("a2 a3 a4 a5 a6 b1 c1 d1 e1 f1")
        assert bishop == squares("b2 c3 d4 e5 f6")
    else:
        assert rook == squares("a2 a3 a4 a5 a6 a7 b1 c1 d1 e1 f1 g1")
        assert bishop == squares("b2 c3 d4 e5 f6 g7")


def test_the_kernels_of_this_processor_are_chosen(
    kernels: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for has_pext, ending in ((True, "pext"), (False, "portable")):
        monkeypatch.setattr(geometry, "HAS_PEXT", has_pext)
        rook, bishop = geometry.choose_sliders(kernels)
        assert rook is getattr(kernels, f"rook_slides_{ending}")
        assert bishop is getattr(kernels, f"bishop_slides_{ending}")
