"""The bench signature: the nodes that the search takes for a fixed workload.

A change that should not touch the search leaves it as it is; a change of the search tells the old
and the new number.
"""

import time

from core.engine import Engine
from core.limits import Limits
from core.position import STARTPOS, Position

DEPTH = 7
# Starts, portals in use, kings near enemy chakras, holes, a ko, few men.
WORKLOAD = [
    ("chakra", STARTPOS),
    ("chakra", "a1m1qsca/c1p2kp1/1p6/3ppp2/1P3P2/3CK3/2PPP1P1/A1MQ1SCA w a2n,f2k a6k,h7n 2 12"),
    ("chakra", "2K5/p5A1/8/1k2P3/1A6/2m2M2/8/8 b e6n,a7n d3n,f3k 62 3"),
    ("chakra-mindsports", STARTPOS),
    (
        "chakra-mindsports",
        "acmk1s2/1p2qpc1/3pp1a1/A5p1/2C5/1PM5/C1PQPPP1/3K1S2 b h2n,e4n b1k,f5n 12 34",
    ),
    (
        "chakra-pritchard",
        "acmqk1ca/3pp3/1pp1sp2/6p1/1P1P4/S5P1/1CP1PP2/AM1QK1CA w h2k,a3n a6n,g7n 0 12",
    ),
    ("caissa", STARTPOS),
    ("caissa", "3n1*q/2r1**1/b*1N3/**4*/1Q3RB/2*4/7 w - 7 12"),
    ("caissa", "Br*****/*R1*nN*/1*q1bQ*/*******/*******/*******/******* w b6b7 10 10"),
    ("caissa", "2*1***/4***/4r*1/3Q1b*/2*1*2/q1*4/****2* b - 45 41"),
]


def run_workload() -> tuple[int, float]:
    """Return the nodes of the whole workload, and the seconds it took."""
    engine = Engine()
    positions = [Position(variant, fen) for variant, fen in WORKLOAD]
    begin = time.perf_counter()
    nodes = sum(engine.search(p, Limits(depth=DEPTH)).nodes for p in positions)
    return nodes, time.perf_counter() - begin
