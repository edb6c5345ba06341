"""Games of every state, and their verdicts."""

import pytest

from core.adjudication import Crosstable, Terms, adjudicate
from core.engine import Engine
from core.limits import Limits
from core.notation import PositionError, UnknownVariant
from core.position import Position
from core.records import GameRecord, RecordedMove
from core.score import Score

LIMITS = Limits(nodes=2_000)
MATE_IN_1 = "k7/8/1K6/8/8/8/8/6Q1 w - - 0 1"
QUIET = "k7/8/8/8/8/8/8/K6A w - - 0 1"
TERMS = Terms(resign_score=400, resign_count=2, draw_score=5, draw_count=2, max_plies=20)


def record(fen: str, moves: str, result: str = "*", scores: str = "") -> GameRecord:
    texts = moves.split()
    given = [Score(cp=int(s)) for s in scores.split()] + [None] * len(texts)
    played = tuple(map(RecordedMove, texts, given[: len(texts)]))
    return GameRecord("chakra", fen, played, result)


def search(position: Position):
    return Engine().search(position, LIMITS)


def there_and_back(count: int) -> str:
    return " ".join(["h1g3 a8b8 g3h1 b8a8"] * count)


def test_an_illegal_move_forfeits_the_game() -> None:
    verdict = adjudicate(record("", "e2e4 e7e5 f1h3 a7b5", "1-0"), TERMS)
    assert (verdict.result, verdict.reason, verdict.ply) == ("0-1", "illegal-move", 2)
    assert verdict.is_certain
    assert verdict.is_contradicted
    position = Position("chakra")
    position.push("e2e4")
    position.push("e7e5")
    assert verdict.fen == position.fen()
    illegal = verdict.illegal
    assert illegal is not None
    assert (illegal.move, illegal.rule) == ("f1h3", "movement")
    assert "a samurai moves like a king or a rook" in illegal.why
    assert list(illegal.legal_moves) == position.legal_moves


def test_what_is_no_move_of_the_game_forfeits_too() -> None:
    verdict = adjudicate(record("", "e2e4z"), TERMS)
    assert (verdict.result, verdict.reason, verdict.ply) == ("0-1", "illegal-move", 0)
    assert verdict.illegal is not None
    assert verdict.illegal.rule == "notation"


def test_black_to_move_in_the_first_position_forfeits_as_black() -> None:
    fen = QUIET.replace(" w ", " b ")
    assert adjudicate(record(fen, "a8a8"), TERMS).result == "1-0"


@pytest.mark.parametrize("result", ["*", "1-0", "0-1"])
def test_a_mate_ends_the_game_whatever_the_record_says(result: str) -> None:
    verdict = adjudicate(record(MATE_IN_1, "g1g8 e7e5", result), TERMS)
    assert (verdict.result, verdict.reason, verdict.ply) == ("1-0", "checkmate", 1)
    assert (verdict.extra_plies, verdict.is_certain) == (1, True)
    assert verdict.is_contradicted == (result == "0-1")


def test_a_stalemate_is_a_draw() -> None:
    verdict = adjudicate(record("k7/8/8/1Q6/8/8/8/K7 w - - 0 1", "b5b6", "1-0"), TERMS)
    assert (verdict.result, verdict.reason, verdict.ply) == ("1/2-1/2", "stalemate", 1)
    assert verdict.is_contradicted


def test_a_repetition_ends_the_game_where_it_first_comes() -> None:
    verdict = adjudicate(record(QUIET, there_and_back(4)), TERMS)
    assert (verdict.result, verdict.reason, verdict.ply) == ("1/2-1/2", "repetition", 8)
    assert verdict.extra_plies == 8


def test_a_move_limit_ends_the_game() -> None:
    fen = QUIET.replace("0 1", "98 90")
    verdict = adjudicate(record(fen, "h1g3 a8b8 g3h1", "0-1"), TERMS)
    assert (verdict.reason, verdict.ply, verdict.is_contradicted) == ("move-limit", 2, True)


