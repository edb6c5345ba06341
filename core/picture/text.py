"""A scene as lines of text, in spans of which a terminal may colour each.

The side of a piece is told by its case, as in a FEN. White's marks have square brackets, Black's
round ones, and their letter behind them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from core.explanation import WHITE
from core.picture.scene import Scene, find_move_squares

_CELL = 5
_PLAIN = str.maketrans("┌┬┐├┼┤└┴┘─│≈", "+++++++++-|~")


@dataclass(frozen=True)
class Span:
    """A piece of text; `ground` is a word for what it stands on, `side` whose it is, if any's.

    Grounds: `light`, `dark`, `hole`, `moved` (squares of the last move) and `check`; empty beside
    the squares.
    """

    text: str
    ground: str = ""
    side: str | None = None


def draw_spans(scene: Scene, *, is_flipped: bool = False, is_ascii: bool = False) -> list[Span]:
    """Return the board with coordinates and, below, what words add to it; each line is ended.

    `is_ascii`: without box-drawing characters.
    """
    spans = list(_draw_board(scene, is_flipped))
    spans += [Span(f"{text}\n") for text in ("", scene.status, *scene.notes)]
    if is_ascii:
        return [Span(span.text.translate(_PLAIN), span.ground, span.side) for span in spans]
    return spans


def _draw_board(scene: Scene, is_flipped: bool) -> Iterator[Span]:
    width = scene.board.width
    files, ranks = list(range(width)), list(range(width))[::-1]
    if is_flipped:
        files, ranks = files[::-1], ranks[::-1]
    names = "   " + " ".join(chr(ord("a") + file).center(_CELL) for file in files).rstrip() + "\n"
    cells = _find_cells(scene)
    yield Span(names)
    for rank in ranks:
        yield _draw_rule("┌┬┐" if rank == ranks[0] else "├┼┤", width)
        yield Span(f"{rank + 1} ")
        for file in files:
            yield Span("│")
            yield from cells[8 * rank + file]
        yield Span(f"│ {rank + 1}\n")
    yield _draw_rule("└┴┘", width)
    yield Span(names)


def _draw_rule(corners: str, width: int) -> Span:
    return Span(f"  {corners[0]}{corners[1].join(['─' * _CELL] * width)}{corners[2]}\n")


def _find_cells(scene: Scene) -> dict[int, list[Span]]:
    """Return the spans of each square."""
    board = scene.board
    pieces = {item.square: item for item in board.pieces}
    marks = {item.square: item for item in board.marks}
    holes = {item.square: item for item in board.holes}
    moved = find_move_squares(scene.last_move) if scene.last_move else ()
    cells = {}
    for square in (8 * rank + file for rank in range(board.width) for file in range(board.width)):
        ground = "light" if (square // 8 + square % 8) % 2 else "dark"
        ground = "moved" if square in moved else ground
        ground = "check" if square == scene.checked else ground
        if square in holes:
            cells[square] = [Span(holes[square].letter * _CELL, "hole")]
            continue
        piece = pieces.get(square)
        body = Span(piece.letter, ground, piece.side) if piece else Span(" ", ground)
        left, right, owner = "  ", "  ", None
        if square in marks:
            mark, owner = marks[square], marks[square].side
            left, right = (" [", f"]{mark.letter}") if owner == WHITE else (" (", f"){mark.letter}")
        cells[square] = [Span(left, ground, owner), body, Span(right, ground, owner)]
    return cells
