"""The variants of Chakra: names, starts and rule flags. Imports nothing that compiles."""

from core.variant import Variant

_BOARD = "acmqksca/1pppppp1/8/8/8/8/1PPPPPP1/ACMQKSCA w"

VARIANTS = [
    Variant(
        name="chakra",
        game="chakra",
        startpos=f"{_BOARD} a2n,h2n a7n,h7n 0 1",
        flags={
            "samurai": "king+rook",
            "double_step": True,
            "transmission": "optional",
            "guard": True,
            "start_mode": "knight",
        },
    ),
    Variant(
        name="chakra-mindsports",
        game="chakra",
        startpos=f"{_BOARD} a2n,h2n a7n,h7n 0 1",
        flags={
            "samurai": "king+rook",
            "double_step": False,
            "transmission": "compulsory",
            "guard": False,
            "start_mode": "knight",
        },
    ),
    Variant(
        name="chakra-pritchard",
        game="chakra",
        startpos=f"{_BOARD} a2k,h2k a7k,h7k 0 1",
        flags={
            "samurai": "king+knight",
            "double_step": True,
            "transmission": "optional",
            "guard": True,
            "start_mode": "king",
        },
    ),
]
