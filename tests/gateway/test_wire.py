"""Bytes of every kind sent to every method: a status says what is wrong, and nothing more."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf import descriptor_pool, message_factory

from gateway.client import Client
from gateway.server import SERVICES, Gateway
from tilewarp.v1 import analysis_pb2, jobs_pb2, position_pb2

METHODS = [
    method
    for service in SERVICES
    for method in descriptor_pool.Default().FindServiceByName(service).methods
]
FAULTS = {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}
POSITION = position_pb2.Position(variant="chakra", fen="x" * 300, moves=["b2b4"] * 3)
HOSTILE = position_pb2.Position(variant="\0", fen="\n" * 300, moves=["\x00", "é" * 100])
LIMITS = analysis_pb2.Limits(nodes=-1, depth=2**31 - 1, threads=-5, searchmoves=["\x1b[2J"] * 9)
LIMITS.time.seconds = 2**62
NOT_A_MESSAGE = (b"\xff", b"\x0a\xff\xff\xff\xff\x0f", b"\x00" * 64, b"\x0b" * 200, b"\x0a\x01\xff")


def _fill(message: Any, depth: int = 0) -> Any:
    """Give every field of a message a value that no honest client sends."""
    for field in message.DESCRIPTOR.fields:
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            continue
        if field.message_type is not None:
            if depth < 4:
                part = getattr(message, field.name)
                _fill(part.add() if field.is_repeated else part, depth + 1)
                if not field.is_repeated:
                    part.SetInParent()
            continue
        values = {
            field.CPPTYPE_STRING: b"\xff" if field.type == field.TYPE_BYTES else "\x00\x1b[2J" * 99,
            field.CPPTYPE_ENUM: 77,
            field.CPPTYPE_BOOL: True,
            field.CPPTYPE_DOUBLE: float("nan"),
            field.CPPTYPE_FLOAT: float("inf"),
            field.CPPTYPE_UINT32: 2**32 - 1,
            field.CPPTYPE_UINT64: 2**64 - 1,
            field.CPPTYPE_INT32: -(2**31),
            field.CPPTYPE_INT64: -(2**63),
        }
        value = values[field.cpp_type]
        if field.is_repeated:
            getattr(message, field.name).extend([value] * 3)
        else:
            setattr(message, field.name, value)
    return message


async def _call(channel: grpc.aio.Channel, method: Any, requests: list[bytes]) -> Any:
    """Send bytes to a method and return the error it ends with, None for success."""
    path = f"/{method.containing_service.full_name}/{method.name}"

    async def stream() -> AsyncIterator[bytes]:
        for request in requests:
            yield request

    kind = ("stream" if method.client_streaming else "unary") + (
        "_stream" if method.server_streaming else "_unary"
    )
    given = stream() if method.client_streaming else requests[0]
    call = getattr(channel, kind)(path)(given, timeout=10)
    try:
        if method.server_streaming:
            async for _ in call:
                pass
        else:
            await call
    except grpc.aio.AioRpcError as error:
        return error
    return None


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
async def test_every_method_bears_whatever_it_is_sent(
    running: Gateway, caplog: pytest.LogCaptureFixture, method: Any
) -> None:
    wanted = message_factory.GetMessageClass(method.input_type)
    filled = _fill(wanted()).SerializeToString()
    parts = [
        _fill(wanted(), depth=3).SerializeToString(),
        *(field_only.SerializeToString() for field_only in _one_by_one(wanted)),
    ]
    async with grpc.aio.insecure_channel(running.address) as channel:
        for request in (*NOT_A_MESSAGE, b"", filled, filled[: len(filled) // 2], *parts):
            error = await _call(channel, method, [request, request])
            if error is not None:
                assert "Traceback" not in (error.details() or "")
                assert error.code() not in FAULTS, (request[:50], error.details())
                assert len(error.details()) < 8000
    assert not [record for record in caplog.records if record.message == "a call failed"]
    async with Client(running.address) as client:
        assert await asyncio.wait_for(client.list_variants(), 5)


def _one_by_one(wanted: Any) -> list[Any]:
    """Return messages of which one field alone is filled."""
    filled = _fill(wanted())
    messages = []
    for field, _ in filled.ListFields():
        message = wanted()
        message.CopyFrom(filled)
        for other, _ in filled.ListFields():
            if other.name != field.name:
                message.ClearField(other.name)
        messages.append(message)
    return messages


async def test_a_submission_of_hostile_units_is_answered_row_by_row(running: Gateway) -> None:
    async with Client(running.address, name="ann") as client:
        work = jobs_pb2.AnalysisWork(limits=analysis_pb2.Limits(nodes=1))
        job = await client.create_job(jobs_pb2.JobSpecification(analysis=work), [POSITION, HOSTILE])
        rows = [row async for row in client.stream_results(job.name)]
        assert [row.WhichOneof("outcome") for row in rows] == ["rejection", "rejection"]
        assert not any(character < " " for row in rows for character in row.fen)
