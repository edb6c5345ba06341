"""Text from outside: every fault named, all at once; nothing raises but what callers expect."""

import functools
import random
import string
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.games import VARIANTS, find_variant
from core.notation import (
    MAX_ECHO_LENGTH,
    MAX_FEN_LENGTH,
    MoveError,
    NotationError,
    PositionError,
    UnknownVariant,
    escape_text,
)
from core.position import Position
from tests.core.judge import VARIANT_NAMES, find_judge, find_samples

each_variant = pytest.mark.parametrize("variant", VARIANT_NAMES)
MUTATIONS = 300
FEN_CHARACTERS = "KQSMACPkqsmacpRNBrnb*12345678/wb- ,anhg0x\t\u0661"

CHAKRA_RANKS = "7k/8/8/8/8/8/8/K7"
CAISSA_RANKS = "5q1/7/7/7/7/7/4Q2"
CHAKRA_FIELDS = "6 fields are required (board side white-chakras black-chakras halfmove fullmove)"
CAISSA_FIELDS = "5 fields are required (board side ko halfmove fullmove)"


def find_faults(variant: str, fen: str) -> list[str]:
    with pytest.raises(PositionError) as error:
        Position(variant, fen)
    assert str(error.value) == "; ".join(error.value.faults)
    return error.value.faults


def find_move_error(variant: str, move: str) -> MoveError:
    position = Position(variant)
    before = position.fen()
    with pytest.raises(MoveError) as error:
        position.push(move)
    assert (position.fen(), position.moves) == (before, [])
    return error.value


def find_error(attempt: Callable[[], object]) -> NotationError | None:
    """What an attempt was refused with; any other exception goes through."""
    try:
        attempt()
    except NotationError as error:
        return error
    return None


# Faults of Chakra


