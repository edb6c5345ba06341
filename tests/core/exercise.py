"""Use of every game as a program makes it, its findings as JSON: to be compared between processes.

Run as `python -m tests.core.exercise PLIES NODES`: moves, keys and perft of a line of so many
plies and of golden positions, searches of so many nodes; then what was compiled for it. With
`PLIES` 0, a perft alone.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from core.engine import Analysis, Engine
from core.games import VARIANTS
from core.jit import IS_JIT_ON, KERNELS, count_cache_misses
from core.limits import Limits
from core.position import Position
from core.symmetry import find_canonical
from tests.core.judge import GOLDEN

ROOT = Path(__file__).parent.parent.parent


def exercise(plies: int, nodes: int) -> dict[str, Any]:
    """What each variant answers, by its name."""
    return {name: _exercise_variant(name, plies, nodes) for name in VARIANTS}


def _exercise_variant(variant: str, plies: int, nodes: int) -> dict[str, Any]:
    position = Position(variant)
    if plies == 0:
        return {"perft": position.perft(3)}
    line = []
    for ply in range(plies):
        moves = position.legal_moves
        line.append([position.fen(), position.keys, moves, position.is_check(), position.outcome()])
        position.push(moves[(7 * ply) % len(moves)])
    perft = position.perft(2)
    analysis = Engine().search(position, Limits(nodes=nodes))
    while position.moves:
        position.pop()
    golden = [row["fen"] for row in GOLDEN if row["variant"] == variant]
    return {
        "line": line,
        "perft": perft,
        "search": _show(analysis),
        "canonical": find_canonical(position)[0].fen(),
        "fen": position.fen(),
        "golden": [_exercise_position(variant, fen, nodes // 8) for fen in golden[::3]],
    }


def _exercise_position(variant: str, fen: str, nodes: int) -> list[Any]:
    position = Position(variant, fen)
    moves = position.legal_moves
    after = []
    for move in moves:
        position.push(move)
        after.append([position.fen(), position.keys, position.perft(1)])
        position.pop()
    return [moves, after, _show(Engine().search(position, Limits(nodes=nodes)))]


def _show(found: Analysis) -> list[Any]:
    return [found.bestmove, str(found.score), found.depth, found.nodes, found.pv, found.result]


def report(plies: int, nodes: int) -> dict[str, Any]:
    """The findings, with the kernels that were compiled and the number of each one's signatures."""
    found = json.loads(json.dumps(exercise(plies, nodes)))
    if not IS_JIT_ON:
        return {"found": found, "misses": count_cache_misses()}
    names = [f"{k.py_func.__module__}.{k.py_func.__qualname__}" for k in KERNELS]
    return {
        "found": found,
        "misses": count_cache_misses(),
        "compiled": [n for n, k in zip(names, KERNELS, strict=True) if k.stats.cache_misses],
        "signatures": {n: _find_signatures(k) for n, k in zip(names, KERNELS, strict=True)},
    }


def _find_signatures(kernel: Any) -> list[str]:
    """The argument types that a kernel was compiled for; a literal counts as its type."""
    from numba import types

    found = {str(tuple(map(types.unliteral, signature))) for signature in kernel.signatures}
    return sorted(found)


def start(plies: int, nodes: int, *options: str, **environment: str) -> subprocess.Popen[str]:
    """Begin a report in another process."""
    arguments = ["-m", "tests.core.exercise", str(plies), str(nodes)]
    return subprocess.Popen(
        [sys.executable, *options, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return the report of another process."""
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    found: dict[str, Any] = json.loads(out)
    return found


if __name__ == "__main__":
    json.dump(report(int(sys.argv[1]), int(sys.argv[2])), sys.stdout)
