"""Every cause gradsan knows, found by walking this package: a new file here is a new cause."""

import difflib
import functools
import importlib
import pkgutil

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.errors import UnknownCodeError

__all__ = ["Cause", "Example", "Tempting", "all_causes", "cause"]


@functools.cache
def all_causes() -> tuple[type[Cause], ...]:
    """All causes, in the order of their codes."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return tuple(sorted(Cause.__subclasses__(), key=lambda each: each.code))


def cause(code_or_name: str) -> type[Cause]:
    """The cause with this code (`GS103`, in any case) or this name (`carried-state`)."""
    asked = code_or_name.strip()
    for each in all_causes():
        if asked.upper() == each.code or asked.lower() == each.name:
            return each
    raise UnknownCodeError(f"there is no code {asked!r}", _nearest(asked))


def _nearest(asked: str) -> str:
    labels = {each.code: each for each in all_causes()} | {each.name: each for each in all_causes()}
    begun = [each for label, each in labels.items() if label.upper().startswith(asked.upper()) and asked]
    alike = [labels[label] for label in difflib.get_close_matches(asked.upper(), labels, n=3, cutoff=0.5)]
    alike += [labels[label] for label in difflib.get_close_matches(asked.lower(), labels, n=3, cutoff=0.5)]
    nearest = dict.fromkeys([*begun[:3], *alike])
    every = "`gradsan explain` lists all codes"
    if not nearest:
        return every
    return f"did you mean {' or '.join(f'{each.code} ({each.name})' for each in list(nearest)[:3])}? {every}"
