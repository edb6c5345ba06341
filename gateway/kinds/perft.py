"""Perft: the different positions some plies on are the units, each as often as it comes."""

import asyncio
import math
import shlex
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from core.counting import Counter
from core.prefixes import MAX_PERFT_DEPTH, Prefix, Split, TooManyPrefixes
from core.record import borrow_record
from gateway.kinds.kind import Submission
from gateway.positions import PositionFaults, check_position
from gateway.status import FieldFault, InvalidRequest
from tilewarp.v1 import jobs_pb2
from worker.settings import Settings
from worker.store import Job, Row

NAME = "perft"
NUMBER = jobs_pb2.JOB_KIND_PERFT
FIELD = "specification.perft"
UNIT_LINES = 4e9
"""Lines of a unit at most, by estimate, if the split can be that deep: some seconds of a worker."""
SPLIT_MOVES = 1_000_000
"""Moves made for one ply of the split at most, by estimate: some seconds of the gateway."""
SAMPLES = 8
SAMPLE_DEPTH = 3
STAGED_COUNT = 1000
"""Units staged in one go."""

# One split at a time: whatever is asked for, the gateway's other threads stay free.
_splitter = ThreadPoolExecutor(1, "perft")


def find_faults(specification: jobs_pb2.JobSpecification, settings: Settings) -> list[FieldFault]:
    """Return what is wrong with depth and share."""
    work = specification.perft
    faults = []
    if not 0 <= work.depth <= MAX_PERFT_DEPTH:
        fault = f"{work.depth} is not from 0 to {MAX_PERFT_DEPTH}"
        faults.append(FieldFault(f"{FIELD}.depth", fault))
    if not 0 <= work.verify_share <= 1:
        fault = f"{work.verify_share} is not from 0 to 1"
        faults.append(FieldFault(f"{FIELD}.verify_share", fault))
    return faults


async def stage(submission: Submission) -> None:
    """Split the perft and stage the prefixes."""
    async for _ in submission.requests:
        raise InvalidRequest([FieldFault("content", "a perft has one message, the first")])
    submission.needs_all = True
    loop = asyncio.get_running_loop()
    units = await loop.run_in_executor(
        _splitter, split_perft, submission.specification, submission.settings
    )
    for start in range(0, len(units), STAGED_COUNT):
        await submission.stage(units[start : start + STAGED_COUNT])


def split_perft(specification: jobs_pb2.JobSpecification, settings: Settings) -> list[bytes]:
    """Return the units of a perft: rows without counts. Takes seconds of processor time.

    The split is as deep as it takes for a unit to be some seconds of work, but no deeper than that
    many units, or the time to find them, allow. Raises InvalidRequest if the position is refused.
    """
    work = specification.perft
    try:
        position = check_position(work.position, settings)
    except PositionFaults as error:
        faults = [FieldFault(f"{FIELD}.position", fault) for fault in error.faults]
        raise InvalidRequest(faults) from error
    split = Split(position.copy(), work.keep_images)
    while split.plies < work.depth:
        if _estimate_lines(split, work.depth - split.plies) <= UNIT_LINES:
            break
        if len(split.prefixes) * _mean_lines(split, 1) > SPLIT_MOVES:
            break
        try:
            split.advance(settings.max_positions)
        except TooManyPrefixes:
            break
    rest = work.depth - split.plies
    return [_format_unit(split, prefix, rest) for prefix in split.prefixes]


def show_failure(row: Row, job: Job) -> jobs_pb2.ResultRow:
    """Return the row of a prefix that was given up, with the command that counts from it."""
    unit = jobs_pb2.ResultRow.FromString(row.payload)
    variant = jobs_pb2.JobSpecification.FromString(job.spec).perft.position.variant
    command = shlex.join(["tilewarp", "perft", variant, str(unit.perft.depth), unit.fen])
    return jobs_pb2.ResultRow(fen=unit.fen, failure=jobs_pb2.Failure(command=command))


def show_confirmed(row: Row) -> jobs_pb2.ResultRow:
    """Return the row of a prefix that was counted again: who counted right, and who wrong."""
    shown = jobs_pb2.ResultRow.FromString(row.payload)
    multiplicity = int(shown.perft.multiplicity)
    _, right = row.counts[-1]
    del shown.perft.workers[:]
    for worker, amount in row.counts:
        if amount == right:
            shown.perft.workers.append(worker)
        else:
            wrong = jobs_pb2.WrongCount(worker=worker, count=str(amount // multiplicity))
            shown.perft.wrong_counts.append(wrong)
    return shown


def _estimate_lines(split: Split, depth: int) -> float:
    """Return about how many lines of a depth a prefix has, from what shorter ones there are."""
    sampled = min(depth, SAMPLE_DEPTH)
    mean = _mean_lines(split, sampled)
    return math.pow(mean, depth / sampled) if mean > 0 else 0.0


def _mean_lines(split: Split, depth: int) -> float:
    """Return how many lines of a depth some of the prefixes have, on the average."""
    counter = Counter(split.game, borrow_record(split.game))
    sample = _sample(split.prefixes)
    return sum(counter.count_snapshot(p.snapshot, depth) for p in sample) / max(len(sample), 1)


def _sample(prefixes: Sequence[Prefix]) -> Sequence[Prefix]:
    return prefixes[:: max(1, len(prefixes) // SAMPLES)]


def _format_unit(split: Split, prefix: Prefix, depth: int) -> bytes:
    count = jobs_pb2.PerftCount(depth=depth, multiplicity=str(prefix.multiplicity))
    return jobs_pb2.ResultRow(fen=split.format_fen(prefix), perft=count).SerializeToString()
