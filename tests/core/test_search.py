"""The search: limits, equal answers, finished roots, stop, mates, draws, lines."""

import functools
import json
import random
import threading
from typing import Any

import numpy as np
import pytest

from core.engine import Analysis, Engine
from core.games import VARIANTS
from core.lead import SHARED_WORDS, take_lead
from core.limits import MAX_DEPTH, MAX_NODES, Limits, size_table
from core.notation import MoveError
from core.position import Position
from core.record import Record
from core.rules import MAX_HISTORY
from core.score import MATE, MIN_MATE, Score, unpack_score
from core.search import STOPPED_BY_WORD
from tests.core import mates
from tests.core.exercise import exercise, finish, start
from tests.core.judge import VARIANT_NAMES, find_judge, find_samples, set_up

each_variant = pytest.mark.parametrize("variant", VARIANT_NAMES)
MATES = [json.loads(line) for line in mates.PATH.read_text().splitlines()]
ENDLESS = Limits(nodes=MAX_NODES)
# Of a search without a known end; it is deep enough for a position that is known.
NODES = 4000


def play(variant: str, fen: str = "startpos", moves: str = "") -> Position:
    position = Position(variant, fen)
    for move in moves.split():
        position.push(move)
    return position


def search(variant: str, fen: str = "startpos", moves: str = "", **limits: int) -> Analysis:
    return Engine().search(play(variant, fen, moves), Limits(**limits))


def show(found: Analysis) -> tuple[Any, ...]:
    """All of an analysis but the time it took."""
    return (found.bestmove, found.score, found.depth, found.nodes, found.lines, found.result)


def assert_line_is_legal(variant: str, fen: str, found: Analysis) -> None:
    """The best line can be played, and a mate at its end is one, at the distance that is told."""
    position = Position(variant, fen)
    assert found.pv
    assert found.bestmove == found.pv[0]
    for move in found.pv:
        assert position.result() is None
        position.push(move)
    mate = found.score.mate
    if mate is not None:
        assert position.result() == "checkmate", (fen, found)
        assert len(found.pv) == (2 * mate - 1 if mate > 0 else -2 * mate)


@functools.cache
def choose_fens(variant: str, count: int) -> list[str]:
    """Positions of which the game is not over."""
    judge, samples = find_judge(variant), find_samples(variant)
    alive = [one for one in samples if one.following and judge.outcome([one.state]) is None]
    return [one.fen for one in random.Random(f"searches of {variant}").sample(alive, count)]


# Limits


@each_variant
@pytest.mark.parametrize("nodes", [1, 2, 3, 27, 100, 1000, 1023, 1024, 1025, 2049, 5000])
def test_node_limit_is_reached_and_never_exceeded(variant: str, nodes: int) -> None:
    found = search(variant, nodes=nodes)
    assert found.nodes == nodes
    assert found.bestmove in Position(variant).legal_moves
    assert found.ended == "nodes"


@each_variant
def test_node_limit_is_not_exceeded_anywhere(variant: str) -> None:
    engine, rng = Engine(), random.Random(f"limits of {variant}")
    for fen in choose_fens(variant, 40):
        nodes = rng.randrange(1, 600)
        found = engine.search(Position(variant, fen), Limits(nodes=nodes))
        assert 0 < found.nodes <= nodes
        # Short of it only with a mate for an answer.
        assert found.nodes == nodes or found.score.mate is not None
        assert found.bestmove in Position(variant, fen).legal_moves


@each_variant
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_depth_limit_is_what_is_searched(variant: str, depth: int) -> None:
    found = search(variant, depth=depth)
    assert found.depth == depth
    assert found.ended == "depth"


@each_variant
def test_depth_is_counted_in_finished_plies(variant: str) -> None:
    """With as many nodes as a depth takes it is finished, with one fewer it is not."""
    whole = search(variant, depth=3, hash_mb=1)
    again = search(variant, nodes=whole.nodes, depth=3, hash_mb=1)
    assert (again.depth, again.nodes) == (3, whole.nodes)
    assert search(variant, nodes=whole.nodes - 1, depth=3, hash_mb=1).depth == 2


