"""How Caïssa is drawn: its pieces, tiles on water, and the exchange that ko forbids."""

from core.caissa.layout import WIDTH
from core.caissa.plain import PIECE_NAMES, read_place
from core.explanation import SIDE_NAMES, find_side
from core.notation import parse_square
from core.picture.scene import Art, Board, Item, Link
from core.picture.shapes import BASE, QUEEN
from core.variant import Variant

_TILE = (
    '<path fill="{{{}}}" d="M3 14Q3 3 14 3h72q11 0 11 11v72q0 11-11 11H14Q3 97 3 86z"/>'
    '<path fill="none" stroke="{{white}}" stroke-opacity=".45" stroke-width="2" '
    'd="M5 84V15Q5 5 15 5h69"/>'
)

ART = Art(
    {
        "light": _TILE.format("light"),
        "dark": _TILE.format("dark"),
        "hole": '<path fill="none" stroke="{wave}" stroke-width="4" stroke-linecap="round" '
        'd="M22 36q9-9 18 0t18 0 18 0M28 56q9-9 18 0t18 0 18 0M18 76q9-9 18 0t18 0"/>',
        "Q": QUEEN,
        "R": '<path d="M27 24h12v8h6v-8h10v8h6v-8h12v17l-9 8v20l6 8H30l6-8V49l-9-8z"/>'
        '<path d="M37 49h26M37 69h26" fill="none" stroke="currentColor"/>' + BASE,
        "N": '<path d="M33 77c0-13 6-19 13-27-7 1-11 6-16 9-6 2-11-4-9-10 5-8 10-16 19-22l1-12 9 9'
        'c17 2 26 16 26 33 0 8-1 14-2 20z"/>'
        '<circle cx="42" cy="37" r="3" fill="currentColor" stroke="none"/>'
        '<path d="M54 31c9 5 13 14 12 28" fill="none" stroke="currentColor"/>' + BASE,
        "B": '<path d="M50 23c12 9 19 19 18 30-1 7-5 11-10 14l8 10H34l8-10c-5-3-9-7-10-14'
        '-1-11 6-21 18-30z"/><circle cx="50" cy="18" r="5"/>'
        '<path d="M50 38v18M41 47h18" fill="none" stroke="currentColor"/>' + BASE,
    },
    backdrop="water",
)


def read_board(_variant: Variant, fen: str) -> Board:
    """Return what a picture of a valid FEN shows; the variants differ in nothing of it."""
    place = read_place(fen)
    ko = [] if place.ko == "-" else [(parse_square(place.ko[:2]), parse_square(place.ko[2:]))]
    return Board(
        width=WIDTH,
        art=ART,
        side=place.side,
        pieces=[
            Item(PIECE_NAMES[letter.upper()], square, letter.upper(), letter, find_side(letter))
            for square, letter in sorted(place.pieces.items())
        ],
        royals={side: place.find_queen(side) for side in SIDE_NAMES},
        holes=[Item("hole", square, "hole", "≈") for square in sorted(place.holes)],
        links=[Link("exchange that ko forbids", squares, "check", label="ko") for squares in ko],
    )
