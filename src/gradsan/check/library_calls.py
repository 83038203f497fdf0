"""Calls of libraries by their dotted names: torch, its relatives, numpy, the standard library."""

from collections.abc import Callable
from functools import lru_cache

from gradsan.check.builtin_calls import builtin
from gradsan.check.machine import Call, Machine
from gradsan.check.new_ops import bare, cut
from gradsan.check.optimizer_calls import new_optimizer, new_scaler
from gradsan.check.tables import CALLEES, entered
from gradsan.check.torch_functions import torch_function
from gradsan.check.torch_names import call_torch
from gradsan.check.unfollowed import unknown_call
from gradsan.check.values import Library, Value, has_graph
from gradsan.knowledge.effects import does
from gradsan.knowledge.libraries import NUMBER_LIBRARIES, OPTIMIZER_PACKAGES, STANDARD, TENSOR_LIBRARIES

Handler = Callable[[Machine, str, Call], Value]

_PARALLEL = ("DistributedDataParallel", "DataParallel", "DDP")


@entered(CALLEES, Library)
def call_library(machine: Machine, library: Library, call: Call) -> Value:
    """The result of calling a name of a library."""
    return _by_prefix(library.path)(machine, library.path, call)


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _standard(machine: Machine, path: str, call: Call) -> Value:
    return builtin(machine, _last(path), call) or _other(machine, path, call)


def _relative(machine: Machine, path: str, call: Call) -> Value:
    """Libraries whose functions are called as those of torch are."""
    return torch_function(machine, _last(path), call)


def _numbers(machine: Machine, path: str, call: Call) -> Value:
    """Numpy and its like hand back bare numbers."""
    lost = next((each for each in call.values if has_graph(each) or each.cut), None)
    if lost is not None:
        return cut(machine, lost, f"`{path}`", call.node)
    return bare(machine, call.values, call.node)


def _optimizer(machine: Machine, path: str, call: Call) -> Value:
    is_one = does(_last(path), "optimizes") and call.arguments
    return new_optimizer(machine, call) if is_one else _other(machine, path, call)


def _other(machine: Machine, path: str, call: Call) -> Value:
    """A library of which only some names are known."""
    if _last(path) == "GradScaler":
        return new_scaler(machine, call)
    if _last(path) in _PARALLEL and call.arguments:
        return call.first
    return unknown_call(machine, path, call)


@lru_cache(maxsize=1024)
def _by_prefix(path: str) -> Handler:
    return next((handler for prefixes, handler in _LIBRARIES if path.startswith(prefixes)), _other)


# What the names of a library are; the first that fits counts.
_LIBRARIES: tuple[tuple[str | tuple[str, ...], Handler], ...] = (
    (STANDARD, _standard),
    ("torch.", call_torch),
    (TENSOR_LIBRARIES, _relative),
    (NUMBER_LIBRARIES, _numbers),
    (OPTIMIZER_PACKAGES, _optimizer),
)
