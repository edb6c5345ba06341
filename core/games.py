"""The registry: variants by name, and the compiled game that each belongs to.

A new game adds itself to `_VARIANT_MODULES`, and touches only its own folder besides.
"""

import functools
import importlib
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from core.caissa import variants as caissa_variants
from core.chakra import variants as chakra_variants
from core.notation import UnknownVariant
from core.variant import Variant

_VARIANT_MODULES = (chakra_variants, caissa_variants)

VARIANTS: dict[str, Variant] = {v.name: v for m in _VARIANT_MODULES for v in m.VARIANTS}
GAMES: tuple[str, ...] = tuple(dict.fromkeys(v.game for v in VARIANTS.values()))


def find_variant(name: str) -> Variant:
    """Return the variant of this name, or raise UnknownVariant, which lists those there are."""
    try:
        return VARIANTS[name]
    except KeyError:
        raise UnknownVariant(name, list(VARIANTS)) from None


@dataclass(frozen=True)
class Game:
    """A game's kernels, bound once in a process.

    `rules` fulfils `core.rules`, by those names; `entry` is what Python calls; `position_type` the
    dtype of a position's bytes.
    """

    name: str
    rules: Any
    position_type: np.dtype[Any]
    search: SimpleNamespace
    entry: SimpleNamespace


@functools.cache
def load_game(name: str) -> Game:
    """Return the game of this name, its kernels compiled or loaded from the cache.

    The first process compiles what a cold cache lacks, under a lock; others wait for it.
    """
    from core import warmup

    game = bind_game(name)
    warmup.warm_game(game)
    return game


def bind_game(name: str) -> Game:
    """Return the game of this name, its kernels not yet compiled."""
    from core import entry, images, ordering, perft, rules, search
    from core.bind import bind

    module = importlib.import_module(f"core.{name}.game")
    names = {contract: getattr(module, contract) for contract in rules.CONTRACT}
    order = vars(bind(ordering, name, names))
    counting = bind(perft, name, names)
    imaging = bind(images, name, names)
    searching = bind(search, name, {**names, **order})
    return Game(
        name=name,
        rules=module,
        position_type=rules.find_position_type(module.STATE),
        search=searching,
        entry=bind(entry, name, {**names, **vars(counting), **vars(imaging), **vars(searching)}),
    )
