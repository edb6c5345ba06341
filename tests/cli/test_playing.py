"""`tilewarp player` and `tilewarp uci` as other programs call them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.adjudication import Terms
from core.position import Position
from gateway.match.control import TimeControl, play_timed_game
from gateway.match.engines import parse_spec, start_engine
from gateway.match.program import Keeper, ProgramFault

COMMAND = (sys.executable, "-P", "-m", "gateway.cli")
ROOT = Path(__file__).parents[2]

TERMS = Terms(max_plies=400)


def run(*arguments: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments], input=given, capture_output=True, timeout=100, check=False
    )


# player


def test_player_answers_and_ends() -> None:
    done = run("player", "caissa", "--clock", "1", given=b"c2-d1\r\nend\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"e5-e1\n", b"")
    done = run("player", "caissa", "--clock", "1", "--threads", "2", "--hash-mb", "1", given=b"")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (b"c2-a2\n", b"Error: move 'c2a2': not legal in 7/"),
        (b"\xff\xfe\x00\n", b"' is not a move such as b2-c4 or a2-b4f\n"),
    ],
)
def test_player_refuses_what_has_no_answer(given: bytes, reason: bytes) -> None:
    done = run("player", "caissa", given=given)
    assert (done.returncode, done.stdout) == (2, b"")
    assert reason in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("command", ["player", "uci"])
def test_unknown_variants_are_refused(command: str) -> None:
    done = run(command, "chess", given=b"")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"Error: unknown variant 'chess'")


def test_player_is_interrupted_while_it_thinks() -> None:
    deadline = time.monotonic() + 100
    with Keeper() as keeper:
        player = keeper.start([*COMMAND, "player", "chakra", "--clock", "30000"])
        player.send("start")
        player.await_reading(deadline)
        os.kill(player.pid, signal.SIGINT)
        with pytest.raises(ProgramFault, match=f"ended with {-signal.SIGINT}"):
            player.read_line(deadline)
        player.close()


@pytest.mark.parametrize("variant", ["chakra", "caissa"])
def test_two_players_play_a_whole_game(variant: str) -> None:
    player = parse_spec(f"codecup:{' '.join(COMMAND)} player {variant} --clock 1", "", variant)
    with Keeper() as keeper:
        players = start_engine(player, keeper), start_engine(player, keeper)
        control = TimeControl(None, None, 100, 0)
        game = play_timed_game(Position(variant), players, (control, control), TERMS)
        for engine in players:
            engine.close()
    assert not game.is_forfeit, game.reason
    assert len(game.moves) > 10


# uci


def test_uci_answers_and_ends() -> None:
    done = run(
        "uci", "chakra", given=b"uci\r\n\xff\nposition startpos\ngo depth 1\nisready\nquit\n"
    )
    lines = done.stdout.decode().splitlines()
    assert (done.returncode, done.stderr) == (0, b"")
    assert "uciok" in lines
    assert r"info string unknown command \xff" in lines
    assert any(line.startswith("bestmove ") for line in lines)


def test_uci_is_interrupted_while_it_searches() -> None:
    deadline = time.monotonic() + 100
    with Keeper() as keeper:
        engine = keeper.start([*COMMAND, "uci", "chakra"])
        engine.send("go infinite")
        assert engine.read_line(deadline).startswith("info depth")
        os.kill(engine.pid, signal.SIGINT)
        rest = iter(lambda: engine.read_line(deadline), "")
        with pytest.raises(ProgramFault, match="ended with 130"):
            list(rest)
        engine.close()


# bench/bestmove_uci.py


def test_a_program_that_is_called_for_each_move_plays(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(
        f"#!{sys.executable} -IS\n"
        "import sys\n"
        "variant, command, movetime, fen, *moves = sys.argv[1:]\n"
        "assert (variant, command, movetime, fen) == ('caissa', 'bestmove', '50', 'startpos')\n"
        "move = ['c2d1', 'e5e1'][len(moves)]\n"
        "print(('bestmove ', '')[len(moves)] + move, 'score 3')\n"
    )
    program.chmod(0o755)
    adapter = f"uci:{sys.executable} {ROOT}/bench/bestmove_uci.py {program} caissa"
    with Keeper() as keeper:
        engines = [start_engine(parse_spec(adapter, "", "caissa"), keeper) for _ in range(2)]
        assert engines[0].identity == str(program)
        for engine in engines:
            engine.begin_game()
        control = TimeControl(nodes=None, movetime=50, clock=None, grace=60_000)
        players = engines[0], engines[1]
        game = play_timed_game(Position("caissa"), players, (control, control), TERMS)
        control = TimeControl(10, None, None, 0)
        refused = play_timed_game(Position("caissa"), players, (control, control), TERMS)
        for engine in engines:
            engine.close()
    assert (game.moves, game.reason) == (["c2d1", "e5e1"], "checkmate")
    assert "go nodes 10: only movetime is understood" in refused.reason
