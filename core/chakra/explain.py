"""Why a move of Chakra is allowed or forbidden: the rules once more, on a plain board.

Rules are looked at in the order in which a player would: what moves, how it moves, what it does
where it ends, and what then becomes of its king.
"""

from dataclasses import dataclass, replace

from core.chakra.layout import SETUP_COUNTS, TYPE_LETTERS
from core.chakra.plain import PIECE_NAMES, Place, find_queen_lines, read_place
from core.explanation import SIDE_NAMES, WHITE, Explanation, find_opponent, name_piece
from core.notation import format_square, parse_square
from core.variant import Variant

_SETUP = {TYPE_LETTERS[int(kind)]: count for kind, count in SETUP_COUNTS.items()}
_MODE_NAMES = {"n": "knight", "k": "king"}
_MOVEMENTS = {
    "K": "a king moves one step in any direction",
    "Q": "a queen moves along ranks, files and diagonals",
    "M": "a monk moves like a king or a bishop",
    "A": "an ape moves like a knight",
    "C": "a courtesan moves like a king, and along the line on which she sees her own king",
    "P": "a pawn steps straight forward, and captures one step diagonally forward",
}

# A rule in a word, and the sentence.
Reason = tuple[str, str]


@dataclass(frozen=True)
class _Move:
    origin: int
    end: int
    suffix: str

    @property
    def names(self) -> tuple[str, str]:
        return format_square(self.origin), format_square(self.end)


def explain(variant: Variant, fen: str, text: str) -> Explanation:
    """Return why a move (as `format_move` writes it) is allowed or forbidden in a position."""
    place = read_place(variant, fen)
    move = _Move(parse_square(text[:2]), parse_square(text[2:4]), text[4:])
    if place.is_own(move.origin):
        fault = _find_piece_fault(place, move)
    else:
        fault = _find_chakra_fault(place, move)
    fault = fault or _find_check_fault(place, move)
    if fault:
        return Explanation(False, *fault)
    return Explanation(True, *_find_permission(place, move))


def _find_chakra_fault(place: Place, move: _Move) -> Reason | None:
    """Return what forbids a move from a square without a piece of the mover's."""
    origin, end = move.names
    side = SIDE_NAMES[place.side]
    mode = place.own_chakras.get(move.origin)
    content = place.pieces.get(move.origin)
    if content is not None:
        name = name_piece(content, PIECE_NAMES, move.origin)
        if mode is not None:
            return "occupied-chakra", f"{name} occupies {side}'s chakra, which cannot move or flip"
        return "wrong-side", f"{side} is to move, and cannot move {name}"
    if mode is None:
        if move.origin in place.enemy_chakras:
            return "wrong-side", f"{side} is to move, and the chakra on {origin} is not {side}'s"
        return "empty-square", f"{origin} holds neither a piece nor a chakra"
    if move.suffix not in ("", "f"):
        return "promotion", f"a chakra moves from {origin}, and only pawns promote"
    if move.origin == move.end:
        if move.suffix:
            return None
        return "flip", f"a chakra that stays on {origin} has to flip: {origin}{origin}f"
    if move.end not in place.find_chakra_steps(move.origin, mode):
        name = _MODE_NAMES[mode]
        return "movement", f"the chakra on {origin} is in {name} mode, and moves like a {name}"
    if move.end in place.pieces:
        name = name_piece(place.pieces[move.end], PIECE_NAMES, move.end)
        return "chakra-end", f"a chakra moves only to a square without a piece, and meets {name}"
    if move.end in place.own_chakras or move.end in place.enemy_chakras:
        return "chakra-end", f"a chakra cannot move onto another, and {end} has one"
    return None


def _find_piece_fault(place: Place, move: _Move) -> Reason | None:
    """Return what forbids a piece's move, its king's safety apart."""
    letter = place.pieces[move.origin]
    name = name_piece(letter, PIECE_NAMES, move.origin)
    if move.suffix == "f":
        if move.origin in place.own_chakras:
            return "occupied-chakra", f"{name} occupies the chakra, which cannot move or flip"
        return "flip", f"{name} cannot flip: only vacant chakras do"
    if move.suffix and letter.upper() != "P":
        return "promotion", f"{name} cannot promote: only pawns do"
    if move.origin == move.end:
        return _find_pass_fault(place, move, name)
    if move.end in place.pieces and place.is_own(move.end):
        other = name_piece(place.pieces[move.end], PIECE_NAMES, move.end)
        return "own-piece", f"{name} cannot end where {other} stands"
    return (
        _find_route_fault(place, move, name)
        or _find_guard_fault(place, move)
        or _find_promotion_fault(place, move, name)
    )


