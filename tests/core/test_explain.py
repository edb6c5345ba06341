"""Explanations: they agree with the legal moves, and name the rule that decides."""

import itertools
import random

import pytest

from core.explain import explain
from core.games import VARIANTS
from core.notation import MoveError, format_square
from core.position import Position
from tests.core.judge import find_samples

each_variant = pytest.mark.parametrize("variant", VARIANTS)


def list_texts(variant: str) -> list[str]:
    """Every text that is a move of the variant's game."""
    width = 7 if VARIANTS[variant].game == "caissa" else 8
    squares = [format_square(8 * r + f) for r in range(width) for f in range(width)]
    suffixes = [""] if width == 7 else ["", "f", "q", "s", "m", "a", "c"]
    return [a + b + c for a, b, c in itertools.product(squares, squares, suffixes)]


def check_agreement(position: Position, texts: list[str]) -> None:
    legal = set(position.legal_moves)
    for text in texts:
        explanation = explain(position, text)
        assert explanation.is_legal == (text in legal), (position.fen(), text, explanation)
        assert explanation.rule
        assert explanation.text.isprintable()


@each_variant
def test_explanations_agree_with_the_legal_moves(variant: str) -> None:
    rng, texts = random.Random(variant), list_texts(variant)
    for sample in find_samples(variant)[::12]:
        position = Position(variant, sample.fen)
        legal = position.legal_moves
        # Most texts move nothing; those that begin where a legal move does are near the rules.
        near = [move[:2] + rng.choice(texts)[2:] for move in legal[:30]]
        check_agreement(position, [*rng.sample(legal, min(len(legal), 10)), *near])
        check_agreement(position, rng.sample(texts, 20))


@pytest.mark.soak
@each_variant
def test_explanations_agree_on_every_text(variant: str) -> None:
    texts = list_texts(variant)
    for sample in find_samples(variant)[::40]:
        check_agreement(Position(variant, sample.fen), texts)