@pytest.mark.parametrize(
    ("fen", "fault"),
    [
        (f"{CHAKRA_RANKS} w - - 0", f"{CHAKRA_FIELDS}, but 5 given"),
        (f"{CHAKRA_RANKS} w - - 0 1 2", f"{CHAKRA_FIELDS}, but 7 given"),
        ("7k/8/8/8/8/8/K7 w - - 0 1", "the board has 7 ranks instead of 8"),
        ("7k/8/8/8/8/8/8/K7/8 w - - 0 1", "the board has 9 ranks instead of 8"),
        ("7k/8/8/8/8/8/7N/K7 w - - 0 1", "rank 2 has an unknown character 'N'"),
        ("7k/8/8/8/8/8/7*/K7 w - - 0 1", "rank 2 has an unknown character '*'"),
        ("7k/8/8/8/8/8/7\t/K7 w - - 0 1", "rank 2 has an unknown character '\\t'"),
        ("7k/8/8/8/8/8/7\ud800/K7 w - - 0 1", "rank 2 has an unknown character '\\ud800'"),
        ("7k/8/8/8/8/8/08/K7 w - - 0 1", "rank 2 has 9 squares instead of 8"),
        ("7k/7/8/8/8/8/8/K7 w - - 0 1", "rank 7 has 7 squares instead of 8"),
        ("7k/8/8/8/8/8/8/K8 w - - 0 1", "rank 1 has 9 squares instead of 8"),
        ("7k/8//8/8/8/8/K7 w - - 0 1", "rank 6 has 0 squares instead of 8"),
        (f"{CHAKRA_RANKS} W - - 0 1", "side to move 'W' is neither w nor b"),
        (f"{CHAKRA_RANKS} w a2n - 0 1", "White has 1 chakras instead of 0 or 2"),
        (f"{CHAKRA_RANKS} w - a2n,b2n,c2n 0 1", "Black has 3 chakras instead of 0 or 2"),
        (f"{CHAKRA_RANKS} w - a2n,a2k 0 1", "two chakras on a2"),
        (f"{CHAKRA_RANKS} w a2n,b2n c2n,a2n 0 1", "two chakras on a2"),
        (f"{CHAKRA_RANKS} w a2x,b2n - 0 1", "White's chakra 'a2x' is not a square with n or k"),
        (f"{CHAKRA_RANKS} w - a9n,b2n 0 1", "Black's chakra 'a9n' is not a square with n or k"),
        (f"{CHAKRA_RANKS} w a2N,b2n - 0 1", "White's chakra 'a2N' is not a square with n or k"),
        (f"{CHAKRA_RANKS} w ,a2n - 0 1", "White's chakra '' is not a square with n or k"),
        (f"{CHAKRA_RANKS} w - - x 1", "half-move clock 'x' is not a number from 0 to 9999"),
        (f"{CHAKRA_RANKS} w - - -1 1", "half-move clock '-1' is not a number from 0 to 9999"),
        (f"{CHAKRA_RANKS} w - - +1 1", "half-move clock '+1' is not a number from 0 to 9999"),
        (f"{CHAKRA_RANKS} w - - 1_0 1", "half-move clock '1_0' is not a number from 0 to 9999"),
        (f"{CHAKRA_RANKS} w - - 10000 1", "half-move clock '10000' is not a number from 0 to 9999"),
        (f"{CHAKRA_RANKS} w - - 0 0", "full-move number '0' is not a number from 1 to 9999"),
        (f"{CHAKRA_RANKS} w - - 0 1e3", "full-move number '1e3' is not a number from 1 to 9999"),
        ("8/8/8/8/8/8/8/K7 w - - 0 1", "Black has 0 kings instead of 1"),
        ("7k/8/8/8/8/8/8/K1K5 w - - 0 1", "White has 2 kings instead of 1"),
        ("7k/8/8/8/8/A7/AAAAAAAA/KAAAAAAA w - - 0 1", "White has 17 pieces, more than 16"),
        ("P6k/8/8/8/8/8/8/K7 w - - 0 1", "White has a pawn on its last rank (a8)"),
        ("7k/8/8/8/8/8/8/K1p5 w - - 0 1", "Black has a pawn on its last rank (c1)"),
        ("7k/8/8/8/8/8/8/K6Q w - - 0 1", "Black, not to move, is in check"),
        ("7k/8/8/8/8/8/8/K6q b - - 0 1", "White, not to move, is in check"),
        ("8/8/5k2/8/8/8/8/KA6 w c3n,f6n - 0 1", "Black, not to move, is in check"),
        ("8/8/8/8/8/8/1k6/K7 w - - 0 1", "Black, not to move, is in check"),
    ],
)
def test_each_fault_of_chakra_is_named(fen: str, fault: str) -> None:
    assert fault in find_faults("chakra", fen)


def test_every_fault_of_chakra_is_named_at_once() -> None:
    assert find_faults("chakra", "PP6/9/8/8/8/8/8/K7 x a2n,a2k c3q,d4n x 0 z") == [
        f"{CHAKRA_FIELDS}, but 7 given",
        "rank 7 has an unknown character '9'",
        "rank 7 has 1 squares instead of 8",
        "side to move 'x' is neither w nor b",
        "half-move clock 'x' is not a number from 0 to 9999",
        "full-move number '0' is not a number from 1 to 9999",
        "two chakras on a2",
        "Black's chakra 'c3q' is not a square with n or k",
        "White has a pawn on its last rank (a8)",
        "White has a pawn on its last rank (b8)",
        "Black has 0 kings instead of 1",
    ]


def test_guards_of_the_rules_are_checked_in_a_position_with_other_faults() -> None:
    fen = "P6k/8/8/8/8/8/8/K6Q w - - 0 0"
    assert find_faults("chakra", fen) == [
        "full-move number '0' is not a number from 1 to 9999",
        "White has a pawn on its last rank (a8)",
        "Black, not to move, is in check",
    ]


# Faults of Caissa