def _find_pass_fault(place: Place, move: _Move, name: str) -> Reason | None:
    other = place.find_other_chakra(place.side, move.origin)
    if other is None:
        return "pass", f"{name} passes only on a chakra of its own side"
    at = format_square(other)
    if other in place.pieces:
        return "pass", f"{name} cannot pass, as the other chakra, on {at}, is occupied"
    if other not in place.find_formal_ends(move.origin):
        return "pass", f"{name} cannot pass, as it does not cover the other chakra, on {at}"
    return None


def _find_route_fault(place: Place, move: _Move, name: str) -> Reason | None:
    """Return why a piece cannot come to its end, directly or through the transmitter."""
    formal = place.find_formal_ends(move.origin)
    if move.end in {place.find_transmitted_end(move.origin, square) for square in formal}:
        return None
    if move.end in formal:
        sent = place.find_transmitted_end(move.origin, move.end)
        if sent is None or place.flags["transmission"] == "optional":
            return None
        onto, away = format_square(move.end), format_square(sent)
        text = f"transmission is compulsory: {name}, moving onto {onto}, ends on {away}"
        return "compulsory-transmission", text
    other = place.find_other_chakra(place.side, move.end)
    if other is not None and other != move.origin and other in place.pieces:
        vacant = replace(place, pieces={s: p for s, p in place.pieces.items() if s != other})
        if other in vacant.find_formal_ends(move.origin):
            at = format_square(other)
            return "transmission", f"{name} is not transmitted, as the chakra on {at} is occupied"
    if place.pieces[move.origin].upper() == "P":
        return _find_pawn_fault(place, move, name)
    return _find_line_fault(place, move, name)


