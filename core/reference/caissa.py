"""Caissa as the rules text tells it, for all three variants: FEN, legal moves, check, outcome,
perft, symmetries, random positions.

A position is an immutable `State`. Every pseudo-legal move is made, and kept when the board after
it is allowed.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.reference.geometry import (
    BISHOP_DIRECTIONS,
    KNIGHT_LEAPS,
    QUEEN_DIRECTIONS,
    ROOK_DIRECTIONS,
    Step,
    build_leaps,
    build_rays,
)
from core.reference.text import (
    EMPTY,
    count_move,
    format_board,
    parse_board,
    parse_counter,
    parse_side,
    parse_square,
    replace_square,
    split_fields,
    square_name,
)

SIZE = 7
HOLE = "*"
LETTERS = "QRNBqrnb*"
DIRECTIONS: dict[str, tuple[Step, ...]] = {
    "Q": QUEEN_DIRECTIONS,
    "R": ROOK_DIRECTIONS,
    "B": BISHOP_DIRECTIONS,
}


@dataclass(frozen=True)
class Flags:
    """What differs between the variants. How a first position is agreed on is the players' affair,
    so `caissa-pritchard` has no flag.
    """

    move_limit: int | None  # half-moves played, after which the game is drawn


@dataclass(frozen=True)
class State:
    """A position. `board` has 49 characters from a1 to g7: capitals are White's, EMPTY an empty
    tiled square, HOLE a square without tile.
    """

    variant: str
    board: str
    side: str  # "w" or "b"
    ko: tuple[int, int] | None  # the forbidden exchange, from and to
    halfmove: int  # since the last queen move
    fullmove: int


VARIANTS: dict[str, Flags] = {
    "caissa": Flags(move_limit=None),
    "caissa-codecup": Flags(move_limit=200),
    "caissa-pritchard": Flags(move_limit=None),
}

START_FENS: dict[str, str] = dict.fromkeys(VARIANTS, "7/3bqn1/4r2/7/2R4/1NQB3/7 w - 0 1")


RAYS = build_rays(SIZE)
STEPS = build_leaps(QUEEN_DIRECTIONS, SIZE)
LEAPS = build_leaps(KNIGHT_LEAPS, SIZE)


def parse_fen(variant: str, fen: str) -> State:
    """The position of a FEN of five fields; ValueError naming every fault, joined by `; `, when it
    is malformed or not a valid position.
    """
    if variant not in VARIANTS:
        raise ValueError(f"unknown variant {variant!r}")
    fields = split_fields(fen, 5)
    faults: list[str] = []
    board = parse_board(fields[0], SIZE, LETTERS, faults)
    side = parse_side(fields[1], faults)
    ko = _parse_ko(fields[2], faults)
    halfmove = parse_counter(fields[3], "half-move clock", 0, faults)
    fullmove = parse_counter(fields[4], "full-move number", 1, faults)
    if board is not None:
        _find_board_faults(board, faults)
    if board is None or side is None:
        raise ValueError("; ".join(faults))
    if board.count("Q") == board.count("q") == 1 and _is_queen_attacked(board, _opponent(side)):
        faults.append("the side not to move is in check")
    if ko is not None and not _is_ko_exchange(board, side, ko):
        faults.append(
            f"ko {fields[2]!r} is not a possible exchange of two pieces of the same type,"
            " the first of the side to move"
        )
    if faults:
        raise ValueError("; ".join(faults))
    return State(variant, board, side, ko, halfmove, fullmove)


def format_fen(state: State) -> str:
    """The canonical FEN: digits joined."""
    ko = "-" if state.ko is None else _format_move(*state.ko)
    board = format_board(state.board, SIZE)
    return f"{board} {state.side} {ko} {state.halfmove} {state.fullmove}"


def legal_moves(state: State) -> list[str]:
    """The legal moves as sorted text; draws play no part."""
    return sorted(_format_move(origin, end) for origin, end, _ in _legal_moves(state))


def make_move(state: State, move: str) -> State:
    """The position after a move written as `legal_moves` writes it; ValueError when it is not one
    of them.
    """
    for origin, end, following in _legal_moves(state):
        if _format_move(origin, end) == move:
            return following
    raise ValueError(f"illegal move {move!r}")


def successors(state: State) -> dict[str, State]:
    """The position after each legal move, by the move's text."""
    return {_format_move(origin, end): following for origin, end, following in _legal_moves(state)}


def in_check(state: State) -> bool:
    """Whether the queen of the side to move is attacked by a rook, knight or bishop."""
    return _is_queen_attacked(state.board, state.side)


def result(state: State) -> str | None:
    """`checkmate` or `stalemate` when the side to move has no legal move, else None; the draws of
    `outcome` play no part.
    """
    if any(True for _ in _legal_moves(state)):
        return None
    return "checkmate" if in_check(state) else "stalemate"


