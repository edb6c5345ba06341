"""How core names an outcome, and how the wire does: one table for workers and gateway."""

from tilewarp.v1 import position_pb2

OUTCOMES = {
    None: position_pb2.OUTCOME_ONGOING,
    "checkmate": position_pb2.OUTCOME_CHECKMATE,
    "stalemate": position_pb2.OUTCOME_STALEMATE,
    "repetition": position_pb2.OUTCOME_REPETITION,
    "move-limit": position_pb2.OUTCOME_MOVE_LIMIT,
    "insufficient": position_pb2.OUTCOME_INSUFFICIENT,
}
