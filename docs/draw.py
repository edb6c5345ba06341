"""Draws the pictures of the documentation: `make pictures`.

The command that draws a picture stands in a comment on the line before it:

    <!-- tilewarp board chakra --moves "b2b4" -->
    ![A pawn on b4](pictures/pawn.svg)
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from gateway.cli.__main__ import main

DOCS = Path(__file__).parent
_PICTURE = re.compile(r"^<!-- tilewarp (board .+) -->\n!\[[^]]*\]\((\S+\.svg)\)$", re.M)


def find_pictures() -> Iterator[tuple[Path, list[str]]]:
    """Yield each picture's file and the arguments of the command that draws it."""
    for page in sorted(DOCS.rglob("*.md")):
        for arguments, name in _PICTURE.findall(page.read_text()):
            yield page.parent / name, shlex.split(arguments)


def draw(file: Path, arguments: list[str]) -> None:
    """Draw a picture into a file."""
    main([*arguments, "-o", str(file)], standalone_mode=False)


if __name__ == "__main__":
    for file, arguments in find_pictures():
        draw(file, arguments)
