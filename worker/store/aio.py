"""The gateway's side of the store: submit, look, follow, cancel, sweep. For one event loop."""

import asyncio
import logging
import re
import secrets
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any

import redis
from redis.asyncio import BlockingConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from core.version import ENGINE_VERSION, RULES_VERSION
from worker.settings import Settings
from worker.store import keys, scripts
from worker.store.api_keys import ApiKeys
from worker.store.audits import AsyncAudits
from worker.store.cache import AsyncCache
from worker.store.deployment import AsyncDeployment
from worker.store.parse import (
    check_policy,
    format_new_job,
    parse_job,
    parse_load,
    parse_totals,
    parse_workers,
)
from worker.store.queue import read_queue
from worker.store.rows import read_finished_rows, read_input_rows, read_units
from worker.store.steady import SteadyRedis
from worker.store.types import (
    ClassLoad,
    Committed,
    Job,
    JobClass,
    JobDamagedError,
    JobEvent,
    JobId,
    JobLostError,
    JobNotFoundError,
    JobPage,
    KeyRevokedError,
    NewJob,
    Queue,
    QuotaError,
    RequestConflictError,
    RowKind,
    RowOrder,
    RowPage,
    StagingLostError,
    StoreFullError,
    Swept,
    Totals,
    UnitIndex,
    WorkerInfo,
)

JOB_ID = re.compile(r"(?P<epoch>[0-9a-f]{8})-[0-9a-f]{16}")
CONNECTIONS = 16
"""To the server at most, however many calls there are at once; one of them hears events."""
FULL_SHARE = 0.8
"""Share of the server's memory above which submissions are refused."""
ROW_BYTES = 1024
"""Memory set aside for the row of a unit; one line takes about half of it."""
FILE_PAUSE = 0.002
"""Seconds between looks whether the server has written its file."""
FILE_LOOKS = 1000
"""Such looks at most: for two seconds."""
CANARY_PAUSE = 0.02
"""Seconds between looks for a canary's answer."""
EVENT_WAIT = 1.0
"""Seconds to wait for an event before the connection is checked."""
ATTENDED_MS = 5_000
"""Milliseconds that an attended job lives without a sign of its caller."""

log = logging.getLogger(__name__)


