"""The client of a gateway: typed calls that are tried again where that is harmless.

Everything here is idempotent, so a call that finds the service away is repeated, with jittered
pauses, until it has made no progress for `patience` seconds: looks change nothing, a submission
carries a request id, a job stays cancelled or paused, and streams go on where they broke off.
"""

import asyncio
import random
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, TypeVar

import grpc
import grpc.aio
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status
from opentelemetry import propagate

from gateway.feed import Feed, Position
from tilewarp.v1 import (
    adjudication_pb2,
    analysis_pb2,
    analysis_pb2_grpc,
    books_pb2,
    books_pb2_grpc,
    jobs_pb2,
    jobs_pb2_grpc,
    position_pb2,
    rules_pb2,
    rules_pb2_grpc,
)

DEFAULT_GATEWAY = "127.0.0.1:50051"
CLIENT_METADATA = "x-tilewarp-client"
KEY_METADATA = "authorization"
CALL_SECONDS = 30.0
HEALTH_SECONDS = 3.0
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
# A message stays far below the receiver's limit of 4 MiB.
BATCH_BYTES = 512 * 1024
BATCH_COUNT = 1000
# A text is cut above this length, which no server allows, so that it cannot break a message.
MAX_TEXT = 16_384

# A gateway that has vanished without a word is noticed within 40 seconds.
OPTIONS = [
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.http2.ping_timeout_ms", 10_000),
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
]

Response = TypeVar("Response")


