"""The live modules and optimizers, and what they show of parameters. Looked up when there is something to show."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gradsan.observe.living import instances
from gradsan.observe.unasked import ids

_LARGEST = 1_000_000  # elements of a parameter that are added up


@dataclass(frozen=True, slots=True)
class Trained:
    """What the program trains, and what with."""

    modules: Sequence[Any]  # every `nn.Module`
    optimizers: Sequence[Any]


def trained() -> Trained:
    """All that is alive now."""
    from torch import nn
    from torch.optim import Optimizer

    found = instances(nn.Module, Optimizer)
    # By `type()`: `isinstance` asks objects for their class, and proxies and lazy modules answer by doing things.
    modules = [each for each in found if issubclass(type(each), nn.Module)]
    return Trained(modules, [each for each in found if issubclass(type(each), Optimizer)])


def parameters_of(optimizer: Any) -> list[Any]:  # noqa: ANN401 # torch's class
    """All that it trains, in its order."""
    return [each for group in optimizer.param_groups for each in group["params"]]


def all_parameters() -> list[Any]:
    """The parameters of all optimizers that are alive."""
    return [each for optimizer in trained().optimizers for each in parameters_of(optimizer)]


def can_be_added_up(parameter: Any) -> bool:  # noqa: ANN401 # a tensor
    """Whether the sum of its elements is soon there, and nobody else's business."""
    import torch

    plain = id(type(parameter)) in ids(torch.Tensor, torch.nn.Parameter)  # a distributed one would talk to its peers
    return plain and parameter.layout is torch.strided and parameter.numel() <= _LARGEST


def sum_of(parameter: Any) -> Any:  # noqa: ANN401 # a tensor, and a device's answer
    """Other values have another one, as good as always."""
    return parameter.detach().sum()


def owners(optimizers: Iterable[Any]) -> dict[int, set[int]]:
    """For the id of every parameter, the ids of the optimizers that own it; also of those that never stepped."""
    found: dict[int, set[int]] = {}
    for optimizer in optimizers:
        for parameter in parameters_of(optimizer):
            found.setdefault(id(parameter), set()).add(id(optimizer))
    return found


def module_names(modules: Sequence[Any]) -> dict[int, str]:
    """For the id of every parameter of these models, the dotted name of the module that owns it.

    The outermost module has no name of its own: it goes by its class. Nothing is noted while the program runs, so an
    op without a parameter has no module.
    """
    return {number: name or owner for number, (name, owner, _) in _named(modules).items()}


def parameter_names(modules: Sequence[Any]) -> dict[int, str]:
    """For the id of every parameter of these models, its own dotted name."""
    return {number: f"{name}.{own}" if name else own for number, (name, _, own) in _named(modules).items()}


def buffers_beside(modules: Iterable[Any]) -> dict[int, list[Any]]:
    """For the id of every parameter, the buffers of the modules that own it."""
    found: dict[int, list[Any]] = {}
    for module in modules:
        buffers = [each for each in vars(module).get("_buffers", {}).values() if each is not None]
        for parameter in vars(module).get("_parameters", {}).values() if buffers else ():
            found.setdefault(id(parameter), []).extend(buffers)
    return found


def _named(modules: Sequence[Any]) -> dict[int, tuple[str, str, str]]:
    """For the id of every parameter: the dotted name and the class of the module that owns it, and its name there."""
    inner = {id(child) for each in modules for child in _children(each).values()}
    stack = [(root, "") for root in reversed(modules) if id(root) not in inner]
    found: dict[int, tuple[str, str, str]] = {}
    seen: set[int] = set()
    while stack:
        module, name = stack.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        for own, parameter in vars(module).get("_parameters", {}).items():
            if parameter is not None:
                found.setdefault(id(parameter), (name, type(module).__name__, own))
        stack += [(child, _inner_name(module, name, key)) for key, child in _children(module).items()]
    return found


def _inner_name(module: Any, name: str, key: str) -> str:  # noqa: ANN401 # an nn.Module
    """The dotted name of a child; a number alone would tell nobody anything."""
    outer = name or (type(module).__name__ if key.isdigit() else "")
    return f"{outer}.{key}" if outer else key


def _children(module: Any) -> dict[str, Any]:  # noqa: ANN401 # an nn.Module
    return {key: child for key, child in vars(module).get("_modules", {}).items() if child is not None}
