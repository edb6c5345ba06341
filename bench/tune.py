"""Weights of the static score, fitted to games that the engine played with itself.

    python bench/tune.py play GAME SECONDS FILE.npz [--nodes N] [--seed N]
    python bench/tune.py fit GAME FILE.npz… [--blend L] [--prior P]
    python bench/tune.py wdl FILE.npz…

`play` plays from random openings at N nodes a move, one move in twenty-five at random, until the
end or until both sides see one far ahead. It keeps the features of each position that is not in
check nor near mate, with the search's score and the game's result. `fit` finds the weights by which
a logistic curve tells best what became of a position (Texel's method): its result, or, with the
share `--blend`, the chance that the search's score gave. They are drawn towards the present weights
by the prior. A better fit need not play better: let a match decide. `wdl` finds the curves by which
scores tell the chances to win and to lose.
"""

import argparse
import importlib
import random
import time
from typing import Any

import numpy as np

from core.engine import Engine
from core.games import GAMES
from core.limits import Limits
from core.match.openings import choose_opening, replay
from core.record import Record
from core.score import MATE, Score

MAX_PLIES = 300
# A game is won by whoever is so many centipawns ahead for so many plies, by both sides' searches.
DECIDED_SCORE = 1500
DECIDED_PLIES = 6
RANDOM_SHARE = 0.04
# Centipawns by which the odds of winning grow e-fold; the best of them is taken.
SCALES = (150, 200, 250, 300, 400, 500, 600, 800)
NEWTON_STEPS = 40


def play(game: str, seconds: float, nodes: int, seed: int) -> tuple[Any, Any, Any]:
    """Return features (a row a position), scores and results (1, 0.5 or 0) for the side to move."""
    rng, engine = random.Random(seed), Engine()
    features, scores, results = [], [], []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        position = replay(game, choose_opening(game, rng))
        record = Record(position.game)
        rows: list[tuple[Any, int, int]] = []
        streak = 0
        winner: int | None = None
        while position.outcome() is None and len(position.moves) < MAX_PLIES:
            side = len(position.moves) % 2
            if rng.random() < RANDOM_SHARE:
                position.push(rng.choice(position.legal_moves))
                continue
            found = engine.search(position, Limits(nodes=nodes))
            score = find_number(found.score)
            if found.score.mate is None and not position.is_check():
                rows.append((read_features(position, record), side, score))
            leader = side if score > 0 else 1 - side
            streak = streak + 1 if abs(score) >= DECIDED_SCORE and leader in (winner, None) else 0
            winner = leader if streak else None
            if streak == DECIDED_PLIES:
                break
            position.push(found.bestmove or "")
        if position.outcome() == "checkmate":
            winner = 1 - len(position.moves) % 2
        elif streak < DECIDED_PLIES:
            winner = None
        for row, side, score in rows:
            features.append(row)
            scores.append(score)
            results.append(0.5 if winner is None else float(side == winner))
    return np.array(features, dtype=np.int16), np.array(scores), np.array(results)


def find_number(score: Score) -> int:
    """Return a score in centipawns, a mate as more than any other."""
    return (score.cp or 0) if score.mate is None else (MATE if score.mate > 0 else -MATE)


def read_features(position: Any, record: Record) -> Any:
    """Return the features of a position as one row."""
    position.write_state(record)
    rules = position.game.rules
    evaluate = importlib.import_module(f"core.{position.variant.game}.evaluate")
    evaluate.find_features(record.array[0], rules.TABLES[0])
    return record.array["features"][0].copy()


def fit(game: str, features: Any, scores: Any, results: Any, blend: float, prior: float) -> Any:
    """Return the weights, in centipawns."""
    weights = importlib.import_module(f"core.{game}.weights").WEIGHTS.astype(float)
    rows = features[:, : len(weights)].astype(float)
    spread = (rows.std(0) + 1e-9) ** 2
    scale = min(SCALES, key=lambda s: find_loss(rows, results, weights, s))
    results = (1 - blend) * results + blend / (1 + np.exp(-np.clip(scores / scale, -20, 20)))
    fitted = weights.copy()
    for _ in range(NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-rows @ fitted / scale))
        pull = prior * spread / scale**2
        slope = rows.T @ (chance - results) / len(rows) / scale + pull * (fitted - weights)
        curve = (rows * (chance * (1 - chance))[:, None]).T @ rows / len(rows) / scale**2
        fitted -= np.linalg.solve(curve + np.diag(pull + 1e-12), slope)
    before, after = (find_loss(rows, results, w, scale) for w in (weights, fitted))
    print(f"{len(rows)} positions, scale {scale}, loss {before:.4f} -> {after:.4f}")
    return fitted


def find_loss(rows: Any, results: Any, weights: Any, scale: float) -> float:
    """Return the mean log-loss of the results under these weights."""
    chance = np.clip(1 / (1 + np.exp(-rows @ weights / scale)), 1e-9, 1 - 1e-9)
    return float(-np.mean(results * np.log(chance) + (1 - results) * np.log(1 - chance)))


def fit_wdl(scores: Any, results: Any) -> tuple[int, int, float]:
    """Return the offset and scale of `core.score.WdlModel` that tell results best, and the loss.

    The loss is the mean logarithm of the chance given to what happened, by steps of 10 centipawns.
    """
    places = np.clip(np.round(scores / 10).astype(int), -400, 400)
    levels = np.unique(places)
    counts = np.array([[np.sum(results[places == k] == r) for r in (1, 0.5, 0)] for k in levels])
    best = (0, 0, np.inf)
    for offset in range(0, 1000, 10):
        for scale in range(20, 1000, 10):
            win = 1 / (1 + np.exp((offset - 10.0 * levels) / scale))
            loss = 1 / (1 + np.exp((offset + 10.0 * levels) / scale))
            chances = np.clip(np.stack([win, 1 - win - loss, loss], axis=1), 1e-9, 1)
            mean = -np.sum(counts * np.log(chances)) / counts.sum()
            if mean < best[2]:
                best = (offset, scale, float(mean))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bench/tune.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("play")
    one.add_argument("game", choices=GAMES)
    one.add_argument("seconds", type=float)
    one.add_argument("file")
    one.add_argument("--nodes", type=int, default=2000)
    one.add_argument("--seed", type=int, default=1)
    two = commands.add_parser("fit")
    two.add_argument("game", choices=GAMES)
    two.add_argument("files", nargs="+")
    two.add_argument("--blend", type=float, default=0.5)
    two.add_argument("--prior", type=float, default=0.01)
    three = commands.add_parser("wdl")
    three.add_argument("files", nargs="+")
    args = parser.parse_args()
    if args.command == "play":
        features, scores, results = play(args.game, args.seconds, args.nodes, args.seed)
        np.savez_compressed(args.file, features=features, scores=scores, results=results)
        print(f"{len(results)} positions in {args.file}")
        return
    data = [np.load(file) for file in args.files]
    names = ("features", "scores", "results")
    features, scores, results = (np.concatenate([d[name] for d in data]) for name in names)
    if args.command == "wdl":
        offset, scale, loss = fit_wdl(scores, results)
        print(f"{len(scores)} positions: offset {offset}, scale {scale}, loss {loss:.4f}")
        return
    weights = fit(args.game, features, scores, results, args.blend, args.prior)
    print(", ".join(f"{weight:.0f}" for weight in weights))


if __name__ == "__main__":
    main()
