"""Compiling a generic module for one game: its functions, with the game's rules as globals.

Functions passed as arguments, and closures over compiled ones, never hit Numba's cache in another
process. So each generic function gets a copy per game: the same code, other globals, and a
qualified name of its own, by which Numba caches it.
"""

from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, TypeVar

from core.jit import kernel

F = TypeVar("F", bound=Callable[..., Any])


def generic(function: F) -> F:
    """Mark a function as one that `bind` compiles for each game."""
    function.__dict__["is_generic"] = True
    return function


def bind(module: ModuleType, game: str, names: Mapping[str, Any]) -> SimpleNamespace:
    """Return the generic functions of `module`, compiled for `game`, under their own names.

    `names` replaces globals of the module: the functions of the game's rules, and generic
    functions bound before.
    """
    scope = {**vars(module), **names}
    bound = {}
    for name, function in vars(module).items():
        is_own = getattr(function, "__module__", None) == module.__name__
        if is_own and getattr(function, "is_generic", False) and name not in names:
            copy = FunctionType(function.__code__, scope, name, function.__defaults__)
            copy.__qualname__ = f"{game}.{name}"
            copy.__module__ = module.__name__
            copy.__doc__ = function.__doc__
            bound[name] = kernel(copy)
    scope.update(bound)
    return SimpleNamespace(**bound)