START = VARIANTS["chakra"].startpos
MINDS = "chakra-mindsports"
HOLES = "3****/**1***1/**B**R*/**q**1*/*2*1**/***1*Q*/*2**** b - 46 87"
CASES = [
    # Chakra: what moves
    ("chakra", START, "e4e5", "empty-square", "e4 holds neither a piece nor a chakra"),
    ("chakra", START, "e7e6", "wrong-side", "White is to move, and cannot move Black's pawn on e7"),
    ("chakra", START, "a7b5", "wrong-side", "the chakra on a7 is not White's"),
    ("chakra", START, "a2b4", "chakra-move", "the vacant chakra on a2 moves like a knight to b4"),
    ("chakra", START, "a2b4f", "chakra-move", "to b4 and flips"),
    ("chakra", START, "a2a2f", "flip", "the vacant chakra on a2 flips in place"),
    ("chakra", START, "a2a2", "flip", "a chakra that stays on a2 has to flip: a2a2f"),
    ("chakra", START, "a2a3", "movement", "is in knight mode, and moves like a knight"),
    ("chakra", START, "a2b4q", "promotion", "only pawns promote"),
    ("chakra", START, "a2c1", "chakra-end", "meets White's monk on c1"),
    (
        "chakra",
        "k7/8/8/8/8/8/8/7K w a2n,b4n - 0 1",
        "a2b4",
        "chakra-end",
        "a chakra cannot move onto another, and b4 has one",
    ),
    ("chakra", "k7/8/8/8/A7/8/8/7K w a4n,h2n - 0 1", "a4a4f", "occupied-chakra", "ape on a4"),
    ("chakra", "k7/8/8/8/a7/8/8/7K w a4n,h2n - 0 1", "a4b6", "occupied-chakra", "White's chakra"),
    ("chakra", START, "e2e3f", "flip", "only vacant chakras do"),
    # How pieces move
    ("chakra", START, "a1a8", "movement", "an ape moves like a knight"),
    ("chakra", START, "d1d2", "own-piece", "cannot end where White's pawn on d2 stands"),
    ("chakra", START, "d1d4", "blocked", "is blocked by White's pawn on d2"),
    ("chakra", START, "f1e3", "movement", "a samurai moves like a king or a rook"),
    ("chakra-pritchard", START, "f1e3", "move", "White's samurai on f1 moves to e3"),
    ("chakra", START, "c1d4", "movement", "a monk moves like a king or a bishop"),
    ("chakra", START, "a1b3", "move", "White's ape on a1 moves to b3"),
    ("chakra", "7k/8/8/8/Q3q3/8/8/7K w - - 0 1", "a4e4", "capture", "the queen"),
    ("chakra", "7k/8/8/8/Q7/8/8/7K w - c4n,f7n 0 1", "a4e4", "blocked", "the enemy chakra on c4"),
    ("chakra", "7k/8/8/8/C7/8/8/7K w - - 0 1", "a4e4", "courtesan-line", "does not see her king"),
    ("chakra", "7k/8/8/8/C6K/8/8/8 w - - 0 1", "a4e4", "move", "moves to e4"),
    # Pawns
    ("chakra", START, "e2e4", "move", "White's pawn on e2 moves to e4"),
    (MINDS, START, "e2e4", "double-step", "this variant has no double step"),
    ("chakra", "7k/8/8/8/8/4P3/8/7K w - - 0 1", "e3e5", "double-step", "its own second rank"),
    ("chakra", "7k/8/8/8/8/8/4P3/7K w - e3n,a3n 0 1", "e2e4", "blocked", "the enemy chakra on e3"),
    ("chakra", "7k/8/8/8/8/4a3/4P3/7K w - - 0 1", "e2e4", "blocked", "by Black's ape on e3"),
    ("chakra", "7k/8/8/8/8/4a3/4P3/7K w - - 0 1", "e2e3", "blocked", "captures diagonally alone"),
    ("chakra", START, "e2f3", "pawn-capture", "f3 holds no piece"),
    ("chakra", START, "e2e5", "movement", "a pawn steps straight forward"),
    ("chakra", "7k/P7/8/8/8/8/8/7K w - - 0 1", "a7a8q", "promotion", "promoting to queen"),
    ("chakra", "7k/P7/8/8/8/8/8/7K w - - 0 1", "a7a8", "promotion", "has to promote on a8"),
    ("chakra", "8/P7/7k/8/8/8/8/1Q5K w - - 0 1", "a7a8q", "no-reserve", "no lost queen is off"),
    ("chakra", "7k/P7/8/8/8/8/AACC4/QSM4K w - - 0 1", "a7a8q", "no-reserve", "no lost piece"),
    ("chakra", START, "e2e3q", "promotion", "which is not its last rank"),
    ("chakra", START, "a1b3q", "promotion", "cannot promote: only pawns do"),
    # The transmitter
    ("chakra", "7k/8/8/8/5A2/8/8/7K w f4n,g6n - 0 1", "f4f4", "pass", "a pass"),
    ("chakra", START, "e2e2", "pass", "passes only on a chakra of its own side"),
    ("chakra", "7k/8/8/8/5A2/8/8/7K w f4n,a8n - 0 1", "f4f4", "pass", "does not cover the other"),
    ("chakra", "7k/8/6P1/8/5A2/8/8/7K w f4n,g6n - 0 1", "f4f4", "pass", "is occupied"),
    ("chakra", "k7/8/8/2p5/5A2/8/8/7K w c5n,g6n - 0 1", "f4c5", "transmission", "captur"),
    ("chakra", "k7/8/6P1/2p5/5A2/8/8/7K w c5n,g6n - 0 1", "f4c5", "transmission", "g6 is occupied"),
    (MINDS, "k7/8/8/8/5A2/8/8/7K w c5n,g6n - 0 1", "f4g6", "compulsory-transmission", "ends on c5"),
    ("chakra", "k7/8/8/8/5A2/8/8/7K w c5n,g6n - 0 1", "f4g6", "move", "moves to g6"),
    # Kings
    ("chakra", "k7/8/8/8/8/8/7K/8 w - g3n,a3n 0 1", "h2g3", "transmitter-capture", "captures the"),
    ("chakra", "8/8/8/8/8/k7/7K/8 w - g3n,a3n 0 1", "h2g3", "guard", "guards its transmitter"),
    ("chakra", "k7/8/8/8/8/8/q6K/8 w - - 0 1", "h2g2", "check", "by Black's queen on a2"),
    (
        "chakra",
        "8/2m1M3/1Q6/8/k3M3/8/5K2/6c1 w h5n,e7k f2k,g3n 85 32",
        "e4d5",
        "check",
        "by Black's monk on c7 through the transmitter, by way of g3",
    ),
    # Caïssa
    ("caissa", "startpos", "d4d5", "empty-square", "no piece stands on d4"),
    ("caissa", "startpos", "e6e5", "wrong-side", "cannot move Black's queen on e6"),
    ("caissa", "startpos", "c3c3", "pass", "there is no passing"),
    ("caissa", "startpos", "c3d4", "movement", "it moves like a rook of chess"),
    ("caissa", "startpos", "c2c5", "blocked", "by White's rook on c3"),
    ("caissa", "startpos", "c2d2", "own-piece", "where White's bishop on d2 stands"),
    ("caissa", "startpos", "c3c2", "exchange", "its own queen"),
    ("caissa", "startpos", "c3c6", "move", "White's rook on c3 moves to c6"),
    ("caissa", "startpos", "b2d3", "move", "White's knight on b2 moves to d3"),
    ("caissa", "startpos", "c2c1", "move", "the tile of c2 is removed"),
    ("caissa", "startpos", "c2b3", "queens-in-sight", "Black's queen on e6 would see each other"),
    ("caissa", HOLES, "c4d4", "hole", "d4 is a hole"),
    (
        "caissa",
        "3**2/1r1q3/**1*2*/1R5/2*1Q2/6*/1N3*1 w - 74 55",
        "b4b1",
        "exchange",
        "knight on b1",
    ),
    (
        "caissa",
        "2*1n2/q6/7/*6/2*1b2/4R2/1Q4* b - 40 109",
        "a6e2",
        "capture",
        "captures the rook on e2, and the tile of a6 is removed",
    ),
    ("caissa", "N6/2B4/3r3/q6/7/7/1Q5 b - 66 125", "d5d6", "check", "White's bishop on c6"),
    (
        "caissa",
        "*q1****/***1*1*/*1**Q1*/*1**2*/**2**b/****r*1/******* w - 15 60",
        "e5b5",
        "queen-in-check",
        "in check from Black's bishop on g3, may move one step only",
    ),
    (
        "caissa",
        "*3**B/*1**1*1/qN*3*/*2**1*/1****1*/1****1n/****1Q* w - 10 36",
        "g7a1",
        "tile-move",
        "takes its tile along",
    ),
    (
        "caissa",
        "1Q**1R1/*3**1/1***n**/***N***/**2q**/3*1*1/1*2*1* w - 67 108",
        "d4f5",
        "connection",
        "torn apart once that of d4 leaves",
    ),
    (
        "caissa",
        "1***b1*/*1*r**B/**2***/***1***/**1****/**n**1*/***qNQ* b c2e1 41 134",
        "c2e1",
        "ko",
        "in the very next turn",
    ),
]


@pytest.mark.parametrize(("variant", "fen", "move", "rule", "words"), CASES)
def test_the_rule_that_decides(variant: str, fen: str, move: str, rule: str, words: str) -> None:
    explanation = explain(Position(variant, fen), move)
    assert (explanation.rule, words in explanation.text) == (rule, True), explanation.text


def test_what_is_no_move_is_refused() -> None:
    with pytest.raises(MoveError):
        explain(Position("chakra"), "hello")
