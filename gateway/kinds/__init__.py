"""The kinds of job as the gateway knows them, each by the name of its field in `work`."""

from collections.abc import Mapping

from gateway.kinds import adjudication, analysis, match, perft
from gateway.kinds.kind import Kind, Submission
from tilewarp.v1 import jobs_pb2

KINDS: Mapping[str, Kind] = {
    analysis.NAME: analysis,
    adjudication.NAME: adjudication,
    perft.NAME: perft,
    match.NAME: match,
}

__all__ = ["KINDS", "Kind", "Submission", "find_kind"]


def find_kind(specification: jobs_pb2.JobSpecification) -> str | None:
    """Return the name of the kind of work that is asked for; None if there is none."""
    name = specification.WhichOneof("work")
    return name if name in KINDS else None
