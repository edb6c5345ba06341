"""API keys: who is let in, what each scope allows, whose jobs are seen, and what revoking ends."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import grpc
import grpc.aio
import pytest
import redis
from google.protobuf import descriptor_pool
from grpc_health.v1 import health_pb2, health_pb2_grpc

import gateway.auth
import gateway.server
from gateway.auth import SCOPES
from gateway.client import Client
from gateway.embedded import EmbeddedServer
from gateway.server import SERVICES, Gateway
from tests.gateway.work import START, claim, collect, create, hand_in, refuses, specification
from tilewarp.v1 import analysis_pb2, jobs_pb2, jobs_pb2_grpc, rules_pb2, rules_pb2_grpc
from worker.settings import Settings
from worker.store import AsyncStore, Finished, NewApiKey, Scope, Store

UNAUTHENTICATED = grpc.StatusCode.UNAUTHENTICATED
FORBIDDEN = grpc.StatusCode.PERMISSION_DENIED
NOT_FOUND = grpc.StatusCode.NOT_FOUND
USUAL = frozenset({Scope.SUBMIT, Scope.READ})

MakeKey = Callable[..., Awaitable[str]]


@pytest.fixture
async def locked(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Gateway]:
    """A gateway that needs keys, and looks after them often."""
    monkeypatch.setattr(gateway.server, "NOTICE_SECONDS", 0.0)
    monkeypatch.setattr(gateway.auth, "RENEW_SECONDS", 0.05)
    async with Gateway(replace(settings, access="keys")) as running:
        yield running


@pytest.fixture
async def api_keys(settings: Settings) -> AsyncIterator[Any]:
    """The keys of the store."""
    store = AsyncStore(settings)
    yield store.api_keys
    await store.close()


@pytest.fixture
def make_key(api_keys: Any) -> MakeKey:
    """Make keys; without more, ann's with the usual scopes."""

    async def make(owner: str = "ann", scopes: frozenset[Scope] = USUAL, **quotas: int) -> str:
        text: str = await api_keys.create(NewApiKey(owner=owner, scopes=scopes, **quotas))
        return text

    return make


def test_every_method_has_a_scope() -> None:
    pool = descriptor_pool.Default()
    methods = {
        f"/{name}/{method.name}"
        for name in SERVICES
        for method in pool.FindServiceByName(name).methods
    }
    assert set(SCOPES) == methods


async def test_a_call_without_a_right_key_is_refused(locked: Gateway, make_key: MakeKey) -> None:
    key = await make_key()
    wrong_secret = key[:-1] + ("0" if key[-1] != "0" else "1")
    wrong_id = "tw-" + "0" * 16 + key[19:]
    for given in (None, "", "x", wrong_secret, wrong_id, key + "0", key.upper(), "tw-*-*"):
        async with Client(locked.address, name="ann", key=given) as client:
            with refuses(UNAUTHENTICATED, "KEY" if not given else "no such API key"):
                await client.list_variants()
            with refuses(UNAUTHENTICATED, ""):
                await create(client, 1)
            with refuses(UNAUTHENTICATED, ""):
                await collect(client.watch_job("jobs/x"))
    async with Client(locked.address, key=key) as client:
        assert await client.list_variants()


@pytest.mark.parametrize(
    "metadata",
    [
        [("authorization", "Basic {key}")],
        [("authorization", "{key}")],
        [("authorization", "Bearer {key}"), ("authorization", "Bearer {key}")],
    ],
)
async def test_a_key_in_another_form_is_refused(
    locked: Gateway, make_key: MakeKey, metadata: list[tuple[str, str]]
) -> None:
    key = await make_key()
    async with grpc.aio.insecure_channel(locked.address) as channel:
        stub: Any = rules_pb2_grpc.RulesServiceStub(channel)
        request = rules_pb2.ListVariantsRequest()
        with refuses(UNAUTHENTICATED, "Bearer KEY"):
            await stub.ListVariants(
                request, metadata=[(name, text.format(key=key)) for name, text in metadata]
            )


async def test_a_wrong_key_is_refused_where_none_is_needed(running: Gateway) -> None:
    async with Client(running.address, key="wrong") as client:
        with refuses(UNAUTHENTICATED, "no such API key"):
            await client.list_variants()


