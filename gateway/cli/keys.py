"""`tilewarp keys`: the API keys of a service, in its store."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import click
import redis

from gateway.callers import is_printable_ascii
from gateway.cli.errors import ServiceAway, WrongInput
from gateway.cli.options import json_option
from gateway.cli.rows import dump
from gateway.cli.stack import read_settings, redis_option
from worker.settings import Settings
from worker.store import ApiKey, AsyncStore, KeyUsage, NewApiKey, Scope
from worker.store.api_keys import ApiKeys, parse_scopes

QUOTAS = ("jobs", "positions", "nodes", "streams")
DEFAULT_SCOPES = (Scope.SUBMIT.value, Scope.READ.value)

Answer = TypeVar("Answer")


@click.group()
def keys() -> None:
    """Create, list and revoke API keys, in the store that gateways use."""


@keys.command()
@click.argument("owner")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice([scope.value for scope in Scope]),
    multiple=True,
    default=DEFAULT_SCOPES,
    show_default=True,
    help="What it allows; may be given more than once. admin allows all, with everybody's jobs.",
)
@click.option("--jobs", "max_jobs", type=click.IntRange(1), metavar="N", help="Jobs a day.")
@click.option(
    "--positions", "max_positions", type=click.IntRange(1), metavar="N", help="Positions a day."
)
@click.option(
    "--nodes",
    "max_nodes",
    type=click.IntRange(1, 2**53),
    metavar="N",
    help="Nodes a day; once they are searched, no more jobs are accepted.",
)
@click.option(
    "--streams", "max_streams", type=click.IntRange(1), metavar="N", help="Streams open at once."
)
@redis_option
def create(
    owner: str, scopes: tuple[str, ...], redis_url: str | None, **quotas: int | None
) -> None:
    """Make a key for OWNER, whose jobs are made and seen with it, and print it.

    It is shown this once: the store keeps only a digest of it. Keys of one owner share their jobs,
    not their quotas.
    """
    settings = read_settings(redis_url=redis_url)
    if not 0 < len(owner) <= settings.max_client_length or not is_printable_ascii(owner):
        raise WrongInput(
            f"OWNER is not 1 to {settings.max_client_length} printable ASCII characters"
        )
    given = {name: most for name, most in quotas.items() if most is not None}
    wanted = NewApiKey(owner=owner, scopes=parse_scopes(scopes), **given)
    click.echo(_ask(settings, lambda api_keys: api_keys.create(wanted)))


@keys.command("list")
@redis_option
@json_option
def list_keys(redis_url: str | None, as_json: bool) -> None:
    """List the keys by their ids, without their secrets, and what was done under each today."""

    async def work(api_keys: ApiKeys) -> list[tuple[ApiKey, KeyUsage]]:
        return [(key, await api_keys.usage(key.key_id)) for key in await api_keys.list_keys()]

    for key, usage in _ask(read_settings(redis_url=redis_url), work):
        shown = _key_object(key, usage)
        if as_json:
            click.echo(dump(shown))
        else:
            quotas = "  ".join(f"{name} {_quota_text(shown[name])}" for name in QUOTAS)
            scopes = ",".join(shown["scopes"])
            click.echo(f"{key.key_id}  {shown['created']}  {key.owner}  {scopes}  {quotas}")


@keys.command()
@click.argument("key_id", metavar="ID")
@redis_option
def revoke(key_id: str, redis_url: str | None) -> None:
    """Let the key of this ID be worth nothing any more.

    Calls with it are refused at once, and its open streams end within seconds. The jobs made with
    it stay.
    """
    settings = read_settings(redis_url=redis_url)
    if not _ask(settings, lambda api_keys: api_keys.revoke(key_id)):
        raise WrongInput(f"there is no key {key_id}")


def _ask(settings: Settings, work: Callable[[ApiKeys], Awaitable[Answer]]) -> Answer:
    async def run() -> Answer:
        store = AsyncStore(settings)
        try:
            return await work(store.api_keys)
        finally:
            await store.close()

    try:
        return asyncio.run(run())
    except redis.RedisError as error:
        raise ServiceAway(f"the store cannot be asked: {error}") from error


def _key_object(key: ApiKey, usage: KeyUsage) -> dict[str, Any]:
    created = datetime.fromtimestamp(key.created_ms // 1000, UTC)
    quotas = {
        name: {"used": getattr(usage, name), "quota": getattr(key, f"max_{name}") or None}
        for name in QUOTAS
    }
    return {
        "id": key.key_id,
        "owner": key.owner,
        "scopes": sorted(key.scopes),
        "created": created.isoformat().replace("+00:00", "Z"),
        **quotas,
    }


def _quota_text(quota: dict[str, int | None]) -> str:
    return f"{quota['used']}/{quota['quota'] or '-'}"
