"""The variants of Caissa: names, starts and rule flags. Imports nothing that compiles."""

from core.variant import Variant

_START = "7/3bqn1/4r2/7/2R4/1NQB3/7 w - 0 1"


def _variant(name: str, ply_limit: int | None, free_setup: bool) -> Variant:
    flags = {"ply_limit": ply_limit, "free_setup": free_setup}
    return Variant(name=name, game="caissa", startpos=_START, flags=flags)


VARIANTS = [
    _variant("caissa", None, False),
    _variant("caissa-codecup", 200, False),
    _variant("caissa-pritchard", None, True),
]
