"""The fit of weights."""

import numpy as np
import pytest

from bench import tune
from core.position import Position
from core.record import Record


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
