"""The command line that searches a position again, as results and failures name it."""

import shlex
from dataclasses import fields

from core.limits import Limits
from core.position import STARTPOS
from tilewarp.v1 import position_pb2


def format_command(position: position_pb2.Position, limits: Limits) -> str:
    """Return the command line that searches this position within these limits."""
    words = ["tilewarp", "search", position.variant, position.fen or STARTPOS]
    if position.moves:
        words += ["--moves", " ".join(position.moves)]
    for field in fields(limits):
        value = getattr(limits, field.name)
        if value != field.default:
            text = " ".join(value) if isinstance(value, tuple) else str(value)
            words += [f"--{field.name.replace('_', '-')}", text]
    return shlex.join(words)
