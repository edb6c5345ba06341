"""Dialogues with the engine behind UCI."""

import queue
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from core.games import VARIANTS
from core.notation import UnknownVariant
from core.position import Position
from gateway.match.uci import UciLoop

PATIENCE_SECONDS = 60
MATE_IN_ONE = "k7/8/1K6/8/8/8/8/6Q1 w - - 0 1"
MATED = "k7/1Q6/1K6/8/8/8/8/8 b - - 0 1"
INFO = re.compile(
    r"info depth (?P<depth>\d+) seldepth (?P<seldepth>\d+) multipv (?P<multipv>\d+) "
    r"score (?P<score>(?:cp|mate) -?\d+)(?: wdl (?P<wdl>\d+ \d+ \d+))? "
    r"nodes (?P<nodes>\d+) nps \d+ time \d+ pv (?P<pv>.+)"
)


class Dialogue:
    """A loop on a thread of its own; lines go in and out."""

    def __init__(self, variant: str) -> None:
        self._in: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._out: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._errors: list[BaseException] = []
        self._loop = UciLoop(variant, self._out.put)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._loop.run(iter(self._in.get, None))
        except BaseException as error:
            self._errors.append(error)

    def say(self, *lines: str) -> None:
        for line in lines:
            self._in.put(line)

    def hear(self, last: str) -> list[str]:
        """The lines that come, up to one that begins so."""
        lines = [self._out.get(timeout=PATIENCE_SECONDS)]
        while not lines[-1].startswith(last):
            lines.append(self._out.get(timeout=PATIENCE_SECONDS))
        return lines

    def ask(self, *lines: str, last: str = "bestmove") -> list[str]:
        self.say(*lines)
        return self.hear(last)

    def end(self) -> list[str]:
        """End the input and the loop, and return what was still said."""
        self._in.put(None)
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()
        if self._errors:
            raise self._errors[0]
        return [self._out.get() for _ in range(self._out.qsize())]


@pytest.fixture
def chakra() -> Iterator[Dialogue]:
    dialogue = Dialogue("chakra")
    yield dialogue
    dialogue.end()


@pytest.fixture
def caissa() -> Iterator[Dialogue]:
    dialogue = Dialogue("caissa")
    yield dialogue
    dialogue.end()


def read_infos(lines: list[str]) -> list[dict[str, Any]]:
    matches = [INFO.fullmatch(line) for line in lines if line.startswith("info depth")]
    assert all(matches), lines
    return [match.groupdict() for match in matches if match]


def read_last(lines: list[str]) -> dict[str, Any]:
    info = read_infos(lines)[-1]
    assert lines[-1] == f"bestmove {info['pv'].split()[0]}"
    return info


def tell_fen(dialogue: Dialogue) -> str:
    """The position that is set, as the refusal of a move tells it."""
    refused, answer = dialogue.ask("go depth 1 searchmoves a1a1")
    assert answer == "bestmove (none)"
    return refused.partition("not legal in ")[2]


# Greeting and options


def test_greeting(chakra: Dialogue) -> None:
    lines = chakra.ask("uci", last="uciok")
    assert re.fullmatch(r"id name tilewarp \S+ chakra engine \S+ kernels-[0-9a-f]+", lines[0])
    assert "option name Hash type spin default 64 min 1 max 1048576" in lines
    assert "option name Threads type spin default 1 min 1 max 256" in lines
    assert "option name MultiPV type spin default 1 min 1 max 32" in lines
    assert "option name UCI_ShowWDL type check default false" in lines
    assert chakra.ask("isready", last="readyok") == ["readyok"]


def test_unknown_variants_are_refused() -> None:
    with pytest.raises(UnknownVariant):
        UciLoop("chess", print)


def test_what_is_unknown_is_named_and_passed_over(chakra: Dialogue) -> None:
    lines = chakra.ask(
        "", "   ", "debug on", "xyzzy\x07", "setoption name Contempt value 3",
        "setoption name Hash value many", "setoption", "setoption name UCI_ShowWDL value 1",
        "isready", last="readyok",
    )  # fmt: skip
    assert lines == [
        "info string unknown command debug",
        "info string unknown command xyzzy\\x07",
        "info string no option is set by 'Contempt value 3'",
        "info string no option is set by 'Hash value many'",
        "info string no option is set by ''",
        "info string no option is set by 'UCI_ShowWDL value 1'",
        "readyok",
    ]


