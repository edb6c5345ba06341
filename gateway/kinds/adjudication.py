"""Adjudication: each game of the submission is a unit, and a wrong one a row of its own."""

import asyncio
import shlex
from collections.abc import Sequence

from core.notation import NotationError, PositionError, escape_text
from core.position import STARTPOS, Position
from core.records import RESULTS
from gateway.kinds.kind import Submission
from gateway.limits import find_limit_faults
from gateway.status import FieldFault
from tilewarp.v1 import adjudication_pb2, jobs_pb2
from worker.command import format_command
from worker.games import find_last_position, read_terms
from worker.limits import read_limits
from worker.settings import Settings
from worker.store import Job, Row, UnitIndex

NAME = "adjudication"
NUMBER = jobs_pb2.JOB_KIND_ADJUDICATION
MAX_MOVE_LENGTH = 16
"""Characters of a move; those of both games are shorter."""


def find_faults(specification: jobs_pb2.JobSpecification, settings: Settings) -> list[FieldFault]:
    """Return what is wrong with terms and limits."""
    work, field = specification.adjudication, "specification.adjudication"
    faults = []
    try:
        read_terms(work.terms)
    except ValueError as error:
        faults.append(FieldFault(f"{field}.terms", str(error)))
    if work.HasField("limits"):
        faults += find_limit_faults(work.limits, f"{field}.limits", settings)
        if work.limits.searchmoves:
            fault = "games have no moves to be considered alone"
            faults.append(FieldFault(f"{field}.limits.searchmoves", fault))
    return faults


async def stage(submission: Submission) -> None:
    """Stage the games of the submission."""
    async for games, units in submission.read("games"):
        rejected = await asyncio.to_thread(_check_batch, games, submission)
        accepted = [
            b"" if UnitIndex(index) in rejected else unit
            for index, unit in enumerate(units, submission.total)
        ]
        await submission.stage(accepted, rejected)


def show_failure(row: Row, job: Job) -> jobs_pb2.ResultRow:
    """Return the row of a game that was given up, with a command that searches or plays it."""
    game = adjudication_pb2.Game.FromString(row.payload)
    work = jobs_pb2.JobSpecification.FromString(job.spec).adjudication
    position = find_last_position(game)
    if work.HasField("limits"):
        command = format_command(position, read_limits(work.limits))
    else:
        start = position.fen or STARTPOS
        command = shlex.join(["tilewarp", "play", position.variant, start, *position.moves])
    return jobs_pb2.ResultRow(
        fen=Position(game.variant, game.fen or STARTPOS).fen(),
        failure=jobs_pb2.Failure(command=command),
    )


def _check_batch(
    games: Sequence[adjudication_pb2.Game], submission: Submission
) -> dict[UnitIndex, bytes]:
    """Return the rows of those that are refused among the next games of a submission."""
    rejected = {}
    for index, game in enumerate(games, submission.total):
        faults = _find_game_faults(game, submission.settings)
        if faults:
            row = jobs_pb2.ResultRow(
                index=index,
                fen=escape_text(game.fen),
                rejection=jobs_pb2.Rejection(faults=faults),
            )
            rejected[UnitIndex(index)] = row.SerializeToString()
    return rejected


def _find_game_faults(game: adjudication_pb2.Game, settings: Settings) -> list[str]:
    """Return why a game cannot be adjudicated; whether its moves are legal is the work itself."""
    faults = []
    if len(game.moves) > settings.max_moves:
        faults.append(
            f"{len(game.moves)} moves are more than max_moves allows ({settings.max_moves})"
        )
    if any(len(played.move) > MAX_MOVE_LENGTH for played in game.moves):
        faults.append(f"a move has more than {MAX_MOVE_LENGTH} characters")
    if game.result not in RESULTS:
        faults.append(f"the result {escape_text(game.result)!r} is none of {' '.join(RESULTS)}")
    try:
        Position(game.variant, game.fen or STARTPOS)
    except PositionError as error:
        faults += error.faults
    except NotationError as error:
        faults.append(str(error))
    return faults
