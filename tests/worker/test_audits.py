"""Audits run on another worker host, count apart, and leave nothing but their verdict."""

import pytest
import redis

from core.version import ENGINE_VERSION, RULES_VERSION
from tests.worker.jobs import finish, submit
from worker.store import (
    AsyncStore,
    Claim,
    Disagreement,
    Finished,
    JobClass,
    Store,
    Verdict,
    WorkerInfo,
    audits,
)


@pytest.fixture
def hosts(store: Store) -> None:
    """Two worker hosts are there, a and b."""
    for name in ("a", "b"):
        announce(store, name)


def announce(store: Store, name: str) -> WorkerInfo:
    info = WorkerInfo(name, "host", 1, 1, ENGINE_VERSION, RULES_VERSION)
    store.announce(info)
    return info


async def search(gateway: AsyncStore, store: Store) -> tuple[Claim, Finished]:
    """Let a search a unit; return its claim and its result, handed in."""
    await submit(gateway, 1)
    claim = store.claim("a")
    assert claim is not None
    (finished,) = finish(claim, nodes=10)
    finished = Finished(finished.index, b"row", 10, 0.001, cache_key=b"key")
    store.hand_in(claim, [finished])
    return claim, finished


async def request(gateway: AsyncStore, store: Store) -> None:
    store.request_audit(*await search(gateway, store))


def answer(store: Store, payload: bytes = b"row") -> None:
    """Let b find the result again."""
    claim = store.claim("b")
    assert claim is not None
    assert claim.is_audit
    (unit,) = claim.units
    store.hand_in(claim, [Finished(unit.index, payload, 10, 0.001)])


async def verdicts(gateway: AsyncStore) -> dict[Verdict, int]:
    return {v: n for v, n in (await gateway.totals()).audits.items() if n}


async def test_another_host_finds_a_result_again(
    gateway: AsyncStore, store: Store, hosts: None, redis_client: redis.Redis
) -> None:
    claim, finished = await search(gateway, store)
    keys = set(redis_client.keys("tw:job:*"))
    before = await gateway.totals()
    store.request_audit(claim, finished)
    assert store.claim("a") is None
    again = store.claim("b")
    assert again is not None
    assert not claim.is_audit
    assert again.is_audit
    assert (again.kind, again.spec, again.units[0].unit) == (
        claim.kind,
        claim.spec,
        claim.units[0].unit,
    )
    store.hand_in(again, finish(again))
    (audit,) = await gateway.audits.answered()
    assert (audit.first, audit.second, audit.cache_key) == (b"row", b"row of unit 0", b"key")
    assert await gateway.audits.judge(audit, Verdict.AGREED)
    assert not await gateway.audits.judge(audit, Verdict.AGREED)
    assert await gateway.audits.answered() == []
    after = await gateway.totals()
    assert after.audits.pop(Verdict.AGREED) == 1  # type: ignore[attr-defined]
    before.audits.pop(Verdict.AGREED)  # type: ignore[attr-defined]
    assert after == before
    assert set(redis_client.keys("tw:job:*")) == keys
    assert redis_client.zcard("tw:attended") == 0
    assert (await gateway.jobs("audits", 10)).jobs == []


async def test_it_waits_behind_the_work_of_clients(
    gateway: AsyncStore, store: Store, hosts: None
) -> None:
    await request(gateway, store)
    await submit(gateway, 1, job_class=JobClass.BULK)
    first, second = store.claim("b"), store.claim("b")
    assert first is not None
    assert second is not None
    assert (first.is_audit, second.is_audit) == (False, True)


async def test_a_disagreement_is_kept_and_no_longer_cached(
    gateway: AsyncStore, store: Store, hosts: None, redis_client: redis.Redis
) -> None:
    for number in range(3):
        claim, finished = await search(gateway, store)
        store.remember([finished])
        store.request_audit(claim, finished)
        answer(store, b"other %d" % number)
        (audit,) = await gateway.audits.answered()
        assert await gateway.cache.find([b"key"]) == [b"row"]
        await gateway.audits.judge(audit, Verdict.DIFFERED)
        assert await gateway.cache.find([b"key"]) == [None]
    kept = await gateway.audits.disagreements()
    assert [(each.first, each.second) for each in kept] == [
        (b"row", b"other 2"),
        (b"row", b"other 1"),
        (b"row", b"other 0"),
    ]
    assert isinstance(kept[0], Disagreement)
    assert await verdicts(gateway) == {Verdict.DIFFERED: 3}
    assert redis_client.pttl("tw:disagreements") > 0


async def test_disagreements_are_bounded(
    gateway: AsyncStore, store: Store, hosts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audits, "MAX_DISAGREEMENTS", 2)
    for number in range(3):
        await request(gateway, store)
        answer(store, b"other %d" % number)
        await gateway.audits.judge((await gateway.audits.answered())[0], Verdict.DIFFERED)
    kept = await gateway.audits.disagreements()
    assert [each.second for each in kept] == [b"other 2", b"other 1"]


@pytest.mark.parametrize("there", [[], ["a"]])
async def test_without_another_host_it_is_not_checked(
    gateway: AsyncStore, store: Store, there: list[str]
) -> None:
    for name in there:
        announce(store, name)
    await request(gateway, store)
    assert await verdicts(gateway) == {Verdict.UNCHECKED: 1}
    assert store.claim("b") is None


async def test_it_waits_for_another_host_no_longer_than_its_time(
    gateway: AsyncStore, store: Store, hosts: None, redis_client: redis.Redis
) -> None:
    await request(gateway, store)
    store.withdraw(announce(store, "b"))
    assert store.claim("a") is None
    assert (await gateway.sweep()).removed_jobs == 0
    pass_time(redis_client)
    assert (await gateway.sweep()).removed_jobs == 1
    assert await verdicts(gateway) == {Verdict.UNCHECKED: 1}
    assert store.claim("b") is None
    assert await gateway.audits.answered() == []


async def test_its_time_does_not_pass_while_it_runs(
    gateway: AsyncStore, store: Store, hosts: None, redis_client: redis.Redis
) -> None:
    await request(gateway, store)
    claim = store.claim("b")
    assert claim is not None
    pass_time(redis_client)
    await gateway.sweep()
    assert store.hand_in(claim, finish(claim)).accepted == 1
    assert len(await gateway.audits.answered()) == 1


async def test_no_more_wait_than_may(
    gateway: AsyncStore, store: Store, hosts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audits, "MAX_WAITING", 2)
    for _ in range(3):
        await request(gateway, store)
    assert await verdicts(gateway) == {Verdict.UNCHECKED: 1}


async def test_one_that_is_given_up_has_no_second_result(
    gateway: AsyncStore, store: Store, hosts: None, redis_client: redis.Redis
) -> None:
    await request(gateway, store)
    for _ in range(3):
        claim = store.claim("b")
        assert claim is not None
        assert store.claim("a") is None
        store.abandon(claim, "hung")
        redis_client.zadd(f"tw:job:{claim.job_id}:retry", {"0": 1}, xx=True)
    (audit,) = await gateway.audits.answered()
    assert audit.second is None
    totals = await gateway.totals()
    assert (totals.quarantined, totals.attempts, totals.lost_claims) == (0, 1, 0)


def pass_time(connection: redis.Redis) -> None:
    """Let the time of every audit pass."""
    for member in connection.zrange("tw:attended", 0, -1):  # type: ignore[union-attr]
        connection.zadd("tw:attended", {member: 1})