def test_bare_kings_are_a_draw_at_once() -> None:
    verdict = adjudicate(record("k7/8/8/8/8/8/8/K7 w - - 0 1", ""), TERMS)
    assert (verdict.reason, verdict.ply) == ("insufficient", 0)


def test_a_result_that_the_rules_do_not_contradict_stands() -> None:
    verdict = adjudicate(record("", "e2e4", "0-1"), TERMS, search)
    assert (verdict.result, verdict.reason, verdict.ply) == ("0-1", "recorded", 1)
    assert not verdict.is_certain
    assert not verdict.is_contradicted


def test_own_scores_decide_at_the_first_ply_that_terms_hold() -> None:
    game = record("", "e2e4 e7e5 b2b3 b7b6 c2c3", scores="0 -400 0 -400 0")
    verdict = adjudicate(game, TERMS)
    assert (verdict.result, verdict.reason, verdict.ply) == ("1-0", "resign", 4)
    assert not verdict.is_certain
    assert [(e.ply, e.score, e.nodes) for e in verdict.evidence] == [
        (1, Score(cp=-400), None),
        (3, Score(cp=-400), None),
    ]
    position = Position("chakra")
    for move in ("e2e4", "e7e5", "b2b3", "b7b6"):
        position.push(move)
    assert verdict.fen == position.fen()


def test_without_scores_nothing_is_decided() -> None:
    verdict = adjudicate(record("", "e2e4 e7e5"), TERMS)
    assert (verdict.result, verdict.reason, verdict.ply) == ("*", "undecided", 2)
    assert verdict.evidence == ()


def test_a_game_that_is_too_long_is_drawn_without_a_search() -> None:
    verdict = adjudicate(record("", "e2e4 e7e5"), Terms(max_plies=1), None)
    assert (verdict.result, verdict.reason, verdict.ply) == ("1/2-1/2", "length", 1)
    searched = adjudicate(
        record("", "e2e4 e7e5"), Terms(max_plies=1), lambda _: pytest.fail("asked")
    )
    assert searched == verdict


def test_a_mate_that_search_proves_is_certain() -> None:
    verdict = adjudicate(record(MATE_IN_1, ""), Terms(), search)
    assert (verdict.result, verdict.reason, verdict.ply) == ("1-0", "mate", 0)
    assert verdict.is_certain
    (evidence,) = verdict.evidence
    assert evidence.score == Score(mate=1)
    assert evidence.nodes


def test_search_decides_by_the_last_positions() -> None:
    asked: list[int] = []

    def ask(position: Position):
        asked.append(len(position.moves))
        return search(position)

    terms = Terms(resign_score=300, resign_count=2)
    game = record("", "e2e4 e7e5 b2b3 b7b6 c2c3 c7c6")
    verdict = adjudicate(game, terms, ask)
    assert asked == [6, 5, 4, 3]
    assert (verdict.result, verdict.reason, verdict.ply) == ("*", "undecided", 6)
    assert [e.ply for e in verdict.evidence] == [6]


@pytest.mark.parametrize(
    ("variant", "fen", "error"),
    [("chess", "", UnknownVariant), ("chakra", "no position", PositionError)],
)
def test_what_cannot_be_set_up_is_refused(variant: str, fen: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        adjudicate(GameRecord(variant, fen), TERMS)


def test_a_crosstable_ranks_players() -> None:
    table = Crosstable()
    for players, result in [
        (("a", "b"), "1-0"),
        (("b", "a"), "1/2-1/2"),
        (("c", "a"), "0-1"),
        (("c", "b"), "*"),
    ]:
        table.add(players, result)
    first, second, third = table.rank()
    assert (first.player, first.points, first.games) == ("a", 2.5, 3)
    assert first.against == {"b": (1.5, 2), "c": (1.0, 1)}
    assert (second.player, second.points, second.lost) == ("b", 0.5, 1)
    assert (third.player, third.points, table.undecided) == ("c", 0.0, 1)
