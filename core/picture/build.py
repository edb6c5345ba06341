"""From a position to the scene of its picture, by its game's `picture.py`."""

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.explanation import SIDE_NAMES
from core.picture.scene import Board, Scene

if TYPE_CHECKING:
    from core.position import Position


def build_scene(position: "Position", line: Sequence[str] = ()) -> Scene:
    """Return what a picture of a position shows; MoveError when `line` is not legal from it."""
    following = position.copy()
    for move in line:
        following.push(move)
    fen = position.fen()
    module = importlib.import_module(f"core.{position.variant.game}.picture")
    board: Board = module.read_board(position.variant, fen)
    is_check = position.is_check()
    return Scene(
        variant=position.variant.name,
        fen=fen,
        board=board,
        status=_find_status(SIDE_NAMES[board.side], is_check, position.outcome()),
        checked=board.royals[board.side] if is_check else None,
        last_move=position.moves[-1] if position.moves else None,
        line=tuple(following.moves),
    )


def _find_status(side: str, is_check: bool, outcome: str | None) -> str:
    if outcome in ("checkmate", "stalemate"):
        return f"{side} to move: {outcome}"
    draw = f": drawn by {outcome}" if outcome else ""
    return f"{side} to move{', in check' if is_check else ''}{draw}"
