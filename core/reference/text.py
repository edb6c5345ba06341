"""What the FENs of both games have in common: fields, boards of letters and digits, counters,
square names. No rule of a game.
"""

EMPTY = "."
MAX_COUNTER = 9999


def square_name(square: int, size: int) -> str:
    """The name (`a1`) of a square index counted rank by rank from a1."""
    return chr(ord("a") + square % size) + str(square // size + 1)


def parse_square(name: str, size: int) -> int | None:
    """The index of a named square of the board, None when it names none."""
    if len(name) != 2:
        return None
    file, rank = "abcdefgh"[:size].find(name[0]), "12345678"[:size].find(name[1])
    return rank * size + file if file >= 0 and rank >= 0 else None


def split_fields(fen: str, count: int) -> list[str]:
    """The fields of a FEN, separated by one or more spaces; ValueError when there are not `count`
    of them.
    """
    fields = [field for field in fen.split(" ") if field]
    if len(fields) != count:
        raise ValueError(f"FEN has {len(fields)} fields, not {count}")
    return fields


def parse_board(text: str, size: int, letters: str, faults: list[str]) -> str | None:
    """The squares of a FEN board from a1 on, one character each; None, and the reasons appended to
    `faults`, when it is malformed.
    """
    found = len(faults)
    digits = "123456789"[:size]
    ranks = text.split("/")
    if len(ranks) != size:
        faults.append(f"board has {len(ranks)} ranks, not {size}")
    rows = []
    for number, rank in enumerate(ranks):
        unknown = [character for character in rank if character not in digits + letters]
        row = "".join(EMPTY * int(c) if c in digits else c for c in rank)
        if unknown:
            faults.append(f"board has an unknown character {unknown[0]!r}")
        elif len(row) != size:
            faults.append(
                f"board rank {size - number} ({rank!r}) has {len(row)} squares, not {size}"
            )
        rows.append(row)
    return "".join(reversed(rows)) if len(faults) == found else None


def format_board(board: str, size: int) -> str:
    """The FEN board of squares counted from a1, neighbouring empty squares joined to one digit."""
    ranks = []
    for start in range(len(board) - size, -1, -size):
        rank, empty = "", 0
        for character in board[start : start + size] + "/":
            if character == EMPTY:
                empty += 1
                continue
            rank += (str(empty) if empty else "") + character
            empty = 0
        ranks.append(rank[:-1])
    return "/".join(ranks)


def parse_side(text: str, faults: list[str]) -> str | None:
    """`w` or `b`; None, and the reason appended to `faults`, when it is neither."""
    if text in ("w", "b"):
        return text
    faults.append(f"side to move {text!r} is neither w nor b")
    return None


def parse_counter(text: str, name: str, minimum: int, faults: list[str]) -> int:
    """A counter of one to four decimal digits, at least `minimum`; `minimum`, and the reason
    appended to `faults`, when it is not.
    """
    if not (1 <= len(text) <= 4 and all(character in "0123456789" for character in text)):
        faults.append(f"{name} {text!r} is not a number of one to four digits")
        return minimum
    if int(text) < minimum:
        faults.append(f"{name} {text} is below {minimum}")
        return minimum
    return int(text)


def count_move(counter: int) -> int:
    """The counter one higher; counters stay at MAX_COUNTER."""
    return min(counter + 1, MAX_COUNTER)


def replace_square(board: str, square: int, content: str) -> str:
    """The board with another content on one square."""
    return board[:square] + content + board[square + 1 :]
