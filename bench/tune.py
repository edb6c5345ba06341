"""Weights of the static score, fitted to games that the engine played with itself.

    python bench/tune.py play GAME SECONDS FILE.npz [--nodes N] [--seed N]
    python bench/tune.py fit GAME FILE.npz… [--prior P]

`play` plays from random openings at N nodes a move, one move in twenty-five at random, and keeps
the features of each position that is not in check nor near mate, with the game's result. `fit`
finds the weights by which a logistic curve tells the results best (Texel's method), drawn towards
the present ones by the prior. A better fit need not play better: let a match decide.
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
from core.record import Record
from gateway.match.openings import choose_opening, replay

MAX_PLIES = 240
RANDOM_SHARE = 0.04
# Centipawns by which the odds of winning grow e-fold; the best of them is taken.
SCALES = (150, 200, 250, 300, 400, 500, 600, 800)
NEWTON_STEPS = 40


def play(game: str, seconds: float, nodes: int, seed: int) -> tuple[Any, Any]:
    """Return features (a row a position) and results (1, 0.5 or 0) for the side to move."""
    rng, engine, features, results = random.Random(seed), Engine(), [], []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        position = replay(game, choose_opening(game, rng))
        record = Record(position.game)
        rows: list[tuple[Any, int]] = []
        while position.outcome() is None and len(position.moves) < MAX_PLIES:
            if rng.random() < RANDOM_SHARE:
                position.push(rng.choice(position.legal_moves))
                continue
            found = engine.search(position, Limits(nodes=nodes))
            if found.score.mate is None and not position.is_check():
                rows.append((read_features(position, record), len(position.moves) % 2))
            position.push(found.bestmove or "")
        is_mate = position.outcome() == "checkmate"
        loser = len(position.moves) % 2
        for row, side in rows:
            features.append(row)
            results.append(0.5 if not is_mate else float(side != loser))
    return np.array(features), np.array(results)


def read_features(position: Any, record: Record) -> Any:
    """Return the features of a position as one row."""
    position.write_state(record)
    rules = position.game.rules
    evaluate = importlib.import_module(f"core.{position.variant.game}.evaluate")
    evaluate.find_features(record.array[0], rules.TABLES[0])
    return record.array["features"][0].copy()


def fit(game: str, features: Any, results: Any, prior: float) -> Any:
    """Return the weights, in centipawns."""
    weights = importlib.import_module(f"core.{game}.weights").WEIGHTS.astype(float)
    rows = features[:, : len(weights)].astype(float)
    spread = (rows.std(0) + 1e-9) ** 2
    scale = min(SCALES, key=lambda s: find_loss(rows, results, weights, s))
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
    two.add_argument("--prior", type=float, default=0.01)
    args = parser.parse_args()
    if args.command == "play":
        features, results = play(args.game, args.seconds, args.nodes, args.seed)
        np.savez_compressed(args.file, features=features, results=results)
        print(f"{len(results)} positions in {args.file}")
        return
    data = [np.load(file) for file in args.files]
    features, results = (np.concatenate([d[n] for d in data]) for n in ("features", "results"))
    print(", ".join(f"{weight:.0f}" for weight in fit(args.game, features, results, args.prior)))


if __name__ == "__main__":
    main()
