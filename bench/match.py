"""Games against another player, paired: each opening is played twice, with sides exchanged.

    python bench/match.py VARIANT PAIRS --against PROGRAM [--movetime MS] [--seed N]

PROGRAM is called for each of its moves as `PROGRAM VARIANT bestmove MS startpos MOVE…` and prints
its move first, maybe after the word `bestmove`. Both have the same time by the clock for a move and
one thread; each game begins with a random legal opening.
"""

import argparse
import math
import random
import subprocess
from dataclasses import dataclass

from core.engine import Engine
from core.games import VARIANTS
from core.limits import Limits
from core.position import Position
from gateway.match.openings import choose_opening, replay

# A game that is not over by then counts as drawn.
MAX_PLIES = 300


@dataclass
class Score:
    """Games won, drawn and lost by the engine."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    def __str__(self) -> str:
        games = self.won + self.drawn + self.lost
        share = (self.won + self.drawn / 2) / games
        squares = self.won + self.drawn / 4
        error = math.sqrt(max(squares / games - share * share, 0) / games)
        return (
            f"{games} games: +{self.won} ={self.drawn} -{self.lost}, "
            f"{100 * share:.1f} % of the points (standard error {100 * error:.1f})"
        )


class Program:
    """The other player."""

    def __init__(self, path: str, variant: str, movetime: int) -> None:
        self._command = [path, variant, "bestmove", str(movetime), "startpos"]

    def choose(self, position: Position) -> str:
        command = [*self._command, *position.moves]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.removeprefix("bestmove").split()[0]


def play_game(position: Position, engine: Engine, limits: Limits, other: Program, side: int) -> int:
    """Play on, the engine having the moves of `side`; return 1, 0 or -1 for it."""
    outcome = position.outcome()
    while outcome is None and len(position.moves) < MAX_PLIES:
        if len(position.moves) % 2 == side:
            position.push(engine.search(position, limits).bestmove or "")
        else:
            position.push(other.choose(position))
        outcome = position.outcome()
    if outcome != "checkmate":
        return 0
    return -1 if len(position.moves) % 2 == side else 1


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bench/match.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("variant", choices=VARIANTS)
    parser.add_argument("pairs", type=int)
    parser.add_argument("--against", required=True, metavar="PROGRAM")
    parser.add_argument("--movetime", type=int, default=30, metavar="MS")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    engine, limits = Engine(), Limits(movetime=args.movetime)
    other = Program(args.against, args.variant, args.movetime)
    score = Score()
    for _ in range(args.pairs):
        opening = choose_opening(args.variant, rng)
        for side in (0, 1):
            won = play_game(replay(args.variant, opening), engine, limits, other, side)
            score.won += won == 1
            score.drawn += won == 0
            score.lost += won == -1
        print(score, flush=True)


if __name__ == "__main__":
    main()
