"""The terms on which a game without an end is judged by scores: what they mean, to the ply.

A game's scores stand in a list: at index n what the side to move after n plies thought of its
position, for itself, or None where nobody was asked. A mate is beyond every threshold.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.records.game import DRAWN, WON
from core.score import Score

# Reasons of a verdict.
RESIGN, DRAW_SCORE, LENGTH = "resign", "draw-score", "length"

MAX_THRESHOLD = 30_000
MAX_COUNT = 1_000
MAX_LENGTH = 10_000


@dataclass(frozen=True)
class Terms:
    """When a game is lost, drawn or too long. A part with a count or length of 0 is not in force.

    `resign_score`, `resign_count`: a side loses whose last so many scores are all at or below minus
    the threshold; `is_two_sided`: and the other side's last so many are all at or above it.
    `draw_score`, `draw_count`, `draw_after`: drawn when the last so many scores of either side,
    none of them given before so many moves of either side, are all within the threshold.
    `max_plies`: drawn when so many plies are played.

    Raises ValueError, which names the field, when one is out of range.
    """

    resign_score: int = 0
    resign_count: int = 0
    is_two_sided: bool = False
    draw_score: int = 0
    draw_count: int = 0
    draw_after: int = 0
    max_plies: int = 0

    def __post_init__(self) -> None:
        for name, value, most in (
            ("resign_score", self.resign_score, MAX_THRESHOLD),
            ("resign_count", self.resign_count, MAX_COUNT),
            ("draw_score", self.draw_score, MAX_THRESHOLD),
            ("draw_count", self.draw_count, MAX_COUNT),
            ("draw_after", self.draw_after, MAX_LENGTH),
            ("max_plies", self.max_plies, MAX_LENGTH),
        ):
            if not 0 <= value <= most:
                raise ValueError(f"{name} {value} is not between 0 and {most}")
        if self.is_two_sided and not self.resign_count:
            raise ValueError("is_two_sided says nothing without resign_count")

    @property
    def window(self) -> int:
        """How many of the last scores can matter: both sides' longest runs."""
        return 2 * max(self.resign_count, self.draw_count)


@dataclass(frozen=True)
class Ending:
    """How terms end a game: result, reason, after how many plies, and the scores that count."""

    result: str
    reason: str
    ply: int
    score_plies: tuple[int, ...] = ()


def find_ending(
    scores: Sequence[Score | None], plies: int, black_began: bool, terms: Terms
) -> Ending | None:
    """Return how terms first end a game of so many plies, or None.

    `scores` has an entry for each ply, and perhaps one for the position after the last. Those that
    were known after a ply, with the move that ended it, are looked at after it.
    """
    for end in range(plies):
        ending = find_ending_at(scores[:end], end, black_began, terms)
        if ending:
            return ending
    return find_ending_at(scores, plies, black_began, terms)


def find_ending_at(
    scores: Sequence[Score | None], plies: int, black_began: bool, terms: Terms
) -> Ending | None:
    """Return how terms end a game now, after so many plies, looking at the last scores alone.

    Resigning comes first, then drawing by score, then the length.
    """
    loser = _find_loser(scores, black_began, terms)
    if loser is not None:
        side, counted = loser
        return Ending(WON[1 - side], RESIGN, plies, counted)
    drawn = _find_draw(scores, terms)
    if drawn:
        return Ending(DRAWN, DRAW_SCORE, plies, drawn)
    if terms.max_plies and plies >= terms.max_plies:
        return Ending(DRAWN, LENGTH, plies)
    return None


def _find_loser(
    scores: Sequence[Score | None], black_began: bool, terms: Terms
) -> tuple[int, tuple[int, ...]] | None:
    """Return the side that resigns, and the places of the scores that make it."""
    count, last = terms.resign_count, len(scores) - 1
    if not count:
        return None
    for newest in (last, last - 1):
        own = range(newest, newest - 2 * count, -2)
        if own[-1] < 0 or not all(_is_lost(scores[n], terms.resign_score) for n in own):
            continue
        other = 2 * last - 1 - newest
        others = range(other, other - 2 * count, -2) if terms.is_two_sided else range(0)
        if others and others[-1] < 0:
            continue
        if all(_is_won(scores[n], terms.resign_score) for n in others):
            return (newest + black_began) % 2, tuple(sorted([*own, *others]))
    return None


def _find_draw(scores: Sequence[Score | None], terms: Terms) -> tuple[int, ...]:
    """Return the places of the scores that make a draw, or none."""
    first = len(scores) - 2 * terms.draw_count
    counted = range(first, len(scores))
    if not counted or first < 2 * terms.draw_after:
        return ()
    is_drawn = all(_is_within(scores[n], terms.draw_score) for n in counted)
    return tuple(counted) if is_drawn else ()


def _is_lost(score: Score | None, threshold: int) -> bool:
    if score is None:
        return False
    return score.mate <= 0 if score.mate is not None else (score.cp or 0) <= -threshold


def _is_won(score: Score | None, threshold: int) -> bool:
    if score is None:
        return False
    return score.mate > 0 if score.mate is not None else (score.cp or 0) >= threshold


def _is_within(score: Score | None, threshold: int) -> bool:
    return score is not None and score.mate is None and abs(score.cp or 0) <= threshold
