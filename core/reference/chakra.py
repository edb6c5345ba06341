"""Chakra as the rules text tells it, for all three variants: FEN, legal moves, check, outcome,
perft, symmetries, random positions.

A position is an immutable `State`. Every pseudo-legal move is made, and kept when the mover's king
is not attacked on the board after it.
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
    shifted,
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

SIZE = 8
LETTERS = "KQSMACPkqsmacp"
KNIGHT, KING = "n", "k"  # the modes of a chakra
SET_UP_COUNTS = {
    "Q": 1,
    "S": 1,
    "M": 1,
    "A": 2,
    "C": 2,
}  # pieces a pawn may promote to, with their number in the set-up
MAX_PIECES = 16
MOVE_LIMIT = 100  # half-moves without a capture or a pawn changing its square


@dataclass(frozen=True)
class Flags:
    """What differs between the variants (the table at the head of the rules)."""

    samurai_leaps: bool  # samurai = king + knight, else king + rook
    double_step: bool
    compulsory: bool  # transmission
    guard: bool  # own king on its chakra guards the other one
    start_mode: str


@dataclass(frozen=True)
class Chakra:
    """One half of a transmitter: its square and its mode."""

    square: int
    mode: str


@dataclass(frozen=True)
class State:
    """A position. `board` has 64 characters from a1 to h8, capitals are White's; chakras are in
    ascending order of squares.
    """

    variant: str
    board: str
    side: str  # "w" or "b"
    white_chakras: tuple[Chakra, ...]
    black_chakras: tuple[Chakra, ...]
    halfmove: int
    fullmove: int


@dataclass(frozen=True)
class Move:
    """A move as it is written: two squares, and a promotion type, `f` for a flip, or nothing."""

    origin: int
    end: int
    suffix: str = ""


VARIANTS: dict[str, Flags] = {
    "chakra": Flags(False, double_step=True, compulsory=False, guard=True, start_mode=KNIGHT),
    "chakra-mindsports": Flags(
        False, double_step=False, compulsory=True, guard=False, start_mode=KNIGHT
    ),
    "chakra-pritchard": Flags(
        True, double_step=True, compulsory=False, guard=True, start_mode=KING
    ),
}

_START = "acmqksca/1pppppp1/8/8/8/8/1PPPPPP1/ACMQKSCA w a2{mode},h2{mode} a7{mode},h7{mode} 0 1"
START_FENS: dict[str, str] = {
    variant: _START.replace("{mode}", flags.start_mode) for variant, flags in VARIANTS.items()
}

RAYS = build_rays(SIZE)
STEPS = build_leaps(QUEEN_DIRECTIONS, SIZE)
LEAPS = build_leaps(KNIGHT_LEAPS, SIZE)


def parse_fen(variant: str, fen: str) -> State:
    """The position of a FEN of six fields; ValueError naming every fault, joined by `; `, when it
    is malformed or not a valid position.
    """
    if variant not in VARIANTS:
        raise ValueError(f"unknown variant {variant!r}")
    fields = split_fields(fen, 6)
    faults: list[str] = []
    board = parse_board(fields[0], SIZE, LETTERS, faults)
    side = parse_side(fields[1], faults)
    white_chakras = _parse_chakras(fields[2], "white", faults)
    black_chakras = _parse_chakras(fields[3], "black", faults)
    halfmove = parse_counter(fields[4], "half-move clock", 0, faults)
    fullmove = parse_counter(fields[5], "full-move number", 1, faults)
    if board is not None:
        _find_piece_faults(board, faults)
    if white_chakras is not None and black_chakras is not None:
        _find_shared_squares(white_chakras, black_chakras, faults)
    if board is None or side is None or white_chakras is None or black_chakras is None:
        raise ValueError("; ".join(faults))
    state = State(variant, board, side, white_chakras, black_chakras, halfmove, fullmove)
    if board.count("K") == board.count("k") == 1 and _is_king_attacked(state, _opponent(side)):
        faults.append("the side not to move is in check")
    if faults:
        raise ValueError("; ".join(faults))
    return state


def format_fen(state: State) -> str:
    """The canonical FEN: digits joined, chakras by ascending square index."""
    board = format_board(state.board, SIZE)
    white, black = _format_chakras(state.white_chakras), _format_chakras(state.black_chakras)
    return f"{board} {state.side} {white} {black} {state.halfmove} {state.fullmove}"


def legal_moves(state: State) -> list[str]:
    """The legal moves as sorted text, one per end square, promotion type and flip; draws play no
    part.
    """
    return sorted(_format_move(move) for move, _ in _legal_moves(state))


def make_move(state: State, move: str) -> State:
    """The position after a move written as `legal_moves` writes it; ValueError when it is not one
    of them.
    """
    for legal, following in _legal_moves(state):
        if _format_move(legal) == move:
            return following
    raise ValueError(f"illegal move {move!r}")


def successors(state: State) -> dict[str, State]:
    """The position after each legal move, by the move's text."""
    return {_format_move(move): following for move, following in _legal_moves(state)}


