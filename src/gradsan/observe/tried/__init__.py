"""What the user may believe to have fixed already: one file a belief, found by walking this package."""

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import replace

from gradsan.facts.incident import Edited, Incident, SecondPass
from gradsan.facts.live_evidence import Tried
from gradsan.observe.cells import CELLS
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.stored import Stores
from gradsan.observe.naming.trace import Trace
from gradsan.observe.tried.belief import Case


def tried(incident: Incident, culprit: str | None, lines: Lines) -> tuple[Tried, ...]:
    """Each thing that was done and does not help; a cell in its sentence is called by its prompt."""
    if not isinstance(incident, SecondPass | Edited):
        return ()
    old = incident.made or (incident.saver if isinstance(incident, Edited) else None)
    if old is None or old.number is None:
        return ()
    trace = Trace(lines, old.number, None, (old.number,))
    case = Case(incident, culprit, trace, Stores(trace), trace.at.get(old.number, ()))
    found = dict.fromkeys(each for found_by in _beliefs() for each in found_by(case))
    return tuple(replace(each, sentence=CELLS.in_words(each.sentence)) for each in found)


@functools.cache
def _beliefs() -> tuple[Callable[[Case], Iterator[Tried]], ...]:
    """What each file has to say, in the order of their names."""
    modules = (importlib.import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__))
    return tuple(vars(each)["found"] for each in modules if "found" in vars(each))
