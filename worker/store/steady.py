"""A Redis client for tasks that may be cancelled at any moment, such as calls whose client leaves.

A command that was begun runs to its end, whatever happens to its caller. Otherwise a cancellation
costs the connection, and before Python 3.12 `asyncio.wait_for`, by which the client sends, can
swallow it, so that the call goes on.
"""

import asyncio
from typing import Any

import redis.asyncio
from redis.asyncio.client import Pipeline


class SteadyRedis(redis.asyncio.Redis):
    """A client whose commands and pipelines are not ended by a cancellation."""

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """Run a command; a cancelled caller does not wait for it."""
        command: Any = super().execute_command
        return await asyncio.shield(command(*args, **options))

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:
        """Return a pipeline that runs likewise."""
        return SteadyPipeline(
            self.connection_pool, self.response_callbacks, transaction, shard_hint
        )


class SteadyPipeline(Pipeline):
    """Commands that are run together; a cancelled caller does not wait for them."""

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Run them."""
        return await asyncio.shield(super().execute(raise_on_error))
