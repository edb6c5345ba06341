"""RulesService through a real call."""

import grpc
from google.protobuf import json_format

from gateway.client import Client
from tests.gateway.work import START, WRONG, refuses
from tilewarp.v1 import position_pb2

CHAKRA_START = "acmqksca/1pppppp1/8/8/8/8/1PPPPPP1/ACMQKSCA w a2n,h2n a7n,h7n 0 1"
MATED = "*2*3/q3*b1/7/R3B1*/1QN4/r1*4/1n5 b a2a4 3 20"


async def test_the_variants_have_names_games_starts_and_flags(client: Client) -> None:
    variants = {variant.name: variant for variant in await client.list_variants()}
    assert set(variants) == {
        "chakra",
        "chakra-mindsports",
        "chakra-pritchard",
        "caissa",
        "caissa-codecup",
        "caissa-pritchard",
    }
    assert variants["chakra"].start_fen == CHAKRA_START
    assert variants["caissa-codecup"].game == "caissa"
    assert json_format.MessageToDict(variants["chakra"].flags)


async def test_a_position_is_described(client: Client) -> None:
    answer = await client.describe_position(START)
    assert answer.fen == CHAKRA_START
    assert len(answer.legal_moves) == 28
    assert list(answer.legal_moves) == sorted(answer.legal_moves)
    assert not answer.check
    assert answer.outcome == position_pb2.OUTCOME_ONGOING


async def test_a_finished_position_says_how(client: Client) -> None:
    answer = await client.describe_position(position_pb2.Position(variant="caissa", fen=MATED))
    assert answer.check
    assert answer.outcome == position_pb2.OUTCOME_CHECKMATE
    assert not answer.legal_moves


async def test_a_wrong_position_has_all_its_faults(client: Client) -> None:
    fen = "K3K3/8/8/8/8/8/8/4k2p w - - 0 x"
    answer = await client.describe_position(position_pb2.Position(variant="chakra", fen=fen))
    assert len(answer.faults) >= 2
    assert not answer.fen


async def test_an_unknown_variant_is_a_fault_that_names_the_known(client: Client) -> None:
    answer = await client.describe_position(position_pb2.Position(variant="chess"))
    assert len(answer.faults) == 1
    assert "caissa-codecup" in answer.faults[0]


async def test_the_position_has_the_moves_played(client: Client) -> None:
    position = position_pb2.Position(variant="chakra", moves=["b2b4", "g7g5"])
    answer = await client.describe_position(position)
    assert answer.fen.split()[1] == "w"
    wrong = position_pb2.Position(variant="chakra", moves=["b2b4", "g7g9"])
    (fault,) = (await client.describe_position(wrong)).faults
    assert fault.startswith("move 2: ")


async def test_sizes_are_refused_with_their_setting(client: Client) -> None:
    long = position_pb2.Position(variant="chakra", fen="x" * 300, moves=["b2b4"] * 3000)
    faults = (await client.describe_position(long)).faults
    assert "300" in faults[0]
    assert "max_fen_length" in faults[0]
    assert "max_moves" in faults[1]


async def test_play_stops_at_the_first_illegal_move(client: Client) -> None:
    answer = await client.play_moves(START, ["b2b4", "b4b5\x00", "b2b3"])
    assert answer.played_count == 1
    assert answer.illegal_move.index == 1
    assert answer.illegal_move.move == "b4b5\\x00"
    assert answer.illegal_move.fault
    assert answer.fen.split()[1] == "b"
    assert answer.legal_moves


async def test_play_to_the_end(client: Client) -> None:
    answer = await client.play_moves(START, ["b2b4", "g7g5"])
    assert answer.played_count == 2
    assert not answer.HasField("illegal_move")


async def test_play_from_no_position_is_an_error(client: Client) -> None:
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, "position: "):
        await client.play_moves(WRONG, ["b2b4"])
    with refuses(grpc.StatusCode.INVALID_ARGUMENT, "max_moves"):
        await client.play_moves(START, ["b2b4"] * 3000)
