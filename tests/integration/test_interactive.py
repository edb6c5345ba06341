"""One position analysed while its caller listens, by the real service."""

import asyncio
import os
import signal
import time
from contextlib import aclosing

import grpc
import pytest

from core.position import Position
from gateway.client import Client, parse_line
from tests.gateway.work import collect, refuses
from tests.integration.stack import Service, random_lines, wait_until
from tilewarp.v1 import analysis_pb2, position_pb2

ENDLESS = analysis_pb2.Limits(nodes=10**9)


def _limits(milliseconds: int, **given: int) -> analysis_pb2.Limits:
    limits = analysis_pb2.Limits(**given)
    limits.time.FromMilliseconds(milliseconds)
    return limits


@pytest.mark.parametrize("variant", ["chakra", "caissa"])
async def test_lines_deepen_until_the_final_result(service: Service, variant: str) -> None:
    async with Client(service.address) as client:
        position = position_pb2.Position(variant=variant)
        results = await collect(client.analyse(position, _limits(800, multipv=2)))
    *running, final = results
    assert len(running) >= 3
    depths = [result.depth for result in running]
    assert depths == sorted(set(depths))
    assert final.depth >= depths[-1]
    legal = Position(variant).legal_moves
    for result in results:
        assert [line.rank for line in result.lines] == [1, 2]
        assert result.best_move == result.lines[0].moves[0]
        assert result.best_move in legal
    assert {result.stop_reason for result in running} == {analysis_pb2.STOP_REASON_UNSPECIFIED}
    assert final.reached_limit == analysis_pb2.REACHED_LIMIT_TIME
    assert final.provenance.worker
    assert final.time.ToMilliseconds() >= 800


async def test_leaving_frees_the_workers_within_a_second(service: Service) -> None:
    position = position_pb2.Position(variant="chakra")
    async with Client(service.address) as client:
        async with (
            aclosing(client.analyse(position, ENDLESS)) as first,
            aclosing(client.analyse(position, ENDLESS)) as second,
        ):
            await anext(first)
            await anext(second)
        began = time.monotonic()
        await collect(client.analyse(position, analysis_pb2.Limits(depth=1)))
        assert time.monotonic() - began < 1


async def test_a_deadline_ends_the_search(service: Service) -> None:
    position = position_pb2.Position(variant="caissa")
    found = []
    async with Client(service.address) as client:
        with refuses(grpc.StatusCode.DEADLINE_EXCEEDED, ""):
            async for result in client.analyse(position, ENDLESS, timeout=0.8):
                found.append(result.depth)
        assert found
        began = time.monotonic()
        await collect(client.analyse(position, analysis_pb2.Limits(depth=1)))
        assert time.monotonic() - began < 1


async def test_a_killed_worker_process_costs_no_result(service: Service) -> None:
    position = position_pb2.Position(variant="chakra")
    async with Client(service.address) as client, asyncio.timeout(60):
        stream = client.analyse(position, _limits(1500))
        first = await anext(stream)
        for victim in service.pool():
            os.kill(victim, signal.SIGKILL)
        final = [result async for result in stream][-1]
    assert not first.HasField("provenance")
    assert final.provenance.attempt == 2
    wait_until(lambda: len(service.pool()) == 2, 20)


async def test_a_killed_gateway_frees_the_workers_soon(service: Service) -> None:
    position = position_pb2.Position(variant="chakra")
    async with Client(service.address, patience=0.0) as client:
        streams = [client.analyse(position, ENDLESS) for _ in service.pool()]
        for stream in streams:
            await anext(stream)
        os.kill(service.find_child("gateway"), signal.SIGKILL)
        for stream in streams:
            with refuses(grpc.StatusCode.UNAVAILABLE, ""):
                await collect(stream)
    async with Client(service.address, patience=20.0) as client, asyncio.timeout(30):
        async for _ in client.analyse(position, analysis_pb2.Limits(depth=1)):
            pass


async def test_a_mate_is_proved(service: Service) -> None:
    position = position_pb2.Position(variant="chakra", fen="k7/8/2K5/8/8/8/8/6Q1 w - - 0 1")
    async with Client(service.address) as client:
        final = (await collect(client.analyse(position, analysis_pb2.Limits(mate=2))))[-1]
    assert final.mate.verdict == analysis_pb2.MATE_VERDICT_PROVED
    assert final.score.mate == 2


async def test_many_positions_are_answered_as_one_is(service: Service) -> None:
    limits = analysis_pb2.Limits(nodes=200)
    positions = {
        f"{variant} {place}": parse_line(variant, line)
        for variant in ("chakra", "caissa")
        for place, line in enumerate(random_lines(variant, 60, seed=7))
    }
    async with Client(service.address) as client:
        found = {
            result.id: result.analysis
            for result in await collect(client.analyse_many(positions.items(), limits))
        }
        assert set(found) == set(positions)
        for name in list(positions)[::30]:
            *_, alone = await collect(client.analyse(positions[name], limits))
            assert alone.lines == found[name].lines
    assert all(result.provenance.worker for result in found.values())