@pytest.mark.parametrize(
    ("fen", "fault"),
    [
        (f"{CAISSA_RANKS} w - 0", f"{CAISSA_FIELDS}, but 4 given"),
        ("5q1/7/7/7/7/4Q2 w - 0 1", "the board has 6 ranks instead of 7"),
        ("5q1/7/7/7/7/7/4Q2/7 w - 0 1", "the board has 8 ranks instead of 7"),
        ("5q1/8/7/7/7/7/4Q2 w - 0 1", "rank 6 has an unknown character '8'"),
        ("5q1/7/7/7/7/7/4Q1K w - 0 1", "rank 1 has an unknown character 'K'"),
        ("5q1/6/7/7/7/7/4Q2 w - 0 1", "rank 6 has 6 squares instead of 7"),
        (f"{CAISSA_RANKS} - - 0 1", "side to move '-' is neither w nor b"),
        (f"{CAISSA_RANKS} w - y 1", "half-move clock 'y' is not a number from 0 to 9999"),
        (f"{CAISSA_RANKS} w - 0 x", "full-move number 'x' is not a number from 1 to 9999"),
        ("5q1/7/7/7/7/7/7 w - 0 1", "White has 0 queens instead of 1"),
        ("5q1/6q/7/7/7/7/4Q2 w - 0 1", "Black has 2 queens instead of 1"),
        ("5q1/7/7/7/7/7/RR2Q2 w - 0 1", "White has 2 rooks, more than 1"),
        ("5q1/7/7/7/7/7/nn2Q2 w - 0 1", "Black has 2 knights, more than 1"),
        ("5q1/7/7/7/7/7/b1b1Q2 w - 0 1", "Black has 2 bishops, more than 1"),
        ("4q2/7/7/7/7/7/4Q2 w - 0 1", "the queens see each other"),
        ("4q2/7/4*2/7/7/7/4Q2 w - 0 1", "the queens see each other"),
        ("5q1/*******/7/7/7/7/4Q2 w - 0 1", "the tiles are not connected"),
        ("R4q1/7/7/7/7/7/4Q2 w - 0 1", "Black, not to move, is in check"),
        ("5q1/7/7/7/7/7/r3Q2 b - 0 1", "White, not to move, is in check"),
        (
            "5q1/7/7/R6/7/1B2Q2/r6 b a1 1 1",
            "ko move 'a1' is neither two squares, such as d4d6, nor -",
        ),
        (
            "5q1/7/7/R6/7/1B2Q2/r6 b a1-a4 1 1",
            "ko move 'a1-a4' is neither two squares, such as d4d6, nor -",
        ),
        (
            "5q1/7/7/R6/7/1B2Q2/r6 b A1A4 1 1",
            "ko move 'A1A4' is neither two squares, such as d4d6, nor -",
        ),
        (
            "5q1/7/7/R6/7/1B2Q2/r6 b a1a8 1 1",
            "ko move 'a1a8' is neither two squares, such as d4d6, nor -",
        ),
        (
            "5q1/7/7/R6/7/1B2Q2/r6 b a4a1 1 1",
            "ko move a4a1: no piece of the side to move stands on a4",
        ),
        (
            "5q1/7/7/R6/7/1B2Q2/r6 b c1c4 1 1",
            "ko move c1c4: no piece of the side to move stands on c1",
        ),
        ("5q1/7/7/R6/N6/1B2Q2/r6 b a1a4 1 1", "ko move a1a4: the exchange is not possible now"),
        (
            "5q1/7/7/B6/7/1R2Q2/r6 b a1a4 1 1",
            "ko move a1a4: a4 does not hold the enemy piece of the same type",
        ),
        ("5q1/7/7/1R5/7/7/r1B1Q2 b a1b4 1 1", "ko move a1b4: the exchange is not possible now"),
        (
            "7/5q1/7/R6/7/7/r3Q2 w a4a4 1 1",
            "ko move a4a4: a4 does not hold the enemy piece of the same type",
        ),
        (
            "5q1/7/7/7/7/1Q5/7 b f7b2 1 1",
            "ko move f7b2: b2 does not hold the enemy piece of the same type",
        ),
    ],
)
def test_each_fault_of_caissa_is_named(fen: str, fault: str) -> None:
    assert fault in find_faults("caissa", fen)


