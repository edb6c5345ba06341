"""Games and verdicts, from the wire and to it."""

from core.adjudication import Evidence, Terms, Verdict
from core.records import GameRecord, RecordedMove
from core.score import Score
from tilewarp.v1 import adjudication_pb2, analysis_pb2, position_pb2


def read_game(game: adjudication_pb2.Game) -> GameRecord:
    """Return the record of a game."""
    return GameRecord(game.variant, game.fen, tuple(map(_read_move, game.moves)), game.result)


def find_last_position(game: adjudication_pb2.Game) -> position_pb2.Position:
    """Return the position after all moves of a game, which are presumed to be legal."""
    moves = [played.move for played in game.moves]
    return position_pb2.Position(variant=game.variant, fen=game.fen, moves=moves)


def _read_move(played: adjudication_pb2.PlayedMove) -> RecordedMove:
    depth = played.depth if played.HasField("depth") else None
    match played.score.WhichOneof("value"):
        case "mate":
            return RecordedMove(played.move, Score(mate=played.score.mate), depth)
        case "centipawns":
            return RecordedMove(played.move, Score(cp=played.score.centipawns), depth)
        case _:
            return RecordedMove(played.move)


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
    score = analysis_pb2.Score(bound=analysis_pb2.BOUND_EXACT)
    if evidence.score.mate is not None:
        score.mate = evidence.score.mate
    else:
        score.centipawns = evidence.score.cp or 0
    return adjudication_pb2.ScoreEvidence(
        ply=evidence.ply, score=score, depth=evidence.depth, nodes=evidence.nodes
    )
