"""RulesService: answered by the gateway itself, from core."""

import asyncio
from collections.abc import Mapping
from typing import Any

from google.protobuf import struct_pb2

from core.games import VARIANTS
from core.notation import MoveError, escape_text
from core.position import Position
from gateway.positions import PositionFaults, check_position
from gateway.status import FieldFault, InvalidRequest
from tilewarp.v1 import rules_pb2, rules_pb2_grpc
from worker.outcomes import OUTCOMES
from worker.settings import Settings


class RulesService(rules_pb2_grpc.RulesServiceServicer):
    """Answers questions about positions; everything that takes time runs in a thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def ListVariants(
        self, request: rules_pb2.ListVariantsRequest, context: Any
    ) -> rules_pb2.ListVariantsResponse:
        """List the variants the registry knows."""
        variants = [
            rules_pb2.Variant(
                name=variant.name,
                game=variant.game,
                start_fen=variant.startpos,
                flags=_show_flags(variant.flags),
            )
            for variant in VARIANTS.values()
        ]
        return rules_pb2.ListVariantsResponse(variants=variants)

    async def DescribePosition(
        self, request: rules_pb2.DescribePositionRequest, context: Any
    ) -> rules_pb2.DescribePositionResponse:
        """Describe a position, or tell its faults."""
        return await asyncio.to_thread(self._describe, request)

    async def PlayMoves(
        self, request: rules_pb2.PlayMovesRequest, context: Any
    ) -> rules_pb2.PlayMovesResponse:
        """Play moves up to the first illegal one."""
        return await asyncio.to_thread(self._play, request)

    def _describe(
        self, request: rules_pb2.DescribePositionRequest
    ) -> rules_pb2.DescribePositionResponse:
        try:
            position = check_position(request.position, self._settings)
        except PositionFaults as error:
            return rules_pb2.DescribePositionResponse(faults=error.faults)
        return rules_pb2.DescribePositionResponse(
            fen=position.fen(),
            legal_moves=position.legal_moves,
            check=position.is_check(),
            outcome=OUTCOMES[position.outcome()],
        )

    def _play(self, request: rules_pb2.PlayMovesRequest) -> rules_pb2.PlayMovesResponse:
        if len(request.moves) > self._settings.max_moves:
            fault = (
                f"{len(request.moves)} moves are more than max_moves allows "
                f"({self._settings.max_moves})"
            )
            raise InvalidRequest([FieldFault("moves", fault)])
        try:
            position = check_position(request.position, self._settings)
        except PositionFaults as error:
            faults = [FieldFault("position", fault) for fault in error.faults]
            raise InvalidRequest(faults) from error
        illegal, played = _push_all(position, list(request.moves))
        return rules_pb2.PlayMovesResponse(
            fen=position.fen(),
            played_count=played,
            legal_moves=position.legal_moves,
            check=position.is_check(),
            outcome=OUTCOMES[position.outcome()],
            illegal_move=illegal,
        )


def _show_flags(flags: Mapping[str, bool | int | str | None]) -> struct_pb2.Struct:
    shown = struct_pb2.Struct()
    shown.update(flags)
    return shown


def _push_all(position: Position, moves: list[str]) -> tuple[rules_pb2.IllegalMove | None, int]:
    """Play moves in `position`; return the one that stopped it, if any, and the count played."""
    for index, move in enumerate(moves):
        try:
            position.push(move)
        except MoveError as error:
            illegal = rules_pb2.IllegalMove(index=index, move=escape_text(move), fault=str(error))
            return illegal, index
    return None, len(moves)