def in_check(state: State) -> bool:
    """Whether the king of the side to move is attacked."""
    return _is_king_attacked(state, state.side)


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
    if last.halfmove >= MOVE_LIMIT:
        return "move-limit"
    bare_kings = all(content in (EMPTY, "K", "k") for content in last.board)
    if bare_kings and not last.white_chakras and not last.black_chakras:
        return "insufficient"
    return None


def perft(state: State, depth: int) -> int:
    """The number of sequences of `depth` legal moves."""
    if depth == 0:
        return 1
    if depth == 1:
        return sum(1 for _ in _legal_moves(state))
    return sum(perft(following, depth - 1) for _, following in _legal_moves(state))


def mirror_fen(fen: str) -> str:
    """The FEN with files a and h, b and g and so on exchanged; a well-formed FEN is presumed."""
    board, side, white, black, halfmove, fullmove = fen.split()
    board = "/".join(rank[::-1] for rank in board.split("/"))
    white, black = _order_chakras(mirror_move(white)), _order_chakras(mirror_move(black))
    return f"{board} {side} {white} {black} {halfmove} {fullmove}"


def swap_fen(fen: str) -> str:
    """The FEN with ranks reversed and colours exchanged; a well-formed FEN is presumed."""
    board, side, white, black, halfmove, fullmove = fen.split()
    board = "/".join(reversed(board.split("/"))).swapcase()
    white, black = _order_chakras(swap_move(black)), _order_chakras(swap_move(white))
    return f"{board} {_opponent(side)} {white} {black} {halfmove} {fullmove}"


def mirror_move(text: str) -> str:
    """The text of squares with files mirrored; promotion types, flips and modes stay (a file letter
    is followed by a rank).
    """
    return "".join(
        "hgfedcba"["abcdefgh".index(character)] if following in tuple("12345678") else character
        for character, following in zip(text, text[1:] + " ", strict=True)
    )


def swap_move(text: str) -> str:
    """The text of squares with ranks reversed."""
    return text.translate(str.maketrans("12345678", "87654321"))


def random_state(rng: random.Random, variant: str) -> State:
    """A valid position placed at random: chakras often occupied by either side's pieces and by
    kings, pawns often near promotion.
    """
    while True:
        board = _random_board(rng)
        chakras = _random_chakras(rng, board)
        counters = (rng.randrange(100), rng.randrange(1, 100))
        state = State(variant, board, rng.choice("wb"), chakras[0], chakras[1], *counters)
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


def _is_of(side: str, content: str) -> bool:
    """Whether a square's content is a piece of the side."""
    return content != EMPTY and content.isupper() == (side == "w")


def _chakras_of(state: State, side: str) -> tuple[Chakra, ...]:
    return state.white_chakras if side == "w" else state.black_chakras


def _with_chakras(state: State, side: str, chakras: tuple[Chakra, ...]) -> State:
    chakras = tuple(sorted(chakras, key=lambda chakra: chakra.square))
    if side == "w":
        return replace(state, white_chakras=chakras)
    return replace(state, black_chakras=chakras)


def _other_chakra(state: State, side: str, square: int) -> int | None:
    """The square of the side's other chakra, None when it has no chakra on `square`."""
    squares = [chakra.square for chakra in _chakras_of(state, side)]
    if square not in squares:
        return None
    return squares[1 - squares.index(square)]


def _second_rank(side: str) -> int:
    return 1 if side == "w" else 6


def _last_rank(side: str) -> int:
    return 7 if side == "w" else 0


