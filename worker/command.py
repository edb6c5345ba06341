"""The command lines that repeat work in one process, as results and failures name them."""

import shlex
from dataclasses import fields
from functools import lru_cache

from core.limits import Limits
from core.position import STARTPOS
from tilewarp.v1 import adjudication_pb2, analysis_pb2, match_pb2, position_pb2
from worker.limits import read_limits


def format_command(position: position_pb2.Position, limits: Limits) -> str:
    """Return the command line that searches this position within these limits."""
    words = ["tilewarp", "search", position.variant, position.fen or STARTPOS]
    if position.moves:
        words += ["--moves", " ".join(position.moves)]
    return f"{shlex.join(words)} {_format_limits(limits)}"


@lru_cache(maxsize=8)  # the positions of a job have one set
def _format_limits(limits: Limits) -> str:
    words = []
    for field in fields(limits):
        value = getattr(limits, field.name)
        if value != field.default:
            text = " ".join(value) if isinstance(value, tuple) else str(value)
            words += [f"--{field.name.replace('_', '-')}", text]
    return shlex.join(words)


def format_match_command(work: match_pb2.MatchWork, pair: int) -> str:
    """Return the command line that plays the pairs of a match up to one of them."""
    words = ["tilewarp", "match", work.variant]
    for name, limits in (("first", work.first), ("second", work.second)):
        words += ["--engine", f"{name}=builtin:{_format_player(limits)}"]
    words += [*_list_terms(work.terms), "--seed", str(work.seed), "--pairs", str(pair)]
    return shlex.join(words)


def _format_player(limits: analysis_pb2.Limits) -> str:
    read = read_limits(limits)
    names = ("nodes", "depth", "movetime", "threads", "hash_mb")
    values = {name.replace("_", "-"): getattr(read, name) for name in names}
    return ",".join(f"{name}={value}" for name, value in values.items() if value is not None)


def _list_terms(terms: adjudication_pb2.AdjudicationTerms) -> list[str]:
    words = ["--max-plies", str(terms.max_plies)]
    if terms.resign_count:
        words += ["--resign", str(terms.resign_score), str(terms.resign_count)]
    if terms.two_sided:
        words.append("--two-sided")
    if terms.draw_count:
        draw = (terms.draw_score, terms.draw_count, terms.draw_after)
        words += ["--draw", *map(str, draw)]
    return words
