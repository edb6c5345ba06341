"""Pairs of a match as the command line shows them: JSON objects, or text of one line."""

from typing import Any

from core.records import format_object
from tilewarp.v1 import match_pb2
from worker.games import read_game


def pair_object(pair: match_pb2.PlayedPair) -> dict[str, Any]:
    """Return a pair as its JSON object; the first player has White in its first game."""
    games = [{**format_object(read_game(one.record)), "reason": one.reason} for one in pair.games]
    return {
        "pair": pair.pair,
        "opening": pair.opening,
        "games": games,
        "nodes": pair.nodes,
        "worker": pair.provenance.worker,
    }


def pair_text(pair: match_pb2.PlayedPair) -> str:
    """Return how the games of a pair ended."""
    games = [
        f"{one.record.result} {one.reason} {len(one.record.moves)} plies" for one in pair.games
    ]
    return f"pair {pair.pair}: {'; '.join(games)}"
