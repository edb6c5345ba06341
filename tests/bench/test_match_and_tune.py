"""The match against another program, and the fit of weights."""

import random
import sys
from pathlib import Path

import numpy as np
import pytest

from bench import match, tune
from core.engine import Engine
from core.limits import Limits
from core.position import Position
from core.record import Record
from gateway.match.openings import LONGEST, SHORTEST, choose_opening, replay


def test_openings_are_of_the_length_meant_and_not_over() -> None:
    for seed in range(20):
        moves = choose_opening("caissa", random.Random(seed))
        assert SHORTEST <= len(moves) <= LONGEST
        assert replay("caissa", moves).outcome() is None


def test_score_counts_half_for_a_draw() -> None:
    assert str(match.Score(won=1, drawn=2, lost=1)).startswith(
        "4 games: +1 =2 -1, 50.0 % of the points"
    )


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A player that plays the first legal move of all."""
    path = tmp_path / "player"
    path.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        "from core.position import Position\n"
        "_, variant, command, movetime, fen, *moves = sys.argv\n"
        "assert (command, movetime, fen) == ('bestmove', '1', 'startpos')\n"
        "position = Position(variant)\n"
        "for move in moves:\n"
        "    position.push(move)\n"
        "print('bestmove', position.legal_moves[0])\n"
    )
    path.chmod(0o755)
    return str(path)


def test_a_game_is_played_to_its_end_and_scored(program: str) -> None:
    other = match.Program(program, "caissa", 1)
    for side in (0, 1):
        position = Position("caissa")
        won = match.play_game(position, Engine(), Limits(nodes=3000), other, side)
        assert won == 1
        assert position.outcome() == "checkmate"
        assert len(position.moves) % 2 != side


@pytest.mark.parametrize("game", ["chakra", "caissa"])
def test_features_of_the_start_are_even_but_for_the_move(game: str) -> None:
    position = Position(game)
    features = tune.read_features(position, Record(position.game))
    assert np.count_nonzero(features) == 1
    assert features.sum() == 1


def test_fit_finds_the_weights_that_made_the_results() -> None:
    rng = np.random.default_rng(1)
    count = len(tune.read_features(Position("caissa"), Record(Position("caissa").game)))
    features = rng.integers(-3, 4, (4000, count))
    wanted = np.zeros(count)
    wanted[2] = 400
    results = (rng.random(4000) < 1 / (1 + np.exp(-features @ wanted / 300))).astype(float)
    fitted = tune.fit("caissa", features, results, 1e-6)
    assert np.argmax(np.abs(fitted)) == 2
    assert fitted[2] > 5 * np.max(np.abs(np.delete(fitted, 2)))


def test_play_gives_a_result_for_each_position() -> None:
    features, results = tune.play("caissa", 0.5, 200, 3)
    assert len(features) == len(results) > 0
    assert set(results) <= {0.0, 0.5, 1.0}