def _legal_moves(state: State) -> Iterator[tuple[Move, State]]:
    """Each legal move with the position after it: the mover's king is not attacked there. A pass
    and a chakra move must satisfy this too.
    """
    for move in _pseudo_legal_moves(state):
        following = _make_move(state, move)
        if not _is_king_attacked(following, state.side):
            yield move, following


def _pseudo_legal_moves(state: State) -> Iterator[Move]:
    for origin, content in enumerate(state.board):
        if _is_of(state.side, content):
            for end in _ends(state, origin):
                for suffix in _suffixes(state, origin, end):
                    yield Move(origin, end, suffix)
    for chakra in _chakras_of(state, state.side):
        yield from _chakra_moves(state, chakra)


def _ends(state: State, origin: int) -> set[int]:
    """Where the piece may end, transmission and the guard included. Two routes to the same end
    square are one move.
    """
    ends = set()
    for square in _formal_ends(state, origin):
        transmitted = _transmitted_end(state, origin, square)
        if transmitted is not None:
            ends.add(transmitted)
        if transmitted is None or not VARIANTS[state.variant].compulsory:
            ends.add(square)
    if state.board[origin] in "Kk":
        ends = {end for end in ends if not _is_guarded(state, end)}
    return ends


def _transmitted_end(state: State, origin: int, square: int) -> int | None:
    """Transmission: from `square`, when it is a vacant chakra of the mover, to the other one, when
    the piece may end there.
    """
    side = state.side
    if state.board[square] != EMPTY:
        return None
    other = _other_chakra(state, side, square)
    if other is None:
        return None
    # A piece standing on the other chakra counts as having left it: it comes back, which is a pass.
    if other == origin or not _is_of(side, state.board[other]):
        return other
    return None


def _is_guarded(state: State, end: int) -> bool:
    """Guard flag: `end` is a chakra of the opponent, whose king stands on the other one."""
    opponent = _opponent(state.side)
    other = _other_chakra(state, opponent, end)
    if other is None or not VARIANTS[state.variant].guard:
        return False
    return state.board[other] == ("K" if opponent == "w" else "k")


def _suffixes(state: State, origin: int, end: int) -> list[str]:
    """The promotion types when a pawn ends on its last rank (none: it may not), else no suffix."""
    if state.board[origin] not in "Pp" or end // SIZE != _last_rank(state.side):
        return [""]
    return [
        kind.lower()
        for kind, count in SET_UP_COUNTS.items()
        if state.board.count(kind if state.side == "w" else kind.lower()) < count
    ]


def _chakra_moves(state: State, chakra: Chakra) -> Iterator[Move]:
    """A vacant chakra flips in place, or moves to a square with no piece and no chakra, and may
    flip there.
    """
    if state.board[chakra.square] != EMPTY:
        return
    yield Move(chakra.square, chakra.square, "f")
    chakra_squares = {other.square for other in state.white_chakras + state.black_chakras}
    for end in (LEAPS if chakra.mode == KNIGHT else STEPS)[chakra.square]:
        if state.board[end] == EMPTY and end not in chakra_squares:
            yield Move(chakra.square, end)
            yield Move(chakra.square, end, "f")


def _formal_ends(state: State, origin: int) -> set[int]:
    """Where the piece on `origin` moves or captures before transmission, guard, promotion and check
    are considered.

    Every enemy piece on one of these squares is attacked; every own vacant chakra among them is
    formally moved onto.
    """
    content = state.board[origin]
    side = "w" if content.isupper() else "b"
    kind = content.upper()
    if kind == "P":
        return set(_pawn_ends(state, side, origin))
    ends: set[int] = set()
    if kind == "A" or (kind == "S" and VARIANTS[state.variant].samurai_leaps):
        ends.update(LEAPS[origin])
    if kind in "KSMC":
        ends.update(STEPS[origin])
    ends = {end for end in ends if not _is_of(side, state.board[end])}
    for direction in _line_directions(state, side, origin):
        ends.update(_line_ends(state, side, origin, direction))
    return ends


