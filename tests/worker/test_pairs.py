"""A pair of a match becomes a row with two games, colours exchanged."""

import threading

import pytest

from core.engine import Engine
from core.limits import Limits
from core.match.openings import choose_pair_opening, replay
from core.version import ENGINE_VERSION
from tilewarp.v1 import adjudication_pb2, analysis_pb2, jobs_pb2, match_pb2
from worker.games import read_played_game
from worker.pairs import PairPlayer
from worker.store import ClaimedUnit, UnitIndex

STRONG = analysis_pb2.Limits(nodes=2000, hash_mb=1)
WEAK = analysis_pb2.Limits(depth=1, hash_mb=1)
UNIT = ClaimedUnit(UnitIndex(7), match_pb2.PlayedPair(pair=3).SerializeToString(), 2)


def specification(
    first: analysis_pb2.Limits,
    second: analysis_pb2.Limits,
    variant: str = "caissa",
    max_plies: int = 24,
) -> bytes:
    terms = adjudication_pb2.AdjudicationTerms(max_plies=max_plies)
    work = match_pb2.MatchWork(variant=variant, first=first, second=second, terms=terms, seed=5)
    return jobs_pb2.JobSpecification(match=work).SerializeToString()


def play(spec: bytes) -> jobs_pb2.ResultRow:
    player = PairPlayer("w")
    finished = player.run(spec, UNIT)
    assert finished is not None
    assert player.nodes == finished.nodes > 0
    row = jobs_pb2.ResultRow.FromString(finished.payload)
    assert row.pair.nodes == finished.nodes
    return row


def test_a_pair_is_two_games_with_colours_exchanged() -> None:
    row = play(specification(STRONG, WEAK))
    opening = choose_pair_opening("caissa", 5, 3)
    position = replay("caissa", opening)
    assert (row.index, row.fen, row.pair.pair, row.pair.opening) == (
        *(7, position.fen()),
        *(3, len(opening)),
    )
    games = [read_played_game(game, row.pair.opening) for game in row.pair.games]
    assert [game.opening for game in games] == [opening] * 2
    searches = [
        Engine().search(position, Limits(nodes=2000, hash_mb=1)),
        Engine().search(position, Limits(depth=1, hash_mb=1)),
    ]
    if len(opening) % 2:
        searches.reverse()
    assert searches[0].score != searches[1].score
    for game, found in zip(games, searches, strict=True):
        assert (game.moves[0], game.scores[0]) == (found.bestmove, found.score)
        assert len(game.moves) == len(game.scores) == len(game.seconds)
        assert not game.is_forfeit
        for move in game.moves:
            position.push(move)
        assert (game.reason, game.result) == (
            position.outcome() or "length",
            game.result if position.outcome() else "1/2-1/2",
        )
        for _ in game.moves:
            position.pop()
    source = row.pair.provenance
    assert (source.worker, source.attempt, source.engine_version) == ("w", 2, ENGINE_VERSION)
    assert source.command == (
        "tilewarp match caissa --engine first=builtin:nodes=2000,threads=1,hash-mb=1 "
        "--engine second=builtin:depth=1,threads=1,hash-mb=1 --max-plies 24 --seed 5 --pairs 3"
    )


@pytest.mark.parametrize("variant", ["chakra", "caissa"])
def test_equal_players_play_the_same_game_whatever_was_played_before(variant: str) -> None:
    spec = specification(STRONG, STRONG, variant)
    one, other = play(spec).pair.games
    again = play(spec).pair.games
    for game in (one, other, *again):
        for move in game.record.moves:
            move.ClearField("time")
    assert one == other == again[0] == again[1]


def test_a_game_ends_on_terms() -> None:
    spec = jobs_pb2.JobSpecification.FromString(specification(WEAK, WEAK))
    spec.match.terms.draw_score = 30_000
    spec.match.terms.draw_count = 1
    row = play(spec.SerializeToString())
    for game in row.pair.games:
        assert (game.record.result, game.reason) == ("1/2-1/2", "draw-score")
        assert len(game.record.moves) == row.pair.opening + 2
    command = row.pair.provenance.command
    assert " --max-plies 24 --draw 30000 1 0 --seed " in command


@pytest.mark.parametrize("nodes", [1, 10**9])
def test_a_pair_moves_on_and_can_be_stopped(nodes: int) -> None:
    """In a long search, and among searches so short that hardly one of them is met."""
    player, found = PairPlayer("w"), []
    limits = analysis_pb2.Limits(nodes=nodes, hash_mb=1)
    spec = specification(limits, limits, max_plies=2000)
    thread = threading.Thread(target=lambda: found.append(player.run(spec, UNIT)))
    thread.start()
    seen = set()
    while len(seen) < 3:
        seen.add(player.nodes)
    while thread.is_alive():
        player.stop()
        thread.join(0.05)
    assert found == [None]
