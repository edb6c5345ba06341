"""The store against a plain model, through random lives of jobs: no unit is lost or done twice."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.worker.jobs import submit
from tests.worker.server import Server
from worker.settings import Settings
from worker.store import (
    AsyncStore,
    Claim,
    ClassLoad,
    Finished,
    JobClass,
    JobId,
    JobNotFoundError,
    JobState,
    RowKind,
    RowOrder,
    Store,
)

MAX_ATTEMPTS = 3
NODES = 7
SECONDS = 1 / 64
FAILED_SECONDS = 1.0
PASSED_SECONDS = 19 * Settings().claim_time
"""Workers' time given to more urgent classes after which one that waits comes first."""


@dataclass
class Unit:
    """What the model knows of a unit: who holds it, how often it was begun, its row."""

    owner: int | None = None
    attempts: int = 0
    row: tuple[RowKind, Any] | None = None

    @property
    def is_waiting(self) -> bool:
        return self.owner is None and self.row is None


@dataclass
class ModelJob:
    """What the model knows of a job."""

    job_class: JobClass
    units: list[Unit]
    is_cancelled: bool = False
    is_paused: bool = False
    is_begun: bool = False
    is_removed: bool = False
    done_attempts: int = field(default=0)

    @property
    def state(self) -> JobState:
        if self.is_cancelled:
            return JobState.CANCELLED
        if all(unit.row for unit in self.units):
            return JobState.SUCCEEDED
        if self.is_paused:
            return JobState.PAUSED
        return JobState.RUNNING if self.is_begun else JobState.QUEUED

    def count(self, kind: RowKind) -> int:
        return sum(unit.row is not None and unit.row[0] is kind for unit in self.units)

    @property
    def waiting(self) -> int:
        return 0 if self.is_cancelled else sum(unit.is_waiting for unit in self.units)

    @property
    def claimable(self) -> int:
        return 0 if self.is_paused else self.waiting


