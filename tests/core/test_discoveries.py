"""Where fast generators go wrong: attacks that a move opens or shuts without standing in their way.

Each position shows one way, by moves that must be legal and moves that must not; the whole list is
that of the reference.
"""

import pytest

from core.position import Position
from core.reference import caissa, chakra

CASES = {
    "a vacant own chakra leaves a line: only along it, or flipped in place": (
        "chakra",
        "4q1k1/8/8/8/8/8/8/4K3 w e4k,a1n - 0 1",
        ["e4e5", "e4e5f", "e4e3", "e4e4f"],
        ["e4d5", "e4f3"],
    ),
    "a piece leaves its own chakra, which then stops the line": (
        "chakra",
        "4q1k1/8/8/8/4A3/8/8/4K3 w e4n,a1n - 0 1",
        ["e4c5", "e4g3"],
        [],
    ),
    "a piece leaves an enemy chakra, which stops nothing for its owner": (
        "chakra",
        "4q1k1/8/8/8/4A3/8/8/4K3 w - e4n,a5n 0 1",
        ["e1d2"],
        ["e4c5", "e4g3"],
    ),
    "a vacant own chakra interposes": (
        "chakra",
        "4q1k1/8/8/8/8/8/8/4K3 w c4n,a1n - 0 1",
        ["c4e3", "c4e5", "e1d1"],
        ["c4d6", "c4c4f", "a1b3"],
    ),
    "a king captures the transmitter: nothing comes through it any more": (
        "chakra",
        "6k1/8/5a2/8/8/8/8/4K3 w - d2n,h5n 0 1",
        ["e1d2"],
        [],
    ),
    "a king on an occupied enemy chakra is attacked through the vacant one": (
        "chakra",
        "6k1/8/5a2/8/8/8/3a4/4K3 w - d2n,h5n 0 1",
        ["e1d1"],
        ["e1d2"],
    ),
    "nothing covers the vacant one: the same capture is legal": (
        "chakra",
        "6k1/8/8/8/8/8/3a4/4K3 w - d2n,h5n 0 1",
        ["e1d2"],
        [],
    ),
    "a courtesan's line appears when the piece before her king leaves": (
        "chakra",
        "k7/1A6/8/3c4/8/8/6K1/8 w - - 0 1",
        ["g2g3"],
        ["b7a5", "b7c5", "b7d6", "b7d8"],
    ),
    "a courtesan's line vanishes when the king steps before hers": (
        "chakra",
        "8/8/c7/8/8/1K6/8/k7 w - - 0 1",
        ["b3a3", "b3a4"],
        [],
    ),
    "on her far side it does not": (
        "chakra",
        "8/8/8/1K6/8/c7/8/k7 w - - 0 1",
        ["b5c5"],
        ["b5a5"],
    ),
    "one piece holds a transmitter shut: it may only take what covers the entry": (
        "chakra",
        "6k1/2a5/8/1A6/4K3/8/8/8 w - e4n,b5n 0 1",
        ["b5c7", "e4d4"],
        ["b5a3", "b5d4", "b5a7"],
    ),
    "the king leaves that chakra with a check through it": (
        "chakra",
        "6k1/2a5/8/8/4K3/8/8/8 w - e4n,b5n 0 1",
        ["e4d4"],
        [],
    ),
    "the same on S3's samurai, which jumps": (
        "chakra-pritchard",
        "6k1/2s5/8/8/4K3/8/8/8 w - e4n,b5n 0 1",
        ["e4e3"],
        [],
    ),
    "compulsory transmission closes an entry whose exit leaves the king in check": (
        "chakra-mindsports",
        "4q1k1/8/8/8/8/8/8/4K3 w d2n,e5n - 0 1",
        ["e1f1"],
        ["e1d2", "e1e5"],
    ),
    "an exchange brings the enemy to where he gives check": (
        "caissa",
        "7/7/3q3/7/1R3r1/7/1Q5 w - 0 1",
        [],
        ["b3f3"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_discovery(name: str) -> None:
    variant, fen, legal, illegal = CASES[name]
    position = Position(variant, fen)
    moves = position.legal_moves
    judge = chakra if variant in chakra.VARIANTS else caissa
    assert moves == judge.legal_moves(judge.parse_fen(variant, fen))
    assert set(legal) <= set(moves)
    assert not set(illegal) & set(moves)
    assert position.perft(1) == len(moves)
