"""Games, terms and verdicts, from the wire and to it."""

from core.adjudication import Evidence, Terms, Verdict
from core.match.game import Game
from core.records import GameRecord, RecordedMove
from tilewarp.v1 import adjudication_pb2, match_pb2, position_pb2
from worker.results import format_score, read_score


def read_game(game: adjudication_pb2.Game) -> GameRecord:
    """Return the record of a game."""
    return GameRecord(game.variant, game.fen, tuple(map(_read_move, game.moves)), game.result)


def find_last_position(game: adjudication_pb2.Game) -> position_pb2.Position:
    """Return the position after all moves of a game, which are presumed to be legal."""
    moves = [played.move for played in game.moves]
    return position_pb2.Position(variant=game.variant, fen=game.fen, moves=moves)


def _read_move(played: adjudication_pb2.PlayedMove) -> RecordedMove:
    score = read_score(played.score)
    has_depth = score is not None and played.HasField("depth")
    return RecordedMove(played.move, score, played.depth if has_depth else None)


def format_played_game(game: Game, variant: str) -> match_pb2.PlayedGame:
    """Return the message of a game that was played; `read_played_game` reads it."""
    record = adjudication_pb2.Game(variant=variant, result=game.result)
    for move in game.opening:
        record.moves.add(move=move)
    for move, score, seconds in zip(game.moves, game.scores, game.seconds, strict=True):
        played = record.moves.add(move=move, score=None if score is None else format_score(score))
        played.time.FromMicroseconds(round(seconds * 1_000_000))
    return match_pb2.PlayedGame(record=record, reason=game.reason)


def read_played_game(played: match_pb2.PlayedGame, opening: int) -> Game:
    """Return a game that was played, the first `opening` moves of which are its opening."""
    moves = played.record.moves
    return Game(
        opening=[one.move for one in moves[:opening]],
        moves=[one.move for one in moves[opening:]],
        scores=[read_score(one.score) for one in moves[opening:]],
        seconds=[one.time.ToMicroseconds() / 1_000_000 for one in moves[opening:]],
        result=played.record.result,
        reason=played.reason,
    )


def read_terms(terms: adjudication_pb2.AdjudicationTerms) -> Terms:
    """Return the terms; ValueError, which names the field, when one is out of range."""
    return Terms(
        resign_score=terms.resign_score,
        resign_count=terms.resign_count,
        is_two_sided=terms.two_sided,
        draw_score=terms.draw_score,
        draw_count=terms.draw_count,
        draw_after=terms.draw_after,
        max_plies=terms.max_plies,
    )


def format_terms(terms: Terms) -> adjudication_pb2.AdjudicationTerms:
    """Return the message of terms."""
    return adjudication_pb2.AdjudicationTerms(
        resign_score=terms.resign_score,
        resign_count=terms.resign_count,
        two_sided=terms.is_two_sided,
        draw_score=terms.draw_score,
        draw_count=terms.draw_count,
        draw_after=terms.draw_after,
        max_plies=terms.max_plies,
    )


def format_verdict(verdict: Verdict) -> adjudication_pb2.Adjudication:
    """Return the message of a verdict; what it took and where it comes from are left out."""
    message = adjudication_pb2.Adjudication(
        result=verdict.result,
        reason=verdict.reason,
        ply=verdict.ply,
        certain=verdict.is_certain,
        recorded=verdict.recorded,
        contradicted=verdict.is_contradicted,
        extra_plies=verdict.extra_plies,
        evidence=map(_format_evidence, verdict.evidence),
    )
    if verdict.illegal is not None:
        illegal = verdict.illegal
        message.illegal.move = illegal.move
        message.illegal.rule = illegal.rule
        message.illegal.why = illegal.why
        message.illegal.legal_moves.extend(illegal.legal_moves)
    return message


def _format_evidence(evidence: Evidence) -> adjudication_pb2.ScoreEvidence:
    return adjudication_pb2.ScoreEvidence(
        ply=evidence.ply,
        score=format_score(evidence.score),
        depth=evidence.depth,
        nodes=evidence.nodes,
    )