def test_several_lines_with_chances(caissa: Dialogue) -> None:
    lines = caissa.ask(
        "setoption name MultiPV value 3", "setoption name UCI_ShowWDL value true",
        "position startpos", "go depth 3",
    )  # fmt: skip
    infos = [info for info in read_infos(lines) if info["depth"] == "3"]
    assert [info["multipv"] for info in infos] == ["1", "2", "3"]
    assert len({info["pv"].split()[0] for info in infos}) == 3
    assert all(sum(map(int, info["wdl"].split())) == 1000 for info in infos)
    assert lines[-1] == f"bestmove {infos[0]['pv'].split()[0]}"


def test_options_are_brought_within_their_range(caissa: Dialogue) -> None:
    """Else `go` would be refused: so many threads and lines there are not, nor no table."""
    lines = caissa.ask(
        "setoption name Threads value 0", "setoption name MultiPV value 99",
        "setoption name Hash value 0", "go depth 2",
    )  # fmt: skip
    assert len([info for info in read_infos(lines) if info["depth"] == "2"]) == min(
        32, len(Position("caissa").legal_moves)
    )


def test_threads_search_together(caissa: Dialogue) -> None:
    lines = caissa.ask("setoption name Threads value 2", "go nodes 1")
    assert lines[-1].removeprefix("bestmove ") in Position("caissa").legal_moves


# Bounds


def test_depth(chakra: Dialogue) -> None:
    info = read_last(chakra.ask("position startpos moves e2e4", "go depth 5"))
    assert info["depth"] == "5"
    assert int(info["seldepth"]) >= 5
    assert info["wdl"] is None


def test_a_depth_beyond_all_is_the_greatest(chakra: Dialogue) -> None:
    lines = chakra.ask(f"position fen {MATE_IN_ONE}", "go depth 100000")
    assert read_last(lines)["score"] == "mate 1"


def test_nodes(chakra: Dialogue) -> None:
    info = read_last(chakra.ask("go nodes 3000"))
    assert int(info["nodes"]) <= 3000 + 1024


@pytest.mark.parametrize("bound", ["nodes 0", "nodes -5", "depth 0", "movetime 0", "movetime -1"])
def test_the_least_bounds_still_give_a_move(caissa: Dialogue, bound: str) -> None:
    assert caissa.ask(f"go {bound}")[-1].split()[1] in Position("caissa").legal_moves


def test_movetime(chakra: Dialogue) -> None:
    assert chakra.ask("go movetime 20")[-1].split()[1] in Position("chakra").legal_moves


def test_depths_are_told_as_they_are_finished(chakra: Dialogue) -> None:
    chakra.say("go infinite")
    told = [int(read_infos(chakra.hear("info depth"))[0]["depth"]) for _ in range(3)]
    assert told == sorted(set(told))
    chakra.ask("stop")


def test_mate(chakra: Dialogue) -> None:
    info = read_last(chakra.ask(f"position fen {MATE_IN_ONE}", "go mate 2"))
    assert info["score"] == "mate 1"


def test_searchmoves(chakra: Dialogue) -> None:
    lines = chakra.ask("position startpos", "go searchmoves a2a2f b2b3 depth 2")
    assert lines[-1].removeprefix("bestmove ") in ("a2a2f", "b2b3")
    lines = chakra.ask("go depth 2 searchmoves e2e5")
    assert lines[0].startswith("info string move 'e2e5': not legal in")
    assert lines[1:] == ["bestmove (none)"]


def test_a_finished_root_has_no_move(chakra: Dialogue) -> None:
    assert chakra.ask(f"position fen {MATED}", "go movetime 1000") == [
        "info depth 0 score mate 0",
        "info string the game is over: checkmate",
        "bestmove (none)",
    ]


@pytest.mark.parametrize(
    ("fen", "go", "expected"),
    [
        ("startpos", "wtime 5000 btime 9000 winc 10 binc 20", (5.0, 0, 0.01, None)),
        ("startpos moves e2e4 d7d5 e4d5", "wtime 1 btime 9000 binc 20", (9.0, 1, 0.02, None)),
        (
            "fen acmqksca/1pppppp1/8/8/4P3/8/1PPP1PP1/ACMQKSCA b a2n,h2n a7n,h7n 0 31",
            "ponder wtime 1 btime 60000 movestogo 9",
            (60.0, 30, 0.0, 9),
        ),
        ("startpos", "wtime -300 btime 9000", (-0.3, 0, 0.0, None)),
    ],
)
def test_a_clock_is_divided(
    chakra: Dialogue,
    monkeypatch: pytest.MonkeyPatch,
    fen: str,
    go: str,
    expected: tuple[float, int, float, int | None],
) -> None:
    asked = []

    def allot(remaining: float, played: int, increment: float, moves_to_go: int | None) -> float:
        asked.append((remaining, played, increment, moves_to_go))
        return 0.0

    monkeypatch.setattr("gateway.match.uci.allot", allot)
    assert chakra.ask(f"position {fen}", f"go {go}")[-1] != "bestmove (none)"
    assert asked == [pytest.approx(expected)]


