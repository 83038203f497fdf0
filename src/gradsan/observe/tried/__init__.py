"""What the user may believe to have mended already: one file a belief, found by walking this package."""

import functools
import importlib
import pkgutil

from gradsan.observe.tried.belief import Belief, Case, Tried

__all__ = ["Belief", "Case", "Tried", "beliefs"]


def beliefs(case: Case) -> tuple[Tried, ...]:
    """Each thing that was done and does not help."""
    return tuple(dict.fromkeys(tried for each in _all_beliefs() for tried in each.found(case)))


@functools.cache
def _all_beliefs() -> tuple[type[Belief], ...]:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return tuple(sorted(Belief.__subclasses__(), key=lambda each: each.__name__))
