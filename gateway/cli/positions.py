"""Positions and moves given on the command line."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from core.notation import MoveError, NotationError
from core.position import Position
from gateway.cli.errors import WrongInput


@contextmanager
def exit_on_wrong_input() -> Iterator[None]:
    """Turn refused text into the command's error."""
    try:
        yield
    except NotationError as error:
        raise WrongInput(str(error)) from error


def parse_position(variant: str, fen: str) -> Position:
    """Return the position; refused text is the command's error."""
    with exit_on_wrong_input():
        return Position(variant, fen)


def push_moves(position: Position, moves: Sequence[str]) -> None:
    """Play moves; the first that is refused is the command's error, with its number."""
    for number, move in enumerate(moves, 1):
        try:
            position.push(move)
        except MoveError as error:
            raise WrongInput(f"{number}. {error}") from error
