"""Records of games: each form is read, broken games harm no other, what is written is read."""

import io
import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.records import (
    RESULTS,
    BrokenRecord,
    GameRecord,
    Record,
    RecordedMove,
    format_object,
    format_pgn,
    read_records,
)
from core.records.lines import MAX_LINE_LENGTH
from core.score import Score


def read(text: str | bytes, variant: str = "") -> list[Record]:
    data = text.encode() if isinstance(text, str) else text
    return list(read_records(io.BytesIO(data), variant))


def read_game(text: str, variant: str = "") -> GameRecord:
    (record,) = read(text, variant)
    assert isinstance(record, GameRecord), record
    return record


def texts(record: GameRecord) -> list[str]:
    return [move.text for move in record.moves]


def find_fault(text: str | bytes, variant: str = "chakra") -> tuple[int, str]:
    """Line and reason of the one game of a file, which is broken."""
    (record,) = read(text, variant)
    assert isinstance(record, BrokenRecord), record
    return record.fault_line, record.reason


GAME = """[Event "A \\"final\\""]
[Variant "chakra"]
[White "Anna"]
[Black "Ben"]
[Result "1-0"]

{Before the moves} 1. e2e4 {+0.35/12 0.1s} e7e5! $14 (1... d7d5 {way (out} (2. e4d5) *) 2. b2-b4
% an escaped line with } and (
2... B7B5+ ; the rest is left out { ( "
3. c2c3?! {[%eval -0.5,7]} c7c6 {it is
[worse] #} 1-0
"""


def test_a_whole_game() -> None:
    record = read_game(GAME)
    assert record.variant == "chakra"
    assert record.tags == {"Event": 'A "final"', "White": "Anna", "Black": "Ben"}
    assert record.players == ("Anna", "Ben")
    assert record.result == "1-0"
    assert texts(record) == ["e2e4", "e7e5", "b2b4", "b7b5", "c2c3", "c7c6"]
    assert record.moves[0] == RecordedMove("e2e4", Score(cp=35), 12)
    assert record.moves[4] == RecordedMove("c2c3", Score(cp=-50), 7)


def test_games_follow_one_another() -> None:
    records = read(f'\n\n{GAME}\n{GAME}[Variant "caissa"]\n1.c2c1 *\n\n[Variant "caissa"]\n')
    assert [(record.index, record.line) for record in records] == [
        (0, 3),
        (1, 15),
        (2, 26),
        (3, 29),
    ]
    assert [r.variant for r in records if isinstance(r, GameRecord)] == ["chakra"] * 2 + [
        "caissa"
    ] * 2


@pytest.mark.parametrize(
    ("text", "games"),
    [
        ("e2e4 e7e5\n\ne2e3\n", [["e2e4", "e7e5"], ["e2e3"]]),
        ("start\ne2-e4\ne7-e5\nend\nstart\ne2-e3\nquit\n", [["e2e4", "e7e5"], ["e2e3"]]),
        ("start\ne2-e4\nstart\ne2-e3", [["e2e4"], ["e2e3"]]),
        ("1.e2e4 e7e5 1-0 e2e3 *", [["e2e4", "e7e5"], ["e2e3"]]),
        ("a2-b4f A7-B5F", [["a2b4f", "a7b5f"]]),
        ("*", [[]]),
        ("{a comment}", []),
        ("\r\n e2e4\t12 e7e5 \r\n", [["e2e4", "e7e5"]]),
    ],
)
def test_games_without_tags(text: str, games: list[list[str]]) -> None:
    records = read(text, "chakra")
    assert [texts(r) for r in records if isinstance(r, GameRecord)] == games
    assert len(records) == len(games)


