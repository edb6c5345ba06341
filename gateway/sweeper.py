"""Keeps work moving: ends lost claims, judges audits, issues the tickets that idle workers need."""

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress

import redis
from kombu.exceptions import OperationalError

from core.version import ENGINE_VERSION, RULES_VERSION
from gateway.audits import judge_audits
from worker.store import AsyncStore, GatewayInfo

logger = logging.getLogger(__name__)


class Sweeper:
    """Sweeps the store at an interval, and issues tickets then and when work is announced.

    Any number of gateways may sweep the same store; each says thereby that it is there.

    Args:
        issue_tickets: publishes so many tickets; it may block, so it is called in a thread.
        interval: seconds between sweeps.
    """

    def __init__(
        self, store: AsyncStore, issue_tickets: Callable[[int], None], interval: float
    ) -> None:
        self._store = store
        self._issue_tickets = issue_tickets
        self._interval = interval
        name = f"{socket.gethostname()}:{os.getpid()}"
        self._gateway = GatewayInfo(name, ENGINE_VERSION, RULES_VERSION)
        self._announced = asyncio.Event()

    def announce(self) -> None:
        """Say that there is new work; returns at once."""
        self._announced.set()

    async def issue_now(self) -> None:
        """Issue a ticket for work that somebody waits for, needed or not; one too many is harmless.

        A broker that is away is left to the sweeps.
        """
        try:
            await asyncio.to_thread(self._issue_tickets, 1)
        except (redis.RedisError, OperationalError) as error:
            logger.warning("a ticket cannot be issued: %s", error)

    async def run(self) -> None:
        """Sweep until cancelled; a store or broker that is away is tried again."""
        while True:
            try:
                while (await self._store.sweep()).is_cut_short:
                    pass
                await judge_audits(self._store)
                await self._store.deployment.announce(self._gateway)
                await self._issue()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._interval):
                        while True:
                            await self._announced.wait()
                            await self._issue()
            except (redis.RedisError, OperationalError) as error:
                logger.warning("the store cannot be swept: %s", error)
                await asyncio.sleep(self._interval)

    async def _issue(self) -> None:
        self._announced.clear()
        needed = await self._store.tickets_needed()
        if needed:
            await asyncio.to_thread(self._issue_tickets, needed)
