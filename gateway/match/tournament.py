"""A match of two engines: games side by side, until all are played or a test decides."""

import queue
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gateway.match.engines import PlayingEngine, Spec, start_engine
from gateway.match.game import DRAWN, WON, Game, TimeControl, play_game
from gateway.match.openings import choose_opening, replay
from gateway.match.program import Keeper, ProgramFault
from gateway.match.rating import Sprt, Tally


@dataclass(frozen=True)
class Plan:
    """What is played: `pairs` of games, each from an opening that follows from seed and number."""

    variant: str
    engines: tuple[Spec, Spec]
    control: TimeControl
    pairs: int
    seed: int
    sprt: Sprt | None
    concurrency: int


@dataclass(frozen=True)
class Round:
    """A game to play: its pair, from 0, and which of the two engines has White."""

    pair: int
    white: int


class Standing:
    """The results so far."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.played: dict[Round, float] = {}

    def add(self, task: Round, game: Game) -> None:
        """Count a game; with the other of its pair, the pair too."""
        points = find_points(task, game)
        self.played[task] = points
        self.tally.add_game(points)
        other = self.played.get(Round(task.pair, 1 - task.white))
        if other is not None:
            self.tally.add_pair(points + other)


def find_points(task: Round, game: Game) -> float:
    """Return the points of the first engine: 1, ½ or 0."""
    if game.result == DRAWN:
        return 0.5
    return 1.0 if game.result == WON[task.white] else 0.0


def play_match(plan: Plan, standing: Standing, report: Callable[[Round, Game], None]) -> None:
    """Play what the standing lacks, and add it there, until the test decides or all is played.

    `report` is called with each game that was played, after it is added. No program is left when
    this returns or raises.

    Raises:
        ProgramFault: an engine cannot be started at all.
    """
    with Keeper() as keeper:
        for spec in plan.engines:
            start_engine(spec, keeper).close()
        done: queue.SimpleQueue[tuple[Round, Game] | BaseException | None] = queue.SimpleQueue()
        rounds = _list_rounds(plan, standing)
        hall = _Hall(plan, keeper, rounds, done)
        running = hall.open()
        try:
            while running and not _is_decided(plan, standing):
                item = done.get()
                if item is None:
                    running -= 1
                elif isinstance(item, BaseException):
                    raise item
                else:
                    standing.add(*item)
                    report(*item)
        finally:
            keeper.close()
            hall.close()


def _is_decided(plan: Plan, standing: Standing) -> bool:
    return plan.sprt is not None and plan.sprt.decide(standing.tally.pairs) is not None


def _list_rounds(plan: Plan, standing: Standing) -> Iterator[Round]:
    rounds = (Round(pair, white) for pair in range(plan.pairs) for white in (0, 1))
    return (task for task in rounds if task not in standing.played)


class _Hall:
    """Threads that each play one game after the other, with engines of their own."""

    def __init__(
        self,
        plan: Plan,
        keeper: Keeper,
        rounds: Iterator[Round],
        done: "queue.SimpleQueue[tuple[Round, Game] | BaseException | None]",
    ) -> None:
        self._plan = plan
        self._keeper = keeper
        self._rounds = rounds
        self._done = done
        self._lock = threading.Lock()
        self._is_closed = False
        self._threads = [threading.Thread(target=self._play_all) for _ in range(plan.concurrency)]

    def open(self) -> int:
        """Start the threads and return their number; each puts None when it has no game left."""
        for thread in self._threads:
            thread.start()
        return len(self._threads)

    def close(self) -> None:
        """Let no further game begin, and wait for the threads; their engines are dead by now."""
        self._is_closed = True
        for thread in self._threads:
            thread.join()

    def _play_all(self) -> None:
        table = _Table(self._plan, self._keeper)
        try:
            while (task := self._take()) is not None:
                game = table.play(task)
                # Engines die when the match is over, and have not lost by that.
                if not self._is_closed:
                    self._done.put((task, game))
        except BaseException as error:
            self._done.put(error)
        finally:
            table.close()
            self._done.put(None)

    def _take(self) -> Round | None:
        with self._lock:
            return None if self._is_closed else next(self._rounds, None)


class _Table:
    """Two engines that play game after game; one that failed is started anew."""

    def __init__(self, plan: Plan, keeper: Keeper) -> None:
        self._plan = plan
        self._keeper = keeper
        self._engines: list[PlayingEngine | None] = [None, None]

    def play(self, task: Round) -> Game:
        """Play one game."""
        opening = choose_opening(
            self._plan.variant, random.Random(f"{self._plan.seed}:{task.pair}")
        )
        position = replay(self._plan.variant, opening)
        order = (task.white, 1 - task.white)
        players = []
        for side, index in enumerate(order):
            try:
                players.append(self._prepare(index))
            except ProgramFault as error:
                self._drop(index)
                reason = f"{('white', 'black')[side]} forfeits: {error}"
                return Game(opening, result=WON[1 - side], reason=reason, fault=True)
        game = play_game(position, (players[0], players[1]), self._plan.control)
        if game.fault:
            self.close()
        return game

    def close(self) -> None:
        """End the engines."""
        for index in (0, 1):
            self._drop(index)

    def _prepare(self, index: int) -> PlayingEngine:
        engine = self._engines[index]
        if engine is None:
            engine = self._engines[index] = start_engine(self._plan.engines[index], self._keeper)
        engine.begin_game()
        return engine

    def _drop(self, index: int) -> None:
        engine, self._engines[index] = self._engines[index], None
        if engine is not None:
            engine.close()
