"""Values of books as scores on the wire, and back."""

from core.score import Score
from gateway.book.values import pack_score, unpack_value
from tilewarp.v1 import analysis_pb2


def show_value(value: int) -> analysis_pb2.Score:
    """Return a value as it is sent."""
    score = unpack_value(value)
    message = analysis_pb2.Score(bound=analysis_pb2.BOUND_EXACT)
    if score.mate is not None:
        message.mate = score.mate
    else:
        message.centipawns = score.cp or 0
    return message


def read_value(score: analysis_pb2.Score) -> int:
    """Return the value of a score that was sent."""
    if score.WhichOneof("value") == "mate":
        return pack_score(Score(mate=score.mate))
    return pack_score(Score(cp=score.centipawns))
