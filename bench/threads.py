"""How much sooner several threads reach the depth that one reaches.

    python bench/threads.py [--threads N] [--positions N] [--nodes N] [--seed N]

Positions are taken from random games of all variants in turn. For each, the depth is that which
one thread finishes within so many nodes; then one thread and N threads search to that depth by
turns. The ratio of their median times by the clock is printed, and at the end the geometric mean.
"""

import argparse
import math
import random
import statistics

from core.engine import Engine
from core.games import VARIANTS
from core.limits import Limits
from core.position import Position

HASH_MB = 64
ROUNDS = 3


def choose_positions(count: int, rng: random.Random) -> list[Position]:
    """Return positions from random games, 6 to 40 plies from the start, not over."""
    positions: list[Position] = []
    names = list(VARIANTS)
    while len(positions) < count:
        position = Position(names[len(positions) % len(names)])
        for _ in range(rng.randint(6, 40)):
            if position.outcome():
                break
            position.push(rng.choice(position.legal_moves))
        if position.outcome() is None and len(position.legal_moves) > 1:
            positions.append(position)
    return positions


def measure(engine: Engine, position: Position, depth: int, threads: int) -> float:
    limits = Limits(depth=depth, threads=threads, hash_mb=HASH_MB)
    return engine.search(position, limits).seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bench/threads.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--positions", type=int, default=50)
    parser.add_argument("--nodes", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    engine, logs = Engine(), list[float]()
    for position in choose_positions(args.positions, random.Random(args.seed)):
        found = engine.search(position, Limits(nodes=args.nodes, hash_mb=HASH_MB))
        if found.score.mate is not None or found.depth < 4:
            continue
        times = [
            [measure(engine, position, found.depth, threads) for threads in (1, args.threads)]
            for _ in range(ROUNDS)
        ]
        alone, together = (statistics.median(column) for column in zip(*times, strict=True))
        logs.append(math.log(alone / together))
        print(
            f"{position.variant.name:<18} depth {found.depth:>2}  {alone:7.3f} s  "
            f"{together:7.3f} s  {alone / together:5.2f}",
            flush=True,
        )
    mean = math.exp(sum(logs) / len(logs))
    print(f"{len(logs)} positions: geometric mean {mean:.2f}")


if __name__ == "__main__":
    main()