def _pawn_ends(state: State, side: str, origin: int) -> Iterator[int]:
    forward = 1 if side == "w" else -1
    for file_step in (-1, 1):
        end = shifted(origin, (file_step, forward), SIZE)
        if end is not None and _is_of(_opponent(side), state.board[end]):
            yield end
    step = shifted(origin, (0, forward), SIZE)
    if step is None or state.board[step] != EMPTY:
        return
    yield step
    # Double step: the square passed over must be free for passing, so no vacant chakra of the
    # opponent.
    may_pass = _other_chakra(state, _opponent(side), step) is None
    on_second_rank = origin // SIZE == _second_rank(side)
    if VARIANTS[state.variant].double_step and on_second_rank and may_pass:
        double = step + forward * SIZE
        if state.board[double] == EMPTY:
            yield double


def _line_directions(state: State, side: str, origin: int) -> Sequence[Step]:
    kind = state.board[origin].upper()
    if kind == "Q":
        return QUEEN_DIRECTIONS
    if kind == "M":
        return BISHOP_DIRECTIONS
    if kind == "S" and not VARIANTS[state.variant].samurai_leaps:
        return ROOK_DIRECTIONS
    if kind == "C":
        return _courtesan_directions(state, side, origin)
    return ()


def _courtesan_directions(state: State, side: str, origin: int) -> list[Step]:
    """Both directions of the line on which she sees her own king; only pieces stop eye-contact."""
    king = "K" if side == "w" else "k"
    for direction in QUEEN_DIRECTIONS:
        pieces = (state.board[square] for square in RAYS[origin][direction])
        if next((content for content in pieces if content != EMPTY), None) == king:
            return [direction, (-direction[0], -direction[1])]
    return []


def _line_ends(state: State, side: str, origin: int, direction: Step) -> Iterator[int]:
    """Lines: a piece stops (an enemy one is captured), a vacant enemy chakra stops after being
    moved onto, a vacant own one does not.
    """
    stops = [chakra.square for chakra in _chakras_of(state, _opponent(side))]
    for square in RAYS[origin][direction]:
        content = state.board[square]
        if not _is_of(side, content):
            yield square
        if content != EMPTY or square in stops:
            return


def _is_king_attacked(state: State, side: str) -> bool:
    """Whether the side's king is attacked, pseudo-legally, directly or through the opponent's
    transmitter.
    """
    opponent = _opponent(side)
    king = state.board.index("K" if side == "w" else "k")
    targets = {king}
    # Attack through the transmitter: the king stands on an enemy chakra, and the other one is
    # vacant.
    other = _other_chakra(state, opponent, king)
    if other is not None and state.board[other] == EMPTY:
        targets.add(other)
    return any(
        _is_of(opponent, content) and not targets.isdisjoint(_formal_ends(state, origin))
        for origin, content in enumerate(state.board)
    )


def _make_move(state: State, move: Move) -> State:
    """The position after a pseudo-legal move."""
    following = replace(
        state,
        side=_opponent(state.side),
        halfmove=count_move(state.halfmove),
        fullmove=state.fullmove if state.side == "w" else count_move(state.fullmove),
    )
    piece = state.board[move.origin]
    if piece == EMPTY:
        return _with_chakras(following, state.side, _moved_chakras(state, move))
    if move.origin == move.end:  # a pass: nothing changes but the side to move
        return following
    is_capture = state.board[move.end] != EMPTY
    is_on_enemy_chakra = _other_chakra(state, _opponent(state.side), move.end) is not None
    if piece in "Kk" and is_on_enemy_chakra and not is_capture:
        # A king that ends a move on a vacant enemy chakra captures the transmitter.
        following = _with_chakras(following, _opponent(state.side), ())
        is_capture = True
    if is_capture or piece in "Pp":
        following = replace(following, halfmove=0)
    if move.suffix:
        piece = move.suffix.upper() if state.side == "w" else move.suffix
    board = replace_square(state.board, move.origin, EMPTY)
    return replace(following, board=replace_square(board, move.end, piece))


def _moved_chakras(state: State, move: Move) -> tuple[Chakra, ...]:
    moved = []
    for chakra in _chakras_of(state, state.side):
        if chakra.square == move.origin:
            flipped = KING if chakra.mode == KNIGHT else KNIGHT
            chakra = Chakra(move.end, flipped if move.suffix == "f" else chakra.mode)
        moved.append(chakra)
    return tuple(moved)


def _repetition_key(state: State) -> tuple[object, ...]:
    return state.board, state.side, state.white_chakras, state.black_chakras


