"""Adjudication jobs at the door: what is refused, and what a worker is given."""

from typing import Any

import grpc
import pytest

from gateway.client import Client
from tests.gateway.work import claim, collect, refuses
from tilewarp.v1 import adjudication_pb2, jobs_pb2, position_pb2
from worker.adjudicator import Adjudicator
from worker.store import Finished, Store


def specification(**terms: Any) -> jobs_pb2.JobSpecification:
    work = adjudication_pb2.AdjudicationWork(terms=adjudication_pb2.AdjudicationTerms(**terms))
    return jobs_pb2.JobSpecification(adjudication=work)


def game(variant: str = "chakra", moves: str = "", **given: Any) -> adjudication_pb2.Game:
    played = [adjudication_pb2.PlayedMove(move=move) for move in moves.split()]
    return adjudication_pb2.Game(variant=variant, moves=played, **{"result": "*", **given})


async def test_games_are_units_and_wrong_ones_rows(client: Client, store: Store) -> None:
    games = [
        game(moves="e2e4 e2e4"),
        game(variant="chess"),
        game(fen="no position"),
        game(result="won"),
        game(moves="x" * 17),
    ]
    job = await client.create_job(specification(), games)
    assert job.kind == jobs_pb2.JOB_KIND_ADJUDICATION
    (claimed,) = claim(store)
    assert claimed.kind == "adjudication"
    rows = [Adjudicator("w").run(claimed.spec, unit) for unit in claimed.units]
    store.hand_in(claimed, [row for row in rows if row])
    first, *others = await collect(
        client.stream_results(job.name, jobs_pb2.RESULT_ORDER_INPUT, follow=True)
    )
    assert (first.adjudication.result, first.adjudication.illegal.move) == ("1-0", "e2e4")
    faults = ["; ".join(row.rejection.faults) for row in others]
    for fault, reason in zip(
        faults,
        ["unknown variant 'chess'", "fields are required", "the result 'won'", "more than 16"],
        strict=True,
    ):
        assert reason in fault
    counts = (await client.get_job(job.name)).counts
    assert (counts.done, counts.rejected) == (1, 4)


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (specification(resign_count=-1), "specification.adjudication.terms"),
        (specification(max_plies=10_001), "max_plies 10001 is not between"),
    ],
)
async def test_wrong_terms_are_refused(
    client: Client, wanted: jobs_pb2.JobSpecification, reason: str
) -> None:
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, reason):
        await client.create_job(wanted, [game()])


async def test_limits_are_those_of_a_search(client: Client) -> None:
    wanted = specification()
    wanted.adjudication.limits.SetInParent()
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, "one of nodes, depth, time, mate is required"):
        await client.create_job(wanted, [game()])
    wanted.adjudication.limits.nodes = 5
    wanted.adjudication.limits.searchmoves.append("e2e4")
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, "games have no moves to be considered alone"):
        await client.create_job(wanted, [game()])


async def test_a_submission_has_games_and_no_positions(client: Client) -> None:
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, "must carry games"):
        await client.create_job(specification(), [position_pb2.Position(variant="chakra")])
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, "at least one game"):
        await client.create_job(specification(), [])


@pytest.mark.parametrize(
    ("nodes", "command"),
    [
        (0, "tilewarp play chakra startpos e2e4 e7e5"),
        (70, "tilewarp search chakra startpos --moves 'e2e4 e7e5' --nodes 70"),
    ],
)
async def test_a_given_up_game_is_a_row_with_a_command(
    client: Client, store: Store, nodes: int, command: str
) -> None:
    wanted = specification()
    if nodes:
        wanted.adjudication.limits.nodes = nodes
    job = await client.create_job(wanted, [game(moves="e2e4 e7e5")])
    for _ in range(3):
        (claimed,) = claim(store)
        store.hand_in(claimed, [Finished(claimed.units[0].index, b"it broke", is_failure=True)])
    (row,) = await collect(client.stream_results(job.name))
    assert (row.failure.cause, row.failure.attempts) == ("it broke", 3)
    assert row.failure.command == command
    assert row.fen.startswith("acmqksca/")
