"""Why a move is allowed or forbidden, told from the rules and not from the list of legal moves."""

import importlib

from core.explanation import Explanation
from core.position import Position


def explain(position: Position, move: str) -> Explanation:
    """Return the rule that allows or forbids a move in a position; draws forbid none.

    Raises MoveError when the text is no move of the game.
    """
    text = position.game.rules.normalise_move(move)
    module = importlib.import_module(f"core.{position.variant.game}.explain")
    found: Explanation = module.explain(position.variant, position.fen(), text)
    return found
