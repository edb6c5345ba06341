"""The contract that each game fulfils, and the part of the state record that all games share.

Generic modules (perft, ordering, search) import the functions below and know no game; `bind`
replaces them by a game's own. `S` is the state record (position, stacks, search), `T` the game's
tables record. A kernel raises nothing: whatever reaches it is valid.
"""

from typing import Any

import numpy as np

from core.jit import build_record_type

MAX_PLY = 128
# Chakra's widest: 15 queens with 27 squares and a transmission each, king and chakras: below 470.
MAX_MOVES = 512
# Positions played before the root that may still be repeated.
MAX_HISTORY = 4096
MAX_COUNTER = np.uint64(9999)
UNDO_COUNT = 12
MAX_FEATURES = 32
# Lines of a search.
MAX_LINES = 32

# What a game fulfils: the functions below, and two numbers.
CONTRACT = (
    *("generate_moves", "count_moves", "make_move", "unmake_move", "make_unkeyed"),
    *("unmake_unkeyed", "in_check", "find_draw"),
    *("evaluate", "find_gain", "find_mover", "generate_captures", "generate_forcing", "may_prune"),
    *("may_pass", "make_null", "unmake_null", "CHECK_PLIES"),
    *("write_image", "SYMMETRY_COUNT"),
)
# Plies of quiescence, out of check, in which `generate_forcing` is asked.
CHECK_PLIES = np.uint64(0)
# The symmetries of the game; the first changes nothing.
SYMMETRY_COUNT = np.uint64(1)

# What ended a game without a legal move lacking; 0 is no draw.
NO_DRAW = np.uint64(0)
MOVE_LIMIT = np.uint64(1)
INSUFFICIENT = np.uint64(2)
DRAW_NAMES = {int(MOVE_LIMIT): "move-limit", int(INSUFFICIENT): "insufficient"}

POSITION_FIELDS: list[tuple[Any, ...]] = [
    # 0: white (or first), 1: black.
    ("side", np.uint64),
    # As in the FEN.
    ("halfmove", np.uint64),
    ("fullmove", np.uint64),
    # Half-moves since the last one that no later move can take back.
    ("reversible", np.uint64),
    # Two independent hashes of all that legality depends on.
    ("key", np.uint64),
    ("key2", np.uint64),
    # Bitboards by piece type (index 0 unused) and by side, and the piece on each square.
    ("by_type", np.uint64, (8,)),
    ("by_side", np.uint64, (2,)),
    ("board", np.uint8, (64,)),
]
WORK_FIELDS: list[tuple[Any, ...]] = [
    # Moves made since the record was set up: index into `undo` and `moves`.
    ("ply", np.uint64),
    ("undo", np.uint64, (MAX_PLY, UNDO_COUNT)),
    ("moves", np.uint64, (MAX_PLY, MAX_MOVES)),
    # Keys of the positions before this one, oldest first; those of the game come before the root.
    ("keys", np.uint64, (MAX_HISTORY + MAX_PLY,)),
    ("key_count", np.uint64),
    # What a pinned piece may end on, valid for the pinned squares of the last look.
    ("pin_mask", np.uint64, (64,)),
]
SEARCH_FIELDS: list[tuple[Any, ...]] = [
    # Limits; deadline on the monotonic clock, 0 for none.
    ("max_nodes", np.uint64),
    ("max_depth", np.int64),
    ("deadline", np.uint64),
    # Where the words lie that the threads of the search share: see core/lead.py.
    ("shared_address", np.uint64),
    # 1 and more for threads that help the first one; lines wanted, at most the moves considered.
    ("thread", np.uint64),
    ("lines_wanted", np.uint64),
    # Root moves that are not searched: those not to be considered come first, then, while a second
    # or later line is looked for, the first moves of the better ones.
    ("excluded", np.uint64, (MAX_MOVES,)),
    ("excluded_count", np.uint64),
    ("ignored_count", np.uint64),
    # Where a mate is to be proved or refuted: in at most so many plies; otherwise 0.
    ("mate_plies", np.int64),
    # Written by the search: why it unwinds (0: it does not), positions visited, the greatest ply.
    ("stopped", np.uint64),
    ("nodes", np.uint64),
    ("selective_depth", np.uint64),
    # The depth of the iteration under way; what is mixed into keys while a mate is proved, else 0.
    ("depth", np.int64),
    ("salt", np.uint64),
    # The root move to be searched first, and the score of the line at `pv[0]`.
    ("first_move", np.uint64),
    ("root_score", np.int64),
    # Index into `keys` where the root's key comes to stand.
    ("root_count", np.uint64),
    ("tt_address", np.uint64),
    ("tt_mask", np.uint64),
    ("values", np.int64, (MAX_PLY, MAX_MOVES)),
    ("killers", np.uint64, (MAX_PLY, 2)),
    # How well a quiet move did before, by side, from and to.
    ("history", np.int64, (2, 64, 64)),
    # The same by what the enemy's last move moved and where to, and what this one does: numbers
    # as `find_place` gives them. By ply, that number of the move that led there.
    ("continuations", np.int16, (512, 512)),
    ("last_moves", np.uint64, (MAX_PLY + 1,)),
    # Of the last evaluation: features, and by side the squares attacked.
    ("features", np.int64, (MAX_FEATURES,)),
    ("attacks", np.uint64, (2,)),
    ("pv", np.uint64, (MAX_PLY, MAX_PLY)),
    ("pv_length", np.uint64, (MAX_PLY,)),
    # Lines, best first: two pages, of which `line_page` is that of the last finished depth, to be
    # read by other threads. Even version when whole, odd while the page is turned.
    ("lines", np.uint64, (2, MAX_LINES, MAX_PLY)),
    ("line_lengths", np.uint64, (2, MAX_LINES)),
    ("line_scores", np.int64, (2, MAX_LINES)),
    ("line_counts", np.uint64, (2,)),
    ("line_depths", np.uint64, (2,)),
    ("line_page", np.uint64),
    ("line_version", np.uint64),
]