# Positions


@pytest.mark.parametrize("variant", VARIANTS)
def test_positions_of_every_variant_with_moves(variant: str) -> None:
    dialogue = Dialogue(variant)
    position = Position(variant)
    for _ in range(4):
        position.push(position.legal_moves[0])
    fen, moves = VARIANTS[variant].startpos, " ".join(position.moves)
    dialogue.say(f"position fen {fen} moves {moves}")
    assert tell_fen(dialogue) == position.fen()
    dialogue.say(f"position startpos moves {' '.join(position.moves[:2])}")
    position.pop()
    position.pop()
    assert tell_fen(dialogue) == position.fen()
    dialogue.end()


def test_longer_other_and_shorter_lines(caissa: Dialogue) -> None:
    lines = (["c2d1"], ["c2d1", "f6d5"], ["b2c4", "f6d5"], ["b2c4"], [], ["c2d1", "e5e1"])
    for moves in lines:
        caissa.say(f"position startpos {' '.join(['moves', *moves])}")
        expected = Position("caissa")
        for move in moves:
            expected.push(move)
        if expected.outcome() is None:
            assert tell_fen(caissa) == expected.fen()
        else:
            assert caissa.ask("go depth 1")[0] == "info depth 0 score mate 0"


def test_repetition_counts_from_the_first_position_on(chakra: Dialogue) -> None:
    shuffle = "a1b3 a8b6 b3a1 b6a8 " * 2
    lines = chakra.ask(f"position startpos moves {shuffle}", "go depth 1")
    assert lines[-2:] == ["info string the game is over: repetition", "bestmove (none)"]


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        ("fen foo bar", "6 fields are required"),
        ("startpos moves e2e5", "move 'e2e5': not legal"),
        ("startpos moves e2e4 e2e4", "move 'e2e4': not legal"),
        ("fen", "6 fields are required"),
        ("", "6 fields are required"),
    ],
)
def test_refused_positions_have_no_move(chakra: Dialogue, position: str, reason: str) -> None:
    lines = chakra.ask(f"position {position}", "go depth 1")
    assert lines[0].startswith("info string ")
    assert reason in lines[0]
    assert lines[1:] == ["info string there is no position", "bestmove (none)"]
    assert chakra.ask("position startpos", "go depth 1")[-1] != "bestmove (none)"


# While it searches


def test_it_answers_while_it_searches_and_stops_at_once(chakra: Dialogue) -> None:
    chakra.say("go infinite")
    for _ in range(3):
        assert "readyok" in chakra.ask("isready", last="readyok")
    assert chakra.ask("stop")[-1].split()[1] in Position("chakra").legal_moves


@pytest.mark.parametrize("go", ["go infinite", "go", "go depth 1 infinite"])
def test_an_infinite_search_keeps_its_move_until_stopped(chakra: Dialogue, go: str) -> None:
    lines = chakra.ask(f"position fen {MATE_IN_ONE}", go, last="info depth")
    lines += chakra.ask("isready", last="readyok")
    assert not any(line.startswith("bestmove") for line in lines)
    assert chakra.ask("stop")[-1] == "bestmove g1g8"


def test_what_changes_the_search_ends_it_first(chakra: Dialogue) -> None:
    for change in ("position startpos", "ucinewgame", "setoption name Hash value 8", "go depth 1"):
        chakra.say("go infinite", change)
        assert chakra.hear("bestmove")
    chakra.hear("bestmove")
    assert chakra.ask("isready", last="readyok") == ["readyok"]


@pytest.mark.parametrize("end", [["quit"], []])
def test_quit_and_the_end_of_input_end_a_search(end: list[str]) -> None:
    dialogue = Dialogue("chakra")
    dialogue.say("go infinite", *end)
    assert dialogue.end()[-1].startswith("bestmove ")


def test_a_new_game_forgets(caissa: Dialogue) -> None:
    """The first search of a game takes the same nodes each time; a second one takes others."""
    nodes = [read_last(caissa.ask("go depth 6"))["nodes"] for _ in range(2)]
    caissa.say("ucinewgame")
    assert read_last(caissa.ask("go depth 6"))["nodes"] == nodes[0] != nodes[1]
