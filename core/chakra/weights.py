"""The features by which a Chakra position is judged, and what each is worth in centipawns."""

import numpy as np

from core.score import WdlModel

# Features, each the difference between the side to move and the other; places in `S.features`.
# 0 to 7: men by type (0: the transmitter, 1: to be on move).
TRANSMITTER = 0
TEMPO = 1
# By type from queen to courtesan: squares that pieces may end on.
MOBILITY = 8
# Attacks by pieces on the enemy king's square and those beside it.
KING_ATTACK = 16
# The same, squared: many attackers are worth more than their sum.
KING_ASSAULT = 17
# Squares beside the own king that he may step on.
KING_STEPS = 18
# Own men beside the own king.
KING_SHIELD = 19
# Ranks that pawns have gone, squared.
PAWN_ADVANCE = 20
# Pawns two steps from promotion or nearer, while a lost piece waits to come back.
PAWN_THREAT = 21
# A vacant chakra is covered, and the other one may be ended on.
PORTAL_OPEN = 22
# And that other one lies beside the enemy king or gives check.
PORTAL_AT_KING = 23
# Ranks by which the other one lies deeper than the covered one.
PORTAL_DEPTH = 24
# Own vacant chakras beside the own king, shields against lines.
CHAKRA_SHIELD = 25
# Courtesans that see their king.
COURTESAN_LINES = 26
# Pieces attacked by enemy pawns.
PAWN_ATTACKED = 27
# Pawns covered by pawns.
PAWN_CHAIN = 28
# Own pieces, king aside, that the enemy attacks and nothing of ours covers.
HANGING = 29
FEATURE_COUNT = 30

WEIGHTS = np.array(
    [
        100,  # transmitter
        20,  # tempo
        950,  # queen
        700,  # samurai
        600,  # monk
        350,  # ape
        400,  # courtesan
        130,  # pawn
        0,  # (none)
        0,  # (none)
        1,  # queen mobility
        3,  # samurai mobility
        4,  # monk mobility
        6,  # ape mobility
        2,  # courtesan mobility
        0,  # (none)
        10,  # king attack
        1,  # king assault
        0,  # king steps
        4,  # king shield
        3,  # pawn advance
        30,  # pawn threat
        6,  # portal open
        20,  # portal at king
        0,  # portal depth
        0,  # chakra shield
        0,  # courtesan lines
        -40,  # pawn attacked
        4,  # pawn chain
        -30,  # hanging
    ],
    dtype=np.int64,
)

WDL = WdlModel(offset=470, scale=470)