class AsyncStore:
    """The store as a gateway uses it.

    Every call waits at most half the setting `store_timeout` for one of the connections, which are
    few, and `store_timeout` for each answer, and is not tried again;
    when the server is away it raises `redis.RedisError`, and `redis.exceptions.OutOfMemoryError`
    when a submission meets a full server. All calls but `stage` may be repeated.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        pool: Any = BlockingConnectionPool.from_url(
            settings.redis_url,
            max_connections=CONNECTIONS,
            timeout=settings.store_timeout / 2,  # so that two seconds bound the first call
            socket_timeout=settings.store_timeout,
            socket_connect_timeout=settings.store_timeout,
            retry=Retry(NoBackoff(), 0),
        )
        self._redis: Any = SteadyRedis.from_pool(pool)
        self.api_keys = ApiKeys(self._redis)
        self.cache = AsyncCache(self._redis)
        """The results cached for equal requests."""
        self.audits = AsyncAudits(self._redis)
        """The results found again elsewhere."""
        self.deployment = AsyncDeployment(self._redis, settings)
        """What the service runs on."""
        self._commit = self._script("commit")
        self._cancel = self._script("cancel")
        self._pause = self._script("pause")
        self._resume = self._script("resume")
        self._ask = self._script("ask")
        self._attend = self._script("attend")
        self._remove = self._script("remove")
        self._sweep = self._script("sweep")

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()

    async def ping(self) -> None:
        """Return if the server answers."""
        await self._redis.ping()

    async def check(self) -> None:
        """Return if the server is there and keeps what it is given, else raise.

        Raises EvictingPolicyError, or `redis.RedisError`. A server that hides its configuration
        is taken at its word.
        """
        await self._redis.ping()
        try:
            config = await self._redis.config_get("maxmemory*")
        except redis.ResponseError:
            return
        check_policy(config)

    async def epoch(self) -> str:
        """Return the store's epoch, writing it if the store is used for the first time."""
        epoch = await self._redis.get(keys.EPOCH)
        if epoch is None:  # a full server would refuse even to look otherwise
            await self._redis.set(keys.EPOCH, secrets.token_hex(4), nx=True)
            epoch = await self._redis.get(keys.EPOCH)
        return epoch.decode()  # type: ignore[no-any-return]

    async def new_job_id(self) -> JobId:
        """Return an id for a job to be submitted; it stands for nothing until the commit."""
        return JobId(f"{await self.epoch()}-{secrets.token_hex(8)}")

    async def stage(
        self,
        job_id: JobId,
        units: Sequence[bytes],
        rejected: Mapping[UnitIndex, bytes],
        cached: Mapping[UnitIndex, bytes] | None = None,
    ) -> None:
        """Append units to a submission, and the rows of those that need no worker.

        `units` continue those staged before; a unit with a row stands among them too, as its place
        counts. `rejected` and `cached`, the cached results, map indices in the whole submission to
        serialized ResultRows. What is staged is dropped after the setting `staging_ttl`, counted
        from the last call, unless it is committed. Raises StoreFullError if the results of all
        accepted units and of those staged might not find room.
        """
        await self.check_room(job_id, len(units))
        parts = keys.units(job_id), keys.rows(job_id), keys.order(job_id)
        pipe = self._redis.pipeline()
        if units:
            pipe.rpush(parts[0], *units)
        for kind, rows in ((RowKind.REJECTED, rejected), (RowKind.CACHED, cached)):
            if rows:
                tag = kind.value.encode()
                pipe.hset(parts[1], mapping={index: tag + row for index, row in rows.items()})
                pipe.rpush(parts[2], *rows)
        for part in parts:
            pipe.pexpire(part, int(self._settings.staging_ttl * 1000))
        await pipe.execute()

    async def check_room(self, job_id: JobId, units: int) -> None:
        """Raise StoreFullError unless there is room for so many units more and their rows.

        Those staged for the job before are counted, too. Cached results make room.
        """
        if not await self._has_room(job_id, units):
            await self.cache.clear()
            if not await self._has_room(job_id, units):
                raise StoreFullError(job_id)

    async def _has_room(self, job_id: JobId, units: int) -> bool:
        pipe = self._redis.pipeline(transaction=False)
        pipe.info("memory")
        pipe.hgetall(keys.LOAD)
        pipe.llen(keys.units(job_id))
        memory, fields, staged = await pipe.execute()
        open_units = sum(load.open_units for load in parse_load(fields).values())
        needed = memory["used_memory"] + (open_units + staged + units) * ROW_BYTES
        return not 0 < memory["maxmemory"] * FULL_SHARE < needed

    async def discard(self, job_id: JobId) -> None:
        """Drop what is staged for a job that will not be committed."""
        await self._redis.unlink(keys.units(job_id), keys.rows(job_id), keys.order(job_id))

    async def commit(self, job: NewJob) -> Committed:
        """Make a staged job visible and claimable, all of it at once.

        With a request id that names a job of this client with the same digest, that job is the
        answer and what was staged is dropped. A job whose units all have rows has ended at once.
        Raises RequestConflictError, QuotaError, KeyRevokedError, and StagingLostError if not
        exactly `job.total` units are staged.
        """
        request = keys.request(job.client, job.request_id) if job.request_id else ""
        epoch = job.job_id.partition("-")[0]
        answer, *found = await self._commit(
            args=[
                *(job.job_id, epoch, request, job.digest, job.total, job.cached),
                *(job.job_class.value, job.client, job.api_key),
                *format_new_job(job),
            ]
        )
        if answer == b"conflict":
            raise RequestConflictError(job.request_id)
        if answer == b"staging":
            raise StagingLostError(job.job_id)
        _check_charge(answer, found)
        await self._await_file()
        return Committed(JobId(found[0].decode()), answer == b"new")

    async def job(self, job_id: JobId) -> Job:
        """Return a committed job. Raises JobLostError, JobNotFoundError or JobDamagedError."""
        fields = await self._redis.hgetall(keys.job(job_id))
        if not fields:
            raise await self._missing(job_id)
        return parse_job(job_id, fields)

    async def jobs(self, client: str, limit: int, cursor: int | None = None) -> JobPage:
        """Return a client's jobs, the newest first; `cursor` comes from the page before.

        One that cannot be read is passed over.
        """
        newest = "+inf" if cursor is None else f"({cursor}"
        found = await self._redis.zrevrangebyscore(
            keys.client_jobs(client), newest, "-inf", start=0, num=limit, withscores=True
        )
        ids = [JobId(member.decode()) for member, _ in found]
        pipe = self._redis.pipeline(transaction=False)
        for job_id in ids:
            pipe.hgetall(keys.job(job_id))
        records = await pipe.execute()
        jobs = []
        for job_id, fields in zip(ids, records, strict=True):
            if fields:
                try:
                    jobs.append(parse_job(job_id, fields))
                except JobDamagedError:
                    log.warning("job %s cannot be read", job_id)
        return JobPage(
            jobs,
            int(found[-1][1]) if len(found) == limit else None,
        )

    async def rows(self, job_id: JobId, order: RowOrder, offset: int, limit: int) -> RowPage:
        """Return the rows there are from `offset` on, at most `limit`; begin with offset 0.

        By index, the rows stop before the first unit without one; in a cancelled job such units are
        passed over. Of a job that has expired there are none.
        """
        if order is RowOrder.FINISHED:
            return await read_finished_rows(self._redis, job_id, offset, limit)
        return await read_input_rows(self._redis, job_id, offset, limit)

    async def units(self, job_id: JobId, indices: Sequence[UnitIndex]) -> list[bytes]:
        """Return units of a job as they were staged; empty bytes for one that is not there."""
        return await read_units(self._redis, job_id, indices)

    async def cancel(self, job_id: JobId) -> Job:
        """Cancel a job and return it; one that has ended is left as it is.

        Its rows stay; what workers still hand in is refused. Raises JobLostError or
        JobNotFoundError.
        """
        return await self._move(self._cancel, job_id)

    async def pause(self, job_id: JobId) -> Job:
        """Hold a job back and return it; one that is paused or has ended is left as it is.

        What workers have claimed of it goes on and is accepted; nothing more is claimed. Raises
        JobLostError or JobNotFoundError.
        """
        return await self._move(self._pause, job_id)

    async def resume(self, job_id: JobId) -> Job:
        """Let a paused job go on, at its old place, and return it; another is left as it is.

        Raises JobLostError or JobNotFoundError.
        """
        return await self._move(self._resume, job_id)

    async def ask(self, job: NewJob, units: Sequence[bytes], *, is_told: bool) -> bool:
        """Make a job for a caller that attends to it; False: no worker is there.

        It is not listed, and it is swept away once `attend` has not been called for it for
        `ATTENDED_MS`. Its id is any that was not used before; it has no request id. `is_told` asks
        its workers to tell how far they are. There are at most a few hundred units.
        Raises QuotaError or KeyRevokedError.
        """
        head = [job.job_id, ATTENDED_MS, job.job_class.value, job.client, job.api_key, job.total]
        told = ("attended", 1) if is_told else ()
        answer, *found = await self._ask(args=[*head, *units, *told, *format_new_job(job)])
        _check_charge(answer, found)
        return bool(answer == b"new")

    async def attend(self, job_ids: Collection[JobId]) -> set[JobId]:
        """Let attended jobs live for `ATTENDED_MS` more; return those that are not there."""
        missing = await self._attend(args=[ATTENDED_MS, *job_ids])
        return {JobId(job_id.decode()) for job_id in missing}

    async def remove(self, job_id: JobId) -> None:
        """Remove a job in any state, also a staged one; what workers still hand in is refused."""
        await self._remove(args=[job_id])

    async def sweep(self) -> Swept:
        """End the claims past their deadline and forget the jobs past their time to be kept.

        The unfinished units of a lost claim are tried again one by one, preferably on workers that
        have not tried them, or given up after the setting `max_attempts`. To be called every
        `sweep_interval`, by any number of gateways: when nobody did for longer than a lease, the
        server was away, and claims live one lease more. Jobs that were to be attended and are not
        any more are removed.
        """
        lease, interval = self._settings.lease, self._settings.sweep_interval
        gap = max(lease, 3 * interval)
        args = [self._settings.max_attempts, int(lease * 1000), int(gap * 1000)]
        lost, retried, quarantined, removed, more = await self._sweep(args=args)
        return Swept(lost, retried, quarantined, removed, bool(more))

    async def tickets_needed(self) -> int:
        """Return how many tickets to issue, so that every idle slot has one while units wait."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.zcard(keys.CLAIMS)
        pipe.llen(keys.BROKER_PREFIX + keys.TICKET_QUEUE)
        claims, queued = await pipe.execute()
        slots = sum(worker.slots for worker in await self.workers())
        claimable = sum(load.claimable for load in (await self.load()).values())
        return max(0, min(claimable, slots - int(claims)) - int(queued))

    async def queue(self, client: str) -> Queue:
        """Return what waits for workers, as a client sees it."""
        return await read_queue(self._redis, client, await self.workers())

    async def load(self) -> dict[JobClass, ClassLoad]:
        """Return the claimable and claimed units of every class."""
        return parse_load(await self._redis.hgetall(keys.LOAD))

    async def totals(self) -> Totals:
        """Return the exact counts since the store was first used."""
        return parse_totals(await self._redis.hgetall(keys.TOTALS))

    async def workers(self) -> list[WorkerInfo]:
        """Return the worker hosts that gave a sign within the setting `worker_ttl`."""
        names = await self._redis.zrange(keys.WORKERS, 0, -1)
        if not names:
            return []
        return parse_workers(await self._redis.mget([keys.worker(name.decode()) for name in names]))

    async def has_worker(self) -> bool:
        """Return whether a worker host is there that takes the jobs which this process makes."""
        wanted = ENGINE_VERSION, RULES_VERSION
        return any(worker.versions == wanted for worker in await self.workers())

    async def await_canary(self, nonce: str, timeout: float) -> str | None:
        """Wait for the answer to the canary of this nonce; return the worker's name, or None.

        Raises `redis.RedisError` when the server is away.
        """
        deadline = asyncio.get_running_loop().time() + timeout
        while asyncio.get_running_loop().time() < deadline:
            answer = await self._redis.getdel(keys.canary(nonce))
            if answer is not None:
                return answer.decode()  # type: ignore[no-any-return]
            await asyncio.sleep(CANARY_PAUSE)
        return None

    async def events(self) -> AsyncIterator[JobEvent | None]:
        """Yield what happens to jobs, while the server is there: rows, states, progress.

        Yields None once it listens and then about every second without an event, so that the caller
        can look at what it may have missed. Raises `redis.RedisError` when the connection is lost:
        what happens until the next call is not told.
        """
        async with self._redis.pubsub() as pubsub:
            await pubsub.subscribe(keys.EVENTS)
            await pubsub.psubscribe(keys.PROGRESS + "*")
            is_asked = False  # whether the server still listens
            while True:
                message = await pubsub.get_message(timeout=EVENT_WAIT)
                if message is None and is_asked:
                    raise redis.TimeoutError("the server has fallen silent")
                is_asked = message is None
                if is_asked:
                    await pubsub.ping()
                match message and message["type"]:
                    case "message":
                        yield JobEvent(JobId(message["data"].decode()), None)
                    case "pmessage":
                        channel = message["channel"].decode()
                        yield JobEvent(JobId(channel.removeprefix(keys.PROGRESS)), message["data"])
                    case "psubscribe" | None:
                        yield None

    async def _move(self, script: Any, job_id: JobId) -> Job:
        """Run a script that changes a job's state, for good, and return the job."""
        await script(args=[job_id])
        await self._await_file()
        return await self.job(job_id)

    async def _await_file(self) -> None:
        """Return once all that was done before survives the server's death, if it keeps a file.

        A server that waits for its disk answers before it writes, by two seconds at most.
        """
        file = await self._redis.info("persistence")
        end = file.get("aof_current_size", 0) + file.get("aof_buffer_length", 0)
        for _ in range(FILE_LOOKS):  # a file that is being written anew may never get so long
            if file.get("aof_current_size", 0) >= end:
                return
            await asyncio.sleep(FILE_PAUSE)
            file = await self._redis.info("persistence")

    async def _missing(self, job_id: JobId) -> Exception:
        match = JOB_ID.fullmatch(job_id)
        if match and match["epoch"] != await self.epoch():
            return JobLostError(job_id)
        return JobNotFoundError(job_id)

    def _script(self, name: str) -> Any:
        return self._redis.register_script(scripts.source(name))


def _check_charge(answer: bytes, found: Sequence[bytes]) -> None:
    """Raise what the API key of a new job refuses it with, if it does."""
    if answer == b"quota":
        name, allowed, milliseconds = found
        raise QuotaError(name.decode(), int(allowed), int(milliseconds) / 1000)
    if answer == b"revoked":
        raise KeyRevokedError
