"""Perft jobs through real calls; the test does the workers' part, with a runner of theirs."""

import grpc
import pytest

from core.position import Position
from gateway.client import Client
from gateway.kinds.perft import split_perft
from tests.gateway.work import START, collect, refuses
from tilewarp.v1 import jobs_pb2, position_pb2
from worker.perft import PerftRunner
from worker.settings import Settings
from worker.store import Finished, Store


def specification(
    variant: str, depth: int, fen: str = "", **given: object
) -> jobs_pb2.JobSpecification:
    position = position_pb2.Position(variant=variant, fen=fen)
    work = jobs_pb2.PerftWork(position=position, depth=depth, **given)  # type: ignore[arg-type]
    return jobs_pb2.JobSpecification(perft=work)


def work_off(store: Store) -> None:
    runner = PerftRunner("w")
    while claim := store.claim("w"):
        for unit in claim.units:
            finished = runner.run(claim.spec, unit)
            assert finished is not None
            store.hand_in(claim, [finished])


@pytest.mark.parametrize("keep_images", [False, True])
@pytest.mark.parametrize(("variant", "depth", "nodes"), [("chakra", 4, 740585), ("caissa", 0, 1)])
async def test_a_total_is_the_sum_of_its_rows(
    client: Client, store: Store, variant: str, depth: int, nodes: int, keep_images: bool
) -> None:
    job = await client.create_job(specification(variant, depth, keep_images=keep_images), [])
    assert (job.kind, job.perft_count) == (jobs_pb2.JOB_KIND_PERFT, "")
    work_off(store)
    job = await client.get_job(job.name)
    assert (job.state, job.perft_count) == (jobs_pb2.JOB_STATE_SUCCEEDED, str(nodes))
    rows = await collect(client.stream_results(job.name))
    assert sum(int(row.perft.count) * int(row.perft.multiplicity) for row in rows) == nodes


async def test_moves_played_are_part_of_the_position(client: Client, store: Store) -> None:
    asked = specification("chakra", 2)
    asked.perft.position.moves.extend(["b2b4", "g7g5"])
    job = await client.create_job(asked, [])
    work_off(store)
    position = Position("chakra")
    position.push("b2b4")
    position.push("g7g5")
    assert (await client.get_job(job.name)).perft_count == str(position.perft(2))


@pytest.mark.parametrize(("variant", "depth", "units"), [("chakra", 8, 784), ("caissa", 8, 630)])
def test_large_perfts_are_split_into_seconds(variant: str, depth: int, units: int) -> None:
    rows = [
        jobs_pb2.ResultRow.FromString(unit)
        for unit in split_perft(specification(variant, depth), Settings())
    ]
    assert len(rows) == units
    assert {row.perft.depth for row in rows} == {depth - 2}
    assert sum(int(row.perft.multiplicity) for row in rows) == Position(variant).perft(2)


def test_a_split_has_no_more_units_than_a_job_may() -> None:
    settings = Settings(max_positions=100)
    rows = split_perft(specification("chakra", 30), settings)
    assert len(rows) == 28
    assert len(split_perft(specification("chakra", 30), Settings())) == 14134


async def test_a_prefix_that_is_given_up_fails_the_job(
    client: Client, store: Store, settings: Settings
) -> None:
    job = await client.create_job(specification("chakra", 3), [])
    for _ in range(settings.max_attempts):
        claim = store.claim("w")
        assert claim is not None
        store.hand_in(claim, [Finished(claim.units[0].index, b"it broke", is_failure=True)])
    job = await client.get_job(job.name)
    assert (job.state, job.perft_count) == (jobs_pb2.JOB_STATE_FAILED, "")
    assert "no total" in job.error
    (row,) = await collect(client.stream_results(job.name))
    assert row.failure.cause == "it broke"
    assert row.failure.command == f"tilewarp perft chakra 3 '{row.fen}'"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (specification("chakra", -1), "specification.perft.depth: -1 is not from 0"),
        (specification("chakra", 41), "specification.perft.depth: 41 is not from 0"),
        (specification("chakra", 1, verify_share=1.5), "specification.perft.verify_share: 1.5"),
        (specification("chakra", 1, verify_share=float("nan")), "verify_share: nan"),
        (specification("chess", 1), "specification.perft.position: unknown variant"),
        (specification("chakra", 1, "nonsense"), "specification.perft.position: "),
    ],
)
async def test_what_is_wrong_is_named(
    client: Client, asked: jobs_pb2.JobSpecification, told: str
) -> None:
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, told):
        await client.create_job(asked, [])


async def test_a_perft_takes_no_positions(client: Client) -> None:
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, "a perft has one message"):
        await client.create_job(specification("chakra", 1), [START])
