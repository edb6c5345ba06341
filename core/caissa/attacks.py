"""Who attacks what in Caissa, what holds lines shut, and whether the tiles hang together."""

from typing import Any

from core import geometry
from core.bind import bind
from core.bits import ALL, U0, U1, U2, U8, bit, is_single, lsb
from core.caissa.layout import BISHOP, BOARD, KNIGHT, QUEEN, ROOK
from core.jit import kernel

_U5 = U8 - U2 - U1
_U9 = U8 + U1
_U10 = U8 + U2
_SOUTH_ROW = U8 - U1
_MIDDLE_ROW = _SOUTH_ROW << (U1 + U2)
_NORTH_ROW = _SOUTH_ROW << (U8 - U2)

rook_slides, bishop_slides = geometry.choose_sliders(bind(geometry, "caissa", {}))


@kernel
def find_attackers(S: Any, T: Any, side: Any, square: Any, occupied: Any) -> Any:
    """Return the rook, knight and bishop of `side` that could move to `square` as in chess."""
    found = T.knight_steps[square] & S.by_type[KNIGHT]
    found |= rook_slides(T, square, occupied) & S.by_type[ROOK]
    found |= bishop_slides(T, square, occupied) & S.by_type[BISHOP]
    return found & S.by_side[side]


@kernel
def is_queen_attacked(S: Any, T: Any, side: Any) -> Any:
    """Return whether the queen of `side` is in check."""
    square = lsb(S.by_type[QUEEN] & S.by_side[side])
    occupied = S.by_side[0] | S.by_side[1]
    return find_attackers(S, T, side ^ U1, square, occupied) != U0


@kernel
def are_queens_in_sight(S: Any, T: Any) -> Any:
    """Return whether the queens see each other; holes stop nothing."""
    white = lsb(S.by_type[QUEEN] & S.by_side[0])
    black = lsb(S.by_type[QUEEN] & S.by_side[1])
    occupied = S.by_side[0] | S.by_side[1]
    return T.line[white, black] != U0 and T.between[white, black] & occupied == U0


@kernel
def find_danger(S: Any, T: Any, side: Any) -> Any:
    """Return the squares that the queen of `side` may not move to: attacked, or in sight.

    Found with her off the board: she may not retreat along a line.
    """
    here = S.by_side[side ^ U1]
    occupied = (S.by_side[side] | here) & ~(S.by_type[QUEEN] & S.by_side[side])
    queen = lsb(S.by_type[QUEEN] & here)
    danger = rook_slides(T, queen, occupied) | bishop_slides(T, queen, occupied)
    rook = S.by_type[ROOK] & here
    if rook:
        danger |= rook_slides(T, lsb(rook), occupied)
    knight = S.by_type[KNIGHT] & here
    if knight:
        danger |= T.knight_steps[lsb(knight)]
    bishop = S.by_type[BISHOP] & here
    if bishop:
        danger |= bishop_slides(T, lsb(bishop), occupied)
    return danger


@kernel
def find_constraints(S: Any, T: Any) -> Any:
    """Write `S.pin_mask`; return checkers, the mask of quiet ends, and pinned pieces.

    A rook, knight or bishop that moves to a square without a piece must end in the mask and, if
    pinned, in `S.pin_mask` of its square. Pinned is who alone stands between the own queen and an
    enemy piece on a line of hers, the enemy queen included, as queens may not see each other. An
    exchange leaves every line as it was, so the masks do not bind it.
    """
    own = S.by_side[S.side]
    enemy = S.by_side[S.side ^ U1]
    occupied = own | enemy
    square = lsb(S.by_type[QUEEN] & own)
    checkers = T.knight_steps[square] & S.by_type[KNIGHT] & enemy
    mask = U0
    pinned = U0
    snipers = T.rook_rays[square] & (S.by_type[ROOK] | S.by_type[QUEEN])
    snipers |= T.bishop_rays[square] & (S.by_type[BISHOP] | S.by_type[QUEEN])
    snipers &= enemy
    while snipers:
        sniper = lsb(snipers)
        snipers &= snipers - U1
        between = T.between[square, sniper]
        stops = between & occupied
        if stops == U0:
            checkers |= bit(sniper)
            mask |= between
        elif is_single(stops) and stops & own:
            pinned |= stops
            S.pin_mask[lsb(stops)] = between
    if checkers == U0:
        return checkers, ALL, pinned
    if not is_single(checkers):
        return checkers, U0, pinned
    return checkers, mask, pinned


@kernel
def find_neighbours(tiles: Any) -> Any:
    """Return these squares and all beside them, by side or corner."""
    row = tiles | (tiles << U1) | (tiles >> U1)
    return (row | (row << U8) | (row >> U8)) & BOARD


@kernel
def flood(seed: Any, tiles: Any) -> Any:
    """Return the tiles connected to `seed`, a part of `tiles`."""
    reached = seed
    while True:
        wider = find_neighbours(reached) & tiles
        if wider == reached:
            return reached
        reached = wider


@kernel
def is_connected(tiles: Any) -> Any:
    """Return whether the tiles, not none, are one group."""
    return flood(tiles & ~(tiles - U1), tiles) == tiles


@kernel
def is_removable(S: Any, T: Any, square: Any) -> Any:
    """Return whether the tiles, connected now, stay so without the tile of `square`.

    They do where its neighbours are connected among themselves, since every way over the tile
    can then go round it: a look-up that decides most cases. Else the tiles are flooded.
    """
    shifted = (S.tiles << _U9) >> square
    window = shifted & _SOUTH_ROW
    window |= (shifted >> _U5) & _MIDDLE_ROW
    window |= (shifted >> _U10) & _NORTH_ROW
    if T.ring_connected[window]:
        return True
    return is_connected(S.tiles & ~bit(square))


@kernel
def find_landings(S: Any, T: Any, piece: Any) -> Any:
    """Return the squares, tiled or not, to which the tile under `piece` may be carried."""
    rest = S.tiles & ~piece
    if piece == U0 or is_removable(S, T, lsb(piece)):
        return find_neighbours(rest)
    landings = BOARD
    while rest:
        group = flood(rest & ~(rest - U1), rest)
        landings &= find_neighbours(group)
        rest &= ~group
    return landings
