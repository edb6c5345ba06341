"""Games of mixed state, and what must be found of each by the slow reference alone."""

import random
from dataclasses import dataclass
from typing import Any

from core.games import VARIANTS
from core.records import GameRecord, RecordedMove, format_pgn
from core.score import Score
from tests.core.judge import find_judge

TERMS = ("--resign", "500", "2", "--max-plies", "300")
KINDS = (
    "finished",
    "missed",
    "contradicted",
    "prolonged",
    "illegal",
    "unfinished",
    "recorded",
    "resigned",
    "broken",
)
MAX_PLIES = 60
_WON = ("1-0", "0-1")


@dataclass(frozen=True)
class Case:
    """A game's text, and the fields of its verdict; None for one that is broken."""

    text: str
    expected: dict[str, Any] | None


@dataclass(frozen=True)
class _Line:
    """Legal moves from the start of a variant, and how the game stands after them."""

    variant: str
    moves: list[str]
    outcome: str | None

    @property
    def result(self) -> str:
        if self.outcome is None:
            return "*"
        return _WON[1 - len(self.moves) % 2] if self.outcome == "checkmate" else "1/2-1/2"


def make_cases(count: int, seed: int) -> list[Case]:
    """Return games of every kind in turn, the same for one seed."""
    rng = random.Random(seed)
    return [_make_case(rng, KINDS[index % len(KINDS)], index) for index in range(count)]


def _make_case(rng: random.Random, kind: str, index: int) -> Case:
    is_over = kind in ("finished", "missed", "contradicted", "prolonged")
    # Random games of Caïssa soon come to an end, those of Chakra hardly ever.
    names = [name for name, v in VARIANTS.items() if v.game == "caissa" or not is_over]
    variant = rng.choice(names)
    line = _find_over(rng, variant) if is_over else _find_open(rng, variant)
    moves, recorded = list(line.moves), line.result
    expected: dict[str, Any] = {
        "result": line.result,
        "reason": line.outcome or "undecided",
        "ply": len(moves),
        "certain": is_over,
        "contradicted": False,
        "extra_plies": 0,
    }
    scores: dict[int, Score] = {}
    if kind == "missed":
        recorded = "*"
    elif kind == "contradicted":
        recorded = rng.choice([r for r in (*_WON, "1/2-1/2") if r != line.result])
        expected["contradicted"] = True
    elif kind == "prolonged":
        moves += rng.choices(line.moves, k=3)
        expected["extra_plies"] = 3
    elif kind == "illegal":
        moves.append(_find_illegal(rng, line))
        expected |= {"result": _WON[1 - len(line.moves) % 2], "reason": "illegal-move"}
        expected["certain"] = True
    elif kind == "recorded":
        recorded = rng.choice((*_WON, "1/2-1/2"))
        expected |= {"result": recorded, "reason": "recorded"}
    elif kind == "resigned":
        ply = rng.randint(3, len(moves))
        scores = {n: Score(cp=rng.randint(-499, 499)) for n in range(len(moves))}
        scores |= {n: Score(cp=-rng.randint(500, 900)) for n in (ply - 3, ply - 1)}
        expected |= {"result": _WON[1 - (ply - 1) % 2], "reason": "resign", "ply": ply}
    played = tuple(
        RecordedMove(move, scores.get(n), 9 if n in scores else None)
        for n, move in enumerate(moves)
    )
    tags = {"White": f"p{index % 7}", "Black": f"p{index % 5 + 7}"}
    text = format_pgn(GameRecord(variant, moves=played, result=recorded, tags=tags))
    if kind == "broken":
        text = _break(rng, text)
        return Case(text, None)
    return Case(text, expected | {"recorded": recorded})


def _break(rng: random.Random, text: str) -> str:
    head, _, movetext = text.rstrip("\n").rpartition("\n")
    wrong = rng.choice(["e9e4 ", "{never closed ", "(never closed ", "} ", "$ ", ") "])
    return f"{head}\n{wrong}{movetext}\n\n"


def _find_over(rng: random.Random, variant: str) -> _Line:
    """Return a random game that its last move ends."""
    while True:
        line = _play(rng, variant, 4 * MAX_PLIES)
        if line.outcome is not None:
            return line


def _find_open(rng: random.Random, variant: str) -> _Line:
    """Return a random game that is not over."""
    while True:
        line = _play(rng, variant, rng.randint(4, 20))
        if line.outcome is None:
            return line


def _play(rng: random.Random, variant: str, plies: int) -> _Line:
    """Play at random until the game is over, or so many plies are played."""
    judge = find_judge(variant)
    states = [judge.parse_fen(variant, judge.START_FENS[variant])]
    moves: list[str] = []
    while (outcome := judge.outcome(states)) is None and len(moves) < plies:
        following = judge.successors(states[-1])
        move = rng.choice(sorted(following))
        moves.append(move)
        states.append(following[move])
    return _Line(variant, moves, outcome)


def _find_illegal(rng: random.Random, line: _Line) -> str:
    """Return a text that is written as a move, and is none of the legal ones."""
    judge = find_judge(line.variant)
    state = judge.parse_fen(line.variant, judge.START_FENS[line.variant])
    for move in line.moves:
        state = judge.make_move(state, move)
    width = 7 if VARIANTS[line.variant].game == "caissa" else 8
    squares = [f"{file}{rank}" for file in "abcdefgh"[:width] for rank in range(1, width + 1)]
    legal = set(judge.legal_moves(state))
    while (move := rng.choice(squares) + rng.choice(squares)) in legal:
        pass
    return move
