"""Match jobs at the door: what is refused, and what a worker is given."""

from typing import Any

import grpc
import pytest

from gateway.client import Client
from tests.gateway.work import START, claim, collect, refuses
from tilewarp.v1 import adjudication_pb2, analysis_pb2, jobs_pb2, match_pb2
from worker.pairs import PairPlayer
from worker.store import Finished, Store

FIELD = "specification.match"


def limits(**given: Any) -> analysis_pb2.Limits:
    return analysis_pb2.Limits(**{"nodes": 50, "hash_mb": 1, **given})


def specification(*pairs: tuple[int, int], **given: Any) -> jobs_pb2.JobSpecification:
    fields = {
        "variant": "caissa",
        "first": limits(),
        "second": limits(),
        "terms": adjudication_pb2.AdjudicationTerms(max_plies=12),
        "pairs": [match_pb2.PairRange(first=first, count=count) for first, count in pairs],
        **given,
    }
    return jobs_pb2.JobSpecification(match=match_pb2.MatchWork(**fields))


async def test_pairs_are_units(client: Client, store: Store) -> None:
    job = await client.create_job(specification((2, 1), (5, 2)), [])
    assert (job.kind, job.counts.total) == (jobs_pb2.JOB_KIND_MATCH, 3)
    player = PairPlayer("w")
    while claimed := store.claim("w"):
        assert claimed.kind == "match"
        for unit in claimed.units:
            finished = player.run(claimed.spec, unit)
            assert finished is not None
            store.hand_in(claimed, [finished])
    rows = await collect(client.stream_results(job.name))
    assert [(row.index, row.pair.pair) for row in rows] == [(0, 2), (1, 5), (2, 6)]
    assert all(len(row.pair.games) == 2 for row in rows)
    job = await client.get_job(job.name)
    assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert job.nodes == sum(row.pair.nodes for row in rows)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (specification((1, 1), variant="chess"), ".variant: 'chess' is none of chakra"),
        (specification((1, 1), first=analysis_pb2.Limits()), ".first: one of nodes"),
        (specification((1, 1), second=limits(nodes=-1)), ".second.nodes: -1 is negative"),
        (specification((1, 1), second=limits(hash_mb=0)), ".second.hash_mb: a player's table"),
        (specification((1, 1), first=limits(mate=2)), ".first.mate: players are not asked"),
        (specification((1, 1), first=limits(multipv=2)), ".first.multipv: players look for"),
        (
            specification((1, 1), first=limits(searchmoves=["c3c5"])),
            ".first.searchmoves: players consider",
        ),
        (
            specification((1, 1), terms=adjudication_pb2.AdjudicationTerms()),
            ".terms.max_plies: 0 is not from 1",
        ),
        (
            specification((1, 1), terms=adjudication_pb2.AdjudicationTerms(max_plies=2001)),
            ".terms.max_plies: 2001 is not from 1 to what max_moves allows (2000)",
        ),
        (
            specification(
                (1, 1), terms=adjudication_pb2.AdjudicationTerms(max_plies=9, draw_count=-1)
            ),
            ".terms: draw_count -1",
        ),
        (specification(), ".pairs: a match needs at least one pair"),
        (specification((0, 1)), ".pairs: 1 pairs from 0 are no range from 1"),
        (specification((1, 0)), ".pairs: 0 pairs from 1 are no range"),
        (specification((1, 3), (3, 1)), ".pairs: 1 pairs from 3 are no range from 4"),
        (specification((2**31 - 1, 2)), ".pairs: 2 pairs from 2147483647 are no range"),
        (specification((1, 100_001)), ".pairs: 100001 pairs are more than max_positions"),
        (specification(*((2 * n + 1, 1) for n in range(1001))), ".pairs: 1001 ranges are more"),
    ],
)
async def test_what_is_wrong_is_named(
    client: Client, asked: jobs_pb2.JobSpecification, told: str
) -> None:
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, FIELD + told):
        await client.create_job(asked, [])


async def test_a_match_takes_no_positions(client: Client) -> None:
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, "a match has one message"):
        await client.create_job(specification((1, 1)), [START])


async def test_a_given_up_pair_is_a_row_with_a_command(client: Client, store: Store) -> None:
    job = await client.create_job(specification((4, 1), second=limits(threads=2)), [])
    for _ in range(3):
        (claimed,) = claim(store)
        store.hand_in(claimed, [Finished(claimed.units[0].index, b"it broke", is_failure=True)])
    (row,) = await collect(client.stream_results(job.name))
    assert (row.failure.cause, row.failure.attempts) == ("it broke", 3)
    assert row.failure.command == (
        "tilewarp match caissa --engine first=builtin:nodes=50,threads=1,hash-mb=1 "
        "--engine second=builtin:nodes=50,threads=2,hash-mb=1 --max-plies 12 --seed 0 --pairs 4"
    )
