"""How Chakra is drawn: its pieces, the chakras under them with their modes, the linked pairs."""

from math import cos, radians, sin

from core.chakra.layout import SETUP_COUNTS, TYPE_LETTERS
from core.chakra.plain import PIECE_NAMES, Place, read_place
from core.explanation import BLACK, SIDE_NAMES, WHITE, find_side
from core.picture.scene import Art, Board, Item, Link
from core.picture.shapes import BASE, QUEEN
from core.variant import Variant

_MODES = {"n": "knight", "k": "king"}
_COLOURS = {WHITE: "white_mark", BLACK: "black_mark"}
# Where a chakra of each mode goes, as angles: the spokes of its wheel.
_ANGLES = {"n": [27, 63, 117, 153, 207, 243, 297, 333], "k": list(range(0, 360, 45))}
_SETUP = {TYPE_LETTERS[int(kind)]: count for kind, count in SETUP_COUNTS.items()}

_PIECES = {
    "K": '<path d="M32 77c1-12-10-19-9-31 1-11 17-14 27-1 10-13 26-10 27 1 1 12-10 19-9 31z"/>'
    '<path d="M46.5 13h7v7h7v7h-7v11h-7V27h-7v-7h7z"/>'
    '<path d="M34 68h32" fill="none" stroke="currentColor"/>' + BASE,
    "Q": QUEEN,
    # A helmet with its crest.
    "S": '<path d="M27 52 15 71q10 6 21 5l3-18h22l3 18q11 1 21-5L73 52z"/>'
    '<path d="M26 54c-1-18 9-29 24-29s25 11 24 29q-24-9-48 0z"/>'
    '<path d="M45 36C32 31 26 22 27 9c6 9 13 13 23 16 10-3 17-7 23-16 1 13-5 22-18 27z"/>'
    '<circle cx="50" cy="38" r="4" fill="currentColor" stroke="none"/>' + BASE,
    # A hooded figure.
    "M": '<path d="M50 15c14 9 20 21 17 33 6 8 9 18 9 29H24c0-11 3-21 9-29-3-12 3-24 17-33z"/>'
    '<ellipse cx="50" cy="42" rx="9" ry="12" fill="currentColor"/>'
    '<path d="M35 66q15 6 30 0" fill="none" stroke="currentColor"/>' + BASE,
    # A face.
    "A": '<circle cx="23" cy="45" r="10"/><circle cx="77" cy="45" r="10"/>'
    '<path d="M50 17c18 0 27 12 27 29 0 20-12 31-27 31S23 66 23 46c0-17 9-29 27-29z"/>'
    '<ellipse cx="50" cy="61" rx="17" ry="12" fill="none" stroke="currentColor"/>'
    '<g fill="currentColor" stroke="none"><circle cx="41" cy="41" r="4.5"/>'
    '<circle cx="59" cy="41" r="4.5"/><circle cx="46" cy="58" r="2"/>'
    '<circle cx="54" cy="58" r="2"/></g>'
    '<path d="M42 66q8 4 16 0" fill="none" stroke="currentColor"/>' + BASE,
    # A fan.
    "C": '<path d="M46 77 8 46C20 26 34 18 50 18s30 8 42 28L54 77z"/>'
    '<path d="M22 57c8-12 17-17 28-17s20 5 28 17M50 74V19M47 74 28 25M53 74l19-49" '
    'fill="none" stroke="currentColor"/>' + BASE,
    "P": '<path d="M50 26a12 12 0 0 1 7 22c2 12 6 20 11 29H32c5-9 9-17 11-29a12 12 0 0 1 7-22z"/>'
    + BASE,
}


def _draw_chakra(side: str, mode: str) -> str:
    """Return a wheel with a spoke in each direction of the mode, its letter in the corner."""
    colour = _COLOURS[side]
    ends = [(cos(radians(angle)), sin(radians(angle))) for angle in _ANGLES[mode]]
    spokes = "".join(
        f"M{50 + 12 * x:.0f} {50 + 12 * y:.0f}L{50 + 40 * x:.0f} {50 + 40 * y:.0f}" for x, y in ends
    )
    line, fill = f"{{{colour}_line}}", f"{{{colour}}}"
    return (
        f'<g fill="none" stroke="{line}"><path stroke-width="3" d="{spokes}"/>'
        '<circle cx="50" cy="50" r="43" stroke-width="9"/>'
        f'<circle cx="50" cy="50" r="43" stroke="{fill}" stroke-width="6"/>'
        f'<circle cx="50" cy="50" r="9" fill="{fill}" stroke-width="2"/>'
        f'<circle cx="86" cy="86" r="12" fill="{fill}" stroke-width="2"/></g>'
        f'<text x="86" y="91.5" font-size="16" font-weight="700" text-anchor="middle" '
        f'fill="{{{colour}_text}}">{mode.upper()}</text>'
    )


ART = Art(
    {
        "light": '<path fill="{light}" d="M0 0h100v100H0z"/>',
        "dark": '<path fill="{dark}" d="M0 0h100v100H0z"/>',
        **_PIECES,
        **{side + mode: _draw_chakra(side, mode) for side in SIDE_NAMES for mode in _MODES},
    },
    backdrop="dark",
)


def read_board(variant: Variant, fen: str) -> Board:
    """Return what a picture of a valid FEN shows."""
    place = read_place(variant, fen)
    reserves = {side: _find_reserve(place, side) for side in SIDE_NAMES}
    return Board(
        width=8,
        art=ART,
        side=place.side,
        pieces=[
            Item(PIECE_NAMES[letter.upper()], square, letter.upper(), letter, find_side(letter))
            for square, letter in sorted(place.pieces.items())
        ],
        royals={side: place.find_king(side) for side in SIDE_NAMES},
        marks=[
            Item(f"{_MODES[mode]}-mode chakra", square, side + mode, mode, side)
            for side, chakras in place.chakras.items()
            for square, mode in sorted(chakras.items())
        ],
        links=[
            Link(f"{SIDE_NAMES[side]}'s transmitter", (min(pair), max(pair)), _COLOURS[side])
            for side, pair in place.chakras.items()
            if pair
        ],
        reserves={side: reserve for side, reserve in reserves.items() if reserve},
    )


def _find_reserve(place: Place, side: str) -> list[tuple[str, str]]:
    """Return the lost pieces that a side's pawns may become; none when it has no pawn."""
    own = [letter.upper() for letter in place.pieces.values() if find_side(letter) == side]
    if "P" not in own:
        return []
    return [
        (letter, PIECE_NAMES[letter])
        for letter, count in _SETUP.items()
        for _ in range(count - own.count(letter))
    ]
