"""What a variant is: a name, a start, and the flags by which its rules differ."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Variant:
    """A variant of a game; `flags` are its rules in words, as shown to users."""

    name: str
    game: str
    startpos: str
    flags: Mapping[str, bool | int | str | None]
