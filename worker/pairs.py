"""From a unit of a match, a pair of games, to its row, played by the engine of this process."""

from functools import partial

from core.adjudication import Terms
from core.engine import Analysis, Engine
from core.limits import Limits
from core.match.game import Answer, Game, play_game
from core.match.openings import choose_pair_opening, replay
from core.position import Position
from tilewarp.v1 import jobs_pb2, match_pb2
from worker.command import format_match_command
from worker.games import format_played_game, read_terms
from worker.limits import read_limits
from worker.results import format_provenance
from worker.store import ClaimedUnit, Finished


class _Stopped(Exception):
    """The pair was stopped before its games were over."""


class PairPlayer:
    """Plays the pairs of matches, one at a time."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        # The one that searches now.
        self._engine = Engine()
        self._is_stopped = False
        # Of the searches that are finished in the unit that runs.
        self._nodes = 0
        self._seconds = 0.0

    @property
    def nodes(self) -> int:
        """Nodes searched for the pair that runs."""
        return self._nodes + self._engine.nodes

    def take_progress(self) -> bytes | None:
        """Return None: nothing is told of a pair before both games are over."""
        return None

    def stop(self) -> None:
        """End the pair that runs now, at its search."""
        self._is_stopped = True
        self._engine.stop()

    def run(self, spec: bytes, unit: ClaimedUnit) -> Finished | None:
        """Play a pair; None when it was stopped before its end."""
        work = jobs_pb2.JobSpecification.FromString(spec).match
        pair = match_pb2.PlayedPair.FromString(unit.unit).pair
        self._is_stopped, self._nodes, self._seconds = False, 0, 0.0
        limits = read_limits(work.first), read_limits(work.second)
        try:
            search = partial(self._search, Engine())
            opening = choose_pair_opening(work.variant, work.seed, pair, search)
            games = [
                self._play(replay(work.variant, opening), limits, white, read_terms(work.terms))
                for white in (0, 1)
            ]
        except _Stopped:
            return None
        finally:
            self._engine = Engine()  # the players' tables may be large
        played = match_pb2.PlayedPair(
            pair=pair,
            opening=len(opening),
            games=[format_played_game(game, work.variant) for game in games],
            nodes=self._nodes,
            provenance=format_provenance(
                self._worker,
                threads=max(one.threads for one in limits),
                attempt=unit.attempt,
                command=format_match_command(work, pair),
            ),
        )
        played.time.FromMicroseconds(round(self._seconds * 1_000_000))
        fen = replay(work.variant, opening).fen()
        row = jobs_pb2.ResultRow(index=unit.index, fen=fen, pair=played)
        return Finished(unit.index, row.SerializeToString(), self._nodes, self._seconds)

    def _play(
        self, position: Position, limits: tuple[Limits, Limits], white: int, terms: Terms
    ) -> Game:
        """Play a game from `position`; `white`: which of the players has White."""
        players = [partial(self._choose_move, Engine(keep=True), one) for one in limits]
        return play_game(position, (players[white], players[1 - white]), terms)

    def _choose_move(self, engine: Engine, limits: Limits, position: Position) -> Answer:
        found = self._search(engine, position, limits)
        assert found.bestmove is not None  # or the game would be over
        return Answer(found.bestmove, found.score, found.seconds)

    def _search(self, engine: Engine, position: Position, limits: Limits) -> Analysis:
        """Search a position; its nodes and time are added to the pair's."""
        if self._is_stopped:
            raise _Stopped
        self._engine = engine
        found = engine.search(position, limits)
        engine.forget()
        if found.ended == "stopped":
            raise _Stopped
        self._nodes += found.nodes
        self._seconds += found.seconds
        return found