def outcome(states: Sequence[State]) -> str | None:
    """How the game stands at the last of the positions played, all of them given in order: the
    result, or the draw, or None.
    """
    last = states[-1]
    ended = result(last)
    if ended is not None:
        return ended
    if sum(_repetition_key(state) == _repetition_key(last) for state in states) >= 3:
        return "repetition"
    limit = VARIANTS[last.variant].move_limit
    played = 2 * (last.fullmove - 1) + (last.side == "b")
    if limit is not None and played >= limit:
        return "move-limit"
    if all(content in (EMPTY, HOLE, "Q", "q") for content in last.board):
        return "insufficient"
    return None


def perft(state: State, depth: int) -> int:
    """The number of sequences of `depth` legal moves."""
    if depth == 0:
        return 1
    if depth == 1:
        return sum(1 for _ in _legal_moves(state))
    return sum(perft(following, depth - 1) for *_, following in _legal_moves(state))


def transform_fen(fen: str, n: int) -> str:
    """The FEN under the n-th symmetry of the square, n from 0 to 7; 0 changes nothing. A
    well-formed FEN is presumed.
    """
    board, side, ko, halfmove, fullmove = fen.split()
    squares = parse_board(board, SIZE, LETTERS, [])
    assert squares is not None
    moved = [EMPTY] * (SIZE * SIZE)
    for square, content in enumerate(squares):
        moved[_transform_square(square, n)] = content
    ko = ko if ko == "-" else transform_move(ko, n)
    return f"{format_board(''.join(moved), SIZE)} {side} {ko} {halfmove} {fullmove}"


def transform_move(text: str, n: int) -> str:
    """The move under the n-th symmetry of the square."""
    origin, end = parse_square(text[:2], SIZE), parse_square(text[2:], SIZE)
    assert origin is not None and end is not None
    return _format_move(_transform_square(origin, n), _transform_square(end, n))


def swap_fen(fen: str) -> str:
    """The FEN with the colours exchanged, squares and counters kept."""
    board, side, ko, halfmove, fullmove = fen.split()
    return f"{board.swapcase()} {_opponent(side)} {ko} {halfmove} {fullmove}"


def random_state(rng: random.Random, variant: str) -> State:
    """A valid position placed at random, with any number of holes and often a ko; every second one
    without holes in `caissa-pritchard`.
    """
    while True:
        is_start = variant == "caissa-pritchard" and rng.random() < 0.5
        board = EMPTY * (SIZE * SIZE) if is_start else _random_tiles(rng)
        for piece in "QqRNBrnb":
            tiles = [square for square, content in enumerate(board) if content == EMPTY]
            if piece in "Qq" or is_start or (tiles and rng.random() < 0.8):
                board = replace_square(board, rng.choice(tiles), piece)
        counters = (rng.randrange(100), rng.randrange(1, 150))
        state = State(variant, board, rng.choice("wb"), None, *counters)
        exchanges = [
            (origin, end)
            for origin in range(SIZE * SIZE)
            for end in range(SIZE * SIZE)
            if _is_ko_exchange(board, state.side, (origin, end))
        ]
        if exchanges and not is_start and rng.random() < 0.7:
            state = replace(state, ko=rng.choice(exchanges))
        try:
            return parse_fen(variant, format_fen(state))
        except ValueError:
            continue


def random_game(rng: random.Random, variant: str, max_plies: int) -> list[State]:
    """The positions of a game of random legal moves from the start, at most `max_plies` moves long;
    draws do not end it.
    """
    states = [parse_fen(variant, START_FENS[variant])]
    while len(states) <= max_plies:
        moves = legal_moves(states[-1])
        if not moves:
            break
        states.append(make_move(states[-1], rng.choice(moves)))
    return states


def _opponent(side: str) -> str:
    return "b" if side == "w" else "w"


def _is_piece(content: str) -> bool:
    return content not in (EMPTY, HOLE)


def _is_of(side: str, content: str) -> bool:
    """Whether a square's content is a piece of the side."""
    return _is_piece(content) and content.isupper() == (side == "w")


def _legal_moves(state: State) -> Iterator[tuple[int, int, State]]:
    """Each legal move's squares with the position after it, where the mover's queen is not in
    check, the queens do not see each other and the tiles are connected. The ko move is not legal.
    """
    for origin, content in enumerate(state.board):
        if not _is_of(state.side, content):
            continue
        for end in _pseudo_legal_ends(state, origin):
            if (origin, end) == state.ko:
                continue
            following = _make_move(state, origin, end)
            if _is_allowed(following.board, state.side):
                yield origin, end, following


def _is_allowed(board: str, mover: str) -> bool:
    return (
        not _is_queen_attacked(board, mover) and not _is_queen_seen(board) and _is_connected(board)
    )


def _pseudo_legal_ends(state: State, origin: int) -> Iterator[int]:
    kind = state.board[origin].upper()
    ends = _reached_squares(state.board, origin)
    if kind == "Q" and in_check(state):
        ends = STEPS[origin]  # in check: only one step
    for end in ends:
        target = state.board[end]
        if target in ("Q", "q"):  # no piece captures or changes places with a queen
            continue
        # The queen ends only on a tiled square, never on a friendly piece.
        if kind == "Q" and (target == HOLE or _is_of(state.side, target)):
            continue
        yield end


