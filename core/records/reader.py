"""Reading the games of a file, whichever of the known forms it has."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO

from core.records.game import Record
from core.records.lines import NumberedLine, read_numbered
from core.records.objects import read_objects
from core.records.pgn import read_pgn

_OBJECT_BEGIN = re.compile(r'\s*\{\s*"')


def read_records(file: BinaryIO, variant: str = "") -> Iterator[Record]:
    """Yield each game as it is read; a broken one comes with line and reason, and the rest go on.

    The first line that is not blank tells the form: JSON lines, if it begins an object; else that
    of PGN. `variant` is that of games that name none; without it they are broken.
    """
    lines = read_numbered(file)
    first = next((line for line in lines if line[1].strip() or line[1] == "\n"), None)
    if first is None:
        return
    all_lines: Iterable[NumberedLine] = chain([first], lines)
    read = read_objects if _OBJECT_BEGIN.match(first[1]) else read_pgn
    yield from read(all_lines, variant)
