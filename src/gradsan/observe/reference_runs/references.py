"""All references, by the meaning of the fixes that they stand for."""

from collections.abc import Callable, Iterable

from gradsan.observe.reference_runs.apart import Apart, Skipped
from gradsan.observe.reference_runs.cut import Beside, Constant, Cut, Term
from gradsan.observe.reference_runs.kept import Cleared, Copied, Created, Kept, Same

_REFERENCES: dict[str, Callable[[], Kept]] = {
    "same": Same,
    "kept": Kept,
    "cut": Cut,
    "beside": Beside,
    "term": Term,
    "apart": Apart,
    "skipped": Skipped,
    "copied": Copied,
    "created": Created,
    "cleared": Cleared,
}


def reference(name: str, constants: Iterable[int]) -> Kept:
    """The reference of that name; `constants` are the creation numbers of what another run has cut off."""
    return Constant(constants) if name == "constant" else _REFERENCES[name]()
