"""Perft with columns: for each depth, how many of the last moves of all lines are of which kind.

    python bench/perft_table.py VARIANT DEPTH [FEN]

Lines that meet in one position are followed once, with their number. What a move is, is read off
its text and the position before it, here, not in the kernels; check and mate come from the kernels.
"""

import argparse
from collections import Counter
from dataclasses import dataclass

import numpy as np

from core.games import VARIANTS
from core.position import STARTPOS, Position
from core.record import Record

COLUMNS: dict[str, tuple[str, ...]] = {
    "chakra": (
        *("nodes", "captures", "transmissions", "promotions", "chakra moves", "flips"),
        *("checks", "mates"),
    ),
    "caissa": (
        *("nodes", "captures", "exchanges", "tile removals", "tile carries"),
        *("checks", "mates"),
    ),
}

HOLE = "*"
_FILES = "abcdefgh"

# File and rank, from 0.
Square = tuple[int, int]


@dataclass(frozen=True)
class Line:
    """A position as the kernels hold it, and how many lines lead there."""

    position: bytes
    count: int


@dataclass(frozen=True)
class Board:
    """What kinds of moves depend on. `pieces` has the letter of each piece, and HOLE for a hole."""

    pieces: dict[Square, str]
    is_white: bool
    own_chakras: frozenset[Square]
    enemy_chakras: frozenset[Square]
    has_double_step: bool
    has_leaping_samurai: bool


def tabulate(variant: str, fen: str, depth: int) -> list[Counter[str]]:
    """Return a row for each depth from 1: the columns of the variant's game and their counts."""
    root = Position(variant, fen)
    lines = [Line(root.snapshot(), 1)]
    rows = []
    for remaining in reversed(range(depth)):
        row: Counter[str] = Counter()
        lines = _extend(root, lines, row, is_last=remaining == 0)
        rows.append(row)
    return rows


def find_kinds(game: str, board: Board, move: str) -> list[str]:
    """Return the columns that a legal move counts in, besides nodes, checks and mates."""
    origin, end = _parse_square(move[:2]), _parse_square(move[2:4])
    if game == "caissa":
        return _find_caissa_kinds(board, origin, end)
    return _find_chakra_kinds(board, origin, end, move[4:])


def parse_board(variant: str, fen: str) -> Board:
    """Return the board of a valid FEN of either game."""
    fields = fen.split()
    flags = VARIANTS[variant].flags
    rows = fields[0].split("/")
    pieces: dict[Square, str] = {}
    for rank, row in zip(reversed(range(len(rows))), rows, strict=True):
        file = 0
        for letter in row:
            if letter.isdigit():
                file += int(letter)
            else:
                pieces[file, rank] = letter
                file += 1
    is_white = fields[1] == "w"
    white, black = (
        [_parse_chakras(text) for text in fields[2:4]]
        if VARIANTS[variant].game == "chakra"
        else [frozenset[Square]()] * 2
    )
    return Board(
        pieces=pieces,
        is_white=is_white,
        own_chakras=white if is_white else black,
        enemy_chakras=black if is_white else white,
        has_double_step=bool(flags.get("double_step")),
        has_leaping_samurai=flags.get("samurai") == "king+knight",
    )


def reaches(board: Board, origin: Square, end: Square) -> bool:
    """Return whether the piece moves or captures so without the transmitter.

    That is its formal move of Chakra's rules, from `origin` to another square without a friendly
    piece.
    """
    kind = board.pieces[origin].upper()
    files, ranks = end[0] - origin[0], end[1] - origin[1]
    is_leap = sorted((abs(files), abs(ranks))) == [1, 2]
    is_step = max(abs(files), abs(ranks)) == 1
    is_straight = files == 0 or ranks == 0
    is_diagonal = abs(files) == abs(ranks)
    if kind == "P":
        return _pawn_reaches(board, origin, end)
    if kind == "A":
        return is_leap
    if is_step:
        return True
    if kind == "S" and board.has_leaping_samurai:
        return is_leap
    if kind == "C":
        return _is_on_line_with_king(board, origin, end) and _is_open(board, origin, end)
    has_line = {"K": False, "Q": is_straight or is_diagonal, "S": is_straight, "M": is_diagonal}
    return has_line[kind] and _is_open(board, origin, end)