def build_state_type(game_fields: list[tuple[Any, ...]]) -> np.dtype[Any]:
    """Return the dtype of a game's state record: shared position, the game's own, work, search."""
    return build_record_type(POSITION_FIELDS + game_fields + WORK_FIELDS + SEARCH_FIELDS)


def find_position_type(state_type: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the position alone, with which each record of a state type begins."""
    names = state_type.names or ()
    position = names[: names.index("ply")]
    return np.dtype([(name, state_type[name]) for name in position], align=True)


def generate_moves(S: Any, T: Any) -> Any:
    """Write the legal moves into `S.moves[S.ply]` and return their number, at most MAX_MOVES."""
    raise NotImplementedError


def count_moves(S: Any, T: Any) -> Any:
    """Return the number of legal moves without listing them."""
    raise NotImplementedError


def make_move(S: Any, T: Any, move: Any) -> None:
    """Make a legal move in S: position, keys, counters, history."""
    raise NotImplementedError


def unmake_move(S: Any, T: Any) -> None:
    """Take back the last move made: every byte of the position is as before."""
    raise NotImplementedError


def make_unkeyed(S: Any, T: Any, move: Any) -> None:
    """Make a legal move in S for counting: keys, counters and history stand still."""
    raise NotImplementedError


def unmake_unkeyed(S: Any, T: Any) -> None:
    """Take back the last move, which `make_unkeyed` made."""
    raise NotImplementedError


def in_check(S: Any, T: Any) -> bool:
    """Return whether the royal piece of the side to move is attacked."""
    raise NotImplementedError


def find_draw(S: Any) -> Any:
    """Return MOVE_LIMIT, INSUFFICIENT or NO_DRAW, from the position alone."""
    raise NotImplementedError


def evaluate(S: Any, T: Any) -> int:
    """Return the static score in centipawns, for the side to move."""
    raise NotImplementedError


def find_gain(S: Any, move: Any) -> int:
    """Return what a move wins at once by capture and promotion, in centipawns; 0: quiet."""
    raise NotImplementedError


def find_mover(S: Any, move: Any) -> int:
    """Return the value of the piece that a move risks, in centipawns."""
    raise NotImplementedError


def generate_captures(S: Any, T: Any) -> Any:
    """Write the legal captures and promotions into `S.moves[S.ply]` and return their number.

    For a side that is not in check; others than those may be among them.
    """
    raise NotImplementedError


def generate_forcing(S: Any, T: Any) -> Any:
    """Write what `generate_captures` does, and checks where a game's tactics need them."""
    raise NotImplementedError


def may_prune(S: Any) -> bool:
    """Return whether a static score tells enough to leave moves out for it."""
    raise NotImplementedError


def may_pass(S: Any) -> bool:
    """Return whether to pass is hardly ever the best: no zugzwang."""
    raise NotImplementedError


def make_null(S: Any, T: Any) -> None:
    """Let the side to move, not in check, pass, as no rule allows; nothing repeats across it."""
    raise NotImplementedError


def unmake_null(S: Any, T: Any) -> None:
    """Take back `make_null`."""
    raise NotImplementedError


def write_image(S: Any, D: Any, T: Any, symmetry: Any) -> None:
    """Write into D the image of the position S under a symmetry, counters kept, keys its own."""
    raise NotImplementedError
