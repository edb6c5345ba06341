"""Sums over a job's rows, and rows that need the agreement of two workers."""

import asyncio

import pytest

from core.version import ENGINE_VERSION, RULES_VERSION
from tests.worker.jobs import indices, submit
from worker.settings import Settings
from worker.store import (
    AsyncStore,
    Claim,
    ClaimState,
    Finished,
    JobState,
    Row,
    RowKind,
    RowOrder,
    Store,
    WorkerInfo,
)

GREAT = 10**30 + 7


def announce(store: Store, *names: str) -> None:
    for name in names:
        store.announce(WorkerInfo(name, "host", 1, 1, ENGINE_VERSION, RULES_VERSION))


def take(store: Store, worker: str) -> Claim:
    claim = store.claim(worker)
    assert claim is not None
    return claim


def count(store: Store, worker: str, amount: int, index: int = 0) -> None:
    """Claim one unit, which must be this one, and hand in an amount that needs agreement."""
    claim = take(store, worker)
    assert indices(claim) == [index]
    unit = claim.units[0]
    row = b"row\n\nby " + worker.encode()
    finished = Finished(unit.index, row, 5, 0.001, amount=amount, needs_agreement=True)
    assert store.hand_in(claim, [finished]).accepted == 1


async def sweep_for(gateway: AsyncStore, seconds: float) -> int:
    """Sweep again and again for a time; return how many claims were lost."""
    lost = 0
    end = asyncio.get_running_loop().time() + seconds
    while asyncio.get_running_loop().time() < end:
        lost += (await gateway.sweep()).lost_claims
        await asyncio.sleep(0.03)
    return lost


async def only_row(gateway: AsyncStore, job: str) -> Row:
    (row,) = (await gateway.rows(job, RowOrder.INPUT, 0, 9)).rows  # type: ignore[arg-type]
    return row


async def test_amounts_of_any_size_are_summed_exactly(gateway: AsyncStore, store: Store) -> None:
    amounts = [0, 999_999_999_999_999, 1, GREAT, 2**64, 10**15 - 1]
    job = await submit(gateway, len(amounts))
    while claim := store.claim("w"):
        finished = [Finished(u.index, b"row", amount=amounts[u.index]) for u in claim.units]
        store.hand_in(claim, finished)
        store.hand_in(claim, finished)  # once more, as if the answer had been lost
    found = await gateway.job(job)
    assert (found.state, found.sum) == (JobState.SUCCEEDED, sum(amounts))
    rows = (await gateway.rows(job, RowOrder.INPUT, 0, 9)).rows
    assert {(row.kind, row.payload) for row in rows} == {(RowKind.RESULT, b"row")}


async def test_two_workers_that_agree_make_one_row(gateway: AsyncStore, store: Store) -> None:
    announce(store, "a", "b")
    job = await submit(gateway, 1)
    count(store, "a", GREAT)
    found = await gateway.job(job)
    assert (found.state, found.done, found.sum, found.claimable) == (JobState.RUNNING, 0, 0, 1)
    assert store.claim("a") is None  # it has counted it, and another is there
    count(store, "b", GREAT)
    row = await only_row(gateway, job)
    assert (row.kind, row.payload) == (RowKind.CONFIRMED, b"row\n\nby b")
    assert row.counts == [("a", GREAT), ("b", GREAT)]
    found = await gateway.job(job)
    assert (found.state, found.done, found.sum) == (JobState.SUCCEEDED, 1, GREAT)
    assert (found.attempts, found.nodes) == (2, 10)


async def test_a_worker_is_told_how_often_a_unit_was_counted(
    gateway: AsyncStore, store: Store
) -> None:
    announce(store, "a", "b")
    await submit(gateway, 1)
    count(store, "a", 3)
    (unit,) = take(store, "b").units
    assert (unit.counted, unit.attempt) == (1, 1)


async def test_a_worker_alone_confirms_itself(gateway: AsyncStore, store: Store) -> None:
    announce(store, "a")
    job = await submit(gateway, 1)
    count(store, "a", 3)
    count(store, "a", 3)
    row = await only_row(gateway, job)
    assert row.counts == [("a", 3), ("a", 3)]


@pytest.mark.parametrize("order", ["abc", "bac", "bca"])
async def test_a_wrong_count_is_outvoted_and_named(
    gateway: AsyncStore, store: Store, order: str
) -> None:
    announce(store, *order)
    job = await submit(gateway, 1)
    amounts = {worker: 13 if worker == "a" else 12 for worker in order}
    for worker in order:
        if (await gateway.job(job)).state is not JobState.SUCCEEDED:
            count(store, worker, amounts[worker])
    row = await only_row(gateway, job)
    assert row.counts[-1][1] == 12
    assert ("a", 13) in row.counts or order == "bca"
    assert (await gateway.job(job)).sum == 12


async def test_a_unit_on_which_nobody_agrees_fails_its_job(
    gateway: AsyncStore, store: Store
) -> None:
    announce(store, "a", "b")
    job = await submit(gateway, 2, needs_all=True)
    other = take(store, "c")
    assert indices(other) == [0]
    for turn in range(6):
        count(store, "ab"[turn % 2], turn, index=1)
    found = await gateway.job(job)
    assert (found.state, found.quarantined, found.sum) == (JobState.FAILED, 1, 0)
    assert "no total" in found.error
    row = await only_row(gateway, job)
    assert (row.kind, row.index) == (RowKind.QUARANTINED, 1)
    assert "a 0; b 1; a 2; b 3; a 4; b 5" in row.cause
    assert store.hand_in(other, [Finished(other.units[0].index, b"row")]).state is ClaimState.LOST
    assert sum(load.open_units for load in (await gateway.load()).values()) == 0


async def test_a_count_that_is_lost_on_its_way_does_not_count(
    gateway: AsyncStore, store: Store, settings: Settings
) -> None:
    announce(store, "a", "b")
    job = await submit(gateway, 1)
    count(store, "a", 7)
    take(store, "b")
    assert await sweep_for(gateway, settings.lease * 1.5) == 1
    count(store, "c", 7)
    assert (await only_row(gateway, job)).counts == [("a", 7), ("c", 7)]


async def test_claims_that_expire_with_the_job_they_fail(
    gateway: AsyncStore, store: Store, settings: Settings
) -> None:
    """The first lost claim ends the job, and with it the second, in one sweep."""
    job = await submit(gateway, 8, needs_all=True)
    for _ in range(settings.max_attempts):
        assert take(store, "a").units[0].index == 0
        take(store, "b")
        await sweep_for(gateway, settings.lease * 1.5)
    assert (await gateway.job(job)).state is JobState.FAILED
    assert sum(load.open_units for load in (await gateway.load()).values()) == 0
