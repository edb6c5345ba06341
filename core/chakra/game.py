"""What Chakra gives to the rest: its record types and the functions of the contract."""

from core.chakra.evaluate import (
    CHECK_PLIES,
    evaluate,
    find_gain,
    find_mover,
    may_pass,
    may_prune,
)
from core.chakra.layout import STATE
from core.chakra.movegen import (
    count_moves,
    generate_captures,
    generate_forcing,
    generate_moves,
    in_check,
)
from core.chakra.moves import (
    make_move,
    make_null,
    make_unkeyed,
    unmake_move,
    unmake_null,
    unmake_unkeyed,
)
from core.chakra.notation import format_move, format_position, normalise_move, parse_position
from core.chakra.outcome import find_draw
from core.chakra.position import compute_key
from core.chakra.symmetry import SYMMETRIES, SYMMETRY_COUNT, write_image
from core.chakra.tables import TABLES
from core.chakra.weights import WDL

__all__ = [
    "CHECK_PLIES",
    "STATE",
    "SYMMETRIES",
    "SYMMETRY_COUNT",
    "TABLES",
    "WDL",
    "compute_key",
    "count_moves",
    "evaluate",
    "find_draw",
    "find_gain",
    "find_mover",
    "format_move",
    "format_position",
    "generate_captures",
    "generate_forcing",
    "generate_moves",
    "in_check",
    "make_move",
    "make_null",
    "make_unkeyed",
    "may_pass",
    "may_prune",
    "normalise_move",
    "parse_position",
    "unmake_move",
    "unmake_null",
    "unmake_unkeyed",
    "write_image",
]
