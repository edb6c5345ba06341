"""The judge in tests: both games in slow, plain Python, written from the rules text alone.

Nothing here shares code, tables or shapes with the kernels. `chakra` and `caissa` offer the same
names: `parse_fen`, `format_fen`, `legal_moves`, `make_move`, `successors`, `in_check`, `result`,
`outcome`, `perft`, `random_state`, `random_game`, and the symmetries of the game.
"""

from core.reference import caissa, chakra

__all__ = ["caissa", "chakra"]