class Client:
    """A connection to a gateway, for one event loop; an async context manager.

    Calls raise `grpc.aio.AioRpcError`, whose code and details are the server's; UNAVAILABLE only
    after `patience` seconds of trying.

    Args:
        target: HOST:PORT of a gateway.
        name: the name under which jobs are owned without a key; None: by this machine's address.
        key: the API key, whose owner then owns the jobs.
        tls: for a gateway with TLS, from `grpc.ssl_channel_credentials`.
        patience: seconds to go on trying without progress.
    """

    def __init__(
        self,
        target: str,
        *,
        name: str | None = None,
        key: str | None = None,
        tls: grpc.ChannelCredentials | None = None,
        patience: float = 5.0,
    ) -> None:
        if tls is None:
            self._channel = grpc.aio.insecure_channel(target, options=OPTIONS)
        else:
            self._channel = grpc.aio.secure_channel(target, tls, options=OPTIONS)
        given = ((CLIENT_METADATA, name), (KEY_METADATA, key and f"Bearer {key}"))
        self._own_metadata = tuple((name, text) for name, text in given if text is not None)
        self.patience = patience
        """Seconds to go on trying without progress, for the calls to come."""
        self._rules: Any = rules_pb2_grpc.RulesServiceStub(self._channel)
        self._analysis: Any = analysis_pb2_grpc.AnalysisServiceStub(self._channel)
        self._jobs: Any = jobs_pb2_grpc.JobServiceStub(self._channel)
        self._books: Any = books_pb2_grpc.BookServiceStub(self._channel)
        self._health: Any = health_pb2_grpc.HealthStub(self._channel)

    async def __aenter__(self) -> "Client":
        """Return the client; the connection is made by the first call."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection."""
        await self._channel.close()

    @property
    def _metadata(self) -> tuple[tuple[str, str], ...]:
        """Who calls, and the trace that the call belongs to, if there is one."""
        trace: dict[str, str] = {}
        propagate.inject(trace)
        return (*self._own_metadata, *trace.items())

    async def is_serving(self) -> bool:
        """Return whether the gateway says that it serves; asked once, whatever the patience.

        Raises grpc.aio.AioRpcError when there is no answer within 3 seconds.
        """
        request = health_pb2.HealthCheckRequest()
        answer = await self._health.Check(request, timeout=HEALTH_SECONDS)
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    async def list_variants(self) -> list[rules_pb2.Variant]:
        """Return the variants the server knows."""
        request = rules_pb2.ListVariantsRequest()
        response = await self._call(self._rules.ListVariants, request)
        return list(response.variants)

    async def describe_position(
        self, position: position_pb2.Position
    ) -> rules_pb2.DescribePositionResponse:
        """Return what the rules say of a position, or its faults."""
        request = rules_pb2.DescribePositionRequest(position=position)
        answer: rules_pb2.DescribePositionResponse = await self._call(
            self._rules.DescribePosition, request
        )
        return answer

    async def play_moves(
        self, position: position_pb2.Position, moves: Sequence[str]
    ) -> rules_pb2.PlayMovesResponse:
        """Return where moves lead, up to the first illegal one."""
        request = rules_pb2.PlayMovesRequest(position=position, moves=moves)
        answer: rules_pb2.PlayMovesResponse = await self._call(self._rules.PlayMoves, request)
        return answer

    async def analyse(
        self,
        position: position_pb2.Position,
        limits: analysis_pb2.Limits,
        *,
        no_cache: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[analysis_pb2.AnalysisResult]:
        """Yield what is known of a position as it grows; the last is the final result.

        Each is in place of the ones before. Where the service was away the search begins anew.
        Leaving the iteration ends the search: close it (`contextlib.aclosing`) to leave it early.

        Args:
            position: the position.
            limits: when the search stops.
            no_cache: whether to search although there is a cached result.
            timeout: seconds after which the call ends with DEADLINE_EXCEEDED; None: never.
        """
        clock = asyncio.get_running_loop().time
        deadline = None if timeout is None else clock() + timeout
        patience = _Patience(self.patience)
        request = analysis_pb2.AnalyseRequest(position=position, limits=limits, no_cache=no_cache)
        while True:
            left = None if deadline is None else max(deadline - clock(), 0.0)
            call = self._analysis.Analyse(request, metadata=self._metadata, timeout=left)
            try:
                async for response in call:
                    patience.reset()
                    yield response.result
                return
            except grpc.aio.AioRpcError as error:
                await patience.pause_or_raise(error)
            finally:
                call.cancel()

    async def analyse_many(
        self,
        positions: Iterable[Position] | AsyncIterable[Position],
        limits: analysis_pb2.Limits,
        *,
        no_cache: bool = False,
    ) -> AsyncIterator[analysis_pb2.AnalyseManyResult]:
        """Yield the result of each position once, as they are finished.

        Positions are taken as the service takes them, which is as results are taken here: there
        may be any number. Where the service was away, those without a result are sent again.
        Leaving the iteration ends the searches: close it (`contextlib.aclosing`) to leave it early.
        An error of `positions` is raised when those before it have their results.

        Args:
            positions: pairs of the caller's id, which the result carries, and the position.
            limits: when the search of each position stops.
            no_cache: whether to search although there are cached results.
        """
        patience = _Patience(self.patience)
        feed = Feed(positions)
        try:
            while True:
                call = self._analysis.AnalyseMany(
                    feed.requests(limits, no_cache), metadata=self._metadata
                )
                try:
                    async for response in call:
                        patience.reset()
                        for result in response.results:
                            yield feed.settle(result)
                    return
                except grpc.aio.AioRpcError as error:
                    await patience.pause_or_raise(error)
                finally:
                    call.cancel()
        finally:
            await feed.close()

    async def create_job(
        self,
        specification: jobs_pb2.JobSpecification,
        items: Sequence[position_pb2.Position] | Sequence[adjudication_pb2.Game],
        request_id: str | None = None,
    ) -> jobs_pb2.Job:
        """Submit positions, or games, as a job and return it.

        Args:
            specification: what is to be done.
            items: in the order of the indices of their rows.
            request_id: the id that makes a repeated submission the same job; None: a new one.
        """
        header = jobs_pb2.CreateJobRequest(
            request_id=uuid.uuid4().hex if request_id is None else request_id,
            specification=specification,
        )

        async def submit() -> jobs_pb2.CreateJobResponse:
            requests = _requests(header, items)
            # No time limit: the server's own pace decides how long a large submission takes.
            answer: jobs_pb2.CreateJobResponse = await self._jobs.CreateJob(
                requests, metadata=self._metadata
            )
            return answer

        return (await self._retry(submit)).job

    async def get_job(self, name: str) -> jobs_pb2.Job:
        """Return a job as it stands; LOST if its store was emptied."""
        response = await self._call(self._jobs.GetJob, jobs_pb2.GetJobRequest(name=name))
        job: jobs_pb2.Job = response.job
        return job

    async def list_jobs(
        self,
        state: jobs_pb2.JobState.ValueType = jobs_pb2.JOB_STATE_UNSPECIFIED,
        kind: jobs_pb2.JobKind.ValueType = jobs_pb2.JOB_KIND_UNSPECIFIED,
    ) -> AsyncIterator[jobs_pb2.Job]:
        """Yield one's own jobs, the newest first, page by page."""
        token = ""
        while True:
            request = jobs_pb2.ListJobsRequest(page_token=token, state=state, kind=kind)
            response = await self._call(self._jobs.ListJobs, request)
            for job in response.jobs:
                yield job
            token = response.next_page_token
            if not token:
                return

    async def watch_job(self, name: str) -> AsyncIterator[jobs_pb2.Job]:
        """Yield the job as it goes on, until it has ended."""
        patience = _Patience(self.patience)
        while True:
            request = jobs_pb2.WatchJobRequest(name=name)
            call = self._jobs.WatchJob(request, metadata=self._metadata)
            try:
                async for response in call:
                    patience.reset()
                    yield response.job
                return
            except grpc.aio.AioRpcError as error:
                await patience.pause_or_raise(error)
            finally:
                call.cancel()

    async def stream_results(
        self,
        name: str,
        order: jobs_pb2.ResultOrder.ValueType = jobs_pb2.RESULT_ORDER_INPUT,
        *,
        follow: bool = True,
        resume_token: str = "",
    ) -> AsyncIterator[jobs_pb2.ResultRow]:
        """Yield the job's rows, each once.

        Args:
            name: the job's name.
            order: by index, or as they were finished.
            follow: whether to wait for the rows of a running job.
            resume_token: where to go on, from an earlier stream of the same order.
        """
        patience = _Patience(self.patience)
        while True:
            request = jobs_pb2.StreamResultsRequest(
                name=name, order=order, resume_token=resume_token, follow=follow
            )
            call = self._jobs.StreamResults(request, metadata=self._metadata)
            try:
                async for response in call:
                    patience.reset()
                    resume_token = response.resume_token
                    for row in response.rows:
                        yield row
                return
            except grpc.aio.AioRpcError as error:
                await patience.pause_or_raise(error)
            finally:
                call.cancel()

    async def cancel_job(self, name: str) -> jobs_pb2.Job:
        """Cancel a job and return it; a finished one stays as it is."""
        response = await self._call(self._jobs.CancelJob, jobs_pb2.CancelJobRequest(name=name))
        job: jobs_pb2.Job = response.job
        return job

    async def pause_job(self, name: str) -> jobs_pb2.Job:
        """Hold a job back and return it; what workers have begun of it goes on."""
        response = await self._call(self._jobs.PauseJob, jobs_pb2.PauseJobRequest(name=name))
        job: jobs_pb2.Job = response.job
        return job

    async def resume_job(self, name: str) -> jobs_pb2.Job:
        """Let a paused job go on and return it."""
        response = await self._call(self._jobs.ResumeJob, jobs_pb2.ResumeJobRequest(name=name))
        job: jobs_pb2.Job = response.job
        return job

    async def list_books(self) -> list[books_pb2.Book]:
        """Return the gateway's books."""
        response = await self._call(self._books.ListBooks, books_pb2.ListBooksRequest())
        return list(response.books)

    async def probe_book(
        self, name: str, position: position_pb2.Position
    ) -> books_pb2.ProbeBookResponse:
        """Return what a book knows of a position; the book's variant and root if it has none."""
        request = books_pb2.ProbeBookRequest(name=name, position=position)
        answer: books_pb2.ProbeBookResponse = await self._call(self._books.ProbeBook, request)
        return answer

    async def grow_book(
        self, request: books_pb2.GrowBookRequest
    ) -> AsyncIterator[books_pb2.GrowBookResponse]:
        """Grow a book and yield how far it is after each step, until a bound is reached.

        Where the service was away the growth goes on, its bound of time counted from the first
        call. Leaving the iteration ends it: close it (`contextlib.aclosing`) to leave it early.
        """
        clock = asyncio.get_running_loop().time
        seconds = request.time.ToNanoseconds() / 1e9
        deadline = clock() + seconds
        patience = _Patience(self.patience)
        wanted = books_pb2.GrowBookRequest()
        wanted.CopyFrom(request)
        while True:
            call = self._books.GrowBook(wanted, metadata=self._metadata)
            try:
                async for response in call:
                    patience.reset()
                    yield response
                return
            except grpc.aio.AioRpcError as error:
                await patience.pause_or_raise(error)
            finally:
                call.cancel()
            if seconds:
                wanted.time.FromNanoseconds(max(int((deadline - clock()) * 1e9), 1))

    async def export_book(self, name: str, form: books_pb2.BookFormat.ValueType) -> list[str]:
        """Return the lines of a book as text."""

        async def export() -> list[str]:
            request = books_pb2.ExportBookRequest(name=name, format=form)
            call = self._books.ExportBook(request, metadata=self._metadata)
            return [line async for response in call for line in response.lines]

        return await self._retry(export)

    async def import_book(self, name: str, lines: Sequence[str]) -> books_pb2.ImportBookResponse:
        """Add lines of JSON to a book, which is made if it is not there."""

        async def send() -> books_pb2.ImportBookResponse:
            answer: books_pb2.ImportBookResponse = await self._books.ImportBook(
                _import_requests(name, lines), metadata=self._metadata
            )
            return answer

        return await self._retry(send)

    async def _call(self, method: Any, request: Any) -> Any:
        return await self._retry(
            lambda: method(request, metadata=self._metadata, timeout=CALL_SECONDS)
        )

    async def _retry(self, attempt: Callable[[], Awaitable[Response]]) -> Response:
        patience = _Patience(self.patience)
        while True:
            try:
                return await attempt()
            except grpc.aio.AioRpcError as error:
                await patience.pause_or_raise(error)


class _Patience:
    """The pauses between attempts, growing and jittered, until `seconds` have brought nothing."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.reset()

    def reset(self) -> None:
        """Begin anew, after progress."""
        self._pause = FIRST_PAUSE
        self._deadline: float | None = None

    async def pause_or_raise(self, error: grpc.aio.AioRpcError) -> None:
        """Pause before another attempt; raise `error` if none would help or time is up."""
        told = find_retry_delay(error)
        if error.code() is not grpc.StatusCode.UNAVAILABLE and told is None:
            raise error
        now = asyncio.get_running_loop().time()
        if self._deadline is None:  # however long all was well before
            self._deadline = now + self._seconds
        pause = max(told or 0.0, self._pause) * random.uniform(0.5, 1.5)
        if now + pause > self._deadline:
            raise error
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        await asyncio.sleep(pause)


def find_retry_delay(error: grpc.aio.AioRpcError) -> float | None:
    """Return the seconds after which the server asks to try again; None if it does not ask."""
    status = rpc_status.from_call(error)
    for detail in status.details if status is not None else ():
        info = error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            return float(info.retry_delay.seconds + info.retry_delay.nanos / 1e9)
    return None


def parse_line(variant: str, line: str) -> position_pb2.Position:
    """Return the position of a line: a FEN or `startpos`, and maybe ` moves ` and moves.

    Nothing is checked: the server says what is wrong. An overlong text is cut.
    """
    fen, word, moves = line[:MAX_TEXT].strip().partition(" moves")
    if moves and not moves[0].isspace():
        fen, moves = fen + word + moves, ""
    return position_pb2.Position(
        variant=variant, fen="" if fen == "startpos" else fen.rstrip(), moves=moves.split()
    )


async def _requests(
    header: jobs_pb2.CreateJobRequest,
    items: Sequence[position_pb2.Position] | Sequence[adjudication_pb2.Game],
) -> AsyncIterator[jobs_pb2.CreateJobRequest]:
    """Yield the messages of a submission, the positions or games in batches."""
    yield header
    batch = jobs_pb2.CreateJobRequest()
    count = size = 0
    for item in items:
        size += item.ByteSize()
        if count and (count == BATCH_COUNT or size > BATCH_BYTES):
            yield batch
            batch = jobs_pb2.CreateJobRequest()
            count, size = 0, item.ByteSize()
        if isinstance(item, adjudication_pb2.Game):
            batch.games.games.append(item)
        else:
            batch.positions.positions.append(item)
        count += 1
    if count:
        yield batch


async def _import_requests(
    name: str, lines: Iterable[str]
) -> AsyncIterator[books_pb2.ImportBookRequest]:
    """Yield the messages of an import, the lines in batches."""
    yield books_pb2.ImportBookRequest(name=name)
    batch: list[str] = []
    size = 0
    for line in lines:
        batch.append(line[:BATCH_BYTES])
        size += len(batch[-1].encode())
        if size > BATCH_BYTES:
            yield books_pb2.ImportBookRequest(lines=batch)
            batch, size = [], 0
    yield books_pb2.ImportBookRequest(lines=batch)