def test_scores_are_the_movers() -> None:
    moves = "e2e4 {[%eval 0.4]} e7e5 {[%eval 0.4]} e4e5 {#-3} e7e5 {note} {-1.20/9}"
    scores = [move.score for move in read_game(moves, "chakra").moves]
    assert scores == [Score(cp=40), Score(cp=-40), Score(mate=-3), Score(cp=-120)]
    black = '[FEN "8/8 b - - 0 1"]\n\ne7e5 {[%eval 0.4]}'
    assert read_game(black, "chakra").moves[0].score == Score(cp=-40)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("e2e4\ne9e5 *", 2, "'e9e5' is neither a move nor a result"),
        ("e2e4\n{open\n", 2, "a comment is not closed"),
        ("e2e4\n(e2e3\n((\n", 2, "a variation is not closed"),
        ("e2e4 } *", 1, "} closes no comment"),
        ("e2e4 ) *", 1, ") closes no variation"),
        ("(" * 65 + ")" * 65, 1, "variations are nested more than 64 deep"),
        ("e2e4 $ *", 1, "unexpected '$'"),
        ('[White "a]\n\n*', 1, "is not a tag such as"),
        ('[White "a"]\n[White "b"]\n\n*', 2, "the tag White comes twice"),
        ('[White "' + "a" * 1000 + '"]\n*', 1, "a tag is longer than 1000 characters"),
        ("".join(f'[A{n} "x"]\n' for n in range(65)), 65, "there are more than 64 tags"),
        ('[Result "2-0"]\n\n*', 1, "the result '2-0' is none of 1-0 0-1 1/2-1/2 *"),
        ('[Result "1-0"]\n\ne2e4 0-1', 1, "the tag Result is 1-0, and the moves end with 0-1"),
        ("e2e4 " * 4001, 1, "there are more than 4000 moves"),
        ("e2e4\n" + "(" * (MAX_LINE_LENGTH + 9) + "\n", 2, "the line is too long"),
        (b"e2e4 \xff", 1, "is neither a move nor a result"),
        ("e2e4 \x1b[2J", 1, "'\\\\x1b[2J' is neither"),
    ],
)
def test_what_breaks_a_game(text: str | bytes, line: int, reason: str) -> None:
    found_line, found_reason = find_fault(text)
    assert found_line == line
    assert reason in found_reason
    assert found_reason.isprintable()


def test_a_game_needs_a_variant() -> None:
    assert find_fault("e2e4 *", "") == (1, "there is no tag Variant")


@pytest.mark.parametrize(
    "broken",
    [
        "e9 *",
        "e2e4 {never closed",
        "e2e4 (never closed",
        '[White "x]\n\n*',
        "((((" * 99,
        '"\\{',
        "x" * (MAX_LINE_LENGTH + 5),
    ],
)
def test_a_broken_game_harms_no_other(broken: str) -> None:
    first, second, third = read(f'{GAME}\n[Variant "chakra"]\n{broken}\n\n{GAME}')
    assert isinstance(first, GameRecord)
    assert isinstance(second, BrokenRecord)
    assert isinstance(third, GameRecord)
    assert (first.moves, first.tags) == (third.moves, third.tags)
    assert [r.index for r in (first, second, third)] == [0, 1, 2]


# Objects


