"""Results are cached under keys that tell requests apart, within bounds, and whole."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import redis

import worker.cache
from core.limits import Limits
from tests.worker.jobs import staged
from worker.cache import CacheKeys
from worker.settings import Settings
from worker.store import AsyncStore, Finished, Store, StoreFullError, UnitIndex

KEYS = CacheKeys(Limits(nodes=100))
CACHE = ("tw:cache", "tw:cache:expiry", "tw:cache:bytes")


def finished(*numbers: int, size: int = 10) -> list[Finished]:
    """Return results of units with these numbers."""
    return [Finished(UnitIndex(0), b"%d" % n * size, cache_key=key(n)) for n in numbers]


def key(number: int) -> bytes:
    return KEYS.find(b"unit %d" % number)


async def found(gateway: AsyncStore, count: int) -> list[int]:
    """Return the numbers below `count` of which a result is cached."""
    results = await gateway.cache.find([key(n) for n in range(count)])
    return [n for n, result in enumerate(results) if result is not None]


# Keys


def test_keys_differ_by_unit_limits_and_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [
        Limits(nodes=100),
        Limits(nodes=1001),
        Limits(depth=100),
        Limits(mate=3),
        Limits(nodes=100, depth=100),
        Limits(nodes=100, multipv=2),
        Limits(nodes=100, hash_mb=1),
        Limits(nodes=100, searchmoves=("a1a2", "a1a3")),
        Limits(nodes=100, searchmoves=("a1a2 a1a3",)),
    ]
    units = (b"", b"a", b"ab", b"b")
    met = [CacheKeys(each).find(unit) for each in limits for unit in units]
    for name in ("ENGINE_VERSION", "RULES_VERSION"):
        with monkeypatch.context() as changed:
            changed.setattr(worker.cache, name, "1x")
            met += [CacheKeys(each).find(unit) for each in limits for unit in units]
    assert len(set(met)) == len(met)
    assert CacheKeys(Limits(nodes=100)).find(b"a") == met[1]


def test_no_part_of_a_key_can_pass_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    met = set()
    for engine, rules in (("1", "23"), ("12", "3"), ("123", ""), ("", "123")):
        monkeypatch.setattr(worker.cache, "ENGINE_VERSION", engine)
        monkeypatch.setattr(worker.cache, "RULES_VERSION", rules)
        met.add(CacheKeys(Limits(nodes=1)).find(b"a"))
    assert len(met) == 4


@pytest.mark.parametrize(
    "limits", [Limits(movetime=5), Limits(nodes=9, movetime=5), Limits(nodes=9, threads=2)]
)
def test_what_may_have_another_answer_has_no_key(limits: Limits) -> None:
    assert CacheKeys(limits).find(b"a") == b""


# Entries


async def test_a_remembered_result_is_found_until_another_takes_its_place(
    gateway: AsyncStore, store: Store, redis_client: redis.Redis
) -> None:
    store.remember(finished(1, 2))
    assert await gateway.cache.find([key(1), key(3), key(2)]) == [b"1" * 10, None, b"2" * 10]
    store.remember([Finished(UnitIndex(0), b"new", cache_key=key(1))])
    assert await gateway.cache.find([key(1)]) == [b"new"]
    store.remember([Finished(UnitIndex(0), b"row")])  # without a key
    assert redis_client.hlen("tw:cache") == 2
    for name in CACHE:
        assert 0 < redis_client.pttl(name) <= 604_800_000


async def test_the_oldest_make_room(
    settings: Settings, gateway: AsyncStore, redis_client: redis.Redis
) -> None:
    store = Store(replace(settings, cache_mb=1))
    for number in range(30):
        store.remember(finished(number, size=50_000 if number < 10 else 25_000))
        await asyncio.sleep(0.002)  # or they are of the same age
    assert int(redis_client.get("tw:cache:bytes") or 0) <= 1 << 20
    there = await found(gateway, 30)
    assert there == list(range(30 - len(there), 30))
    assert len(there) == redis_client.zcard("tw:cache:expiry") == (1 << 20) // 50_208
    store.remember(finished(99, size=1 << 19))  # fits with the others
    store.remember(finished(98, size=1 << 20))  # fits alone
    assert await gateway.cache.find([key(99)]) == [None]
    assert redis_client.hlen("tw:cache") == 0
    assert int(redis_client.get("tw:cache:bytes") or 0) == 0
    store.close()


async def test_entries_past_their_time_go(
    settings: Settings, gateway: AsyncStore, redis_client: redis.Redis
) -> None:
    store = Store(settings)
    store.remember(finished(1, 2))
    redis_client.zadd("tw:cache:expiry", {key(1): 1})
    store.remember(finished(3))
    assert await found(gateway, 4) == [2, 3]
    for name in CACHE:
        redis_client.pexpire(name, 1)
    await asyncio.sleep(0.01)
    store.remember(finished(5))
    assert await found(gateway, 6) == [5]
    assert int(redis_client.get("tw:cache:bytes") or 0) == 200 + 8 + 10
    store.close()


async def test_without_a_size_nothing_is_cached(
    settings: Settings, redis_client: redis.Redis
) -> None:
    store = Store(replace(settings, cache_mb=0))
    store.remember(finished(1))
    assert not redis_client.exists(*CACHE)
    store.close()


@pytest.mark.parametrize("damage", [b"", b"short", b"\x00" * 8 + b"1" * 10, "cut", "swapped"])
async def test_a_damaged_entry_is_forgotten_and_counted(
    gateway: AsyncStore, store: Store, redis_client: redis.Redis, damage: bytes | str
) -> None:
    store.remember(finished(1, 2))
    if damage == "cut":
        damage = (redis_client.hget("tw:cache", key(1)) or b"")[:-1]  # type: ignore[arg-type,index]
    if damage == "swapped":
        damage = redis_client.hget("tw:cache", key(2)) or b""  # type: ignore[arg-type]
    redis_client.hset("tw:cache", key(1), damage)  # type: ignore[arg-type]
    assert await found(gateway, 3) == [2]
    assert (await gateway.totals()).cache_damaged == 1
    assert await found(gateway, 3) == [2]
    assert (await gateway.totals()).cache_damaged == 1
    assert redis_client.hkeys("tw:cache") == [key(2)]


# Memory


@pytest.fixture
async def tight(redis_client: redis.Redis) -> AsyncIterator[redis.Redis]:
    """A server whose memory a test may bound."""
    yield redis_client
    redis_client.config_set("maxmemory", 0)


async def test_cached_results_leave_memory_to_jobs(
    gateway: AsyncStore, store: Store, tight: redis.Redis
) -> None:
    store.remember(finished(1, size=3 << 20))
    used = tight.info("memory")["used_memory"]
    tight.config_set("maxmemory", int(used / 0.7))
    store.remember(finished(2))
    assert await found(gateway, 3) == [1]
    tight.config_set("maxmemory", int(used / 0.81))
    await staged(gateway, 1)  # finds no room at first
    assert not tight.exists(*CACHE)
    tight.config_set("maxmemory", tight.info("memory")["used_memory"])
    with pytest.raises(StoreFullError):
        await staged(gateway, 1)
