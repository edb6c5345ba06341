"""A match of two engines: games side by side, until all are played or a test decides."""

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from core.adjudication import Terms
from core.match.game import Game, forfeit
from core.match.openings import choose_pair_opening, replay
from core.records import DRAWN, WON
from gateway.match.control import TimeControl, play_timed_game
from gateway.match.engines import CODECUP, PlayingEngine, Spec, start_engine
from gateway.match.program import Keeper, ProgramFault
from gateway.match.rating import SHARES, Sprt

Report = Callable[["Round", Game], None]


@dataclass(frozen=True)
class Plan:
    """What is played: `pairs` of games, each from an opening that follows from seed and number."""

    variant: str
    engines: tuple[Spec, Spec]
    control: TimeControl
    terms: Terms
    pairs: int
    seed: int
    sprt: Sprt | None
    concurrency: int

    def find_control(self, index: int) -> TimeControl:
        """Return what bounds the moves of an engine: its own bounds, or the match's."""
        own = dict(self.engines[index].bounds)
        if not own:
            return self.control
        return TimeControl(
            nodes=own.get("nodes"),
            movetime=own.get("movetime"),
            clock=None,
            grace=self.control.grace,
            depth=own.get("depth"),
        )


@dataclass(frozen=True)
class Round:
    """A game to play: its pair, from 1, and which of the two engines has White."""

    pair: int
    white: int


class Standing:
    """The results so far, as the first engine's.

    `pairs`: finished pairs by their points: 0, ½, 1, 1½, 2. `forfeits`: of each engine.
    """

    def __init__(self) -> None:
        self.won = self.drawn = self.lost = 0
        self.pairs = [0] * len(SHARES)
        self.forfeits = [0, 0]
        self._points: dict[Round, float] = {}

    def add(self, task: Round, game: Game) -> None:
        """Count a game; with the other of its pair, the pair too."""
        points = 0.5
        if game.result != DRAWN:
            winner = task.white ^ WON.index(game.result)
            points = 1.0 - winner
            self.forfeits[1 - winner] += game.is_forfeit
        self._points[task] = points
        self.won += points == 1
        self.drawn += points == 0.5
        self.lost += points == 0
        other = self._points.get(Round(task.pair, 1 - task.white))
        if other is not None:
            self.pairs[round(2 * (points + other))] += 1

    def __contains__(self, task: Round) -> bool:
        return task in self._points


def find_identities(engines: tuple[Spec, Spec], keeper: Keeper) -> list[str]:
    """Return what the engines call themselves; ProgramFault when one cannot be started."""
    identities = []
    for spec in engines:
        engine = start_engine(spec, keeper)
        identities.append(engine.identity)
        engine.close()
    return identities


def play_match(plan: Plan, standing: Standing, keeper: Keeper, report: Report) -> None:
    """Play what the standing lacks, and add it there, until the test decides or all is played.

    `report` is called with each game after it is added. The keeper is closed in the end, however
    that comes; games that run then are not counted.
    """
    hall = _Hall(plan, standing, keeper)
    hall.open()
    try:
        while not is_decided(plan, standing):
            item = hall.take_finished()
            if item is None:
                return
            standing.add(*item)
            report(*item)
    finally:
        hall.close()


def is_decided(plan: Plan, standing: Standing) -> bool:
    """Return whether the test has decided the match."""
    return plan.sprt is not None and plan.sprt.decide(standing.pairs) is not None


class _Hall:
    """Threads that each play one game after the other, with engines of their own."""

    def __init__(self, plan: Plan, standing: Standing, keeper: Keeper) -> None:
        rounds = [Round(pair, white) for pair in range(1, plan.pairs + 1) for white in (0, 1)]
        self._rounds: Iterator[Round] = iter([task for task in rounds if task not in standing])
        self._plan = plan
        self._keeper = keeper
        self._lock = threading.Lock()
        self._finished: queue.SimpleQueue[tuple[Round, Game] | Exception | None]
        self._finished = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._play_all) for _ in range(plan.concurrency)]
        self._running = plan.concurrency

    def open(self) -> None:
        """Begin to play."""
        for thread in self._threads:
            thread.start()

    def take_finished(self) -> tuple[Round, Game] | None:
        """Wait for a game that is finished; None when no more will come."""
        while self._running:
            item = self._finished.get()
            if isinstance(item, Exception):
                raise item
            if item is not None:
                return item
            self._running -= 1
        return None

    def close(self) -> None:
        """Let no further game begin, kill the engines, and wait for the threads."""
        with self._lock:
            self._rounds = iter(())
        self._keeper.close()
        for thread in self._threads:
            thread.join()

    def _play_all(self) -> None:
        table = _Table(self._plan, self._keeper)
        try:
            while (task := self._take()) is not None:
                self._finished.put((task, table.play(task)))
        except Exception as error:
            self._finished.put(error)
        finally:
            table.close()
            self._finished.put(None)

    def _take(self) -> Round | None:
        with self._lock:
            return next(self._rounds, None)


class _Table:
    """Two engines that play game after game; after a forfeit both are started anew."""

    def __init__(self, plan: Plan, keeper: Keeper) -> None:
        self._plan = plan
        self._keeper = keeper
        self._engines: list[PlayingEngine | None] = [None, None]

    def play(self, task: Round) -> Game:
        """Play one game."""
        opening = _find_opening(self._plan, task)
        players = []
        for side, index in enumerate((task.white, 1 - task.white)):
            try:
                players.append(self._prepare(index))
            except ProgramFault as error:
                self.close()
                return forfeit(Game(opening), side, error)
        position = replay(self._plan.variant, opening)
        engines = (players[0], players[1])
        controls = self._plan.find_control(task.white), self._plan.find_control(1 - task.white)
        game = play_timed_game(position, engines, controls, self._plan.terms)
        if game.is_forfeit:
            self.close()
        return game

    def close(self) -> None:
        """End the engines."""
        for engine in self._engines:
            if engine is not None:
                engine.close()
        self._engines = [None, None]

    def _prepare(self, index: int) -> PlayingEngine:
        engine = self._engines[index]
        if engine is None:
            engine = self._engines[index] = start_engine(self._plan.engines[index], self._keeper)
        engine.begin_game()
        return engine


def _find_opening(plan: Plan, task: Round) -> list[str]:
    """Return a pair's opening; none when an engine's protocol knows no other start."""
    if any(spec.protocol == CODECUP for spec in plan.engines):
        return []
    return choose_pair_opening(plan.variant, plan.seed, task.pair)