def test_objects() -> None:
    rows = [
        {"match": 2, "variant": "chakra"},
        {"variant": "chakra", "white": "a", "black": "b", "moves": ["e2-e4"], "result": "0-1"},
        {"moves": ["e2e4", "e7e5"], "scores": [{"cp": 3, "depth": 5}, {"mate": -2}], "pair": 7},
    ]
    first, second = read("\n".join(["", *map(json.dumps, rows), ""]), "caissa")
    assert first == GameRecord(
        "chakra",
        moves=(RecordedMove("e2e4"),),
        result="0-1",
        tags={"White": "a", "Black": "b"},
        index=0,
        line=3,
    )
    assert isinstance(second, GameRecord)
    assert second.variant == "caissa"
    assert second.moves == (
        RecordedMove("e2e4", Score(cp=3), 5),
        RecordedMove("e7e5", Score(mate=-2)),
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"', "not JSON"),
        ('{"a":' + "[" * 100_000, "not JSON"),
        ('{"a":' + "1" * 5000 + "}", "not JSON"),
        ('{"moves":1}', "moves are not a list of at most 4000"),
        ("{}", "moves are not a list"),
        ('{"moves":["x\\u0007"]}', "'x\\\\x07' is not a move"),
        ('{"moves":[["e2e4"]]}', "is not a move"),
        ('{"moves":["e2e4"],"scores":[]}', "scores are not a list as long as the moves"),
        ('{"moves":["e2e4"],"scores":[{"cp":1.5}]}', "is not a score such as"),
        ('{"moves":["e2e4"],"scores":[{"cp":true}]}', "is not a score such as"),
        ('{"moves":["e2e4"],"scores":[{"cp":1,"mate":1}]}', "is not a score such as"),
        ('{"moves":[],"variant":3}', "variant is not a text"),
        ('{"moves":[],"fen":"' + "x" * 1001 + '"}', "fen is longer than 1000 characters"),
        ('{"moves":[],"fen":"\\ud800"}', "fen has half a character: '\\\\ud800'"),
        ('{"moves":[],"white":"\\udfff"}', "white has half a character"),
        ('{"moves":[],"result":"won"}', "the result 'won' is none of"),
        ('{"moves":[],"tags":{"a b":"c"}}', "'a b' is not the name of a tag"),
        ('{"moves":[],"tags":[]}', "tags are not an object"),
    ],
)
def test_what_breaks_an_object(line: str, reason: str) -> None:
    whole = '{"variant":"chakra","moves":[]}'
    first, second, third = read(f"{whole}\n{line}\n{whole}\n", "chakra")
    assert isinstance(first, GameRecord)
    assert isinstance(second, BrokenRecord)
    assert isinstance(third, GameRecord)
    assert (second.line, third.line) == (2, 3)
    assert reason in second.reason
    assert second.reason.isprintable()


# What is written is read

printable = st.text(string.printable, max_size=20).map(
    lambda t: "".join(filter(str.isprintable, t))
)
scores = (
    st.none()
    | st.builds(Score, cp=st.integers(-99999, 99999))
    | st.builds(Score, mate=st.integers(-99, 99))
)
moves = st.builds(
    lambda text, score, depth: RecordedMove(text, score, depth if score else None),
    st.from_regex(r"[a-h][1-8][a-h][1-8][qsmacf]?", fullmatch=True),
    scores,
    st.none() | st.integers(0, 128),
)
records = st.builds(
    GameRecord,
    variant=st.sampled_from(["chakra", "caissa-codecup"]),
    fen=st.sampled_from(["", "8/8/8 b - - 3 77", "k w"]),
    moves=st.lists(moves, max_size=60).map(tuple),
    result=st.sampled_from(RESULTS),
    tags=st.dictionaries(st.sampled_from(["Event", "Site", "Annotator"]), printable).map(
        lambda tags: {"White": "a", "Black": 'b\\"', **tags}
    ),
)


@given(st.lists(records, min_size=1, max_size=4))
def test_written_games_are_read(games: list[GameRecord]) -> None:
    for text in (
        "".join(map(format_pgn, games)),
        "\n".join(json.dumps(format_object(game)) for game in games),
    ):
        found = read(text)
        assert len(found) == len(games)
        for game, record in zip(games, found, strict=True):
            assert isinstance(record, GameRecord), (record, text)
            assert (record.variant, record.fen, record.moves) == (
                game.variant,
                game.fen,
                game.moves,
            )
            assert (record.result, record.tags) == (game.result, game.tags)


def test_lines_that_are_written_are_short() -> None:
    game = GameRecord("chakra", moves=(RecordedMove("e2e4", Score(cp=1), 9),) * 40)
    assert max(map(len, format_pgn(game).splitlines())) <= 80


@given(st.text('{}()[]"\\;%*$!?.-/ \n\r0123e4 VariantResult', max_size=200))
@settings(max_examples=300)
def test_anything_is_read(text: str) -> None:
    for record in read(text, "chakra"):
        if isinstance(record, BrokenRecord):
            assert record.line <= record.fault_line
            assert record.reason.isprintable()


@given(st.binary(max_size=100))
def test_any_bytes_are_read(data: bytes) -> None:
    read(data, "chakra")
    read(b'{"' + data, "chakra")
