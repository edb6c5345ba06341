"""How much sooner several threads reach the depth that one reaches.

    python bench/threads.py [--threads N] [--positions N] [--depth D] [--seed N]

Positions are taken from random games of all variants in turn; those with a mate in sight or with
more than MAX_NODES nodes to that depth are passed over. One thread searches to the depth, then N
threads three times; the ratio of the time of the one by the clock to the median of the others is
printed, and at the end the geometric mean. The depth is the same for all positions: were it what
one thread just finishes in some time, positions where that thread was lucky would be preferred.
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
MAX_NODES = 20_000_000
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


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bench/threads.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--positions", type=int, default=50)
    parser.add_argument("--depth", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    engine, logs = Engine(), list[float]()
    together = Limits(depth=args.depth, threads=args.threads, hash_mb=HASH_MB)
    for position in choose_positions(args.positions, random.Random(args.seed)):
        alone = Limits(depth=args.depth, nodes=MAX_NODES, hash_mb=HASH_MB)
        found = engine.search(position, alone)
        if found.ended != "depth" or found.score.mate is not None:
            continue
        seconds = statistics.median(
            engine.search(position, together).seconds for _ in range(ROUNDS)
        )
        logs.append(math.log(found.seconds / seconds))
        print(
            f"{position.variant.name:<18} {found.seconds:7.3f} s  {seconds:7.3f} s  "
            f"{found.seconds / seconds:5.2f}",
            flush=True,
        )
    mean = math.exp(sum(logs) / len(logs))
    print(f"{len(logs)} positions: geometric mean {mean:.2f}")


if __name__ == "__main__":
    main()
