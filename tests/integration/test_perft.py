"""Perft through the whole service: totals are right whatever is killed or lies."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.proof import check_proof
from tests.integration.cluster import Cluster, client_of, finish, until
from tests.integration.stack import Service, objects
from tilewarp.v1 import jobs_pb2, position_pb2

START_4 = {"chakra": 740585, "caissa": 405737, "chakra-mindsports": 227919}
CAISSA_7 = 6588313271
APPEND_ONLY = ("--appendonly", "yes")

Start = Callable[..., Cluster]


def specification(variant: str, depth: int, share: float = 0.0) -> jobs_pb2.JobSpecification:
    position = position_pb2.Position(variant=variant)
    work = jobs_pb2.PerftWork(position=position, depth=depth, verify_share=share)
    return jobs_pb2.JobSpecification(perft=work)


@pytest.mark.parametrize("variant", list(START_4))
def test_the_command_counts_and_proves(service: Service, tmp_path: Path, variant: str) -> None:
    proof = tmp_path / "proof.gz"
    options = ("--json", "--verify", "all", "--proof", str(proof))
    counted = service.tilewarp("perft", variant, "4", *options)
    assert counted.returncode == 0, counted.stderr
    (found,) = objects(counted.stdout)
    assert (found["depth"], found["nodes"]) == (4, START_4[variant])
    name = counted.stderr.decode().strip()
    assert name.startswith("jobs/")
    later = tmp_path / "later.gz"
    assert service.tilewarp("jobs", "proof", name, str(later)).returncode == 0
    assert later.read_bytes() == proof.read_bytes()
    with proof.open("rb") as file:
        assert check_proof(file, 1, lambda done, total: None).nodes == START_4[variant]


def test_wrong_input_to_the_command_is_told(service: Service, tmp_path: Path) -> None:
    for arguments, told in (
        (("chakra", "3", "nonsense"), b"specification.perft.position: "),
        (("chakra", "3", "--divide"), b"are not for a job"),
        (("chakra", "3", "--verify", "2"), b"neither none nor all nor from 0 to 1"),
        (("chakra", "3", "--detach", "--proof", "x"), b"`jobs proof`"),
    ):
        refused = service.tilewarp("perft", *arguments)
        assert (refused.returncode, told in refused.stderr) == (2, True), refused.stderr


async def test_a_total_is_right_when_workers_and_gateways_are_killed(start_cluster: Start) -> None:
    cluster = start_cluster()
    gateway = cluster.start_gateway()
    first = cluster.start_worker()
    cluster.start_worker()
    await cluster.has_workers(2)
    async with client_of(gateway) as client:
        job = await client.create_job(specification("caissa", 7, share=0.3), [])

        async def has_rows() -> bool:
            return (await client.get_job(job.name)).counts.done >= 4

        await until(has_rows, 60)
        first.kill()
    gateway.kill()
    gateway = cluster.start_gateway()
    cluster.start_worker()
    async with client_of(gateway) as client:
        job = await finish(client, job, 110)
        rows = [row async for row in client.stream_results(job.name)]
        assert [row for row in rows if not row.HasField("perft")] == []
        assert (job.state, job.perft_count) == (jobs_pb2.JOB_STATE_SUCCEEDED, str(CAISSA_7))
        rows = [row async for row in client.stream_results(job.name)]
    assert len(rows) == job.counts.total == job.counts.done
    assert sum(int(r.perft.count) * int(r.perft.multiplicity) for r in rows) == CAISSA_7


async def test_a_lying_worker_is_caught_and_named(start_cluster: Start) -> None:
    cluster = start_cluster()
    gateway = cluster.start_gateway()
    liar, *_ = [cluster.start_worker() for _ in range(3)]
    liar.fail_on(any="lie")
    await cluster.has_workers(3)
    async with client_of(gateway) as client:
        wrong: list[jobs_pb2.WrongCount] = []
        for _ in range(20):
            job = await client.create_job(specification("caissa", 4, share=1.0), [])
            job = await finish(client, job, 60)
            assert (job.state, job.perft_count) == (jobs_pb2.JOB_STATE_SUCCEEDED, "405737")
            (row,) = [row async for row in client.stream_results(job.name)]
            assert row.perft.count == "405737"
            assert len(set(row.perft.workers)) == 2
            wrong += row.perft.wrong_counts
            if wrong:
                break
        assert {(one.worker.rpartition(":")[2], one.count) for one in wrong} == {
            (str(liar.pid), "405738")
        }


@pytest.mark.soak
async def test_a_total_is_right_whatever_is_killed_again_and_again(start_cluster: Start) -> None:
    """Workers, gateways and the store, every few seconds; no unit is blamed for it."""
    chance = random.Random(6)
    cluster = start_cluster(*APPEND_ONLY, lease=2.0, max_attempts=20)
    gateway = cluster.start_gateway()
    workers = [cluster.start_worker() for _ in range(2)]
    await cluster.has_workers(2)
    async with client_of(gateway) as client:
        job = await client.create_job(specification("chakra", 7, share=0.5), [])
    for _ in range(12):
        await asyncio.sleep(chance.uniform(1.0, 4.0))
        victim = chance.choice(["worker", "gateway", "store"])
        if victim == "worker":
            workers.pop(0).kill()
            workers.append(cluster.start_worker())
        elif victim == "gateway":
            gateway.kill()
            gateway = cluster.start_gateway()
        else:
            cluster.server.kill()
            cluster.server.start(*APPEND_ONLY)
    async with client_of(gateway) as client:
        job = await finish(client, job, 900)
        rows = [row async for row in client.stream_results(job.name)]
        failures = [row.failure for row in rows if row.HasField("failure")]
        assert (job.state, job.perft_count) == (jobs_pb2.JOB_STATE_SUCCEEDED, "29644860107"), (
            failures
        )
    assert sum(int(r.perft.count) * int(r.perft.multiplicity) for r in rows) == 29644860107
