"""The same facts with something changed in them, at any depth: facts are frozen dataclasses, and tuples of them."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any


def rebuilt(facts: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401 # whatever the facts are
    """What was changed of each part; what has no parts as it is."""
    if isinstance(facts, tuple):
        return tuple(map(change, facts))
    if not is_dataclass(facts) or isinstance(facts, type):
        return facts
    parts = (each.name for each in fields(facts) if each.init)
    return replace(facts, **{name: change(getattr(facts, name)) for name in parts})
