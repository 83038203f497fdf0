"""The one file behind which every private name of PyTorch lives.

None of them is promised by PyTorch. Each is looked for once, and what is missing is said in a sentence rather than
met as an `AttributeError` in the middle of someone's training.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

# What `Node._sequence_nr()` answers for ops that have no creation number (AccumulateGrad).
NO_NUMBER = 2**64 - 1

OLDEST_TORCH = (2, 4)

# Where `torch.compile` reads the bytecode of what it compiles: the function, the module that has it, and the one
# that imports it by name.
BYTECODE_READER = "cleaned_instructions"
BYTECODE_MODULE = "torch._dynamo.bytecode_transformation"
BYTECODE_USER = "torch._dynamo.symbolic_convert"
# Where it keeps the folders whose code it does not compile, and the function that takes note of a change to them.
RULES_MODULE = "torch._dynamo.trace_rules"
FOLDERS_NOT_COMPILED = "SKIP_DIRS"
RULES_READER = "_recompile_re"


@dataclass(frozen=True, slots=True)
class Private:
    """The private names found in this torch; what could not be found is `None` and stands in `missing`."""

    op_counter: Callable[[], int] | None  # the number that this thread's next op will get
    engine_owner: ModuleType | None  # the module whose name `engine_name` is the choke point of every backward
    engine_name: str
    running_pass: Callable[[], int] | None  # the number of the pass that runs in this thread; below zero: none
    node_numbers: bool  # whether ops tell their creation number
    missing: tuple[str, ...]  # one sentence each

    @property
    def can_be_watched(self) -> bool:
        """Whether passes can be seen, and ops distinguished by their numbers."""
        return self.engine_owner is not None and self.node_numbers


def creation_number(node: Any) -> int | None:  # noqa: ANN401 # autograd's ops have no public type
    """The creation number of an op, per thread; `None` for ops that have none."""
    number = node._sequence_nr()  # noqa: SLF001
    return None if number == NO_NUMBER else int(number)


def compiler_switch() -> Callable[[object], object]:
    """Switches the compiler of frames in this thread to another (`None`: off), and answers with what it was."""
    import torch

    switch = _dig(torch, "_C._dynamo.eval_frame.set_eval_frame")
    return switch if callable(switch) else lambda _: None


def override_switch() -> Callable[[], AbstractContextManager[object]]:
    """For blocks in which no class and no mode of the program is asked what an operation on tensors is to do."""
    import torch

    switch = _dig(torch, "_C.DisableTorchFunction")
    return switch if callable(switch) else nullcontext


def is_tracing() -> bool:
    """Whether ops run on stand-ins without values now: then it is the compiler that differentiates, not the program."""
    import torch

    mode, stand_ins = _dig(torch, "_C._get_dispatch_mode"), _dig(torch, "_C._TorchDispatchModeKey.FAKE")
    return callable(mode) and stand_ins is not None and mode(stand_ins) is not None


def is_transforming() -> bool:
    """Whether a transform of `torch.func` is at work: what is computed then are values of its own kind."""
    import torch

    transform = _dig(torch, "_C._functorch.peek_interpreter_stack")
    return callable(transform) and transform() is not None


def restore_versions(tensors: Sequence[tuple[Any, int]]) -> None:
    """Let autograd count the edits of some tensors as it did before; where this torch cannot, they stay edited."""
    import torch

    put_back = _dig(torch, "_C._autograd._unsafe_set_version_counter")
    if callable(put_back) and tensors:
        with suppress(TypeError):  # before 2.5 it took one tensor
            put_back(tuple(each for each, _ in tensors), tuple(version for _, version in tensors))


def has_compiled() -> bool:
    """Whether `torch.compile` has compiled anything: then a hook on all modules would make it do so again."""
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", None)
    return counters is not None and bool(counters.get("frames"))


@cache
def private() -> Private:
    """Look for every private name once; never raises, also where torch is not installed."""
    try:
        import torch
    except ImportError as error:
        return Private(None, None, _ENGINE, None, node_numbers=False, missing=(f"torch cannot be imported: {error}",))
    return probe(torch)


def probe(torch: ModuleType) -> Private:
    """Which of the private names this torch has."""
    version = str(getattr(torch, "__version__", "unknown"))
    counter = _dig(torch, "_C._autograd._get_sequence_nr")
    engine = _dig(torch, f"autograd.{_ENGINE}")
    running = _dig(torch, "_C._current_graph_task_id")
    numbers = hasattr(_dig(torch, "autograd.graph.Node"), "_sequence_nr") or _ops_are_numbered(torch)
    missing = []
    if _is_older(version):
        oldest = ".".join(map(str, OLDEST_TORCH))
        missing.append(f"torch {version} is older than {oldest}, the oldest that gradsan knows")
    if not callable(counter):
        missing.append(f"torch {version} has no op counter: ops cannot be mapped to source lines")
    if not callable(engine):
        missing.append(f"torch {version} has no {_ENGINE}: backward passes cannot be seen")
    if not callable(running):
        missing.append(f"torch {version} does not number running passes: one inside of another is not recognised")
    if not numbers:
        missing.append(f"ops of torch {version} have no creation number: they cannot be mapped to source lines")
    return Private(
        op_counter=counter if callable(counter) else None,
        engine_owner=_dig(torch, "autograd") if callable(engine) else None,
        engine_name=_ENGINE,
        running_pass=running if callable(running) else None,
        node_numbers=numbers,
        missing=tuple(missing),
    )


_ENGINE = "_engine_run_backward"


def _dig(owner: object, path: str) -> Any:  # noqa: ANN401 # whatever stands there
    for name in path.split("."):
        owner = getattr(owner, name, None)
    return owner


def _ops_are_numbered(torch: ModuleType) -> bool:
    # The base class of C++ ops is not exposed on every version; an op created for the purpose would raise the
    # counter by one, which no program can see, but a class that every build has answers without making one.
    accumulate = _dig(torch, "_C._functions.AccumulateGrad")
    return hasattr(accumulate, "_sequence_nr")


def _is_older(version: str) -> bool:
    parts = version.split("+", maxsplit=1)[0].split(".")[:2]
    return all(part.isdigit() for part in parts) and tuple(map(int, parts)) < OLDEST_TORCH