def _extend(root: Position, lines: list[Line], row: Counter[str], is_last: bool) -> list[Line]:
    """Count one more ply of all lines into `row`; return where it leads, unless it is the last."""
    rules, entry = root.game.rules, root.game.entry
    record = Record(root.game)
    R, TR = record.array, rules.TABLES
    positions: dict[tuple[int, int], bytes] = {}
    counts: Counter[tuple[int, int]] = Counter()
    for line in lines:
        record.write_position(line.position)
        board = parse_board(root.variant.name, rules.format_position(R))
        for move in record.read_moves(entry.list_moves(R, TR)):
            kinds = ["nodes", *find_kinds(root.variant.game, board, rules.format_move(move))]
            record.write_position(line.position)
            entry.make_root_move(R, TR, np.uint64(move))
            count, is_check, _ = entry.survey(R, TR)
            if is_check:
                kinds.append("checks")
                if not count:
                    kinds.append("mates")
            for kind in kinds:
                row[kind] += line.count
            if not is_last:
                keys = (int(R["key"][0]), int(R["key2"][0]))
                counts[keys] += line.count
                if keys not in positions:
                    positions[keys] = record.read_position()
    return [Line(positions[keys], count) for keys, count in counts.items()]


def _find_caissa_kinds(board: Board, origin: Square, end: Square) -> list[str]:
    target = board.pieces.get(end)
    if board.pieces[origin] in "Qq":
        return ["tile removals", "captures"] if target else ["tile removals"]
    if target == HOLE:
        return ["tile carries"]
    return ["exchanges"] if target else []


def _find_chakra_kinds(board: Board, origin: Square, end: Square, suffix: str) -> list[str]:
    piece = board.pieces.get(origin)
    if piece is None:
        return ["chakra moves"] * (origin != end) + ["flips"] * (suffix == "f")
    if origin == end:
        return ["transmissions"]
    kinds = []
    if end in board.pieces or (piece in "Kk" and end in board.enemy_chakras):
        kinds.append("captures")
    if suffix:
        kinds.append("promotions")
    if end in board.own_chakras and not reaches(board, origin, end):
        kinds.append("transmissions")
    return kinds


def _pawn_reaches(board: Board, origin: Square, end: Square) -> bool:
    forward = 1 if board.is_white else -1
    files, ranks = end[0] - origin[0], end[1] - origin[1]
    if end in board.pieces:
        return abs(files) == 1 and ranks == forward
    if files != 0:
        return False
    if ranks == 2 * forward:
        second_rank = 1 if board.is_white else 6
        return board.has_double_step and origin[1] == second_rank and _is_open(board, origin, end)
    return ranks == forward


def _is_on_line_with_king(board: Board, origin: Square, end: Square) -> bool:
    """Return whether a courtesan sees her king, and `end` is towards him or away from him."""
    king = next(s for s, piece in board.pieces.items() if piece == "kK"[board.is_white])
    towards, direction = _find_direction(origin, king), _find_direction(origin, end)
    if towards is None or direction is None:
        return False
    is_seen = not any(square in board.pieces for square in _list_between(origin, king))
    return is_seen and direction in (towards, (-towards[0], -towards[1]))


def _is_open(board: Board, origin: Square, end: Square) -> bool:
    """Return whether nothing stops a line before `end`: a piece or a vacant enemy chakra."""
    stops = board.pieces.keys() | board.enemy_chakras
    return not any(square in stops for square in _list_between(origin, end))


def _find_direction(origin: Square, end: Square) -> Square | None:
    """Return the step of the line through two squares, None when there is no such line."""
    files, ranks = end[0] - origin[0], end[1] - origin[1]
    if files and ranks and abs(files) != abs(ranks):
        return None
    return (files > 0) - (files < 0), (ranks > 0) - (ranks < 0)


def _list_between(origin: Square, end: Square) -> list[Square]:
    """Return the squares strictly between two squares of one line."""
    direction = _find_direction(origin, end)
    assert direction is not None
    distance = max(abs(end[0] - origin[0]), abs(end[1] - origin[1]))
    return [
        (origin[0] + n * direction[0], origin[1] + n * direction[1]) for n in range(1, distance)
    ]


def _parse_chakras(text: str) -> frozenset[Square]:
    return frozenset(_parse_square(part) for part in text.split(",") if part != "-")


def _parse_square(text: str) -> Square:
    return _FILES.index(text[0]), int(text[1]) - 1


def format_table(game: str, rows: list[Counter[str]]) -> str:
    """Return the rows as a table in Markdown."""
    columns = COLUMNS[game]
    lines = [["depth", *columns]]
    lines += [[str(n), *(str(row[c]) for c in columns)] for n, row in enumerate(rows, 1)]
    lines.insert(1, ["-:"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Count the lines of each depth, and what kinds of moves their last moves are.",
        epilog="docs/perft.md says what each column counts.",
    )
    parser.add_argument("variant", choices=VARIANTS)
    parser.add_argument("depth", type=int, help="the greatest depth, from 1; 4 takes a minute")
    parser.add_argument("fen", nargs="?", default=STARTPOS, help="default: startpos")
    args = parser.parse_args()
    rows = tabulate(args.variant, args.fen, args.depth)
    print(format_table(VARIANTS[args.variant].game, rows))


if __name__ == "__main__":
    main()
