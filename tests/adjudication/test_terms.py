"""Terms on tables of scores, to the ply."""

import pytest

from core.adjudication import Ending, Terms, find_ending, find_ending_at
from core.score import Score

RESIGN = Terms(resign_score=500, resign_count=2)
TWO_SIDED = Terms(resign_score=500, resign_count=2, is_two_sided=True)
DRAW = Terms(draw_score=10, draw_count=2, draw_after=1)
LENGTH = Terms(max_plies=4)


def table(text: str) -> list[Score | None]:
    """Scores for the mover: centipawns, `#N` for a mate, `-` for none."""
    return [
        None if word == "-" else Score(mate=int(word[1:])) if word[0] == "#" else Score(int(word))
        for word in text.split()
    ]


@pytest.mark.parametrize(
    ("terms", "scores", "ending"),
    [
        # Resigning: the second score in a row of one side, at the threshold, ends the game.
        (RESIGN, "-500 0 -500", ("0-1", "resign", 3, (0, 2))),
        (RESIGN, "-499 0 -500 0 -500 0", ("0-1", "resign", 5, (2, 4))),
        (RESIGN, "0 -600 0 -600", ("1-0", "resign", 4, (1, 3))),
        (RESIGN, "-500 0 -499 0 -500", None),
        (RESIGN, "-500 0 - 0 -500", None),
        (RESIGN, "500 0 500 0", None),
        (RESIGN, "#-9 0 #0", ("0-1", "resign", 3, (0, 2))),
        (RESIGN, "#9 0 #9 0", None),
        (RESIGN, "-500", None),
        (Terms(resign_score=500, resign_count=1), "0 -500", ("1-0", "resign", 2, (1,))),
        # Two-sided: the winner has to think so as often, in its last scores.
        (TWO_SIDED, "-500 0 -500 0", None),
        (TWO_SIDED, "-500 500 -500 500", ("0-1", "resign", 4, (0, 1, 2, 3))),
        (TWO_SIDED, "500 -500 500 -500", ("1-0", "resign", 4, (0, 1, 2, 3))),
        (TWO_SIDED, "0 500 -500 500 -500", ("0-1", "resign", 5, (1, 2, 3, 4))),
        (TWO_SIDED, "-500 499 -500 500", None),
        (TWO_SIDED, "-500 #3 -500 #2", ("0-1", "resign", 4, (0, 1, 2, 3))),
        (TWO_SIDED, "-500 - -500 500", None),
        # Drawing: two scores of either side in a row, none of them in the first move.
        (DRAW, "0 0 0 0 0", None),
        (DRAW, "90 90 10 -10 0 0", ("1/2-1/2", "draw-score", 6, (2, 3, 4, 5))),
        (DRAW, "0 0 0 11 0 0 0 0", ("1/2-1/2", "draw-score", 8, (4, 5, 6, 7))),
        (DRAW, "0 0 0 0 - 0 0 0", None),
        (DRAW, "0 0 0 0 #1 0", None),
        (Terms(draw_score=0, draw_count=1), "0 0", ("1/2-1/2", "draw-score", 2, (0, 1))),
        # Length, which needs no scores.
        (LENGTH, "- - - -", ("1/2-1/2", "length", 4, ())),
        (LENGTH, "- - -", None),
        # The first that holds ends the game; at one ply, resigning comes first.
        (Terms(resign_score=0, resign_count=1, max_plies=1), "0", ("0-1", "resign", 1, (0,))),
        (
            Terms(draw_score=9, draw_count=1, max_plies=2),
            "0 0",
            ("1/2-1/2", "draw-score", 2, (0, 1)),
        ),
        (
            Terms(resign_score=1, resign_count=2, max_plies=2),
            "-9 0 -9",
            ("1/2-1/2", "length", 2, ()),
        ),
        (Terms(), "-9999 9999 -9999 9999 0 0 0 0", None),
    ],
)
def test_how_a_table_ends(
    terms: Terms, scores: str, ending: tuple[str, str, int, tuple[int, ...]] | None
) -> None:
    given = table(scores)
    expected = None if ending is None else Ending(*ending)
    assert find_ending(given, len(given), False, terms) == expected
    # Asked after each ply, as while a game is played, the same ply ends it.
    found = [find_ending_at(given[:n], n, False, terms) for n in range(len(given) + 1)]
    assert next(filter(None, found), None) == expected


def test_sides_follow_who_began() -> None:
    ending = find_ending(table("-500 0 -500"), 3, True, RESIGN)
    assert ending == Ending("1-0", "resign", 3, (0, 2))


def test_the_last_position_counts_at_the_last_ply() -> None:
    scores = table("-500 0 -500")
    assert find_ending(scores, 2, False, RESIGN) == Ending("0-1", "resign", 2, (0, 2))
    assert find_ending(scores[:2], 2, False, RESIGN) is None


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"resign_count": -1}, "resign_count -1 is not between 0 and 1000"),
        ({"draw_score": 30_001}, "draw_score 30001"),
        ({"max_plies": 10_001}, "max_plies 10001"),
        ({"is_two_sided": True}, "is_two_sided says nothing"),
    ],
)
def test_terms_out_of_range_are_refused(given: dict[str, int], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Terms(**given)  # type: ignore[arg-type]
