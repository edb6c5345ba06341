"""Scores in the comments of a game file."""

import re

from core.records.game import RecordedMove
from core.score import Score

# What engines and matches write, for the mover: `+0.35/12 0.1s`, `#-3`.
_OWN = re.compile(r"\s*([+-]?[0-9]{1,5}\.[0-9]{1,2}|#-?[0-9]{1,3})(?:/([0-9]{1,3}))?(?![^\s,;])")
# What is written for White: `[%eval 0.35,12]`, `[%eval #-3]`.
_WHITES = re.compile(
    r"\[%eval\s{1,9}([+-]?[0-9]{1,5}(?:\.[0-9]{1,2})?|#-?[0-9]{1,3})(?:,([0-9]{1,3}))?\s{0,9}\]"
)


def format_comment(move: RecordedMove) -> str:
    """Return the comment that tells a move's score; empty without one."""
    if move.score is None:
        return ""
    return f"{{{move.score}}}" if move.depth is None else f"{{{move.score}/{move.depth}}}"


def find_score(comment: str, is_white: bool) -> tuple[Score, int | None] | None:
    """Return the score for the mover and the depth that a comment on a move tells, if it does.

    `is_white`: whether White made the move.
    """
    match = _OWN.match(comment)
    sign = 1
    if match is None:
        match = _WHITES.search(comment)
        sign = 1 if is_white else -1
    if match is None:
        return None
    text, depth = match[1], match[2]
    if text.startswith("#"):
        score = Score(mate=sign * int(text[1:]))
    else:
        score = Score(cp=sign * round(100 * float(text)))
    return score, int(depth) if depth else None
