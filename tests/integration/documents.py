"""The examples of the documents: what readers are told to run, and what they are shown for it.

An example is a block that begins with ```console or ```python. Of a console's lines those that
begin with `$ ` are commands, continued after a backslash; what follows one, up to a blank line, is
what it prints, where `…` stands for anything within a line, and a line of it alone for any lines.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(r"^( *)```(console|python)\n(.*?)^\1```$", re.M | re.S)
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n?", re.M)


@dataclass(frozen=True)
class Example:
    """A command of a console, or a program of Python, and what it prints, if that is shown."""

    is_program: bool
    text: str
    shown: str = ""


def find_examples(page: Path) -> list[Example]:
    """Return a page's examples, in order."""
    return list(_read(page.read_text()))


def is_as_shown(printed: str, shown: str) -> bool:
    """Return whether an output is what a page shows."""
    lines = (r"(?:.*\n)*?" if line == "…" else _line(line) for line in shown.splitlines())
    return re.fullmatch("".join(lines), printed) is not None


def _read(text: str) -> Iterator[Example]:
    for _, language, block in _BLOCK.findall(text):
        if language == "python":
            yield Example(is_program=True, text=block)
            continue
        before, *rest = _COMMAND.split(block)
        assert not before, f"the block begins with no command: {before}"
        for command, shown in zip(rest[::2], rest[1::2], strict=True):
            yield Example(False, command, shown.strip("\n") and shown.rstrip("\n") + "\n")


def _line(text: str) -> str:
    return ".*".join(map(re.escape, text.rstrip().split("…"))) + r" *\n"
