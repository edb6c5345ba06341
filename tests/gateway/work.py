"""Short ways to ask for work and, in a worker's place, to do it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

import grpc
import grpc.aio
import pytest

from gateway.client import Client
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2
from worker.store import Claim, Finished, Store

START = position_pb2.Position(variant="chakra")
WRONG = position_pb2.Position(variant="chakra", fen="no position")

Item = TypeVar("Item")


def specification(nodes: int = 100) -> jobs_pb2.JobSpecification:
    """Return a specification with a limit of nodes."""
    work = jobs_pb2.AnalysisWork(limits=analysis_pb2.Limits(nodes=nodes))
    return jobs_pb2.JobSpecification(analysis=work)


async def create(client: Client, count: int, wrong: Sequence[int] = ()) -> jobs_pb2.Job:
    """Create a job of so many starting positions; those at the indices `wrong` are none."""
    positions = [WRONG if index in wrong else START for index in range(count)]
    return await client.create_job(specification(), positions)


def claim(store: Store) -> list[Claim]:
    """Claim all the work there is, which must be some."""
    claims = list(iter(lambda: store.claim("worker"), None))
    assert claims
    return claims


def hand_in(store: Store, claims: Sequence[Claim], indices: Sequence[int] | None = None) -> None:
    """Hand in the claimed units, or some of them, each as a result of 10 nodes."""
    for claimed in claims:
        finished = [
            Finished(unit.index, _row(unit.index).SerializeToString(), nodes=10, seconds=0.5)
            for unit in claimed.units
            if indices is None or unit.index in indices
        ]
        assert store.hand_in(claimed, finished).accepted == len(finished)


def _row(index: int) -> jobs_pb2.ResultRow:
    result = analysis_pb2.AnalysisResult(best_move="b2b4", nodes=10)
    return jobs_pb2.ResultRow(index=index, fen="a fen", analysis=result)


async def collect(stream: AsyncIterator[Item]) -> list[Item]:
    """Return all that a stream yields, within ten seconds."""
    async with asyncio.timeout(10):
        return [item async for item in stream]


def refuses(code: grpc.StatusCode, text: str) -> "pytest.RaisesExc[grpc.aio.AioRpcError]":
    """Expect a call to end with a code, and with details that contain `text`."""
    return pytest.raises(
        grpc.aio.AioRpcError,
        check=lambda error: error.code() is code and text in (error.details() or ""),
    )