def _find_pawn_fault(place: Place, move: _Move, name: str) -> Reason:
    """Return why a pawn does not formally move to its end."""
    end = format_square(move.end)
    ahead = (move.end // 8 - move.origin // 8) * (1 if place.side == WHITE else -1)
    aside = abs(move.end % 8 - move.origin % 8)
    if (ahead, aside) == (1, 1):
        return "pawn-capture", f"{name} moves diagonally only to capture, and {end} holds no piece"
    if (ahead, aside) == (1, 0):
        return "blocked", f"{name} captures diagonally alone, and a piece stands on {end}"
    if (ahead, aside) != (2, 0):
        return "movement", f"{name} does not reach {end}: {_MOVEMENTS['P']}"
    if not place.flags["double_step"]:
        return "double-step", f"{name} does not step twice: this variant has no double step"
    if move.origin // 8 != (1 if place.side == WHITE else 6):
        return "double-step", f"{name} does not step twice: it is not on its own second rank"
    passed = (move.origin + move.end) // 2
    if passed in place.enemy_chakras and passed not in place.pieces:
        return "blocked", f"{name} cannot pass over the enemy chakra on {format_square(passed)}"
    stop = passed if passed in place.pieces else move.end
    other = name_piece(place.pieces[stop], PIECE_NAMES, stop)
    return "blocked", f"{name} is blocked by {other}"


def _find_line_fault(place: Place, move: _Move, name: str) -> Reason:
    """Return why a piece other than a pawn does not formally move to its end."""
    kind = place.pieces[move.origin].upper()
    end = format_square(move.end)
    for line in place.find_lines(move.origin):
        if move.end in line:
            stop = next(s for s in line if s in place.pieces or s in place.enemy_chakras)
            if stop in place.pieces:
                other = name_piece(place.pieces[stop], PIECE_NAMES, stop)
                return "blocked", f"{name} is blocked by {other}"
            return "blocked", f"{name} is stopped by the enemy chakra on {format_square(stop)}"
    if kind == "C" and any(move.end in line for line in find_queen_lines(move.origin)):
        return "courtesan-line", f"{name} does not see her king on the line to {end}"
    if kind == "S":
        jumps = place.flags["samurai"] == "king+knight"
        how = f"a samurai moves like a king or a {'knight' if jumps else 'rook'}"
    else:
        how = _MOVEMENTS[kind]
    return "movement", f"{name} does not reach {end}: {how}"


def _find_guard_fault(place: Place, move: _Move) -> Reason | None:
    """Return whether the enemy king, on its own chakra, guards the other one against the king."""
    if place.pieces[move.origin].upper() != "K" or not place.flags["guard"]:
        return None
    other = place.find_other_chakra(find_opponent(place.side), move.end)
    if other is None or other != place.find_king(find_opponent(place.side)):
        return None
    end, at = format_square(move.end), format_square(other)
    return "guard", f"the king may not end on {end}: the enemy king on {at} guards its transmitter"


def _find_promotion_fault(place: Place, move: _Move, name: str) -> Reason | None:
    """Return what is wrong with a pawn's promotion, or with the lack of one."""
    if place.pieces[move.origin].upper() != "P":
        return None
    end = format_square(move.end)
    if move.end // 8 != (7 if place.side == WHITE else 0):
        if not move.suffix:
            return None
        return "promotion", f"{name} cannot promote on {end}, which is not its last rank"
    open_types = [kind for kind in _SETUP if _has_lost(place, kind)]
    if not open_types:
        return "no-reserve", f"{name} may not move to its last rank: no lost piece is off the board"
    if not move.suffix:
        choice = " or ".join(f"{kind.lower()} ({PIECE_NAMES[kind]})" for kind in open_types)
        return "promotion", f"{name} has to promote on {end}: {choice}"
    kind = move.suffix.upper()
    if kind not in open_types:
        lost = PIECE_NAMES[kind]
        return "no-reserve", f"{name} cannot promote to {lost}: no lost {lost} is off the board"
    return None


def _has_lost(place: Place, kind: str) -> bool:
    letter = kind if place.side == WHITE else kind.lower()
    return list(place.pieces.values()).count(letter) < _SETUP[kind]


def _find_check_fault(place: Place, move: _Move) -> Reason | None:
    """Return who attacks the mover's king after the move."""
    after = place.make_move(move.origin, move.end, move.suffix)
    attacker = after.find_attacker(place.side)
    if attacker is None:
        return None
    king = after.find_king(place.side)
    square, way = attacker
    by = name_piece(after.pieces[square], PIECE_NAMES, square)
    through = "" if way == king else f" through the transmitter, by way of {format_square(way)}"
    side = SIDE_NAMES[place.side]
    return "check", f"{side}'s king on {format_square(king)} would be attacked by {by}{through}"


def _find_permission(place: Place, move: _Move) -> Reason:
    """Return the rule that allows a legal move."""
    origin, end = move.names
    letter = place.pieces.get(move.origin)
    if letter is None:
        mode = _MODE_NAMES[place.own_chakras[move.origin]]
        if move.origin == move.end:
            return "flip", f"the vacant chakra on {origin} flips in place"
        then = " and flips" if move.suffix else ""
        return "chakra-move", f"the vacant chakra on {origin} moves like a {mode} to {end}{then}"
    name = name_piece(letter, PIECE_NAMES, move.origin)
    if move.origin == move.end:
        return "pass", f"{name} covers the vacant other chakra, and is transmitted back: a pass"
    target = place.pieces.get(move.end)
    captures = "" if target is None else f", capturing the {PIECE_NAMES[target.upper()]}"
    promotes = f", promoting to {PIECE_NAMES[move.suffix.upper()]}" if move.suffix else ""
    if move.end not in place.find_formal_ends(move.origin):
        return "transmission", f"{name} is transmitted to {end}{captures}{promotes}"
    if letter.upper() == "K" and target is None and move.end in place.enemy_chakras:
        return "transmitter-capture", f"{name} moves to {end} and captures the transmitter"
    if promotes:
        return "promotion", f"{name} moves to {end}{captures}{promotes}"
    if captures:
        return "capture", f"{name} moves to {end}{captures}"
    return "move", f"{name} moves to {end}"
