"""The functions of `position`, bound: with keys, counters and history, and without for counting."""

from core.board import bind_moves
from core.caissa import position

_keyed = bind_moves(position, "caissa", is_keyed=True)
place_pieces = _keyed.place_pieces
permute_squares = _keyed.permute_squares
write_board_image = _keyed.write_board_image
make_move = _keyed.make_move
unmake_move = _keyed.unmake_move
make_null = _keyed.make_null_move
unmake_null = _keyed.unmake_null_move

_unkeyed = bind_moves(position, "caissa", is_keyed=False)
make_unkeyed = _unkeyed.make_move
unmake_unkeyed = _unkeyed.unmake_move
