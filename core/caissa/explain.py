"""Why a move of Caïssa is allowed or forbidden: the rules once more, on a plain board.

Rules are looked at in the order in which a player would: what moves, how it moves, what it does
where it ends, and what then becomes of tiles and queens.
"""

from core.caissa.plain import PIECE_NAMES, Place, find_neighbours, read_place
from core.explanation import SIDE_NAMES, Explanation, find_opponent, name_piece
from core.geometry import KING_STEPS
from core.notation import format_square, parse_square
from core.variant import Variant

# A rule in a word, and the sentence.
Reason = tuple[str, str]


def explain(variant: Variant, fen: str, text: str) -> Explanation:
    """Return why a move, as `format_move` writes it, is allowed or forbidden in a valid position.

    The variants differ in nothing that a move depends on.
    """
    place = read_place(fen)
    origin, end = parse_square(text[:2]), parse_square(text[2:])
    fault = _find_move_fault(place, origin, end) or _find_aftermath(place, origin, end)
    if fault:
        return Explanation(False, *fault)
    return Explanation(True, *_find_permission(place, origin, end))


def _find_move_fault(place: Place, origin: int, end: int) -> Reason | None:
    """Return what forbids a move, whatever becomes of tiles and queens."""
    letter, side = place.pieces.get(origin), SIDE_NAMES[place.side]
    start, goal = format_square(origin), format_square(end)
    if letter is None:
        return "empty-square", f"no piece stands on {start}"
    name = name_piece(letter, PIECE_NAMES, origin)
    if not place.is_own(origin):
        return "wrong-side", f"{side} is to move, and cannot move {name}"
    if origin == end:
        return "pass", f"{name} has to leave its square: there is no passing"
    line = next((line for line in place.find_lines(origin) if end in line), None)
    if line is None:
        how = PIECE_NAMES[letter.upper()]
        return "movement", f"{name} does not reach {goal}: it moves like a {how} of chess"
    if letter.upper() == "Q" and end not in find_neighbours(origin, KING_STEPS):
        checker = place.find_checker(place.side)
        if checker is not None:
            by = name_piece(place.pieces[checker], PIECE_NAMES, checker)
            return "queen-in-check", f"{name}, in check from {by}, may move one step only"
    stop = next(s for s in line if s == end or s in place.pieces)
    if stop != end:
        return (
            "blocked",
            f"{name} is blocked by {name_piece(place.pieces[stop], PIECE_NAMES, stop)}",
        )
    return _find_end_fault(place, origin, end, name)


def _find_end_fault(place: Place, origin: int, end: int, name: str) -> Reason | None:
    """Return why a piece may not end where it reaches."""
    target, goal = place.pieces.get(end), format_square(end)
    is_queen = place.pieces[origin] in "Qq"
    if is_queen and end in place.holes:
        return "hole", f"{name} ends on tiles only, and {goal} is a hole"
    if target is None:
        return None
    other = name_piece(target, PIECE_NAMES, end)
    if is_queen and place.is_own(end):
        return "own-piece", f"{name} cannot end where {other} stands"
    if target in "Qq":
        if place.is_own(end):
            return "exchange", f"{name} cannot exchange places with its own queen"
        return "exchange", f"{name} can neither capture {other} nor exchange places with it"
    if place.ko == format_square(origin) + goal:
        return "ko", f"{name} may not undo the exchange with {other} in the very next turn"
    return None


def _find_aftermath(place: Place, origin: int, end: int) -> Reason | None:
    """Return what a pseudo-legal move does to tiles or queens that no move may do."""
    after = place.make_move(origin, end)
    if not after.is_connected():
        return "connection", f"the tiles are torn apart once that of {format_square(origin)} leaves"
    queen = after.find_queen(place.side)
    name = name_piece(after.pieces[queen], PIECE_NAMES, queen)
    checker = after.find_checker(place.side)
    if checker is not None:
        by = name_piece(after.pieces[checker], PIECE_NAMES, checker)
        return "check", f"{name} would be in check from {by}"
    enemy = after.find_queen(find_opponent(place.side))
    if enemy in after.find_reached(queen):
        other = name_piece(after.pieces[enemy], PIECE_NAMES, enemy)
        return "queens-in-sight", f"{name} and {other} would see each other"
    return None


def _find_permission(place: Place, origin: int, end: int) -> Reason:
    """Return the rule that allows a legal move."""
    letter, target = place.pieces[origin], place.pieces.get(end)
    name, goal = name_piece(letter, PIECE_NAMES, origin), format_square(end)
    start = format_square(origin)
    if letter in "Qq":
        if target is None:
            return "move", f"{name} moves to {goal}, and the tile of {start} is removed"
        taken = PIECE_NAMES[target.upper()]
        text = f"{name} captures the {taken} on {goal}, and the tile of {start} is removed"
        return "capture", text
    if target is not None:
        return "exchange", f"{name} exchanges places with {name_piece(target, PIECE_NAMES, end)}"
    if end in place.holes:
        return "tile-move", f"{name} moves to the hole {goal} and takes its tile along"
    return "move", f"{name} moves to {goal}"
