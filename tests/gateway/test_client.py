"""The client's retries and resumed streams, against a server that fails on purpose."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_status import rpc_status

from gateway.client import BATCH_BYTES, BATCH_COUNT, MAX_TEXT, Client, _requests, parse_line
from gateway.status import StoreAway, UnknownJob, find_status
from tests.gateway.work import collect, refuses, specification
from tilewarp.v1 import jobs_pb2, jobs_pb2_grpc, position_pb2

Abort = grpc.StatusCode | Exception


class FlakyService(jobs_pb2_grpc.JobServiceServicer):
    """Ends calls with the errors it is given, one a call, then answers."""

    def __init__(self) -> None:
        self.errors: list[Abort] = []
        self.requests: list[Any] = []
        self.silence = 0.0
        """Seconds that a stream says nothing before it fails."""

    async def GetJob(self, request: Any, context: Any) -> jobs_pb2.GetJobResponse:
        self.requests.append(request)
        await self._fail(context)
        return jobs_pb2.GetJobResponse(job=jobs_pb2.Job(name=request.name))

    async def CreateJob(self, request_iterator: Any, context: Any) -> jobs_pb2.CreateJobResponse:
        self.requests.append([request async for request in request_iterator])
        await self._fail(context)
        return jobs_pb2.CreateJobResponse(job=jobs_pb2.Job(name="jobs/1"))

    async def StreamResults(
        self, request: Any, context: Any
    ) -> AsyncIterator[jobs_pb2.StreamResultsResponse]:
        self.requests.append(request)
        for index in range(int(request.resume_token or 0), 6, 2):
            rows = [jobs_pb2.ResultRow(index=index), jobs_pb2.ResultRow(index=index + 1)]
            yield jobs_pb2.StreamResultsResponse(rows=rows, resume_token=str(index + 2))
            await self._fail(context)

    async def _fail(self, context: Any) -> None:
        if self.errors:
            if self.silence:
                await asyncio.sleep(self.silence)
            error = self.errors.pop(0)
            if isinstance(error, Exception):
                await context.abort_with_status(rpc_status.to_status(find_status(error)))
            await context.abort(error, "on purpose")


@pytest.fixture
async def service() -> AsyncIterator[FlakyService]:
    service = FlakyService()
    server = grpc.aio.server()
    jobs_pb2_grpc.add_JobServiceServicer_to_server(service, server)
    service.port = server.add_insecure_port("127.0.0.1:0")  # type: ignore[attr-defined]
    await server.start()
    yield service
    await server.stop(None)


@pytest.fixture
async def client(service: FlakyService) -> AsyncIterator[Client]:
    async with Client(f"127.0.0.1:{service.port}") as client:  # type: ignore[attr-defined]
        yield client


async def test_a_call_is_repeated_while_the_service_is_away(
    service: FlakyService, client: Client
) -> None:
    service.errors = [grpc.StatusCode.UNAVAILABLE] * 3
    assert (await client.get_job("jobs/1")).name == "jobs/1"
    assert len(service.requests) == 4


async def test_the_servers_word_on_when_to_retry_is_kept(
    service: FlakyService, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def note(pause: float) -> None:
        pauses.append(pause)

    monkeypatch.setattr("gateway.client.asyncio.sleep", note)
    service.errors = [StoreAway()]
    await client.get_job("jobs/1")
    (pause,) = pauses
    assert 0.5 <= pause <= 1.5


@pytest.mark.parametrize(
    "error", [grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.INTERNAL, UnknownJob("jobs/1")]
)
async def test_what_would_fail_again_is_not_repeated(
    service: FlakyService, client: Client, error: Abort
) -> None:
    service.errors = [error]
    with pytest.raises(grpc.aio.AioRpcError):
        await client.get_job("jobs/1")
    assert len(service.requests) == 1


async def test_patience_ends(service: FlakyService, client: Client) -> None:
    client.patience = 0.3
    service.errors = [grpc.StatusCode.UNAVAILABLE] * 100
    with refuses(grpc.StatusCode.UNAVAILABLE, "on purpose"):
        await client.get_job("jobs/1")
    assert len(service.requests) >= 2


async def test_patience_begins_with_the_first_failure(
    service: FlakyService, client: Client
) -> None:
    client.patience = 0.5
    service.errors = [grpc.StatusCode.UNAVAILABLE]
    service.silence = 1.0
    rows = await collect(client.stream_results("jobs/1"))
    assert [row.index for row in rows] == list(range(6))


async def test_a_repeated_submission_keeps_its_request_id(
    service: FlakyService, client: Client
) -> None:
    service.errors = [grpc.StatusCode.UNAVAILABLE]
    await client.create_job(specification(), [position_pb2.Position(variant="chakra")])
    first, second = service.requests
    assert first == second
    assert len(first[0].request_id) == 32


async def test_a_broken_stream_goes_on_after_the_last_token(
    service: FlakyService, client: Client
) -> None:
    service.errors = [grpc.StatusCode.UNAVAILABLE] * 2
    rows = await collect(client.stream_results("jobs/1"))
    assert [row.index for row in rows] == list(range(6))
    assert [request.resume_token for request in service.requests] == ["", "2", "4"]


@pytest.mark.parametrize(
    ("line", "fen", "moves"),
    [
        ("startpos", "", []),
        ("startpos moves b2b4 g7g5", "", ["b2b4", "g7g5"]),
        ("a b c", "a b c", []),
        (" a b  moves  x  y ", "a b", ["x", "y"]),
        ("a b moves", "a b", []),
        ("a movesb", "a movesb", []),
    ],
)
def test_a_line_is_a_position_and_moves(line: str, fen: str, moves: list[str]) -> None:
    assert parse_line("chakra", line) == position_pb2.Position(
        variant="chakra", fen=fen, moves=moves
    )


def test_an_overlong_line_is_cut() -> None:
    assert len(parse_line("chakra", "x" * 1_000_000).fen) == MAX_TEXT


async def test_a_submission_comes_in_messages_of_bounded_size() -> None:
    header = jobs_pb2.CreateJobRequest(request_id="1")
    short = [position_pb2.Position(fen=str(index)) for index in range(BATCH_COUNT + 1)]
    long = [position_pb2.Position(fen="x" * MAX_TEXT)] * 100
    first, *batches = await collect(_requests(header, short + long))
    assert first == header
    assert [p for batch in batches for p in batch.positions.positions] == short + long
    assert max(batch.ByteSize() for batch in batches) < BATCH_BYTES + BATCH_COUNT * 8
    assert len(batches[0].positions.positions) == BATCH_COUNT