@each_variant
def test_first_limit_reached_ends_it(variant: str) -> None:
    assert search(variant, depth=2, nodes=MAX_NODES, movetime=2**40).depth == 2
    assert search(variant, depth=MAX_DEPTH, nodes=77, movetime=2**40).nodes == 77
    timed = search(variant, depth=MAX_DEPTH, nodes=MAX_NODES, movetime=20)
    assert timed.nodes > 0
    assert timed.bestmove in Position(variant).legal_moves
    assert timed.ended == "movetime"


def test_greatest_depth_is_searched_where_there_is_little_to_search() -> None:
    """Kings that walk about, and chakras nobody may take: stacks of every height are used."""
    found = search("chakra", "7k/8/8/8/8/8/1p6/K7 w - - 0 1", depth=MAX_DEPTH, nodes=20_000)
    assert found.score == Score(cp=0)
    found = search("chakra", "7k/5p2/8/8/8/8/P7/K7 w - - 0 1", depth=MAX_DEPTH, nodes=60_000)
    assert found.nodes <= 60_000


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "at least one limit is required"),
        ({"nodes": 0}, "nodes 0 is not between 1 and"),
        ({"nodes": -5}, "nodes -5 is not between 1 and"),
        ({"nodes": MAX_NODES + 1}, "nodes 9223372036854775808 is not between"),
        ({"depth": 0}, f"depth 0 is not between 1 and {MAX_DEPTH}"),
        ({"depth": MAX_DEPTH + 1}, f"depth {MAX_DEPTH + 1} is not between 1 and {MAX_DEPTH}"),
        ({"movetime": 0, "nodes": 1}, "movetime 0 is not between"),
        ({"movetime": 2**40 + 1}, "movetime 1099511627777 is not between"),
        ({"mate": 0}, "mate 0 is not between 1 and 50"),
        ({"depth": 1, "threads": 0}, "threads 0 is not between 1 and 256"),
        ({"depth": 1, "hash_mb": 0}, "hash_mb 0 is not between 1 and"),
        ({"depth": 1, "multipv": 33}, "multipv 33 is not between 1 and 32"),
        ({"nodes": 2, "threads": 3}, "nodes 2 are fewer than threads 3"),
    ],
)
def test_limits_out_of_range_are_refused(limits: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Limits(**limits)


def test_table_size_follows_from_the_limits_alone() -> None:
    sizes = [size_table(Limits(nodes=nodes)) for nodes in (1, 1024, 1025, 4097, 10**6, MAX_NODES)]
    assert sizes == [1 << 10, 1 << 10, 1 << 11, 1 << 13, 1 << 20, 1 << 22]
    assert size_table(Limits(depth=5)) == 1 << 20
    assert [size_table(Limits(depth=5, hash_mb=mb)) * 16 for mb in (1, 3, 64)] == [
        1 << 20,
        2 << 20,
        64 << 20,
    ]
    assert [size_table(Limits(movetime=ms)) for ms in (1, 5, 2**40)] == [1 << 13, 1 << 15, 1 << 22]


# Equal answers


@each_variant
def test_equal_limits_give_equal_answers(variant: str) -> None:
    """Two engines; one has searched all else before, in another order and deeper."""
    fens = choose_fens(variant, 12)
    first, second = Engine(), Engine()
    expected = [show(first.search(Position(variant, fen), Limits(nodes=1500))) for fen in fens]
    other = next(v.name for v in VARIANTS.values() if v.game != VARIANTS[variant].game)
    for fen, answer in reversed(list(zip(fens, expected, strict=True))):
        second.search(Position(other), Limits(nodes=700))
        second.search(Position(variant), Limits(nodes=6000))
        assert show(second.search(Position(variant, fen), Limits(nodes=1500))) == answer
    for fen, answer in zip(fens, expected, strict=True):
        assert show(first.search(Position(variant, fen), Limits(nodes=1500))) == answer


@each_variant
def test_equal_depths_give_equal_answers(variant: str) -> None:
    engine = Engine()
    engine.search(Position(variant), Limits(nodes=3000))
    assert show(engine.search(Position(variant), Limits(depth=3))) == show(search(variant, depth=3))


def test_another_process_gives_the_same_answers() -> None:
    assert finish(start(4, 2000))["found"] == json.loads(json.dumps(exercise(4, 2000)))


def test_search_leaves_the_position_alone() -> None:
    position = play("chakra", moves="e2e4 e7e5")
    before = (position.fen(), position.keys, list(position.moves))
    Engine().search(position, Limits(nodes=1000))
    assert (position.fen(), position.keys, position.moves) == before
    assert position.pop() == "e7e5"


# Finished roots

REPETITION = "a1b1 h8g8 b1a1 g8h8 " * 2


@pytest.mark.parametrize(
    ("variant", "fen", "moves", "result"),
    [
        ("chakra", "k7/1Q6/1K6/8/8/8/8/8 b - - 100 80", "", "checkmate"),
        ("chakra", "k7/8/1Q6/8/8/8/8/7K b - - 0 1", "", "stalemate"),
        ("chakra", "7k/8/8/8/8/8/8/K7 w d4n,e5n - 0 1", REPETITION, "repetition"),
        ("chakra", "k7/8/8/8/8/8/8/1Q5K w - - 100 80", "", "move-limit"),
        ("chakra", "k7/8/8/8/8/8/8/7K w - - 0 1", "", "insufficient"),
        ("caissa", "5q1/7/7/7/7/7/4Q2 w - 0 1", "", "insufficient"),
        ("caissa-codecup", "5q1/7/7/7/7/7/R3Q2 w - 0 101", "", "move-limit"),
    ],
    ids=lambda text: text.split()[0] if text else "-",
)
def test_finished_roots_have_a_result_and_no_line(
    variant: str, fen: str, moves: str, result: str
) -> None:
    found = search(variant, fen, moves, nodes=1000)
    score = Score(mate=0) if result == "checkmate" else Score(cp=0)
    wdl = (0, 0, 1000) if result == "checkmate" else (0, 1000, 0)
    assert found == Analysis(None, score, wdl, 0, 0, 0, 0.0, [], result, "over")
    assert found.pv == []


# Stop, and what is seen meanwhile


@each_variant
def test_stop_from_another_thread_ends_the_search(variant: str) -> None:
    engine, found = Engine(), list[Analysis]()
    position = Position(variant)
    assert engine.read_progress() is None
    assert engine.nodes == 0
    thread = threading.Thread(target=lambda: found.append(engine.search(position, ENDLESS)))
    thread.start()
    pause = threading.Event()
    while (seen := engine.read_progress()) is None:
        pause.wait(0.001)
    nodes = engine.nodes
    engine.stop()
    thread.join()
    assert seen.depth >= 1
    assert seen.lines[0].pv[0] in position.legal_moves
    (analysis,) = found
    assert analysis.ended == "stopped"
    assert analysis.depth >= seen.depth
    assert analysis.nodes >= seen.nodes
    assert analysis.nodes == engine.nodes >= nodes > 0
    assert analysis.bestmove in position.legal_moves
    # The next one is not stopped.
    again = engine.search(position, Limits(nodes=2000))
    assert (again.nodes, again.ended) == (2000, "nodes")


def test_stop_is_seen_within_about_a_thousand_nodes() -> None:
    """The word is set before the search begins, where nobody clears it."""
    engine, position = Engine(), Position("caissa")
    (R,) = engine._set_up(position, ENDLESS, 0)
    engine.stop()
    position.game.entry.search_root(R, position.game.rules.TABLES)
    assert int(R["stopped"][0]) == int(STOPPED_BY_WORD)
    assert int(R["nodes"][0]) == 1024


@each_variant
def test_lines_read_during_a_search_are_whole(variant: str) -> None:
    engine, position = Engine(), Position(variant, choose_fens(variant, 12)[0])
    thread = threading.Thread(target=lambda: engine.search(position, Limits(nodes=300_000)))
    thread.start()
    lines = {}
    while thread.is_alive():
        seen = engine.read_progress()
        if seen:
            lines[seen.depth] = seen.lines[0]
    thread.join()
    for line in lines.values():
        board = Position(variant, position.fen())
        for move in line.pv:
            board.push(move)


# Mates


def count_plies(mate: int) -> int:
    return 2 * mate - 1 if mate > 0 else -2 * mate


def test_mates_are_of_every_distance_and_game() -> None:
    games = {(VARIANTS[row["variant"]].game, row["mate"]) for row in MATES}
    assert games == {(game, n) for game in ("chakra", "caissa") for n in (1, 2, 3, -1, -2)}


@pytest.mark.parametrize("more", [0, 1, 2])
@each_variant
def test_mates_are_found_with_their_exact_distance(variant: str, more: int) -> None:
    engine = Engine()
    for row in [row for row in MATES if row["variant"] == variant]:
        plies = count_plies(row["mate"])
        # Deeper than the mate, as late moves are looked at less deep.
        found = engine.search(Position(variant, row["fen"]), Limits(depth=2 * plies + 4 + more))
        assert found.score == Score(mate=row["mate"]), row
        assert_line_is_legal(variant, row["fen"], found)


@each_variant
def test_mates_told_early_are_never_too_short(variant: str) -> None:
    engine = Engine()
    for row in [row for row in MATES if row["variant"] == variant]:
        for nodes in (10, 100, 1000):
            found = engine.search(Position(variant, row["fen"]), Limits(nodes=nodes))
            if found.score.mate is not None:
                assert found.score.mate * row["mate"] > 0
                assert abs(found.score.mate) >= abs(row["mate"])
                assert found.score.mate == row["mate"] or found.depth < count_plies(row["mate"])


@each_variant
def test_mates_told_anywhere_are_forced(variant: str) -> None:
    """Brute force over the reference, where it is cheap; the line's end shows it elsewhere."""
    judge, engine = find_judge(variant), Engine()
    told = 0
    for fen in choose_fens(variant, 60):
        found = engine.search(Position(variant, fen), Limits(nodes=NODES))
        mate = found.score.mate
        if mate is None:
            continue
        told += 1
        assert_line_is_legal(variant, fen, found)
        state = judge.parse_fen(variant, fen)
        if mate in (1, 2):
            assert mates.is_mating(judge, state, mate)
            assert not mates.is_mating(judge, state, mate - 1)
        elif mate == -1:
            assert mates.is_mated(judge, state, 1)
    assert told


# Lines


@each_variant
def test_lines_can_be_played(variant: str) -> None:
    engine = Engine()
    for fen in choose_fens(variant, 30):
        found = engine.search(Position(variant, fen), Limits(nodes=NODES))
        assert_line_is_legal(variant, fen, found)
        (line,) = found.lines
        assert (line.rank, line.score, line.pv) == (1, found.score, found.pv)


# Lines wanted, moves considered


@each_variant
def test_several_lines_are_the_best_ones_in_order(variant: str) -> None:
    engine = Engine()
    for fen in choose_fens(variant, 6):
        position = Position(variant, fen)
        found = engine.search(position, Limits(depth=1, multipv=3))
        assert [line.rank for line in found.lines] == list(range(1, len(found.lines) + 1))
        assert len(found.lines) == min(3, len(position.legal_moves))
        assert len({line.pv[0] for line in found.lines}) == len(found.lines)
        scores = [rank_score(line.score) for line in found.lines]
        assert scores == sorted(scores, reverse=True)
        best = engine.search(position, Limits(depth=1))
        assert rank_score(best.score) <= scores[0]


def rank_score(score: Score) -> float:
    if score.mate is None:
        return float(score.cp or 0)
    return (10**6 - abs(score.mate)) * (1 if score.mate > 0 else -1)


def test_more_lines_than_moves_are_all_the_moves() -> None:
    position = Position("chakra", "7k/5p2/8/8/8/8/P7/K7 w - - 0 1")
    found = Engine().search(position, Limits(depth=3, multipv=32))
    assert sorted(line.pv[0] for line in found.lines) == position.legal_moves


@each_variant
def test_several_lines_are_of_the_same_depth_and_equal_each_time(variant: str) -> None:
    limits = Limits(nodes=20_000, multipv=4)
    first, second = (Engine().search(Position(variant), limits) for _ in range(2))
    assert show(first) == show(second)
    for line in first.lines:
        board = Position(variant)
        for move in line.pv:
            board.push(move)


def test_a_move_to_consider_must_be_legal() -> None:
    position = Position("chakra")
    with pytest.raises(MoveError, match="e2e5"):
        Engine().search(position, Limits(depth=1, searchmoves=("e2e4", "e2e5")))
    with pytest.raises(MoveError, match="nonsense"):
        Engine().search(position, Limits(depth=1, searchmoves=("nonsense",)))


def test_only_moves_considered_are_searched() -> None:
    found = Engine().search(
        Position("chakra"), Limits(depth=5, multipv=5, searchmoves=("e2e4", "a1b3"))
    )
    assert sorted(line.pv[0] for line in found.lines) == ["a1b3", "e2e4"]


# Threads


@each_variant
@pytest.mark.parametrize("threads", [2, 3])
def test_threads_search_within_the_limits(variant: str, threads: int) -> None:
    engine = Engine()
    found = engine.search(Position(variant), Limits(nodes=30_000, threads=threads))
    assert 10_000 <= found.nodes <= 30_000
    found = engine.search(Position(variant), Limits(depth=5, threads=threads))
    assert (found.depth, found.ended) == (5, "depth")
    # One thread is deterministic whatever others did before.
    alone = Limits(nodes=2000)
    assert show(engine.search(Position(variant), alone)) == show(search(variant, nodes=2000))


@each_variant
def test_threads_find_as_many_lines_as_one(variant: str) -> None:
    position = Position(variant)
    found = Engine().search(position, Limits(depth=6, threads=2, multipv=4))
    assert (found.depth, [line.rank for line in found.lines]) == (6, [1, 2, 3, 4])
    assert len({line.pv[0] for line in found.lines}) == 4
    assert found.bestmove == found.lines[0].pv[0]


@each_variant
def test_a_thread_that_is_overtaken_goes_on_after_the_lead(variant: str) -> None:
    """The last depth wanted, taken by another thread: nothing is left to do."""
    shared, table = np.zeros(SHARED_WORDS, dtype=np.uint64), np.zeros(1 << 17, dtype=np.uint64)
    position = Position(variant)
    record = Record(position.game)
    position.write_state(record)
    R = record.array
    R["tt_address"], R["tt_mask"] = table.ctypes.data, (1 << 16) - 1
    R["shared_address"] = shared.ctypes.data
    R["max_nodes"], R["max_depth"], R["lines_wanted"] = MAX_NODES, MAX_DEPTH, 1
    tables = position.game.rules.TABLES
    thread = threading.Thread(target=position.game.entry.search_root, args=(R, tables), daemon=True)
    thread.start()
    pause = threading.Event()
    while R["line_depths"][0].max() == 0:
        pause.wait(0.001)
    move = np.uint64(position.packed_moves()[position.legal_moves[0]])
    take_lead(np.uint64(shared.ctypes.data), np.int64(MAX_DEPTH), move, np.int64(0))
    thread.join(60)
    assert not thread.is_alive()
    assert R["stopped"][0] == 0
    assert 0 < R["line_depths"][0].max() < MAX_DEPTH


@each_variant
def test_threads_find_the_same_mates(variant: str) -> None:
    engine = Engine()
    for row in [row for row in MATES if row["variant"] == variant][::3]:
        depth = 2 * count_plies(row["mate"]) + 4
        found = engine.search(Position(variant, row["fen"]), Limits(depth=depth, threads=2))
        assert found.score == Score(mate=row["mate"]), row
        assert_line_is_legal(variant, row["fen"], found)


# Mates asked for


@each_variant
def test_mates_asked_for_are_proved_or_refuted(variant: str) -> None:
    engine = Engine()
    for row in [row for row in MATES if row["variant"] == variant]:
        position, mate = Position(variant, row["fen"]), row["mate"]
        if mate < 0:
            assert engine.search(position, Limits(mate=2)).mate_verdict == "refuted"
            continue
        for asked in (mate, mate + 1):
            found = engine.search(position, Limits(mate=asked))
            assert (found.mate_verdict, found.ended) == ("proved", "mate")
            assert found.score == Score(mate=mate)
            assert_line_is_legal(variant, row["fen"], found)
        if mate > 1:
            found = engine.search(position, Limits(mate=mate - 1))
            assert (found.mate_verdict, found.ended) == ("refuted", "mate")
            assert found.bestmove in position.legal_moves


def test_a_mate_search_that_is_cut_short_knows_nothing() -> None:
    found = search("chakra", mate=5, nodes=500)
    assert (found.mate_verdict, found.ended, found.nodes) == ("unknown", "nodes", 500)


@each_variant
@pytest.mark.parametrize("nodes", [None, 50])
def test_a_search_after_a_question_for_mate_is_as_before(variant: str, nodes: int | None) -> None:
    engine, position = Engine(), Position(variant)
    before = show(engine.search(position, Limits(depth=5)))
    assert engine.search(position, Limits(mate=2, nodes=nodes)).mate_verdict != "proved"
    assert show(engine.search(position, Limits(depth=5))) == before


def test_no_other_search_tells_of_a_question_for_mate() -> None:
    assert search("chakra", depth=1).mate_verdict is None


def test_a_mate_that_comes_too_late_is_refuted() -> None:
    """In Chakra the hundredth half-move comes before the mating move."""
    fen = "7k/8/5K2/8/8/8/2Q5/8 w - - {} 50"
    assert search("chakra", fen.format(97), mate=2).mate_verdict == "proved"
    assert search("chakra", fen.format(98), mate=2).mate_verdict == "refuted"


# Draws

PASSING = "7k/1q6/8/2a5/5A2/8/8/6K1 b f4n,g6n c5n,d7n 0 1"
WALKING = "6k1/2q5/8/8/5A2/8/8/7K b f4n,g6n - 0 1"
PAWN_BACK = "7k/8/8/8/8/2P5/8/K7 w c2n,c4n - 0 1"
SHUFFLING = "1b3q1/7/r3n2/7/7/7/N2Q3 b - 0 1"


@pytest.mark.parametrize(
    ("variant", "fen", "once", "back"),
    [
        ("chakra", PASSING, "c5c5", "f4f4"),
        ("chakra-mindsports", PASSING, "c5c5", "f4f4"),
        ("chakra", WALKING, "g8h8 f4f4 h8g8", "f4f4"),
        ("caissa", SHUFFLING, "a5a6 a1b3 a6a5", "b3a1"),
    ],
    ids=["both-pass", "both-pass-compulsory", "pass-and-walk", "shuffle"],
)
def test_third_time_over_the_played_game_saves_a_lost_side(
    variant: str, fen: str, once: str, back: str
) -> None:
    lost = search(variant, fen, once, nodes=NODES)
    assert lost.score.cp is not None
    assert lost.score.cp < -100
    position = play(variant, fen, f"{once} {back} {once}")
    assert position.outcome() is None
    for depth in (1, 2, 4):
        found = Engine().search(position, Limits(depth=depth))
        assert (found.bestmove, found.score) == (back, Score(cp=0))
    position.push(back)
    assert position.outcome() == "repetition"


def test_perpetual_check_inside_the_search_is_a_draw() -> None:
    fen = "6k1/6p1/8/7Q/8/s7/q7/7K w - - 0 1"
    found = search("chakra", fen, depth=7)
    assert found.score == Score(cp=0)
    assert found.pv[:4] == ["h5e8", "g8h7", "e8h5", "h7g8"]


def find_repetitions(variant: str, fen: str, played: str, searched: str) -> list[bool]:
    """Whether each position of a line, from the root on, counts as repeated in a search."""
    kernels = set_up(variant, fen)
    for text in played.split():
        kernels.make_move(kernels.list_moves()[text])
    kernels.state.root_count = kernels.state.key_count
    search_kernels = kernels.game.search
    found = [bool(search_kernels.is_repetition(kernels.state))]
    for text in searched.split():
        kernels.make_move(kernels.list_moves()[text])
        found.append(bool(search_kernels.is_repetition(kernels.state)))
    return found


@pytest.mark.parametrize(
    ("variant", "fen", "played", "searched", "expected"),
    [
        # Back at the root is once; back at what came after it is enough.
        ("chakra", PASSING, "", "c5c5 f4f4 c5c5", [0, 0, 0, 1]),
        ("chakra", WALKING, "", "g8h8 f4f4 h8g8 f4f4 g8h8", [0, 0, 0, 0, 0, 1]),
        ("caissa", SHUFFLING, "", "a5a6 a1b3 a6a5 b3a1 a5a6", [0, 0, 0, 0, 0, 1]),
        # Of positions played, the second return counts.
        ("chakra", PASSING, "c5c5 f4f4 c5c5", "f4f4", [0, 1]),
        ("chakra", PASSING, "c5c5", "f4f4 c5c5", [0, 0, 0]),
        ("chakra", PASSING, "c5c5", "f4f4 c5c5 f4f4", [0, 0, 0, 1]),
        ("caissa", SHUFFLING, "a5a6 a1b3 a6a5 b3a1 a5a6 a1b3 a6a5", "b3a1", [0, 1]),
        ("caissa", SHUFFLING, "a5a6 a1b3 a6a5", "b3a1", [0, 0]),
        ("chakra", PASSING, "c5c5 f4f4 c5c5", "f4g6 h8g8 g6f4 g8h8", [0, 0, 0, 0, 1]),
        # The transmitter takes a pawn back.
        ("chakra", PAWN_BACK, "", "c3c2 h8g8 c2c3 g8h8 c3c2", [0, 0, 0, 0, 0, 1]),
        ("chakra", PAWN_BACK, "c3c2 h8g8 c2c3 g8h8 c3c2 h8g8 c2c3", "g8h8", [0, 1]),
    ],
)
def test_repetition_inside_the_search(
    variant: str, fen: str, played: str, searched: str, expected: list[int]
) -> None:
    assert find_repetitions(variant, fen, played, searched) == list(map(bool, expected))


def test_a_game_longer_than_what_is_kept_of_it_can_be_searched() -> None:
    turn = "a5a6 a1b3 a6a5 b3a1 "
    position = play("caissa", SHUFFLING, turn * (MAX_HISTORY // 4 + 2) + "a5a7")
    assert position.outcome() is None
    found = Engine().search(position, Limits(nodes=300))
    assert found.nodes == 300
    assert found.bestmove in position.legal_moves
    # The latest of it is what is kept.
    kernels = set_up("caissa", SHUFFLING)
    position.write_state(kernels.record)
    assert int(kernels.state.key_count) == int(kernels.state.root_count) == MAX_HISTORY
    phases = [play("caissa", SHUFFLING, turn[:end]).key for end in (5, 10, 15, 0)]
    assert kernels.state.keys[MAX_HISTORY - 4 : MAX_HISTORY].tolist() == phases


@pytest.mark.parametrize(
    ("variant", "fen", "is_drawn"),
    [
        ("chakra", "7k/8/8/8/8/8/2Q5/K7 w - - 99 50", True),
        ("chakra", "7k/8/8/8/8/8/2Q5/K7 w - - 98 50", True),
        ("chakra", "7k/8/8/8/8/8/2Q5/K7 w - - 50 50", False),
        ("chakra", "7k/p7/8/8/8/8/2Q5/K7 w - - 98 50", False),
        ("caissa-codecup", "5q1/7/7/7/7/7/RB2Q2 b - 0 100", True),
        ("caissa-codecup", "5q1/7/7/7/7/7/RB2Q2 w - 0 100", True),
        ("caissa-codecup", "5q1/7/7/7/7/7/RB2Q2 w - 0 50", False),
        ("caissa", "5q1/7/7/7/7/7/RB2Q2 b - 0 100", False),
    ],
)
def test_move_limit_near_the_end_is_a_draw(variant: str, fen: str, is_drawn: bool) -> None:
    """Whoever is ahead; in the fourth, Black's pawn moves and the clock begins anew."""
    for depth in (2, 3, 4):
        assert (search(variant, fen, depth=depth).score == Score(cp=0)) == is_drawn


@pytest.mark.parametrize("halfmove", [0, 98, 99])
def test_checkmate_comes_before_the_move_limit_of_chakra(halfmove: int) -> None:
    found = search("chakra", f"7k/8/6K1/8/8/8/2Q5/8 w - - {halfmove} 50", depth=3)
    assert (found.bestmove, found.score) == ("c2c8", Score(mate=1))
    # A mate in two comes too late.
    late = search("chakra", f"7k/8/5K2/8/8/8/2Q5/8 w - - {halfmove} 50", depth=3)
    assert late.score == (Score(mate=2) if halfmove == 0 else Score(cp=0))


def test_checkmate_at_the_move_limit_inside_the_search_is_no_draw() -> None:
    """White's quiet move would be followed by mate with the hundredth half-move."""
    fen = "8/3K1s2/2c5/8/8/M4k2/8/8 w d3n,f7n - 98 31"
    assert search("chakra", fen, "d7c8", depth=1).score == Score(mate=1)
    for depth in (2, 3, 4):
        assert search("chakra", fen, depth=depth).bestmove != "d7c8"


def test_checkmate_comes_before_the_move_limit_of_caissa() -> None:
    rows = [row for row in MATES if row["variant"] == "caissa-codecup" and row["mate"] == 1]
    assert rows
    for row in rows:
        board, side, ko, halfmove, _ = row["fen"].split()
        last = 100  # 198 or 199 half-moves are played
        found = search("caissa-codecup", f"{board} {side} {ko} {halfmove} {last}", depth=2)
        assert found.score == Score(mate=1)


# Wide boards


@pytest.mark.parametrize(
    "fen",
    [
        "kqqqqqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/KQQQQQQQ w d4n,e5n - 0 1",
        "kqqqqqqq/q1q1q1qq/q7/5q2/2Q5/Q7/Q1Q1Q1QQ/KQQQQQQQ b d4n,e5n f4k,c5n 0 1",
    ],
)
def test_boards_full_of_queens_end_within_their_limits(fen: str) -> None:
    found = search("chakra", fen, nodes=20_000)
    assert found.nodes <= 20_000
    assert found.bestmove in Position("chakra", fen).legal_moves
    timed = search("chakra", fen, movetime=100)
    assert timed.bestmove in Position("chakra", fen).legal_moves


# Scores


@pytest.mark.parametrize(
    ("number", "score", "text"),
    [
        (0, Score(cp=0), "+0.00"),
        (-123, Score(cp=-123), "-1.23"),
        (MATE - 1, Score(mate=1), "#1"),
        (MATE - 3, Score(mate=2), "#2"),
        (2 - MATE, Score(mate=-1), "#-1"),
        (4 - MATE, Score(mate=-2), "#-2"),
        (-MATE, Score(mate=0), "#0"),
        (MIN_MATE - 1, Score(cp=MIN_MATE - 1), "+298.71"),
    ],
)
def test_scores_are_centipawns_or_moves_to_mate(number: int, score: Score, text: str) -> None:
    assert unpack_score(number) == score
    assert str(score) == text


def test_static_scores_are_far_from_mates() -> None:
    for variant in VARIANT_NAMES:
        for one in find_samples(variant):
            kernels = set_up(variant, one.fen)
            score = kernels.game.rules.evaluate(kernels.state, kernels.tables)
            assert abs(int(np.int64(score))) < MIN_MATE // 2
