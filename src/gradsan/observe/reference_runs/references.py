"""All references, by the meaning of the fixes that they stand for."""

from collections.abc import Callable, Iterable
from typing import Any

from gradsan.observe.reference_runs.again import Again
from gradsan.observe.reference_runs.apart import Apart, Awaited, Gathered, Held, Late, Skipped
from gradsan.observe.reference_runs.attached import Attached, Line, Whole
from gradsan.observe.reference_runs.beside import Beside
from gradsan.observe.reference_runs.cut import Constant, Cut, Stored, Term
from gradsan.observe.reference_runs.kept import Cleared, Copied, Created, Kept, Same
from gradsan.observe.reference_runs.owned import Owned

_REFERENCES: dict[str, Callable[[], Kept]] = {
    "same": Same,
    "kept": Kept,
    "again": Again,
    "cut": Cut,
    "beside": Beside,
    "term": Term,
    "apart": Apart,
    "skipped": Skipped,
    "late": Late,
    "copied": Copied,
    "created": Created,
    "cleared": Cleared,
    "gathered": Gathered,
    "owned": Owned,
}


# Those that go by what another one has noted.
_INFORMED: dict[str, Callable[[Iterable[int]], Kept]] = {
    "constant": Constant,
    "held": Held,
    "awaited": Awaited,
    "stored": Stored,
    "reread": Again,
}


# Those that go by a line of the program.
_OF_A_LINE: dict[str, Callable[[Line], Kept]] = {"attached": Attached, "unfrozen": Attached, "whole": Whole}


def reference(name: str, noted: Iterable[int] = (), line: Line | None = None) -> Kept:
    """The reference of that name; `noted`: by another run of the same program."""
    if line is not None:
        return _OF_A_LINE[name](line)
    return _INFORMED[name](noted) if name in _INFORMED else _REFERENCES[name]()


def without_version_checks() -> None:
    """Let passes walk what saved values that were edited since: where that is cut off, nothing comes of it.

    Optimizers are seen to edit what they train, and a program's own edits in place are not. PyTorch does not compare
    the versions of what it saves through hooks; that is no rule for every reference, since `torch.func` forbids them.
    """
    import torch

    torch.autograd.graph.saved_tensors_hooks(lambda each: each, lambda each: each).__enter__()  # for good


def be_precise() -> None:
    """What the program computes in single precision, it computes in double precision from now on.

    Two ways to compute the same gradient differ in their last digits. An optimizer that divides by the size of
    gradients makes whole steps of such a difference, where a gradient is nearly zero.
    """
    import torch

    single, double = torch.float32, torch.float64
    torch.set_default_dtype(double)
    for name in ("float32", "float"):
        setattr(torch, name, double)
    setattr(torch, "FloatTensor", torch.DoubleTensor)  # noqa: B010 # torch's own is a class
    for owner in (torch.Tensor, torch.nn.Module):
        owner.float = owner.double  # type: ignore[method-assign] # both have it

    def doubled(creates: Callable[..., Any]) -> Callable[..., Any]:
        def created(*args: Any, **named: Any) -> Any:  # noqa: ANN401 # as torch has it
            tensor = creates(*args, **named)
            return tensor if tensor.dtype is not single or tensor.requires_grad else tensor.double()

        return created

    for name in ("from_numpy", "tensor", "as_tensor"):  # of arrays in single precision
        setattr(torch, name, doubled(getattr(torch, name)))
