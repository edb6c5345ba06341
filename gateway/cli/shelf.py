"""Books of a gateway for the command line: what comes over the wire, as books in files have it."""

from collections.abc import AsyncIterator

from gateway.book.book import Evidence, Probe, ProbedMove
from gateway.book.growth import Plan, Progress
from gateway.client import Client
from gateway.scores import read_value
from tilewarp.v1 import books_pb2, position_pb2
from worker.outcomes import OUTCOMES

PREFIX = "books/"
FORMATS = {
    "jsonl": books_pb2.BOOK_FORMAT_JSON_LINES,
    "epd": books_pb2.BOOK_FORMAT_EPD,
    "tree": books_pb2.BOOK_FORMAT_TREE,
}
_OUTCOME_NAMES = {outcome: name for name, outcome in OUTCOMES.items()}


async def grow(
    client: Client,
    name: str,
    root: position_pb2.Position,
    limits: tuple[int | None, int | None],
    plan: Plan,
) -> AsyncIterator[Progress]:
    """Grow a book by searches of so many nodes or such a depth; yield how far it is."""
    nodes, depth = limits
    request = books_pb2.GrowBookRequest(
        name=PREFIX + name,
        position=root,
        nodes=nodes or 0,
        depth=depth or 0,
        positions=plan.positions or 0,
        plies=plan.plies or 0,
        seed=plan.seed,
        again=plan.is_again,
    )
    if plan.seconds is not None:
        request.time.FromNanoseconds(int(plan.seconds * 1e9))
    async for step in client.grow_book(request):
        yield Progress(
            positions=step.positions,
            expanded=step.expanded,
            value=read_value(step.value),
            searched=step.searched,
            nodes=step.nodes,
            failed=step.failed,
        )


async def probe(client: Client, name: str, position: position_pb2.Position) -> tuple[str, Probe]:
    """Return the text of a position, and what a book knows of it."""
    found = await client.probe_book(PREFIX + name, position)
    moves = [
        ProbedMove(m.move, read_value(m.value), m.expanded, _read_evidence(m.evidence))
        for m in found.moves
    ]
    return found.fen, Probe(read_value(found.value), _read_evidence(found.evidence), moves)


def _read_evidence(message: books_pb2.BookEvidence) -> Evidence:
    return Evidence(
        score=read_value(message.score),
        depth=message.depth,
        nodes=message.nodes,
        engine=message.engine_version,
        time=message.finish_time.seconds,
        outcome=_OUTCOME_NAMES[message.outcome],
    )
