"""From a game's record to its verdict: rules first, then the record's word, then scores."""

from collections.abc import Callable

from core.adjudication.terms import Terms, find_ending
from core.adjudication.verdict import (
    ILLEGAL,
    MATE,
    RECORDED,
    UNDECIDED,
    Evidence,
    IllegalMove,
    Verdict,
)
from core.engine import Analysis
from core.explain import explain
from core.notation import MoveError, escape_text
from core.position import STARTPOS, Position
from core.records.game import DRAWN, UNFINISHED, WON, GameRecord
from core.score import Score

Search = Callable[[Position], Analysis]


def adjudicate(record: GameRecord, terms: Terms, search: Search | None = None) -> Verdict:
    """Return what became of a game.

    One that neither the rules nor its record ends is judged on `terms`: by the record's own scores,
    or, with `search`, by those of its last positions.

    Raises NotationError when the variant or the first position is refused.
    """
    position = Position(record.variant, record.fen or STARTPOS)
    black_began = position.fen().split()[1] == "b"
    for ply, move in enumerate(record.moves):
        outcome = position.outcome()
        if outcome is not None:
            return _end_by_rules(record, position, outcome, black_began)
        try:
            position.push(move.text)
        except MoveError:
            return _forfeit(record, position, move.text, (ply + black_began) % 2)
    outcome = position.outcome()
    if outcome is not None:
        return _end_by_rules(record, position, outcome, black_began)
    if record.result != UNFINISHED:
        plies, fen = len(record.moves), position.fen()
        return Verdict(record.result, RECORDED, plies, fen, False, record.result)
    if search is not None:
        return _judge_by_search(record, position, black_began, terms, search)
    evidence = {
        ply: Evidence(ply, move.score, move.depth, None)
        for ply, move in enumerate(record.moves)
        if move.score is not None
    }
    return _judge(record, position, black_began, terms, evidence)


def _end_by_rules(
    record: GameRecord, position: Position, outcome: str, black_began: bool
) -> Verdict:
    ply = len(position.moves)
    result = WON[1 - (ply + black_began) % 2] if outcome == "checkmate" else DRAWN
    extra = len(record.moves) - ply
    return Verdict(result, outcome, ply, position.fen(), True, record.result, extra)


def _forfeit(record: GameRecord, position: Position, move: str, side: int) -> Verdict:
    """Return the verdict on a side that made an illegal move in a position."""
    try:
        found = explain(position, move)
        rule, why = found.rule, found.text
    except MoveError as error:
        rule, why = "notation", str(error)
    illegal = IllegalMove(escape_text(move), rule, why, tuple(position.legal_moves))
    ply = len(position.moves)
    return Verdict(
        WON[1 - side], ILLEGAL, ply, position.fen(), True, record.result, illegal=illegal
    )


def _judge_by_search(
    record: GameRecord, position: Position, black_began: bool, terms: Terms, search: Search
) -> Verdict:
    """Search the last positions of a game that is not too long, the last one first.

    A mate proved there needs no terms.
    """
    plies = len(position.moves)
    if 0 < terms.max_plies <= plies:
        return _judge(record, position, black_began, terms, {})
    first = _ask(position, search)
    if first.score.mate is not None:
        side = (plies + black_began) % 2
        winner = side if first.score.mate > 0 else 1 - side
        return Verdict(
            WON[winner], MATE, plies, position.fen(), True, record.result, evidence=(first,)
        )
    evidence = {plies: first}
    for _ in range(min(terms.window - 1, plies)):
        position.pop()
        found = _ask(position, search)
        evidence[found.ply] = found
    for move in record.moves[len(position.moves) :]:
        position.push(move.text)
    return _judge(record, position, black_began, terms, evidence)


def _ask(position: Position, search: Search) -> Evidence:
    found = search(position)
    return Evidence(len(position.moves), found.score, found.depth, found.nodes)


def _judge(
    record: GameRecord,
    position: Position,
    black_began: bool,
    terms: Terms,
    evidence: dict[int, Evidence],
) -> Verdict:
    """Return the verdict on an unfinished game, on terms, by the scores there are."""
    plies = len(record.moves)
    scores: list[Score | None] = [None] * (plies + (plies in evidence))
    for ply, found in evidence.items():
        scores[ply] = found.score
    ending = find_ending(scores, plies, black_began, terms)
    if ending is None:
        last = tuple(found for ply, found in evidence.items() if ply >= plies - 1)[:1]
        return Verdict(
            UNFINISHED, UNDECIDED, plies, position.fen(), False, record.result, evidence=last
        )
    while len(position.moves) > ending.ply:
        position.pop()
    return Verdict(
        ending.result,
        ending.reason,
        ending.ply,
        position.fen(),
        False,
        record.result,
        evidence=tuple(evidence[ply] for ply in ending.score_plies),
    )
