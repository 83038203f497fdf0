"""All references, by the meaning of the fixes that they stand for."""

from collections.abc import Callable, Iterable

from gradsan.observe.reference_runs.again import Again
from gradsan.observe.reference_runs.apart import Apart, Held, Skipped
from gradsan.observe.reference_runs.beside import Beside
from gradsan.observe.reference_runs.cut import Constant, Cut, Stored, Term
from gradsan.observe.reference_runs.kept import Cleared, Copied, Created, Kept, Same

_REFERENCES: dict[str, Callable[[], Kept]] = {
    "same": Same,
    "kept": Kept,
    "again": Again,
    "cut": Cut,
    "beside": Beside,
    "term": Term,
    "apart": Apart,
    "skipped": Skipped,
    "copied": Copied,
    "created": Created,
    "cleared": Cleared,
}


# Those that go by what another one has noted.
_INFORMED: dict[str, Callable[[Iterable[int]], Kept]] = {
    "constant": Constant,
    "held": Held,
    "stored": Stored,
    "reread": Again,
}


def reference(name: str, noted: Iterable[int]) -> Kept:
    """The reference of that name; `noted`: by another run of the same program."""
    return _INFORMED[name](noted) if name in _INFORMED else _REFERENCES[name]()


def without_version_checks() -> None:
    """Let passes walk what saved values that were edited since: where that is cut off, nothing comes of it.

    Optimizers are seen to edit what they train, and a program's own edits in place are not. PyTorch does not compare
    the versions of what it saves through hooks; that is no rule for every reference, since `torch.func` forbids them.
    """
    import torch

    torch.autograd.graph.saved_tensors_hooks(lambda each: each, lambda each: each).__enter__()  # for good