def _reached_squares(board: str, origin: int) -> Sequence[int]:
    """Where the piece could go as in chess, over holes: on a line as far as the first piece, of
    either side and included.
    """
    kind = board[origin].upper()
    if kind == "N":
        return LEAPS[origin]
    reached = []
    for direction in DIRECTIONS[kind]:
        for square in RAYS[origin][direction]:
            reached.append(square)
            if _is_piece(board[square]):
                break
    return reached


def _is_queen_attacked(board: str, side: str) -> bool:
    """Whether an enemy rook, knight or bishop could move to the side's queen as in chess."""
    queen = board.index("Q" if side == "w" else "q")
    return any(
        content not in "Qq"
        and _is_of(_opponent(side), content)
        and queen in _reached_squares(board, origin)
        for origin, content in enumerate(board)
    )


def _is_queen_seen(board: str) -> bool:
    """Whether the queens see each other: nothing but tiles and holes on a line between them."""
    return board.index("q") in _reached_squares(board, board.index("Q"))


def _is_connected(board: str) -> bool:
    """Connection rule: the tiles are one group, neighbours by side or corner."""
    tiles = {square for square, content in enumerate(board) if content != HOLE}
    waiting = [min(tiles)] if tiles else []
    seen = set(waiting)
    while waiting:
        for neighbour in STEPS[waiting.pop()]:
            if neighbour in tiles and neighbour not in seen:
                seen.add(neighbour)
                waiting.append(neighbour)
    return seen == tiles


def _make_move(state: State, origin: int, end: int) -> State:
    """The position after a pseudo-legal move."""
    piece, target = state.board[origin], state.board[end]
    is_queen = piece in "Qq"
    left_behind = EMPTY
    if is_queen or target == HOLE:
        # The queen's tile is removed; another piece takes its tile along to a hole.
        left_behind = HOLE
    elif _is_piece(target):
        left_behind = target  # exchange
    # Ko: the enemy piece now stands on `origin`, and going back to `end` would undo the exchange.
    is_ko = _is_piece(target) and not is_queen and piece.swapcase() == target
    board = replace_square(state.board, origin, left_behind)
    return State(
        variant=state.variant,
        board=replace_square(board, end, piece),
        side=_opponent(state.side),
        ko=(origin, end) if is_ko else None,
        halfmove=0 if is_queen else count_move(state.halfmove),
        fullmove=state.fullmove if state.side == "w" else count_move(state.fullmove),
    )


def _repetition_key(state: State) -> tuple[object, ...]:
    return state.board, state.side, state.ko


def _format_move(origin: int, end: int) -> str:
    return square_name(origin, SIZE) + square_name(end, SIZE)


def _parse_ko(text: str, faults: list[str]) -> tuple[int, int] | None:
    """The two squares of the ko field; None when it is `-`, and, with the reason appended to
    `faults`, when it is malformed.
    """
    if text == "-":
        return None
    origin, end = parse_square(text[:2], SIZE), parse_square(text[2:], SIZE)
    if origin is None or end is None:
        faults.append(f"ko {text!r} is neither - nor two squares")
        return None
    return origin, end


def _is_ko_exchange(board: str, side: str, ko: tuple[int, int]) -> bool:
    """Whether the piece on the first square, of the side, can exchange with an enemy rook, knight
    or bishop of its type on the second.
    """
    origin, end = ko
    piece = board[origin]
    if not _is_of(side, piece) or piece in "Qq":
        return False
    return board[end] == piece.swapcase() and end in _reached_squares(board, origin)


def _find_board_faults(board: str, faults: list[str]) -> None:
    """Appends to `faults`: wrong numbers of pieces, queens that see each other, tiles in more than
    one group.
    """
    for owner, queen, others in (("white", "Q", "RNB"), ("black", "q", "rnb")):
        if board.count(queen) != 1:
            faults.append(f"{owner} has {board.count(queen)} queens, not 1")
        for piece in others:
            if board.count(piece) > 1:
                faults.append(f"{owner} has {board.count(piece)} pieces {piece}, more than 1")
    if board.count("Q") == board.count("q") == 1 and _is_queen_seen(board):
        faults.append("the queens see each other")
    if not _is_connected(board):
        faults.append("the tiles are not connected")


def _transform_square(square: int, n: int) -> int:
    """The first bit of n mirrors the files, the second the ranks, the third exchanges files and
    ranks.
    """
    file, rank = square % SIZE, square // SIZE
    if n & 1:
        file = SIZE - 1 - file
    if n & 2:
        rank = SIZE - 1 - rank
    if n & 4:
        file, rank = rank, file
    return rank * SIZE + file


def _random_tiles(rng: random.Random) -> str:
    """A board without pieces and with random holes, its tiles connected."""
    board = EMPTY * (SIZE * SIZE)
    for _ in range(rng.choice((0, 4, 10, 20, 40, 80))):
        square = rng.randrange(SIZE * SIZE)
        holed = replace_square(board, square, HOLE)
        if holed.count(EMPTY) >= 8 and _is_connected(holed):
            board = holed
    return board
