"""Matches: each pair of games is a unit, known by its number."""

from core.games import VARIANTS
from core.notation import escape_text
from core.position import Position
from gateway.kinds.kind import Submission
from gateway.limits import find_limit_faults
from gateway.status import FieldFault, InvalidRequest
from tilewarp.v1 import analysis_pb2, jobs_pb2, match_pb2
from worker.command import format_match_command
from worker.games import read_terms
from worker.settings import Settings
from worker.store import Job, Row

NAME = "match"
NUMBER = jobs_pb2.JOB_KIND_MATCH
FIELD = "specification.match"
MAX_RANGES = 1000
MAX_PAIR = 2**31 - 1
STAGED_COUNT = 1000
"""Units staged in one go."""


def find_faults(specification: jobs_pb2.JobSpecification, settings: Settings) -> list[FieldFault]:
    """Return what is wrong with variant, players, terms and pairs."""
    work = specification.match
    faults = []
    if work.variant not in VARIANTS:
        fault = f"{escape_text(work.variant)!r} is none of {', '.join(VARIANTS)}"
        faults.append(FieldFault(f"{FIELD}.variant", fault))
    faults += _find_player_faults(work.first, f"{FIELD}.first", settings)
    faults += _find_player_faults(work.second, f"{FIELD}.second", settings)
    return faults + _find_terms_faults(work, settings) + _find_pairs_faults(work, settings)


async def stage(submission: Submission) -> None:
    """Stage the pairs."""
    async for _ in submission.requests:
        raise InvalidRequest([FieldFault("content", "a match has one message, the first")])
    ranges = submission.specification.match.pairs
    numbers = [number for one in ranges for number in range(one.first, one.first + one.count)]
    for start in range(0, len(numbers), STAGED_COUNT):
        chunk = numbers[start : start + STAGED_COUNT]
        units = [match_pb2.PlayedPair(pair=number).SerializeToString() for number in chunk]
        await submission.stage(units)


def show_failure(row: Row, job: Job) -> jobs_pb2.ResultRow:
    """Return the row of a pair that was given up, with the command that plays up to it."""
    work = jobs_pb2.JobSpecification.FromString(job.spec).match
    pair = match_pb2.PlayedPair.FromString(row.payload).pair
    command = format_match_command(work, pair)
    return jobs_pb2.ResultRow(
        fen=Position(work.variant).fen(), failure=jobs_pb2.Failure(command=command)
    )


def _find_player_faults(
    limits: analysis_pb2.Limits, field: str, settings: Settings
) -> list[FieldFault]:
    faults = find_limit_faults(limits, field, settings)
    if not limits.hash_mb:
        faults.append(FieldFault(f"{field}.hash_mb", "a player's table needs a size"))
    if limits.mate:
        faults.append(FieldFault(f"{field}.mate", "players are not asked for a mate"))
    if limits.multipv > 1:
        faults.append(FieldFault(f"{field}.multipv", "players look for one line"))
    if limits.searchmoves:
        faults.append(FieldFault(f"{field}.searchmoves", "players consider all moves"))
    return faults


def _find_terms_faults(work: match_pb2.MatchWork, settings: Settings) -> list[FieldFault]:
    faults = []
    try:
        read_terms(work.terms)
    except ValueError as error:
        faults.append(FieldFault(f"{FIELD}.terms", str(error)))
    if not 1 <= work.terms.max_plies <= settings.max_moves:
        fault = f"{work.terms.max_plies} is not from 1 to what max_moves allows"
        faults.append(FieldFault(f"{FIELD}.terms.max_plies", f"{fault} ({settings.max_moves})"))
    return faults


def _find_pairs_faults(work: match_pb2.MatchWork, settings: Settings) -> list[FieldFault]:
    field = f"{FIELD}.pairs"
    if not work.pairs:
        return [FieldFault(field, "a match needs at least one pair")]
    if len(work.pairs) > MAX_RANGES:
        return [FieldFault(field, f"{len(work.pairs)} ranges are more than {MAX_RANGES}")]
    last = 0
    for one in work.pairs:
        if one.first <= last or one.count < 1 or one.first + one.count - 1 > MAX_PAIR:
            fault = f"{one.count} pairs from {one.first} are no range from {last + 1} to {MAX_PAIR}"
            return [FieldFault(field, fault)]
        last = one.first + one.count - 1
    total = sum(one.count for one in work.pairs)
    if total > settings.max_positions:
        fault = f"{total} pairs are more than max_positions allows ({settings.max_positions})"
        return [FieldFault(field, fault)]
    return []