def test_every_fault_of_caissa_is_named_at_once() -> None:
    fen = "QQq4/*******/7/7/RR5/7/8 y d4 -1 10000 -"
    assert find_faults("caissa", fen) == [
        f"{CAISSA_FIELDS}, but 6 given",
        "rank 1 has an unknown character '8'",
        "rank 1 has 1 squares instead of 7",
        "side to move 'y' is neither w nor b",
        "half-move clock '-1' is not a number from 0 to 9999",
        "full-move number '10000' is not a number from 1 to 9999",
        "ko move 'd4' is neither two squares, such as d4d6, nor -",
        "White has 2 queens instead of 1",
        "White has 2 rooks, more than 1",
        "the tiles are not connected",
    ]
    fen = "R3q2/*******/7/7/7/7/4Q2 w a1a1 0 0"
    assert find_faults("caissa", fen) == [
        "full-move number '0' is not a number from 1 to 9999",
        "the tiles are not connected",
        "the queens see each other",
        "Black, not to move, is in check",
        "ko move a1a1: no piece of the side to move stands on a1",
    ]


# Hostile text


@each_variant
@pytest.mark.parametrize(
    "fen",
    [
        "",
        " ",
        "\n",
        "\0" * 100,
        "x" * 1_000_000,
        " " * 1_000_000,
        "K" * MAX_FEN_LENGTH,
        "/" * MAX_FEN_LENGTH,
        "1" * MAX_FEN_LENGTH,
        "," * MAX_FEN_LENGTH,
        "\ud800\udfff",
        "\x1b[31mstartpos",
        "startpos ",
        "STARTPOS",
        "8/8/8 w - - " + "9" * 200 + " 1",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_positions_are_refused_in_printable_words(variant: str, fen: str) -> None:
    for fault in find_faults(variant, fen):
        assert fault.isprintable()
        assert len(fault) < MAX_ECHO_LENGTH + 100


@pytest.mark.parametrize("digit", ["\u0661", "\uff11", "\u0967", "\u00b9", "\U0001d7cf"])
def test_digits_other_than_ascii_are_refused(digit: str) -> None:
    fault = f"half-move clock '{digit}' is not a number from 0 to 9999"
    assert find_faults("chakra", f"{CHAKRA_RANKS} w - - {digit} 1") == [fault]
    assert find_faults("caissa", f"{CAISSA_RANKS} w - {digit} 1") == [fault]
    ranks = CHAKRA_RANKS.replace("7k", f"7k{digit}")
    assert f"rank 8 has an unknown character '{digit}'" in find_faults(
        "chakra", f"{ranks} w - - 0 1"
    )
    assert find_faults("chakra", f"{CHAKRA_RANKS} w a{digit}n,b2n - 0 1")
    assert find_faults("caissa", f"{CAISSA_RANKS} w a{digit}b1 0 1")


@pytest.mark.parametrize("blank", ["\t", "\n", "\v", "\u00a0", "\u3000"])
def test_blanks_alone_stand_between_fields(blank: str) -> None:
    assert find_faults("chakra", f"{CHAKRA_RANKS}{blank}w - - 0 1")
    assert find_faults("chakra", f"{CHAKRA_RANKS} w - - 0 1{blank}")
    assert find_faults("caissa", f"{CAISSA_RANKS} w -{blank}0 1")
    assert Position("caissa", f"  {CAISSA_RANKS}   w - 0  1 ").fen() == f"{CAISSA_RANKS} w - 0 1"


def test_a_position_may_be_as_long_as_the_limit_and_no_longer() -> None:
    fen = f"{CHAKRA_RANKS} w - - 0 1"
    padded = fen + " " * (MAX_FEN_LENGTH - len(fen))
    assert Position("chakra", padded).fen() == fen
    assert find_faults("chakra", padded + " ") == [
        f"the position has {MAX_FEN_LENGTH + 1} characters, more than {MAX_FEN_LENGTH}"
    ]


@each_variant
@given(text=st.text(st.characters(exclude_categories=[]), max_size=300))
@example("\ud800")
@settings(max_examples=60)
def test_arbitrary_text_raises_nothing_but_notation_errors(variant: str, text: str) -> None:
    position = Position(variant)
    for attempt in (
        lambda: Position(variant, text),
        lambda: Position(variant, position.fen() + text),
        lambda: Position(text),
        lambda: position.push(text),
        lambda: position.push(position.legal_moves[0] + text),
    ):
        error = find_error(attempt)
        assert error is None or str(error).isprintable()


@each_variant
@given(text=st.text(FEN_CHARACTERS, max_size=80))
@settings(max_examples=60)
def test_text_in_the_characters_of_positions_raises_nothing_else(variant: str, text: str) -> None:
    fields = VARIANTS[variant].startpos.split()
    for place in range(len(fields)):
        fen = " ".join([*fields[:place], text, *fields[place + 1 :]])
        error = find_error(functools.partial(Position, variant, fen))
        assert error is None or isinstance(error, PositionError)


def mutate(rng: random.Random, fen: str) -> str:
    """The text with one to three small changes."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(len(fen))
        character = rng.choice((*FEN_CHARACTERS, fen[rng.randrange(len(fen))]))
        kept = rng.choice((place, place + 1))  # insert, or replace
        fen = fen[:place] + rng.choice((character, character, "")) + fen[kept:]
    return fen


@each_variant
def test_changed_positions_are_accepted_or_refused_as_by_the_reference(variant: str) -> None:
    rng, judge = random.Random(f"mutations of {variant}"), find_judge(variant)
    accepted = 0
    for _ in range(MUTATIONS):
        fen = mutate(rng, rng.choice(find_samples(variant)).fen)
        try:
            expected = judge.format_fen(judge.parse_fen(variant, fen))
        except ValueError:
            expected = None
        try:
            found = Position(variant, fen).fen()
        except PositionError:
            found = None
        assert found == expected, fen
        accepted += found is not None
    assert MUTATIONS // 20 < accepted < MUTATIONS * 19 // 20


# Text that is accepted


def test_positions_are_read_leniently_and_written_canonically() -> None:
    lenient = "44/7k/8/8/8/1111K111/8/8  w h2k,a2n - 0007   01"
    assert Position("chakra", lenient).fen() == "8/7k/8/8/8/4K3/8/8 w a2n,h2k - 7 1"
    lenient = "11111q1/43/7/7/7/7/4Q11 w - 0000 0001"
    assert Position("caissa", lenient).fen() == "5q1/7/7/7/7/7/4Q2 w - 0 1"


def test_counters_saturate() -> None:
    for variant, fen, move in (
        ("chakra", "7k/8/8/8/8/8/8/K7 b - - 9999 9999", "h8g8"),
        ("caissa", "5q1/7/7/7/7/r6/6Q b - 9999 9999", "a2a3"),
    ):
        position = Position(variant, fen)
        position.push(move)
        assert position.fen().endswith(" 9999 9999")
        position.pop()
        assert position.fen() == fen


@each_variant
def test_startpos_is_the_variant_s_start(variant: str) -> None:
    assert Position(variant).fen() == Position(variant, "startpos").fen()
    assert Position(variant).fen() == VARIANTS[variant].startpos


# Moves


@pytest.mark.parametrize("text", ["c3c5", "c3-c5", "C3C5", "C3-C5", "C3c5", "c3-C5"])
def test_moves_of_caissa_in_the_contest_s_form(text: str) -> None:
    position = Position("caissa")
    position.push(text)
    assert position.moves == ["c3c5"]
    assert position.fen() == "7/3bqn1/2R1r2/7/7/1NQB3/7 b - 1 1"


@pytest.mark.parametrize(
    "text", ["c3--c5", "-c3c5", "c3c5-", "c3\u2013c5", "c3 c5", "c3c5\n", "c3c\uff15"]
)
def test_other_forms_of_moves_of_caissa_are_refused(text: str) -> None:
    error = find_move_error("caissa", text)
    assert "not two squares, such as c3c5 or c3-c5" in str(error)


@pytest.mark.parametrize(
    "text",
    ["", "e2", "E2E3", "e2-e3", "e2e3 ", "e2e3\n", "e2e3x", "e2e9", "e2e3qq", "a2b4F", "a2b4k"],
)
def test_other_forms_of_moves_of_chakra_are_refused(text: str) -> None:
    assert "not two squares, such as e2e3, with a promotion" in str(find_move_error("chakra", text))


@pytest.mark.parametrize("text", ["e2e5", "e2e3q", "e2e3f", "a2a2", "e3e4", "a7a7f"])
def test_illegal_moves_are_named_with_the_position(text: str) -> None:
    error = find_move_error("chakra", text)
    start = VARIANTS["chakra"].startpos
    assert str(error) == f"move {text!r}: not legal in {start}"
    assert error.move == text


@each_variant
def test_every_legal_move_is_written_as_it_is_read(variant: str) -> None:
    for one in find_samples(variant)[::40]:
        position = Position(variant, one.fen)
        for move in one.following:
            position.push(move)
            assert position.moves == [move]
            assert position.pop() == move


# Echoes


@pytest.mark.parametrize(
    ("text", "echo"),
    [
        ("plain", "plain"),
        ("\u00fc\u20ac\U0001f600", "\u00fc\u20ac\U0001f600"),
        ("a\x00\x1b\n\tb", "a\\x00\\x1b\\n\\tb"),
        ("\u202e\ud800\x85", "\\u202e\\ud800\\x85"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_echo_escapes_what_cannot_be_printed(text: str, echo: str) -> None:
    assert escape_text(text) == echo


def test_echo_is_cut() -> None:
    assert escape_text("x" * MAX_ECHO_LENGTH) == "x" * MAX_ECHO_LENGTH
    assert escape_text("x" * (MAX_ECHO_LENGTH + 1)) == "x" * (MAX_ECHO_LENGTH - 1) + "\u2026"
    assert escape_text("x" * 11, 10) == "x" * 9 + "\u2026"
    assert len(escape_text("\0" * MAX_ECHO_LENGTH)) == MAX_ECHO_LENGTH


@given(text=st.text(st.characters(exclude_categories=[])))
def test_any_echo_is_printable_and_short(text: str) -> None:
    assert escape_text(text).isprintable()
    assert len(escape_text(text)) <= MAX_ECHO_LENGTH
    if text.isprintable() and len(text) <= MAX_ECHO_LENGTH:
        assert escape_text(text) == text


def test_long_moves_and_variants_are_cut_in_their_errors() -> None:
    assert len(str(find_move_error("chakra", "e" * 1_000_000))) < MAX_ECHO_LENGTH + 100
    with pytest.raises(UnknownVariant) as error:
        find_variant("x" * 1_000_000)
    assert len(error.value.name) == MAX_ECHO_LENGTH


@pytest.mark.parametrize("name", ["", "chess", "Chakra", "chakra ", "caissa\n", *string.whitespace])
def test_unknown_variants_are_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(UnknownVariant) as error:
        Position(name)
    assert all(known in str(error.value) for known in VARIANTS)
