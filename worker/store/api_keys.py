"""API keys: who holds them, what they allow, and the streams held open under them.

A key's text is `tw-<id>-<secret>`. The store keeps a digest of the secret, which has 256 random
bits, so neither the store nor a copy of it gives a key away.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from worker.store import scripts

TEXT = re.compile(r"tw-(?P<id>[0-9a-f]{16})-(?P<secret>[0-9a-f]{64})")
API_KEYS = "tw:api_keys"
STREAM_MS = 10_000
"""Milliseconds that an open stream counts without being renewed."""


class Scope(StrEnum):
    """What an API key allows."""

    SUBMIT = "submit"
    """To make jobs, and to cancel, pause and resume one's own."""
    READ = "read"
    """To look at one's own jobs and their results."""
    ADMIN = "admin"
    """All of this, with the jobs of every client."""


@dataclass(frozen=True, kw_only=True)
class NewApiKey:
    """An API key to make. Quotas of jobs, positions and nodes are for a day; 0 is none."""

    owner: str
    """The client whose jobs are made and seen with it."""
    scopes: frozenset[Scope]
    max_jobs: int = 0
    max_positions: int = 0
    max_nodes: int = 0
    max_streams: int = 0
    """Streaming calls open at once."""


@dataclass(frozen=True, kw_only=True)
class ApiKey(NewApiKey):
    """An API key, without its secret."""

    key_id: str
    created_ms: int


@dataclass(frozen=True)
class KeyUsage:
    """What was done under an API key since the day began, in UTC, and its streams open now."""

    jobs: int
    positions: int
    nodes: int
    streams: int


class ApiKeys:
    """The API keys of a store, through its connection."""

    def __init__(self, connection: Any) -> None:
        self._redis = connection
        self._open_stream = connection.register_script(scripts.source("open_stream"))
        self._renew_streams = connection.register_script(scripts.source("renew_streams"))
        self._read_usage = connection.register_script(scripts.source("read_usage"))

    async def create(self, wanted: NewApiKey) -> str:
        """Make a key and return its text, which nobody can read again."""
        key_id, secret = secrets.token_hex(8), secrets.token_hex(32)
        seconds, microseconds = await self._redis.time()
        fields: dict[str, str | int] = {
            "digest": _digest(secret),
            "owner": wanted.owner,
            "scopes": " ".join(sorted(wanted.scopes)),
            "created_ms": int(seconds) * 1000 + int(microseconds) // 1000,
            "max_jobs": wanted.max_jobs,
            "max_positions": wanted.max_positions,
            "max_nodes": wanted.max_nodes,
            "max_streams": wanted.max_streams,
        }
        pipe = self._redis.pipeline(transaction=True)
        pipe.hset(_key(key_id), mapping=fields)
        pipe.zadd(API_KEYS, {key_id: fields["created_ms"]})
        await pipe.execute()
        return f"tw-{key_id}-{secret}"

    async def find(self, text: str) -> ApiKey | None:
        """Return the key of this text; None if there is none, or it was revoked."""
        match = TEXT.fullmatch(text)
        if match is None:
            return None
        fields = await self._redis.hgetall(_key(match["id"]))
        if not fields or not hmac.compare_digest(
            fields[b"digest"].decode(), _digest(match["secret"])
        ):
            return None
        return _parse(match["id"], fields)

    async def list_keys(self) -> list[ApiKey]:
        """Return all keys, the oldest first."""
        ids = [member.decode() for member in await self._redis.zrange(API_KEYS, 0, -1)]
        pipe = self._redis.pipeline(transaction=False)
        for key_id in ids:
            pipe.hgetall(_key(key_id))
        found = zip(ids, await pipe.execute(), strict=True)
        return [_parse(key_id, fields) for key_id, fields in found if fields]

    async def usage(self, key_id: str) -> KeyUsage:
        """Return what was done under a key today."""
        jobs, positions, nodes, streams = await self._read_usage(args=[key_id])
        return KeyUsage(int(jobs), int(positions), int(nodes), int(streams))

    async def revoke(self, key_id: str) -> bool:
        """Let a key be worth nothing from now on; False if there is none of this id."""
        pipe = self._redis.pipeline(transaction=True)
        pipe.delete(_key(key_id))
        pipe.zrem(API_KEYS, key_id)
        removed, _ = await pipe.execute()
        return bool(removed)

    async def open_stream(self, key: ApiKey, stream: str) -> bool:
        """Count a stream, by an id of its own, as open; False if the key allows no more."""
        return bool(await self._open_stream(args=[key.key_id, stream, STREAM_MS]))

    async def renew_streams(self, streams: Sequence[tuple[str, str]]) -> list[bool]:
        """Let streams, each by its key's id and its own, count for longer.

        Returns for each whether its key is still worth something.
        """
        parts = [part for pair in streams for part in pair]
        return [bool(answer) for answer in await self._renew_streams(args=[STREAM_MS, *parts])]

    async def close_stream(self, key: ApiKey, stream: str) -> None:
        """Count a stream as open no more."""
        await self._redis.zrem(f"{_key(key.key_id)}:streams", stream)


def parse_scopes(names: Iterable[str]) -> frozenset[Scope]:
    """Return scopes by their names; admin holds the others."""
    scopes = frozenset(map(Scope, names))
    return frozenset(Scope) if Scope.ADMIN in scopes else scopes


def _key(key_id: str) -> str:
    return f"tw:api_key:{key_id}"


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _parse(key_id: str, fields: Mapping[bytes, bytes]) -> ApiKey:
    text = {name.decode(): value.decode() for name, value in fields.items()}
    return ApiKey(
        key_id=key_id,
        owner=text["owner"],
        scopes=parse_scopes(text["scopes"].split()),
        created_ms=int(text["created_ms"]),
        max_jobs=int(text["max_jobs"]),
        max_positions=int(text["max_positions"]),
        max_nodes=int(text["max_nodes"]),
        max_streams=int(text["max_streams"]),
    )
