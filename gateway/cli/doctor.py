"""`tilewarp doctor`: what is well with a deployment, what is not, and what to do about it."""

import asyncio
import secrets
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import asdict

import click
import grpc
import grpc.aio
import redis
from kombu.exceptions import OperationalError

from gateway import doctor as checks
from gateway.cli.credentials import credential_options, find_credentials
from gateway.cli.errors import JobNotDone, ServiceAway
from gateway.cli.options import json_option
from gateway.cli.remote import EXIT_ERRORS
from gateway.cli.rows import dump
from gateway.cli.stack import read_settings
from gateway.client import DEFAULT_GATEWAY, Client
from gateway.doctor import Finding, Health
from tilewarp.v1 import analysis_pb2, position_pb2
from worker.app import make_app, publish_canary
from worker.settings import Settings
from worker.store import AsyncStore

CANARY_SECONDS = 15.0
CANARY_NODES = 1000


@click.command()
@click.option(
    "--redis", "redis_url", envvar="TILEWARP_REDIS_URL", metavar="URL", help="The store to check."
)
@click.option(
    "--gateway",
    "target",
    envvar="TILEWARP_GATEWAY",
    metavar="HOST:PORT",
    help=f"The gateway to check; {DEFAULT_GATEWAY} if no store is named either.",
)
@credential_options
@json_option
def doctor(redis_url: str | None, target: str | None, as_json: bool) -> None:
    """Check a deployment: one line for each thing, and what to do about it.

    With --redis: the store, the gateways and workers that use it, a message through the queue, and
    results found again that were not the same. With --gateway: that it serves, and a position
    searched through it. Exit code 1 if something is wrong, 3 if the store or the gateway cannot be
    reached.
    """
    if redis_url is None and target is None:
        target = DEFAULT_GATEWAY
    settings = read_settings(redis_url=redis_url)

    async def run() -> set[Health]:
        healths = set()
        async for finding in _look(settings if redis_url else None, target):
            click.echo(dump(asdict(finding)) if as_json else _text(finding))
            healths.add(finding.health)
        return healths

    if Health.WRONG in asyncio.run(run()):
        sys.exit(JobNotDone.exit_code)


async def _look(settings: Settings | None, target: str | None) -> AsyncIterator[Finding]:
    from core.jit import CACHE_DIRECTORY  # finding it takes a moment

    if settings is not None:
        async for finding in _look_at_store(settings):
            yield finding
    if target is not None:
        async for finding in _look_at_gateway(target):
            yield finding
    yield checks.check_compile_cache(CACHE_DIRECTORY)


async def _look_at_store(settings: Settings) -> AsyncIterator[Finding]:
    store = AsyncStore(settings)
    try:
        facts = await store.deployment.server_facts()
        yield checks.check_version(facts)
        yield checks.check_policy(facts)
        yield checks.check_memory(facts)
        yield checks.check_file(facts)
        yield checks.check_clock(facts, time.time())
        gateways, workers = await store.deployment.gateways(), await store.workers()
        yield checks.check_gateways(gateways)
        yield checks.check_workers(workers)
        yield checks.check_versions([*gateways, *workers])
        began, nonce = time.monotonic(), secrets.token_hex(8)
        await asyncio.to_thread(publish_canary, make_app(settings), nonce)
        worker = await store.await_canary(nonce, CANARY_SECONDS)
        yield checks.check_canary(worker, time.monotonic() - began)
        totals, disagreements = await store.totals(), await store.audits.disagreements()
        for finding in checks.check_audits(totals, disagreements):
            yield finding
    except (redis.RedisError, OperationalError) as error:
        raise ServiceAway(f"the store cannot be reached: {error}") from error
    finally:
        await store.close()


async def _look_at_gateway(target: str) -> AsyncIterator[Finding]:
    limits = analysis_pb2.Limits(nodes=CANARY_NODES)
    began = time.monotonic()
    key, tls = find_credentials()
    async with Client(target, key=key, tls=tls, patience=0.0) as client:
        try:
            await client.list_variants()
        except grpc.aio.AioRpcError as error:
            raise EXIT_ERRORS.get(error.code(), JobNotDone)(
                f"the gateway at {target} cannot be reached: {error.details()}"
            ) from error
        yield Finding("gateway", Health.OK, f"{target} answers")
        results = client.analyse(
            position_pb2.Position(variant="chakra"), limits, no_cache=True, timeout=CANARY_SECONDS
        )
        try:
            async for result in results:
                last = result
        except grpc.aio.AioRpcError as error:
            yield checks.check_search(None, f"{error.code().name}: {error.details()}")
            return
        yield checks.check_search(last.provenance, f"{time.monotonic() - began:.2f} s")


def _text(finding: Finding) -> str:
    text = f"{finding.health:<8} {finding.check:<14} {finding.seen}"
    return f"{text}\n{'':<8} {'':<14} to do: {finding.advice}" if finding.advice else text
