"""Limits at the door: every fault of them, by field."""

from core.rules import MAX_MOVES
from gateway.status import FieldFault
from tilewarp.v1 import analysis_pb2
from worker.limits import read_limits
from worker.settings import Settings

BOUNDS = ("nodes", "depth", "time", "mate")
"""Fields of which one at least must be given."""
MEANS = ("threads", "hash_mb", "multipv")
MAX_MOVE_LENGTH = 8
"""Characters of a move; those of both games are shorter."""


def find_limit_faults(
    limits: analysis_pb2.Limits, field: str, settings: Settings
) -> list[FieldFault]:
    """Return what is wrong with the limits in the request's field of this name.

    The greatest value of a field `x` is the setting `max_x`, which a refusal names.
    """
    values = {name: getattr(limits, name) for name in (*BOUNDS, *MEANS)}
    values["time"] = limits.time.ToNanoseconds() / 1e9
    faults = []
    for name, value in values.items():
        greatest = getattr(settings, f"max_{name}")
        if value < 0:
            faults.append(FieldFault(f"{field}.{name}", f"{_number(value)} is negative"))
        elif value > greatest:
            fault = f"{_number(value)} is more than max_{name} allows ({_number(greatest)})"
            faults.append(FieldFault(f"{field}.{name}", fault))
    if not any(values[name] for name in BOUNDS):
        faults.append(FieldFault(field, f"one of {', '.join(BOUNDS)} is required"))
    if len(limits.searchmoves) > MAX_MOVES:
        fault = f"{len(limits.searchmoves)} moves are more than any position has"
        faults.append(FieldFault(f"{field}.searchmoves", fault))
    if any(len(move) > MAX_MOVE_LENGTH for move in limits.searchmoves):
        fault = f"a move has more than {MAX_MOVE_LENGTH} characters"
        faults.append(FieldFault(f"{field}.searchmoves", fault))
    if not faults:
        try:
            read_limits(limits)
        except ValueError as error:
            faults.append(FieldFault(field, str(error)))
    return faults


def _number(value: float) -> str:
    return str(value).removesuffix(".0")