def _format_move(move: Move) -> str:
    return square_name(move.origin, SIZE) + square_name(move.end, SIZE) + move.suffix


def _format_chakras(chakras: tuple[Chakra, ...]) -> str:
    return ",".join(square_name(chakra.square, SIZE) + chakra.mode for chakra in chakras) or "-"


def _order_chakras(text: str) -> str:
    return ",".join(sorted(text.split(","), key=lambda chakra: (chakra[1:2], chakra[0])))


def _parse_chakras(text: str, owner: str, faults: list[str]) -> tuple[Chakra, ...] | None:
    """No chakra or exactly two, on two squares, in ascending order; None, and the reasons appended
    to `faults`, otherwise.
    """
    if text == "-":
        return ()
    found = len(faults)
    chakras = []
    for part in text.split(","):
        square = parse_square(part[:2], SIZE)
        if square is None or part[2:] not in (KNIGHT, KING):
            faults.append(f"{owner} chakra {part!r} is not a square and a mode n or k")
        else:
            chakras.append(Chakra(square, part[2:]))
    if text.count(",") != 1:
        faults.append(f"{owner} has {text.count(',') + 1} chakras, not none or two")
    if len({chakra.square for chakra in chakras}) < len(chakras):
        faults.append(f"{owner} chakras {text!r} are on one square")
    if len(faults) > found:
        return None
    return tuple(sorted(chakras, key=lambda chakra: chakra.square))


def _find_shared_squares(
    white: tuple[Chakra, ...], black: tuple[Chakra, ...], faults: list[str]
) -> None:
    """Appends to `faults` every square that holds two chakras, one of each side."""
    shared = {chakra.square for chakra in white} & {chakra.square for chakra in black}
    for square in sorted(shared):
        faults.append(f"{square_name(square, SIZE)} holds two chakras")


def _find_piece_faults(board: str, faults: list[str]) -> None:
    """Appends to `faults`: not exactly one king a side, more than 16 pieces a side, a pawn on its
    own last rank.
    """
    for side, owner in (("w", "white"), ("b", "black")):
        kings = board.count("K" if side == "w" else "k")
        if kings != 1:
            faults.append(f"{owner} has {kings} kings, not 1")
        pieces = sum(_is_of(side, content) for content in board)
        if pieces > MAX_PIECES:
            faults.append(f"{owner} has {pieces} pieces, more than {MAX_PIECES}")
        pawn = "P" if side == "w" else "p"
        for square in range(_last_rank(side) * SIZE, _last_rank(side) * SIZE + SIZE):
            if board[square] == pawn:
                faults.append(f"{owner} pawn on its own last rank, on {square_name(square, SIZE)}")


def _random_board(rng: random.Random) -> str:
    """Two kings and up to 15 more pieces a side; one pawn in two stands one or two ranks before
    promotion where that is free.
    """
    board = EMPTY * (SIZE * SIZE)
    for side in "wb":
        others = rng.choices("QSMACP", weights=(1, 2, 2, 3, 4, 4), k=rng.choice((2, 4, 6, 9, 15)))
        for kind in ["K", *others]:
            square = rng.randrange(SIZE * SIZE)
            if kind == "P":
                advanced = rng.random() < 0.5
                rank = rng.choice((5, 6)) if advanced else rng.randrange(7)
                square = (rank if side == "w" else 7 - rank) * SIZE + square % SIZE
            if board[square] == EMPTY:
                board = replace_square(board, square, kind if side == "w" else kind.lower())
    return board


def _random_chakras(rng: random.Random, board: str) -> list[tuple[Chakra, ...]]:
    """White's and Black's chakras, each under a king, under some piece or anywhere."""
    kings = [square for square, content in enumerate(board) if content in "Kk"]
    occupied = [square for square, content in enumerate(board) if content != EMPTY]
    both = []
    for _ in "wb":
        squares: set[int] = set()
        while len(squares) < 2:
            choices = rng.choices((kings, occupied, range(SIZE * SIZE)), weights=(2, 3, 5))[0]
            squares.add(rng.choice(choices or range(SIZE * SIZE)))
        chakras = [Chakra(square, rng.choice((KNIGHT, KING))) for square in sorted(squares)]
        both.append(tuple(chakras) if rng.random() < 0.85 else ())
    return both
