"""What each script of the store promises, on a real server."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise

import pytest
import redis

from core.version import ENGINE_VERSION, RULES_VERSION
from tests.integration.proxy import Proxy
from tests.worker.jobs import ask, finish, indices, staged, submit
from tests.worker.server import Server
from worker.settings import Settings
from worker.store import (
    AsyncStore,
    ClaimState,
    ClassLoad,
    EvictingPolicyError,
    Finished,
    JobClass,
    JobEvent,
    JobId,
    JobLostError,
    JobNotFoundError,
    JobState,
    RequestConflictError,
    RowKind,
    RowOrder,
    StagingLostError,
    Store,
    StoreFullError,
    Swept,
    UnitIndex,
    WorkerInfo,
)
from worker.store.queue import MAX_JOBS


async def outwait(gateway: AsyncStore, settings: Settings) -> Swept:
    """Sweep as a gateway does until what was claimed before is lost."""
    async with asyncio.timeout(30):
        while True:
            swept = await gateway.sweep()
            if swept.lost_claims:
                return swept
            await asyncio.sleep(settings.lease / 4)


def run_claim(store: Store, worker: str = "w", *, seconds: float) -> JobId:
    """Claim work, which must be there, and hand it in, so many seconds a unit; return its job."""
    claim = store.claim(worker)
    assert claim is not None
    store.hand_in(claim, finish(claim, seconds=seconds))
    return claim.job_id


# Submission


async def test_a_committed_job_shows_what_was_submitted(gateway: AsyncStore):
    job_id = await submit(gateway, 3, labels={"a": "é"}, request_id="r", client="x y")
    job = await gateway.job(job_id)
    assert (job.state, job.total, job.claimable, job.done) == (JobState.QUEUED, 3, 3, 0)
    assert (job.spec, job.client, job.labels) == (b"\x00spec\xff", "x y", {"a": "é"})
    assert (job.engine_version, job.rules_version, job.request_id) == (
        ENGINE_VERSION,
        RULES_VERSION,
        "r",
    )
    assert abs(job.created_ms / 1000 - time.time()) < 5
    assert (job.started_ms, job.ended_ms, job.expires_ms) == (None, None, None)


async def test_a_staged_job_is_not_visible_and_expires(
    gateway: AsyncStore, store: Store, redis_client: redis.Redis
):
    job = await staged(gateway, 2, rejected={1: b"no"})
    with pytest.raises(JobNotFoundError):
        await gateway.job(job.job_id)
    assert store.claim("w") is None
    for key in redis_client.keys("tw:job:*"):
        assert 0 < redis_client.pttl(key) <= 600_000


async def test_what_was_staged_can_be_discarded(gateway: AsyncStore, redis_client: redis.Redis):
    job = await staged(gateway, 2, rejected={1: b"no"})
    await gateway.discard(job.job_id)
    assert redis_client.keys("tw:job:*") == []
    with pytest.raises(StagingLostError):
        await gateway.commit(job)


async def test_batches_are_one_submission(gateway: AsyncStore):
    job = await staged(gateway, 2, rejected={0: b"a"})
    await gateway.stage(job.job_id, [b"unit 2"], {UnitIndex(2): b"c"})
    await gateway.commit(replace(job, total=3))
    page = await gateway.rows(job.job_id, RowOrder.FINISHED, 0, 10)
    assert [(row.index, row.kind, row.payload) for row in page.rows] == [
        (0, RowKind.REJECTED, b"a"),
        (2, RowKind.REJECTED, b"c"),
    ]
    assert await gateway.units(job.job_id, [UnitIndex(2), UnitIndex(9)]) == [b"unit 2", b""]


async def test_the_same_request_gives_the_same_job(gateway: AsyncStore, redis_client: redis.Redis):
    first = await submit(gateway, 2, request_id="r", digest="d")
    again = await gateway.commit(await staged(gateway, 2, request_id="r", digest="d"))
    assert (again.job_id, again.is_new) == (first, False)
    with pytest.raises(RequestConflictError):
        await submit(gateway, 2, request_id="r", digest="other")
    assert await submit(gateway, 2, request_id="r", digest="d", client="bob") != first
    assert len(redis_client.keys("tw:job:*:units")) == 2


async def test_fifty_simultaneous_submissions_of_a_request_are_one_job(gateway: AsyncStore):
    jobs = await asyncio.gather(
        *(submit(gateway, 2, request_id="r", digest="d") for _ in range(50))
    )
    assert len(set(jobs)) == 1
    assert (await gateway.load())[JobClass.BULK] == ClassLoad(claimable=2, claimed=0)


async def test_a_commit_may_be_repeated(gateway: AsyncStore, store: Store):
    job = await staged(gateway, 1)
    assert (await gateway.commit(job)).is_new
    claim = store.claim("w")
    assert not (await gateway.commit(job)).is_new
    assert claim is not None
    assert store.hand_in(claim, finish(claim)).accepted == 1
    assert (await gateway.job(job.job_id)).state is JobState.SUCCEEDED


@pytest.mark.parametrize("units", [0, 2])
async def test_a_job_with_nothing_to_do_has_ended_at_once(gateway: AsyncStore, units: int):
    job_id = await submit(gateway, units, rejected=dict.fromkeys(range(units), b"bad"))
    job = await gateway.job(job_id)
    assert (job.state, job.rejected, job.claimable) == (JobState.SUCCEEDED, units, 0)
    assert job.ended_ms is not None
    assert (await gateway.totals()).jobs == {
        ("analysis", JobState.QUEUED): 0,
        ("analysis", JobState.SUCCEEDED): 1,
    }


async def test_rejected_units_are_never_claimed(gateway: AsyncStore, store: Store):
    job_id = await submit(gateway, 5, rejected={0: b"a", 1: b"b", 3: b"d"})
    claimed = []
    while claim := store.claim("w"):
        claimed += indices(claim)
        store.hand_in(claim, finish(claim))
    assert claimed == [2, 4]
    page = await gateway.rows(job_id, RowOrder.INPUT, 0, 10)
    assert [row.kind for row in page.rows] == ["J", "J", "R", "J", "R"]


async def test_a_name_of_another_epoch_is_lost_and_an_unknown_one_not_found(
    gateway: AsyncStore, redis_client: redis.Redis
):
    job_id = await submit(gateway, 1)
    unknown = await gateway.new_job_id()
    job = await staged(gateway, 1)
    for name in (unknown, JobId("nonsense"), JobId("")):
        with pytest.raises(JobNotFoundError):
            await gateway.job(name)
    redis_client.flushall()
    with pytest.raises(JobLostError):
        await gateway.job(job_id)
    with pytest.raises(JobLostError):
        await gateway.cancel(job_id)
    with pytest.raises(StagingLostError):
        await gateway.commit(job)


async def test_jobs_are_listed_by_client_newest_first(gateway: AsyncStore):
    mine = [await submit(gateway, 1) for _ in range(5)]
    await submit(gateway, 1, client="bob")
    first = await gateway.jobs("ann", 3)
    assert [job.job_id for job in first.jobs] == mine[:1:-1]
    second = await gateway.jobs("ann", 3, first.cursor)
    assert [job.job_id for job in second.jobs] == mine[1::-1]
    assert second.cursor is None
    assert (await gateway.jobs("nobody", 3)).jobs == []


# Claims


async def test_claims_are_single_until_a_mean_is_known_then_about_the_time_wanted(
    gateway: AsyncStore, store: Store
):
    await submit(gateway, 10_000)
    first = store.claim("w")
    assert first is not None
    assert indices(first) == [0]
    store.hand_in(first, finish(first, seconds=0.01))
    second = store.claim("w")
    assert second is not None
    assert indices(second) == list(range(1, 101))
    assert [unit.unit for unit in second.units][:2] == [b"unit 1", b"unit 2"]
    assert (second.token > first.token, second.spec) == (True, b"\x00spec\xff")
    store.hand_in(second, finish(second, seconds=0.0))
    assert len(indices(store.claim("w"))) == 256


async def test_the_last_units_are_shared(gateway: AsyncStore, store: Store):
    await submit(gateway, 41)
    claim = store.claim("w")
    assert claim is not None
    store.hand_in(claim, finish(claim, seconds=0.0001))
    assert [len(indices(store.claim("w"))) for _ in range(4)] == [20, 5, 3, 2]


async def test_the_most_urgent_class_comes_first(gateway: AsyncStore, store: Store):
    names = {
        await submit(gateway, 1, job_class=job_class): job_class
        for job_class in (JobClass.BACKGROUND, JobClass.BULK, JobClass.INTERACTIVE)
    }
    order = [names[claim.job_id] for _ in range(3) if (claim := store.claim("w"))]
    assert order == list(JobClass)


async def test_clients_take_turns_and_their_jobs_keep_their_order(
    gateway: AsyncStore, store: Store
):
    flood = await submit(gateway, 100, client="ann")
    later = await submit(gateway, 100, client="ann")
    small = await submit(gateway, 2, client="bob")
    order = [claim.job_id for _ in range(6) if (claim := store.claim("w"))]
    assert order == [flood, small, flood, small, flood, flood]
    for _ in range(96):
        store.claim("w")
    claim = store.claim("w")
    assert claim is not None
    assert claim.job_id == later


async def test_a_hundred_thousand_positions_do_not_starve_ten_of_another(
    gateway: AsyncStore, store: Store
):
    await submit(gateway, 100_000, client="ann")
    for _ in range(3):
        run_claim(store, seconds=0.01)
    ten = await submit(gateway, 10, client="bob")
    order = [run_claim(store, seconds=0.01) == ten for _ in range(10)]
    assert (await gateway.job(ten)).state is JobState.SUCCEEDED
    assert order == 5 * [False, True]  # claims of 1, 5, 2, 1 and 1 positions


async def test_less_urgent_classes_advance_under_a_flood(gateway: AsyncStore, store: Store):
    names = {await submit(gateway, 1000, job_class=each): each for each in JobClass}
    order = [names[run_claim(store, seconds=1.0)] for _ in range(400)]
    assert order[:19] == 19 * [JobClass.INTERACTIVE]
    for job_class in (JobClass.BULK, JobClass.BACKGROUND):
        places = [place for place, claimed in enumerate(order) if claimed is job_class]
        gaps = [later - place for place, later in pairwise(places)]
        assert set(gaps) <= {20, 21}  # the claims of the other one come between
        assert len(places) >= 19


async def test_a_short_search_that_somebody_waits_for_passes_bulk_work(
    gateway: AsyncStore, store: Store
):
    """Time counts, not claims: a call is held up once in twenty seconds of such searches."""
    bulk = await submit(gateway, 1000)
    for number in range(100):
        await submit(gateway, 1, job_class=JobClass.INTERACTIVE, client=str(number))
    assert [run_claim(store, seconds=0.1) == bulk for _ in range(100)] == 100 * [False]


async def test_a_flood_that_only_fails_starves_nobody(gateway: AsyncStore, store: Store):
    await submit(gateway, 1000, job_class=JobClass.INTERACTIVE)
    bulk = await submit(gateway, 1)
    for _ in range(19):
        claim = store.claim("w")
        assert claim is not None
        assert claim.job_id != bulk
        store.hand_in(claim, [Finished(claim.units[0].index, b"it broke", is_failure=True)])
    assert run_claim(store, seconds=0.1) == bulk


async def test_a_class_that_has_nothing_for_a_worker_is_passed_over(
    gateway: AsyncStore, store: Store
):
    for name in "ab":
        store.announce(info(name, 1))
    bulk = await submit(gateway, 1)
    claim = store.claim("a")
    assert claim is not None
    store.abandon(claim, "hung")
    urgent = await submit(gateway, 100, job_class=JobClass.INTERACTIVE)
    for _ in range(25):
        assert run_claim(store, "a", seconds=1.0) == urgent
    assert run_claim(store, "b", seconds=1.0) == bulk


async def test_a_first_claim_starts_the_job(gateway: AsyncStore, store: Store):
    job_id = await submit(gateway, 2)
    store.claim("w")
    job = await gateway.job(job_id)
    assert (job.state, job.claimable) == (JobState.RUNNING, 1)
    assert job.started_ms is not None
    assert (await gateway.load())[JobClass.BULK] == ClassLoad(claimable=1, claimed=1)
    assert (await gateway.totals()).jobs == {
        ("analysis", JobState.QUEUED): 0,
        ("analysis", JobState.RUNNING): 1,
    }


# The queue


async def test_the_queue_is_as_its_client_sees_it(gateway: AsyncStore, store: Store):
    store.announce(info("a", 3))
    empty = await gateway.queue("ann")
    assert (empty.slots, empty.claims, empty.unit_seconds) == (3, 0, {})
    first, second = await submit(gateway, 4), await submit(gateway, 2, rejected={0: b"bad"})
    await submit(gateway, 5, client="bob")
    background = await submit(gateway, 7, job_class=JobClass.BACKGROUND)
    held = await submit(gateway, 9)
    await gateway.pause(held)
    claim = store.claim("a")
    assert claim is not None
    queue = await gateway.queue("ann")
    assert queue.claims == 1
    assert queue.load[JobClass.BULK] == ClassLoad(9, 1, paused=9)
    assert queue.client_counts == {
        JobClass.INTERACTIVE: 0,
        JobClass.BULK: 2,
        JobClass.BACKGROUND: 1,
    }
    assert queue.waiting == {
        JobClass.INTERACTIVE: [],
        JobClass.BULK: [(first, 3), (second, 1)],
        JobClass.BACKGROUND: [(background, 7)],
    }
    assert (await gateway.queue("bob")).waiting[JobClass.BACKGROUND] == []


async def test_no_more_of_a_queue_is_read_than_is_looked_at(gateway: AsyncStore):
    jobs = [await submit(gateway, 1) for _ in range(MAX_JOBS + 1)]
    queue = await gateway.queue("ann")
    assert queue.waiting[JobClass.BULK] == [(job_id, 1) for job_id in jobs[:MAX_JOBS]]


async def test_the_mean_time_of_units_follows_the_last_ones(gateway: AsyncStore, store: Store):
    await submit(gateway, 100)
    run_claim(store, seconds=8.0)
    assert (await gateway.queue("ann")).unit_seconds == {JobClass.BULK: 8.0}
    run_claim(store, seconds=16.0)
    assert (await gateway.queue("ann")).unit_seconds == {JobClass.BULK: 9.0}
    for _ in range(40):
        run_claim(store, seconds=1.0)
    assert 1.0 <= (await gateway.queue("ann")).unit_seconds[JobClass.BULK] < 1.1


# Pauses


async def test_a_paused_job_gives_nothing_more_and_what_is_claimed_is_accepted(
    gateway: AsyncStore, store: Store
):
    job_id = await submit(gateway, 3)
    claim = store.claim("w")
    assert claim is not None
    paused = await gateway.pause(job_id)
    assert (paused.state, paused.claimable) == (JobState.PAUSED, 2)
    assert (await gateway.load())[JobClass.BULK] == ClassLoad(0, 1, paused=2)
    assert await gateway.tickets_needed() == 0
    assert not store.has_work()
    assert store.claim("w") is None
    assert store.renew(claim) is ClaimState.CURRENT
    assert store.hand_in(claim, finish(claim)).accepted == 1
    assert (await gateway.job(job_id)).done == 1
    assert (await gateway.resume(job_id)).state is JobState.RUNNING
    assert (await gateway.load())[JobClass.BULK] == ClassLoad(2, 0)
    assert indices(store.claim("w")) == [1]


async def test_a_job_that_was_never_begun_is_queued_again(gateway: AsyncStore, store: Store):
    job_id = await submit(gateway, 1)
    await gateway.pause(job_id)
    assert (await gateway.totals()).jobs == {
        ("analysis", JobState.QUEUED): 0,
        ("analysis", JobState.PAUSED): 1,
    }
    assert (await gateway.resume(job_id)).state is JobState.QUEUED
    assert indices(store.claim("w")) == [0]


async def test_a_resumed_job_has_its_old_place(gateway: AsyncStore, store: Store):
    first, second = await submit(gateway, 1), await submit(gateway, 1)
    await gateway.pause(first)
    third = await submit(gateway, 1)
    await gateway.resume(first)
    order = [claim.job_id for _ in range(3) if (claim := store.claim("w"))]
    assert order == [first, second, third]


async def test_a_paused_job_ends_when_its_last_claims_are_handed_in(
    gateway: AsyncStore, store: Store
):
    job_id = await submit(gateway, 1)
    claim = store.claim("w")
    assert claim is not None
    await gateway.pause(job_id)
    store.hand_in(claim, finish(claim))
    assert (await gateway.job(job_id)).state is JobState.SUCCEEDED
    for move in (gateway.pause, gateway.resume):
        assert (await move(job_id)).state is JobState.SUCCEEDED


async def test_what_fails_in_a_paused_job_is_tried_again_after_it(
    gateway: AsyncStore, store: Store
):
    job_id = await submit(gateway, 1)
    claim = store.claim("w")
    assert claim is not None
    await gateway.pause(job_id)
    store.abandon(claim, "hung")
    assert store.claim("w") is None
    await gateway.resume(job_id)
    again = store.claim("w")
    assert again is not None
    assert again.units[0].attempt == 2


async def test_a_paused_job_can_be_cancelled_and_removed(
    gateway: AsyncStore, store: Store, redis_client: redis.Redis
):
    job_id, other = await submit(gateway, 2), await submit(gateway, 2)
    for each in (job_id, other):
        await gateway.pause(each)
    assert (await gateway.cancel(job_id)).state is JobState.CANCELLED
    assert (await gateway.resume(job_id)).state is JobState.CANCELLED
    await gateway.remove(other)
    assert (await gateway.load())[JobClass.BULK] == ClassLoad(0, 0)
    assert store.claim("w") is None
    assert not redis_client.keys("tw:turns:*") + redis_client.keys("tw:queue:*")


async def test_an_unknown_job_cannot_be_paused(gateway: AsyncStore):
    for move in (gateway.pause, gateway.resume):
        with pytest.raises(JobNotFoundError):
            await move(await gateway.new_job_id())


# Handing in


async def test_counts_are_of_what_was_accepted_once(gateway: AsyncStore, store: Store):
    job_id = await submit(gateway, 1)
    claim = store.claim("w")
    assert claim is not None
    first = store.hand_in(claim, finish(claim, nodes=7, seconds=0.5))
    again = store.hand_in(claim, finish(claim, nodes=7, seconds=0.5))
    assert (first.accepted, first.state) == (1, ClaimState.CLOSED)
    assert (again.accepted, again.state) == (0, ClaimState.LOST)
    job, totals = await gateway.job(job_id), await gateway.totals()
    assert (job.state, job.done, job.nodes) == (JobState.SUCCEEDED, 1, 7)
    assert (job.attempts, job.search_seconds) == (1, 0.5)
    assert (totals.positions, totals.nodes, totals.attempts) == (1, 7, 1)
    assert totals.search_seconds == 0.5
    assert (await gateway.load())[JobClass.BULK] == ClassLoad(0, 0)


async def test_node_counts_beyond_32_bits_are_exact(gateway: AsyncStore, store: Store):
    job_id = await submit(gateway, 2)
    for _ in range(2):
        claim = store.claim("w")
        assert claim is not None
        store.hand_in(claim, finish(claim, nodes=2**52 + 1))
    assert (await gateway.job(job_id)).nodes == 2**53 + 2


async def test_rows_come_as_finished_or_by_index(gateway: AsyncStore, store: Store):
    job_id = await submit(gateway, 3)
    claims = [store.claim("w") for _ in range(3)]
    for place in (2, 0):
        claim = claims[place]
        assert claim is not None
        store.hand_in(claim, finish(claim))
    page = await gateway.rows(job_id, RowOrder.FINISHED, 0, 1)
    assert [(row.index, row.payload) for row in page.rows] == [(2, b"row of unit 2")]
    page = await gateway.rows(job_id, RowOrder.FINISHED, page.offset, 5)
    assert ([row.index for row in page.rows], page.offset) == ([0], 2)
    page = await gateway.rows(job_id, RowOrder.INPUT, 0, 5)
    assert ([row.index for row in page.rows], page.offset) == ([0], 1)
    await gateway.cancel(job_id)
    page = await gateway.rows(job_id, RowOrder.INPUT, page.offset, 5)
    assert ([row.index for row in page.rows], page.offset) == ([2], 3)
    assert (await gateway.rows(job_id, RowOrder.INPUT, 3, 5)).rows == []


async def test_parts_of_a_claim_are_handed_in_as_they_finish(gateway: AsyncStore, store: Store):
    await submit(gateway, 9)
    claim = store.claim("w")
    assert claim is not None
    store.hand_in(claim, finish(claim))
    claim = store.claim("w")
    assert claim is not None
    rows = finish(claim)
    assert len(rows) == 4
    handed_in = store.hand_in(claim, rows[:1])
    assert (handed_in.accepted, handed_in.state) == (1, ClaimState.CURRENT)
    assert (await gateway.load())[JobClass.BULK] == ClassLoad(4, 3)
    assert store.hand_in(claim, rows).accepted == 3


async def test_a_claim_of_an_emptied_store_holds_nothing_of_the_new_one(
    gateway: AsyncStore, store: Store, redis_client: redis.Redis
):
    await submit(gateway, 1)
    old = store.claim("w")
    redis_client.flushall()
    job_id = await submit(gateway, 1)
    new = store.claim("w")
    assert old is not None
    assert new is not None
    assert old.token == new.token
    deadline = redis_client.zscore("tw:claims", str(new.token))
    assert store.hand_in(old, finish(old)).state is ClaimState.LOST
    assert store.release(old) == 0
    store.abandon(old, "hung")
    assert (await gateway.job(job_id)).attempts == 0
    await asyncio.sleep(0.01)
    assert store.renew(old) is ClaimState.LOST
    assert redis_client.zscore("tw:claims", str(new.token)) == deadline


async def test_a_failed_unit_is_tried_again_and_has_its_cause_when_given_up(
    gateway: AsyncStore, store: Store
):
    job_id = await submit(gateway, 2)
    attempts = []
    while claim := store.claim("w"):
        index = claim.units[0].index
        failed = Finished(index, b"KeyError: '\xc3\xa9'", is_failure=True)
        handed_in = store.hand_in(claim, [failed] if index == 0 else finish(claim))
        assert (handed_in.accepted, handed_in.state) == (1, ClaimState.CLOSED)
        attempts.append((index, claim.units[0].attempt))
    assert sorted(attempts) == [(0, 1), (0, 2), (0, 3), (1, 1)]
    job = await gateway.job(job_id)
    assert (job.state, job.done, job.quarantined) == (JobState.SUCCEEDED, 1, 1)
    row = (await gateway.rows(job_id, RowOrder.INPUT, 0, 1)).rows[0]
    assert (row.kind, row.payload) == (RowKind.QUARANTINED, b"unit 0")
    assert (row.workers, row.cause) == (["w"] * 3, "KeyError: 'é'")
    totals = await gateway.totals()
    assert (totals.positions, totals.attempts, totals.quarantined) == (1, 4, 1)
    assert totals.lost_claims == 0


# Leases


async def test_a_lost_range_is_tried_one_by_one_and_late_rows_are_refused(
    gateway: AsyncStore, store: Store, settings: Settings
):
    await submit(gateway, 9)
    claim = store.claim("w")
    assert claim is not None
    store.hand_in(claim, finish(claim))
    lost = store.claim("w")
    assert lost is not None
    assert indices(lost) == [1, 2, 3, 4]
    store.hand_in(lost, finish(lost)[:1])
    swept = await outwait(gateway, settings)
    assert (swept.lost_claims, swept.retried, swept.quarantined) == (1, 3, 0)
    assert (await gateway.load())[JobClass.BULK] == ClassLoad(7, 0)
    late = store.hand_in(lost, finish(lost))
    assert (late.accepted, late.state) == (0, ClaimState.LOST)
    alone = [store.claim("w") for _ in range(4)]
    assert [indices(claim) for claim in alone] == [[2], [3], [4], [5]]
    assert [claim.units[0].attempt for claim in alone if claim] == [2, 2, 2, 1]
    assert store.hand_in(lost, finish(lost)).accepted == 0
    for claim in alone:
        assert claim is not None
        assert store.hand_in(claim, finish(claim)).accepted == 1
    assert (await gateway.totals()).attempts == 1 + 4 + 4


async def test_a_renewed_claim_lives(gateway: AsyncStore, store: Store, settings: Settings):
    await submit(gateway, 1)
    claim = store.claim("w")
    assert claim is not None
    for _ in range(4):
        await asyncio.sleep(settings.lease / 2)
        assert store.renew(claim) is ClaimState.CURRENT
        assert (await gateway.sweep()).lost_claims == 0
    await outwait(gateway, settings)
    assert store.renew(claim) is ClaimState.LOST


async def test_an_outage_costs_no_attempts(gateway: AsyncStore, store: Store, settings: Settings):
    await submit(gateway, 1)
    await gateway.sweep()
    claim = store.claim("w")
    assert claim is not None
    await asyncio.sleep(3 * settings.lease)  # nobody could renew or sweep meanwhile
    assert (await gateway.sweep()).lost_claims == 0
    assert store.renew(claim) is ClaimState.CURRENT
    await asyncio.sleep(0.8 * settings.lease)
    assert store.renew(claim) is ClaimState.CURRENT
    await asyncio.sleep(0.4 * settings.lease)
    assert (await gateway.sweep()).lost_claims == 0
    assert store.hand_in(claim, finish(claim)).accepted == 1


async def test_a_claim_of_a_worker_that_does_not_come_back_is_lost_after_the_outage(
    gateway: AsyncStore, store: Store, settings: Settings
):
    await submit(gateway, 1)
    await gateway.sweep()
    store.claim("w")
    await asyncio.sleep(3 * settings.lease)
    assert (await outwait(gateway, settings)).lost_claims == 1


async def test_a_poison_unit_is_given_up_after_three_attempts(
    gateway: AsyncStore, store: Store, settings: Settings
):
    job_id = await submit(gateway, 2)
    for attempt in (1, 2, 3):
        claim = store.claim(f"host{attempt}")
        assert claim is not None
        assert (indices(claim), claim.units[0].attempt) == ([0], attempt)
        swept = await outwait(gateway, settings)
        assert (swept.retried, swept.quarantined) == ((1, 0) if attempt < 3 else (0, 1))
    claim = store.claim("w")
    assert claim is not None
    store.hand_in(claim, finish(claim))
    job = await gateway.job(job_id)
    assert (job.state, job.done, job.quarantined) == (JobState.SUCCEEDED, 1, 1)
    assert job.attempts == 4
    row = (await gateway.rows(job_id, RowOrder.FINISHED, 0, 1)).rows[0]
    assert (row.index, row.kind) == (0, RowKind.QUARANTINED)
    assert row.workers == ["host1", "host2", "host3"]
    assert row.cause == "its worker died or gave no sign of progress"


async def test_a_unit_that_failed_is_left_to_workers_that_have_not_tried_it(
    gateway: AsyncStore, store: Store
):
    for name in "ab":
        store.announce(info(name, 1))
    job_id = await submit(gateway, 2)
    claim = store.claim("a")
    assert claim is not None
    store.abandon(claim, "hung")
    untried = store.claim("a")
    assert indices(untried) == [1]
    assert store.claim("a") is None
    later = await submit(gateway, 1)
    claim = store.claim("a")
    assert claim is not None
    assert claim.job_id == later
    claim = store.claim("b")
    assert claim is not None
    assert (claim.job_id, indices(claim), claim.units[0].attempt) == (job_id, [0], 2)
    store.abandon(claim, "hung")
    assert indices(store.claim("a")) == [0]  # all that are there have tried it


async def test_a_unit_that_failed_waits_for_another_worker_for_a_while_only(
    gateway: AsyncStore, store: Store, redis_client: redis.Redis
):
    for name in "ab":
        store.announce(info(name, 1))
    job_id = await submit(gateway, 1)
    claim = store.claim("a")
    assert claim is not None
    store.abandon(claim, "hung")
    assert store.claim("a") is None
    ((_, left_until),) = redis_client.zrange(f"tw:job:{job_id}:retry", 0, -1, withscores=True)
    assert 5 < left_until / 1000 - time.time() <= 10
    redis_client.zadd(f"tw:job:{job_id}:retry", {"0": time.time() * 1000 - 1})
    assert indices(store.claim("a")) == [0]


async def test_a_unit_handed_back_waits_for_nobody(gateway: AsyncStore, store: Store):
    for name in "ab":
        store.announce(info(name, 1))
    await submit(gateway, 1)
    for _ in range(2):
        claim = store.claim("a")
        assert claim is not None
        store.release(claim)


async def test_a_job_whose_last_unit_is_given_up_ends(gateway: AsyncStore, store: Store):
    job_id = await submit(gateway, 1)
    for _ in range(3):
        claim = store.claim("w")
        assert claim is not None
        store.abandon(claim, "hung: no node in 5 s")
        store.abandon(claim, "hung: no node in 5 s")
    job = await gateway.job(job_id)
    assert (job.state, job.quarantined) == (JobState.SUCCEEDED, 1)
    assert (await gateway.rows(job_id, RowOrder.INPUT, 0, 1)).rows[0].cause.startswith("hung")
    totals = await gateway.totals()
    assert (totals.lost_claims, totals.quarantined, totals.attempts) == (3, 1, 3)


async def test_released_units_count_no_attempt(gateway: AsyncStore, store: Store):
    job_id = await submit(gateway, 1)
    for _ in range(5):
        claim = store.claim("w")
        assert claim is not None
        assert claim.units[0].attempt == 1
        assert store.release(claim) == 1
        assert store.release(claim) == 0
    assert (await gateway.load())[JobClass.BULK] == ClassLoad(1, 0)
    assert (await gateway.job(job_id)).attempts == 0
    claim = store.claim("w")
    assert claim is not None
    assert store.hand_in(claim, finish(claim)).state is ClaimState.CLOSED


# Cancelling


async def test_cancel_before_any_claim(gateway: AsyncStore, store: Store):
    job_id = await submit(gateway, 3)
    assert (await gateway.cancel(job_id)).state is JobState.CANCELLED
    assert store.claim("w") is None
    assert (await gateway.load())[JobClass.BULK] == ClassLoad(0, 0)


async def test_cancel_while_claimed_refuses_what_comes_late_and_keeps_what_came(
    gateway: AsyncStore, store: Store, settings: Settings
):
    job_id = await submit(gateway, 3)
    done, running = store.claim("w"), store.claim("w")
    assert done is not None
    assert running is not None
    store.hand_in(done, finish(done))
    await gateway.cancel(job_id)
    assert store.renew(running) is ClaimState.CANCELLED
    late = store.hand_in(running, finish(running))
    assert (late.accepted, late.state) == (0, ClaimState.CANCELLED)
    assert store.release(running) == 0
    await asyncio.sleep(settings.lease)
    assert (await gateway.sweep()).lost_claims == 0
    job = await gateway.cancel(job_id)
    assert (job.state, job.done, job.claimable) == (JobState.CANCELLED, 1, 0)
    assert len((await gateway.rows(job_id, RowOrder.INPUT, 0, 9)).rows) == 1
    assert (await gateway.load())[JobClass.BULK] == ClassLoad(0, 0)
    assert store.claim("w") is None


async def test_cancel_while_units_wait_to_be_tried_again(gateway: AsyncStore, store: Store):
    job_id = await submit(gateway, 1)
    claim = store.claim("w")
    assert claim is not None
    store.abandon(claim, "hung")
    await gateway.cancel(job_id)
    assert store.claim("w") is None


async def test_cancelling_a_finished_job_changes_nothing(gateway: AsyncStore, store: Store):
    job_id = await submit(gateway, 1)
    claim = store.claim("w")
    assert claim is not None
    store.hand_in(claim, finish(claim))
    before = await gateway.job(job_id)
    assert await gateway.cancel(job_id) == before
    assert before.state is JobState.SUCCEEDED


async def test_cancel_leaves_other_jobs_alone(gateway: AsyncStore, store: Store):
    first, second = await submit(gateway, 1), await submit(gateway, 1)
    claims = store.claim("w"), store.claim("w")
    await gateway.cancel(first)
    assert [store.renew(claim) for claim in claims if claim] == ["cancelled", "current"]
    assert (await gateway.job(second)).state is JobState.RUNNING


# The end of a job


async def test_every_key_of_an_ended_job_expires(
    gateway: AsyncStore, store: Store, redis_client: redis.Redis
):
    before = {
        *redis_client.keys("*"),
        b"tw:epoch",
        b"tw:counter",
        b"tw:totals",
        b"tw:load",
        b"tw:sweep",
    }
    first = await submit(gateway, 2, rejected={0: b"bad"}, keep=0.2, request_id="r", digest="d")
    second = await submit(gateway, 3, keep=0.2)
    claim = store.claim("w")
    assert claim is not None
    store.hand_in(claim, finish(claim))
    store.claim("w")
    job = await gateway.cancel(second)
    assert job.ended_ms is not None
    assert job.expires_ms == job.ended_ms + 200
    await asyncio.sleep(0.25)
    for job_id in (first, second):
        with pytest.raises(JobNotFoundError):
            await gateway.job(job_id)
        assert (await gateway.rows(job_id, RowOrder.INPUT, 0, 9)).rows == []
    assert (await gateway.jobs("ann", 9)).jobs == []
    swept = await gateway.sweep()
    assert (swept.removed_jobs, swept.is_cut_short) == (2, False)
    assert set(redis_client.keys("*")) <= before


async def test_a_sweep_that_is_cut_short_says_so(gateway: AsyncStore):
    for _ in range(150):
        await submit(gateway, 0, keep=0.001)
    await asyncio.sleep(0.1)
    first, second = await gateway.sweep(), await gateway.sweep()
    assert (first.removed_jobs, first.is_cut_short) == (100, True)
    assert (second.removed_jobs, second.is_cut_short) == (50, False)


async def test_watchers_are_told_of_every_change(gateway: AsyncStore, store: Store):
    events = gateway.events()
    assert await anext(events) is None
    job_id = await submit(gateway, 2)
    changed = JobEvent(job_id, None)
    assert await anext(events) == changed
    claim = store.claim("w")
    assert claim is not None
    assert await anext(events) == changed
    store.tell_progress(claim, b"depth 3")
    assert await anext(events) == JobEvent(job_id, b"depth 3")
    store.hand_in(claim, finish(claim))
    assert await anext(events) == changed
    await gateway.cancel(job_id)
    assert await anext(events) == changed
    await gateway.remove(job_id)
    assert await anext(events) == changed
    await events.aclose()


# Attended jobs, and removal


async def test_an_attended_job_is_claimed_as_such_and_not_listed(gateway: AsyncStore, store: Store):
    store.announce(info("w", 1))
    job_id = await ask(gateway)
    other = await submit(gateway, 1)
    assert [job.job_id for job in (await gateway.jobs("ann", 9)).jobs] == [other]
    claims = [store.claim("w"), store.claim("w")]
    assert [claim and (claim.job_id, claim.is_attended) for claim in claims] == [
        (job_id, True),
        (other, False),
    ]
    assert await gateway.attend([job_id, other]) == {other}


async def test_an_attended_job_goes_with_its_caller(
    gateway: AsyncStore, store: Store, redis_client: redis.Redis
):
    store.announce(info("w", 1))
    job_id = await ask(gateway)
    claim = store.claim("w")
    assert claim is not None
    assert (await gateway.sweep()).removed_jobs == 0
    redis_client.zadd("tw:attended", {job_id: 0})
    assert await gateway.attend([job_id]) == set()
    assert (await gateway.sweep()).removed_jobs == 0
    redis_client.zadd("tw:attended", {job_id: 0})
    assert (await gateway.sweep()).removed_jobs == 1
    assert await gateway.attend([job_id]) == {job_id}
    assert store.renew(claim) is ClaimState.LOST
    with pytest.raises(JobNotFoundError):
        await gateway.job(job_id)
    assert not redis_client.keys("tw:job*") + redis_client.keys("tw:attended")


@pytest.mark.parametrize("state", ["staged", "queued", "claimed", "succeeded", "cancelled"])
async def test_a_removed_job_leaves_nothing_in_any_state(
    gateway: AsyncStore, store: Store, redis_client: redis.Redis, state: str
):
    kept = await submit(gateway, 1)
    before = set(redis_client.keys("*"))
    job = await staged(gateway, 2, rejected={1: b"bad"}, request_id="r", digest="d", client="bob")
    if state != "staged":
        await gateway.commit(job)
    if state == "cancelled":
        await gateway.cancel(job.job_id)
    if state in ("claimed", "succeeded"):
        for claim in (store.claim("w"), store.claim("w")):
            assert claim is not None
            if claim.job_id == kept:
                store.release(claim)
            elif state == "succeeded":
                store.hand_in(claim, finish(claim))
    await gateway.remove(job.job_id)
    assert set(redis_client.keys("*")) - before <= {
        *(b"tw:totals", b"tw:load", b"tw:job:" + kept.encode() + b":retry")
    }
    assert (await gateway.sweep()).removed_jobs == 0
    claim = store.claim("w")
    assert claim is not None and claim.job_id == kept
    assert store.claim("w") is None


async def test_a_connection_for_events_that_has_fallen_silent_is_given_up(
    gateway: AsyncStore, settings: Settings, server: Server
):
    proxy = Proxy(str(server.socket))
    listening = AsyncStore(replace(settings, redis_url=f"redis://127.0.0.1:{proxy.port}/0"))
    events = listening.events()
    try:
        for _ in range(3):  # silence of jobs alone is no reason
            assert await anext(events) is None
        proxy.silence()
        with pytest.raises(redis.TimeoutError):
            await asyncio.wait_for(_listen(events), 30)
        job_id = await submit(gateway, 1)
        events = listening.events()
        assert await anext(events) is None
        await gateway.cancel(job_id)
        assert await anext(events) == JobEvent(job_id, None)
    finally:
        await events.aclose()
        await listening.close()
        await asyncio.to_thread(proxy.close)


async def _listen(events: AsyncIterator[JobEvent | None]) -> None:
    async for _ in events:
        pass


# Workers


def info(name: str, slots: int) -> WorkerInfo:
    return WorkerInfo(name, "host", 1, slots, ENGINE_VERSION, RULES_VERSION)


async def test_workers_are_there_while_they_say_so(settings: Settings, gateway: AsyncStore):
    store = Store(replace(settings, worker_ttl=1.0))
    store.announce(info("a", 2))
    store.announce(info("b", 3))
    assert await gateway.workers() == [info("a", 2), info("b", 3)]
    await asyncio.sleep(0.6)
    store.announce(info("b", 3))
    await asyncio.sleep(0.6)
    assert await gateway.workers() == [info("b", 3)]
    store.withdraw(info("b", 3))
    assert await gateway.workers() == []
    store.close()


async def test_tickets_are_for_idle_slots_with_work(
    gateway: AsyncStore, store: Store, redis_client: redis.Redis
):
    await submit(gateway, 3)
    assert await gateway.tickets_needed() == 0
    store.announce(info("a", 2))
    assert await gateway.tickets_needed() == 2
    store.claim("a")
    assert await gateway.tickets_needed() == 1
    redis_client.rpush("tw:broker:tickets", "ticket")
    assert await gateway.tickets_needed() == 0
    store.announce(info("b", 8))
    assert await gateway.tickets_needed() == 1


def test_has_work(store: Store):
    assert not store.has_work()


async def test_a_canary_is_answered_once(gateway: AsyncStore, store: Store):
    assert await gateway.await_canary("n", 0.05) is None
    waiting = asyncio.create_task(gateway.await_canary("n", 2))
    await asyncio.sleep(0.05)
    store.answer_canary("n", "w")
    assert await waiting == "w"


# The server


async def test_an_evicting_server_is_refused(
    gateway: AsyncStore, store: Store, redis_client: redis.Redis
):
    await gateway.check()
    redis_client.config_set("maxmemory-policy", "allkeys-lru")
    store.check()
    redis_client.config_set("maxmemory", "1gb")
    try:
        for check in (gateway.check(), asyncio.to_thread(store.check)):
            with pytest.raises(EvictingPolicyError, match="allkeys-lru"):
                await check
    finally:
        redis_client.config_set("maxmemory", "0")
        redis_client.config_set("maxmemory-policy", "noeviction")
    store.check()


async def test_a_full_server_refuses_submissions_and_takes_rows(
    gateway: AsyncStore, store: Store, redis_client: redis.Redis
):
    job_id = await submit(gateway, 2)
    other = await staged(gateway, 1)
    store.announce(info("w", 1))
    redis_client.config_set("maxmemory", "1mb")
    try:
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            await gateway.commit(other)
        with pytest.raises(StoreFullError):
            await staged(gateway, 1)
        with pytest.raises(JobNotFoundError):
            await gateway.job(JobId(f"{other.job_id[:8]}-{16 * '0'}"))
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            await gateway.ask(other, [b"unit"], is_told=False)
        for _ in range(2):
            claim = store.claim("w")
            assert claim is not None
            assert store.hand_in(claim, finish(claim)).accepted == 1
        assert (await gateway.job(job_id)).state is JobState.SUCCEEDED
    finally:
        redis_client.config_set("maxmemory", "0")


async def test_room_is_kept_for_the_rows_of_accepted_units(
    gateway: AsyncStore, store: Store, redis_client: redis.Redis
):
    await submit(gateway, 1000)
    used = redis_client.info("memory")["used_memory"]
    try:
        redis_client.config_set("maxmemory", int((used + 1100 * 1024) / 0.8))
        job = await staged(gateway, 50)
        with pytest.raises(StoreFullError):
            await gateway.stage(job.job_id, [b"unit"] * 100, {})
        await gateway.commit(job)
        with pytest.raises(StoreFullError):
            await submit(gateway, 100)
        while claim := store.claim("w"):
            store.hand_in(claim, finish(claim))
        await submit(gateway, 100)
    finally:
        redis_client.config_set("maxmemory", "0")


async def test_what_was_accepted_survives_a_server_killed_at_once(settings: Settings):
    server = Server()
    there = replace(settings, redis_url=server.url)
    try:
        for _ in range(30):
            server.start("--appendonly", "yes")
            gateway = AsyncStore(there)
            cancelled = await submit(gateway, 1)
            await gateway.cancel(cancelled)
            server.kill()
            await gateway.close()
            server.start("--appendonly", "yes")
            gateway = AsyncStore(there)
            assert (await gateway.job(cancelled)).state is JobState.CANCELLED
            accepted = await submit(gateway, 50)
            server.kill()
            await gateway.close()
            server.start("--appendonly", "yes")
            gateway = AsyncStore(there)
            assert (await gateway.job(accepted)).claimable == 50
            await gateway.close()
            server.kill()
    finally:
        server.remove()


async def test_a_restarted_server_keeps_jobs_with_its_file_and_calls_fail_fast_meanwhile(
    settings: Settings,
):
    server = Server()
    server.start("--appendonly", "yes")
    there = replace(settings, redis_url=server.url)
    gateway, store = AsyncStore(there), Store(there)
    try:
        job_id = await submit(gateway, 2)
        claim = store.claim("w")
        assert claim is not None
        server.stop()
        began = time.monotonic()
        with pytest.raises(redis.ConnectionError):
            store.renew(claim)
        with pytest.raises(redis.ConnectionError):
            await gateway.job(job_id)
        assert time.monotonic() - began < 1
        server.start("--appendonly", "yes")
        assert store.hand_in(claim, finish(claim)).accepted == 1
        assert (await gateway.job(job_id)).done == 1
    finally:
        await gateway.close()
        store.close()
        server.remove()


@pytest.mark.parametrize("name", ["ENGINE_VERSION", "RULES_VERSION"])
async def test_a_worker_claims_jobs_of_its_own_versions_alone(
    gateway: AsyncStore, store: Store, monkeypatch: pytest.MonkeyPatch, name: str
):
    other = await submit(gateway, 2, **{name.lower(): "other"})
    own = await submit(gateway, 1)
    claim = store.claim("w")
    assert claim is not None and claim.job_id == own
    assert store.claim("w") is None
    assert store.hand_in(claim, finish(claim)).accepted == 1
    assert (await gateway.job(other)).claimable == 2
    monkeypatch.setattr(f"worker.store.sync.{name}", "other")
    claim = store.claim("w")
    assert claim is not None and claim.job_id == other


async def test_workers_of_other_versions_do_not_count_for_those_who_wait(
    gateway: AsyncStore, store: Store
):
    store.announce(replace(info("w", 1), engine_version="other"))
    assert not await gateway.has_worker()
    store.announce(info("v", 1))
    assert await gateway.has_worker()
