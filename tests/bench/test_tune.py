"""The fit of weights."""

import numpy as np
import pytest

from bench import tune
from core.caissa.weights import WEIGHTS
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
    scores = np.zeros(4000)
    fitted = tune.fit("caissa", features, scores, results, 0, 1e-6)
    assert np.argmax(np.abs(fitted)) == 2
    assert fitted[2] > 5 * np.max(np.abs(np.delete(fitted, 2)))


def test_play_gives_a_result_for_each_position() -> None:
    features, scores, results = tune.play("caissa", 0.5, 200, 3)
    assert len(features) == len(scores) == len(results) > 0
    assert set(results) <= {0.0, 0.5, 1.0}


def test_fit_to_scores_alone_finds_the_weights_that_made_them() -> None:
    rng = np.random.default_rng(2)
    wanted = WEIGHTS.astype(float)
    wanted[3] += 100
    features = rng.integers(-1, 2, (4000, len(wanted)))
    luck = rng.choice([0.0, 1.0], 4000)
    fitted = tune.fit("caissa", features, features @ wanted, luck, 1, 1e-6)
    assert fitted == pytest.approx(wanted, abs=1)


def test_chances_are_fitted_to_what_scores_told() -> None:
    rng = np.random.default_rng(3)
    scores = rng.integers(-800, 801, 20_000)
    win = 1 / (1 + np.exp((100 - scores) / 150))
    loss = 1 / (1 + np.exp((100 + scores) / 150))
    luck = rng.random(20_000)
    results = np.where(luck < win, 1.0, np.where(luck > 1 - loss, 0.0, 0.5))
    offset, scale, _ = tune.fit_wdl(scores, results)
    assert (offset, scale) == (pytest.approx(100, abs=20), pytest.approx(150, abs=20))