async def test_health_needs_no_key(locked: Gateway) -> None:
    async with grpc.aio.insecure_channel(locked.address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        answer = await stub.Check(health_pb2.HealthCheckRequest())
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_scopes_are_kept(locked: Gateway, make_key: MakeKey) -> None:
    submit, read = [
        await make_key(scopes=frozenset({scope})) for scope in (Scope.SUBMIT, Scope.READ)
    ]
    async with (
        Client(locked.address, key=submit) as submitter,
        Client(locked.address, key=read) as reader,
    ):
        job = await create(submitter, 1)
        with refuses(FORBIDDEN, "scope read"):
            await submitter.get_job(job.name)
        with refuses(FORBIDDEN, "scope read"):
            await collect(submitter.stream_results(job.name))
        with refuses(FORBIDDEN, "scope submit"):
            await create(reader, 1)
        with refuses(FORBIDDEN, "scope submit"):
            await collect(reader.analyse(START, analysis_pb2.Limits(nodes=1)))
        with refuses(FORBIDDEN, "scope submit"):
            await reader.cancel_job(job.name)
        assert (await reader.get_job(job.name)).state == jobs_pb2.JOB_STATE_QUEUED
        assert (await submitter.cancel_job(job.name)).state == jobs_pb2.JOB_STATE_CANCELLED


async def test_a_method_without_a_scope_is_the_admins(
    locked: Gateway, make_key: MakeKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(gateway.auth.SCOPES, "/tilewarp.v1.JobService/ListJobs")  # type: ignore[arg-type]
    async with Client(locked.address, key=await make_key()) as client:
        with refuses(FORBIDDEN, "scope admin"):
            await collect(client.list_jobs())
    async with Client(locked.address, key=await make_key(scopes=frozenset(Scope))) as client:
        assert await collect(client.list_jobs()) == []


async def test_jobs_are_the_owners_whatever_name_is_sent(
    locked: Gateway, make_key: MakeKey
) -> None:
    ann, other_of_ann, bob = await make_key(), await make_key(), await make_key("bob")
    async with Client(locked.address, key=ann, name="bob") as client:
        job = await create(client, 1)
    async with Client(locked.address, key=other_of_ann) as client:
        assert [found.name for found in await collect(client.list_jobs())] == [job.name]
    async with Client(locked.address, key=bob, name="ann") as client:
        assert await collect(client.list_jobs()) == []
        for call in (client.get_job, client.cancel_job, client.pause_job, client.resume_job):
            with refuses(NOT_FOUND, job.name):
                await call(job.name)
        for stream in (client.watch_job, client.stream_results):
            with refuses(NOT_FOUND, job.name):
                await collect(stream(job.name))


async def test_a_name_without_a_key_is_not_an_owner(running: Gateway, make_key: MakeKey) -> None:
    async with Client(running.address, key=await make_key()) as client:
        job = await create(client, 1)
    for name in ("ann", "key:ann"):
        async with Client(running.address, name=name) as client:
            with refuses(NOT_FOUND, job.name):
                await client.get_job(job.name)


async def test_an_admin_sees_and_moves_every_job(locked: Gateway, make_key: MakeKey) -> None:
    async with Client(locked.address, key=await make_key()) as client:
        job = await create(client, 1)
    root = await make_key("root", frozenset({Scope.ADMIN}))
    async with Client(locked.address, key=root) as client:
        assert (await client.get_job(job.name)).name == job.name
        assert (await client.pause_job(job.name)).state == jobs_pb2.JOB_STATE_PAUSED
        assert (await client.cancel_job(job.name)).state == jobs_pb2.JOB_STATE_CANCELLED


async def test_a_revoked_key_is_refused_at_once_and_its_jobs_stay(
    locked: Gateway, make_key: MakeKey, api_keys: Any
) -> None:
    first, second = await make_key(), await make_key()
    async with Client(locked.address, key=first) as client:
        job = await create(client, 1)
        assert await api_keys.revoke(first.split("-")[1])
        with refuses(UNAUTHENTICATED, "revoked"):
            await client.get_job(job.name)
    async with Client(locked.address, key=second) as client:
        assert (await client.get_job(job.name)).state == jobs_pb2.JOB_STATE_QUEUED
    assert not await api_keys.revoke(first.split("-")[1])


async def test_revoking_ends_open_streams(
    locked: Gateway, make_key: MakeKey, api_keys: Any, store: Store, server: EmbeddedServer
) -> None:
    lasting, revoked = await make_key(), await make_key()
    async with (
        Client(locked.address, key=lasting) as other,
        Client(locked.address, key=revoked) as client,
    ):
        job = await create(client, 1)
        kept = other.watch_job(job.name)
        await anext(kept)
        watch = client.watch_job(job.name)
        await anext(watch)
        results = asyncio.create_task(collect(client.stream_results(job.name)))
        submission = asyncio.create_task(_submit_for_ever(locked.address, revoked))
        with redis.Redis.from_url(server.url) as connection:
            streams = f"tw:api_key:{revoked.split('-')[1]}:streams"
            await _until(lambda: connection.zcard(streams) == 3)
            await api_keys.revoke(revoked.split("-")[1])
            for stream in (anext(watch), results, submission):
                with refuses(UNAUTHENTICATED, "revoked"):
                    async with asyncio.timeout(5):
                        await stream
            await _until(lambda: not connection.exists(streams))
        hand_in(store, claim(store))
        assert (await collect(kept))[-1].state == jobs_pb2.JOB_STATE_SUCCEEDED


async def _submit_for_ever(address: str, key: str) -> None:
    async def requests() -> AsyncIterator[jobs_pb2.CreateJobRequest]:
        yield jobs_pb2.CreateJobRequest(specification=specification())
        await asyncio.sleep(60)

    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = jobs_pb2_grpc.JobServiceStub(channel)
        await stub.CreateJob(requests(), metadata=[("authorization", f"Bearer {key}")])


async def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def test_revoking_ends_a_stream_that_nobody_reads(
    locked: Gateway, make_key: MakeKey, api_keys: Any, store: Store, server: EmbeddedServer
) -> None:
    key = await make_key()
    async with Client(locked.address, key=key) as client:
        job = await create(client, 300)
    large = jobs_pb2.ResultRow(fen="x" * 10_000).SerializeToString()
    while taken := store.claim("worker"):
        store.hand_in(taken, [Finished(unit.index, large) for unit in taken.units])
    async with grpc.aio.insecure_channel(locked.address) as channel:
        stub: Any = jobs_pb2_grpc.JobServiceStub(channel)
        request = jobs_pb2.StreamResultsRequest(name=job.name, follow=True)
        call = stub.StreamResults(request, metadata=[("authorization", f"Bearer {key}")])
        await call.read()
        await api_keys.revoke(key.split("-")[1])
        with redis.Redis.from_url(server.url) as connection:
            streams = f"tw:api_key:{key.split('-')[1]}:streams"
            await _until(lambda: not connection.exists(streams))
        call.cancel()


async def test_the_store_keeps_no_secret(make_key: MakeKey, server: EmbeddedServer) -> None:
    secret = (await make_key()).split("-")[2].encode()
    with redis.Redis.from_url(server.url) as connection:
        for name in connection.scan_iter():
            assert secret not in name + connection.dump(name)
