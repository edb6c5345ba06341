"""What a deployment is made of, for those who look after it: the server, and the gateways on it."""

from dataclasses import dataclass
from typing import Any

import redis

from worker.settings import Settings
from worker.store import keys, scripts
from worker.store.parse import format_announcement, parse_gateways
from worker.store.types import GatewayInfo


@dataclass(frozen=True, kw_only=True)
class ServerFacts:
    """A server's version, memory, file and clock."""

    version: str
    """Of Redis, or the version of Redis that it is compatible with."""
    policy: str | None
    """What it does when its memory is full; None: it does not tell."""
    used_bytes: int
    limit_bytes: int
    """0: none but the machine's."""
    has_file: bool
    """Whether every write goes to a file."""
    seconds: float
    """Its clock, since the Unix epoch."""


class AsyncDeployment:
    """The deployment as a gateway sees it; `redis.RedisError` when the server is away."""

    def __init__(self, connection: Any, settings: Settings) -> None:
        self._redis = connection
        self._settings = settings
        self._announce = connection.register_script(scripts.source("announce"))

    async def announce(self, gateway: GatewayInfo) -> None:
        """Say that this gateway is there, for the setting `worker_ttl`."""
        ttl = int(self._settings.worker_ttl * 1000)
        await self._announce(args=["gateway", gateway.name, format_announcement(gateway), ttl])

    async def gateways(self) -> list[GatewayInfo]:
        """Return the gateways that gave a sign within the setting `worker_ttl`."""
        names = await self._redis.zrange(keys.GATEWAYS, 0, -1)
        if not names:
            return []
        stored = await self._redis.mget([keys.gateway(name.decode()) for name in names])
        return parse_gateways(stored)

    async def server_facts(self) -> ServerFacts:
        """Return what the server says of itself."""
        info = await self._redis.info("everything")
        seconds, microseconds = await self._redis.time()
        try:
            policy = (await self._redis.config_get("maxmemory-policy"))["maxmemory-policy"]
        except redis.ResponseError:  # a hosted server may hide its configuration
            policy = info.get("maxmemory_policy")
        return ServerFacts(
            version=str(info["redis_version"]),
            policy=policy,
            used_bytes=info["used_memory"],
            limit_bytes=info["maxmemory"],
            has_file=bool(info.get("aof_enabled")),
            seconds=seconds + microseconds / 1e6,
        )
