"""Values of books as scores on the wire, and back."""

from core.score import Score
from gateway.book.values import pack_score, unpack_value
from tilewarp.v1 import analysis_pb2
from worker.results import format_score


def show_value(value: int) -> analysis_pb2.Score:
    """Return a value as it is sent."""
    return format_score(unpack_value(value))


def read_value(score: analysis_pb2.Score) -> int:
    """Return the value of a score that was sent."""
    if score.WhichOneof("value") == "mate":
        return pack_score(Score(mate=score.mate))
    return pack_score(Score(cp=score.centipawns))
