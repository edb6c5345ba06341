"""The features by which a Caissa position is judged, and what each is worth in centipawns."""

import numpy as np

from core.score import WdlModel

# Features, each the difference between the side to move and the other; places in `S.features`.
# 0: to be on move; 1 to 4: pieces by type.
TEMPO = 0
# By type from queen to bishop: squares reached (queen: that she may end on).
MOBILITY = 4
# Tiles beside the queen.
SHELTER = 9
# Those of them that she may step on: no friend there, not attacked.
STEPS = 10
# None, or one alone, of them.
NO_STEP = 11
ONE_STEP = 12
# Attacks by rook, knight and bishop on tiles beside the enemy queen.
QUEEN_ATTACK = 13
# The same, squared.
QUEEN_ASSAULT = 14
# Rook or bishop on a line of the enemy queen with one piece between, by side of that piece.
PINS = 15
SCREENS = 16
# Enemy pieces beside the own queen that she may take.
LOOSE = 17
# Tiles two steps from the queen or nearer.
GROUND = 18
# Queen's distance from the middle, in steps.
OFF_CENTRE = 19
# Squares to which a move by rook, knight or bishop gives check.
CHECKS = 20
FEATURE_COUNT = 21

WEIGHTS = np.array(
    [
        70,  # tempo
        0,  # queen
        894,  # rook
        312,  # knight
        320,  # bishop
        6,  # queen mobility
        1,  # rook mobility
        11,  # knight mobility
        7,  # bishop mobility
        18,  # shelter
        0,  # steps
        4,  # no step
        2,  # one step
        5,  # queen attack
        1,  # queen assault
        42,  # pins
        77,  # screens
        67,  # loose
        10,  # ground
        40,  # off centre
        33,  # checks
    ],
    dtype=np.int64,
)

WDL = WdlModel(offset=50, scale=230)
