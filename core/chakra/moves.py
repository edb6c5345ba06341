"""The functions of `position`, bound: with keys, counters and history, and without for counting."""

from core.board import bind_moves
from core.chakra import position

_keyed = bind_moves(position, "chakra", is_keyed=True)
place_pieces = _keyed.place_pieces
permute_squares = _keyed.permute_squares
write_board_image = _keyed.write_board_image
make_move = _keyed.make_move
unmake_move = _keyed.unmake_move
make_null = _keyed.make_null
unmake_null = _keyed.unmake_null

_unkeyed = bind_moves(position, "chakra", is_keyed=False)
make_unkeyed = _unkeyed.make_move
unmake_unkeyed = _unkeyed.unmake_move
