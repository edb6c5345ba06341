"""Positions at the door: a message becomes a checked position, or all its faults."""

from collections.abc import Sequence

from core.notation import MoveError, PositionError, UnknownVariant, escape_text
from core.position import STARTPOS, Position
from tilewarp.v1 import position_pb2
from worker.settings import Settings


class PositionFaults(Exception):
    """A position is refused; carries every fault, each fit to be shown."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def check_position(
    message: position_pb2.Position, settings: Settings, searchmoves: Sequence[str] = ()
) -> Position:
    """Return the position with its moves played, if its size is allowed and it is legal.

    Takes processor time: call it from a thread.

    Args:
        message: the position.
        settings: how large it may be.
        searchmoves: moves that must be legal in it.

    Raises:
        PositionFaults: the position, its variant, its size or one of the moves is refused.
    """
    faults = _find_size_faults(message, settings)
    if faults:
        raise PositionFaults(faults)
    position = read_position(message)
    illegal = [escape_text(move) for move in searchmoves if not _is_legal(position, move)]
    if illegal:
        raise PositionFaults([f"searchmoves that are not legal: {' '.join(illegal)}"])
    return position


def read_position(message: position_pb2.Position) -> Position:
    """Return the position with its moves played.

    Raises:
        PositionFaults: the position or its variant is refused.
    """
    try:
        position = Position(message.variant, message.fen or STARTPOS)
    except UnknownVariant as error:
        raise PositionFaults([str(error)]) from error
    except PositionError as error:
        raise PositionFaults(error.faults) from error
    for number, move in enumerate(message.moves, 1):
        try:
            position.push(move)
        except MoveError as error:
            raise PositionFaults([f"move {number}: {error}"]) from error
    return position


def _is_legal(position: Position, move: str) -> bool:
    try:
        position.push(move)
    except MoveError:
        return False
    position.pop()
    return True


def _find_size_faults(message: position_pb2.Position, settings: Settings) -> list[str]:
    faults = []
    if len(message.fen) > settings.max_fen_length:
        faults.append(
            f"the position's text has {len(message.fen)} characters, "
            f"more than max_fen_length allows ({settings.max_fen_length})"
        )
    if len(message.moves) > settings.max_moves:
        faults.append(
            f"{len(message.moves)} moves are more than max_moves allows ({settings.max_moves})"
        )
    return faults