class StoreMachine(RuleBasedStateMachine):
    """Does what gateways and workers may do, in any order, and checks all that can be seen."""

    server: Server

    def __init__(self) -> None:
        super().__init__()
        self.redis = redis.Redis(unix_socket_path=str(self.server.socket))
        self.redis.flushall()
        # Claims are lost when the rules say so, however long an example takes.
        given = replace(
            Settings(), redis_url=self.server.url, max_attempts=MAX_ATTEMPTS, lease=3600.0
        )
        self.store = Store(given)
        self.runner = asyncio.Runner()
        self.gateway = AsyncStore(given)
        self.jobs: dict[JobId, ModelJob] = {}
        self.claims: list[Claim] = []
        self.lost_claims = 0
        self.passed = dict.fromkeys(JobClass, 0.0)

    def teardown(self) -> None:
        for job_id in self.present():
            self.resume_job(job_id)
        while claim := self.store.claim("w"):
            self.note_claim(claim)
            self.hand_in_units(claim, range(len(claim.units)), is_failure=False)
        for claim in self.claims:
            self.store.release(claim)
            self.note_release(claim)
        while claim := self.store.claim("w"):
            self.note_claim(claim)
            self.hand_in_units(claim, range(len(claim.units)), is_failure=False)
        self.agrees()
        assert all(job.state.is_ended for job in self.jobs.values())
        assert self.redis.zcard("tw:claims") == 0
        assert not self.redis.keys("tw:claim:*") + self.redis.keys("tw:queue:*")
        for key in self.redis.keys("tw:job:*"):
            assert self.redis.pttl(key) > 0
        self.runner.run(self.gateway.close())
        self.runner.close()
        self.store.close()
        self.redis.close()

    @initialize()
    def begin_a_long_job(self) -> None:
        """From here on claims are ranges, as one unit's time is known."""
        self.submit(30, {1, 2}, {4}, JobClass.BULK, "a")
        self.claim()
        self.hand_in_units(self.claims[0], [0], is_failure=False)

    # What gateways do

    @precondition(lambda self: sum(not job.state.is_ended for job in self.jobs.values()) < 3)
    @rule(
        count=st.sampled_from([0, 1, 2, 9]),
        rejected=st.sets(st.integers(0, 8), max_size=3),
        cached=st.sets(st.integers(0, 8), max_size=3),
        job_class=st.sampled_from(JobClass),
        client=st.sampled_from("abc"),
    )
    def submit(
        self, count: int, rejected: set[int], cached: set[int], job_class: JobClass, client: str
    ) -> None:
        bad = {index: b"bad" for index in sorted(rejected) if index < count}
        good = {index: b"good" for index in sorted(cached - rejected) if index < count}
        job_id = self.runner.run(
            submit(
                self.gateway, count, rejected=bad, cached=good, job_class=job_class, client=client
            )
        )
        units = [Unit() for _ in range(count)]
        for kind, rows in ((RowKind.REJECTED, bad), (RowKind.CACHED, good)):
            for index, row in rows.items():
                units[index].row = kind, row
        self.jobs[job_id] = ModelJob(job_class, units)

    @precondition(lambda self: self.present())
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        job_id = data.draw(st.sampled_from(self.present()))
        self.runner.run(self.gateway.cancel(job_id))
        self.note_cancel(job_id)

    @precondition(lambda self: self.present())
    @rule(data=st.data())
    def pause(self, data: st.DataObject) -> None:
        job_id = data.draw(st.sampled_from(self.present()))
        self.runner.run(self.gateway.pause(job_id))
        self.jobs[job_id].is_paused = not self.jobs[job_id].state.is_ended

    @precondition(lambda self: self.present())
    @rule(data=st.data())
    def resume(self, data: st.DataObject) -> None:
        paused = [job_id for job_id in self.present() if self.jobs[job_id].is_paused]
        self.resume_job(data.draw(st.sampled_from(paused or self.present())))

    def resume_job(self, job_id: JobId) -> None:
        self.runner.run(self.gateway.resume(job_id))
        self.jobs[job_id].is_paused = False

    @precondition(lambda self: self.present())
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        job_id = data.draw(st.sampled_from(self.present()))
        self.runner.run(self.gateway.remove(job_id))
        self.note_cancel(job_id)
        self.jobs[job_id].is_removed = True
        assert not self.redis.keys(f"tw:job:{job_id}*")

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def expire(self, data: st.DataObject) -> None:
        claim = self.draw_claim(data)
        self.redis.zadd("tw:claims", {str(claim.token): 0}, xx=True)
        swept = self.runner.run(self.gateway.sweep())
        assert (swept.lost_claims, swept.retried, swept.quarantined) == self.note_loss(claim)

    # What workers do

    @rule()
    def claim(self) -> None:
        claim = self.store.claim("w")
        if claim is None:
            assert not any(job.claimable for job in self.jobs.values())
            return
        waiting = self.waiting_classes()
        due = [job_class for job_class in waiting if self.passed[job_class] >= PASSED_SECONDS]
        assert self.jobs[claim.job_id].job_class == (due or waiting)[0]
        self.note_claim(claim)
        self.claims.append(claim)

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def hand_in(self, data: st.DataObject) -> None:
        claim = self.draw_claim(data)
        places = data.draw(st.sets(st.integers(0, len(claim.units) - 1)))
        self.hand_in_units(claim, sorted(places), is_failure=False)

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def hand_in_failure(self, data: st.DataObject) -> None:
        claim = self.draw_claim(data)
        place = data.draw(st.integers(0, len(claim.units) - 1))
        self.hand_in_units(claim, [place], is_failure=True)

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        claim = self.draw_claim(data)
        assert self.store.release(claim) == self.note_release(claim)

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def abandon(self, data: st.DataObject) -> None:
        claim = self.draw_claim(data)
        self.store.abandon(claim, "hung")
        self.note_loss(claim)

    # The model's side

    def waiting_classes(self) -> list[JobClass]:
        """Return the classes with claimable units, the most urgent first."""
        found = {job.job_class for job in self.jobs.values() if job.claimable}
        return [job_class for job_class in JobClass if job_class in found]

    def note_time(self, claim: Claim, seconds: float) -> None:
        order = list(JobClass)
        for other in self.waiting_classes():
            if order.index(other) > order.index(self.jobs[claim.job_id].job_class):
                self.passed[other] += seconds

    def draw_claim(self, data: st.DataObject) -> Claim:
        """Return a claim made before: mostly one that still holds something, of many units."""
        current = [claim for claim in self.claims if self.held(claim)]
        current.sort(key=lambda claim: len(claim.units), reverse=True)
        wanted = current[:2] if current and data.draw(st.integers(0, 4)) else self.claims
        return data.draw(st.sampled_from(wanted))

    def present(self) -> list[JobId]:
        return [job_id for job_id, job in self.jobs.items() if not job.is_removed]

    def note_cancel(self, job_id: JobId) -> None:
        job = self.jobs[job_id]
        if not job.state.is_ended:
            job.is_cancelled = True
            for unit in job.units:
                unit.owner = None

    def held(self, claim: Claim) -> list[tuple[int, Unit]]:
        units = self.jobs[claim.job_id].units
        return [
            (place, units[unit.index])
            for place, unit in enumerate(claim.units)
            if units[unit.index].owner == claim.token
        ]

    def note_claim(self, claim: Claim) -> None:
        job = self.jobs[claim.job_id]
        self.passed[job.job_class] = 0.0
        job.is_begun = True
        assert claim.units
        for claimed in claim.units:
            unit = job.units[claimed.index]
            assert not job.is_cancelled
            assert not job.is_paused
            assert unit.is_waiting
            assert claimed.unit == f"unit {claimed.index}".encode()
            unit.owner = claim.token
            unit.attempts += 1
            assert claimed.attempt == unit.attempts
        assert len(claim.units) == 1 or all(unit.attempt == 1 for unit in claim.units)

    def hand_in_units(self, claim: Claim, places: Iterable[int], *, is_failure: bool) -> None:
        payload = b"from %d" % claim.token
        rows = [
            Finished(claim.units[place].index, payload, NODES, SECONDS, is_failure)
            for place in places
        ]
        accepted = [unit for place, unit in self.held(claim) if place in list(places)]
        assert self.store.hand_in(claim, rows).accepted == len(accepted)
        for unit in accepted:
            if is_failure:
                self.note_failure(claim, unit, payload.decode())
            else:
                self.note_time(claim, SECONDS)
                unit.owner = None
                self.jobs[claim.job_id].done_attempts += 1
                unit.row = RowKind.RESULT, payload

    def note_release(self, claim: Claim) -> int:
        held = self.held(claim)
        for _, unit in held:
            unit.owner = None
            unit.attempts -= 1
        return len(held)

    def note_loss(self, claim: Claim) -> tuple[int, int, int]:
        held = self.held(claim)
        given_up = sum(self.note_failure(claim, unit, None) for _, unit in held)
        self.lost_claims += bool(held)
        return int(bool(held)), len(held) - given_up, given_up

    def note_failure(self, claim: Claim, unit: Unit, cause: str | None) -> bool:
        """Note a failed attempt; return whether the unit is given up."""
        self.note_time(claim, FAILED_SECONDS)
        unit.owner = None
        self.jobs[claim.job_id].done_attempts += 1
        if unit.attempts < MAX_ATTEMPTS:
            return False
        unit.row = RowKind.QUARANTINED, (unit.attempts, cause)
        return True

    @invariant()
    def agrees(self) -> None:
        self.runner.run(self.check())

    async def check(self) -> None:
        load = dict.fromkeys(JobClass, ClassLoad(0, 0))
        for job_id, model in self.jobs.items():
            if model.is_removed:
                with pytest.raises(JobNotFoundError):
                    await self.gateway.job(job_id)
                continue
            await self.check_job(job_id, model)
            before = load[model.job_class]
            claimed = sum(unit.owner is not None for unit in model.units)
            load[model.job_class] = ClassLoad(
                before.claimable + model.claimable,
                before.claimed + claimed,
                before.paused + model.waiting - model.claimable,
            )
        assert await self.gateway.load() == load
        totals = await self.gateway.totals()
        jobs = self.jobs.values()
        assert totals.positions == sum(job.count(RowKind.RESULT) for job in jobs)
        assert totals.cached == sum(job.count(RowKind.CACHED) for job in jobs)
        assert totals.nodes == NODES * totals.positions
        assert totals.search_seconds == SECONDS * totals.positions
        assert totals.quarantined == sum(job.count(RowKind.QUARANTINED) for job in jobs)
        assert totals.attempts == sum(job.done_attempts for job in jobs)
        assert totals.lost_claims == self.lost_claims
        states = [job.state for job in jobs]
        for state in JobState:
            assert totals.jobs.get(("analysis", state), 0) == states.count(state)

    async def check_job(self, job_id: JobId, model: ModelJob) -> None:
        job = await self.gateway.job(job_id)
        assert (job.state, job.claimable) == (model.state, model.waiting)
        searched = model.count(RowKind.RESULT)
        assert (job.done - job.cached, job.cached, job.rejected, job.quarantined) == (
            searched,
            model.count(RowKind.CACHED),
            model.count(RowKind.REJECTED),
            model.count(RowKind.QUARANTINED),
        )
        assert (job.nodes, job.attempts) == (NODES * searched, model.done_attempts)
        page = await self.gateway.rows(job_id, RowOrder.FINISHED, 0, 100)
        assert len({row.index for row in page.rows}) == len(page.rows)
        rows = {row.index: row for row in page.rows}
        for index, unit in enumerate(model.units):
            row = rows.pop(index, None)  # type: ignore[call-overload]
            if unit.row is None:
                assert row is None
                continue
            assert row is not None
            kind, content = unit.row
            assert row.kind is kind
            if kind is RowKind.QUARANTINED:
                attempts, cause = content
                assert row.workers == attempts * ["w"]
                assert cause in (None, row.cause)
            else:
                assert row.payload == content
        assert not rows


def run_machine(server: Server, examples: int, steps: int) -> None:
    StoreMachine.server = server
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        StoreMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_random_lives_of_jobs_agree_with_the_model(server: Server):
    run_machine(server, examples=50, steps=40)


@pytest.mark.soak
def test_many_long_lives_of_jobs_agree_with_the_model(server: Server):
    run_machine(server, examples=1000, steps=100)
