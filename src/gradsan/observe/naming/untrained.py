"""An optimizer that was given tensors which require no gradient: nothing that is computed from them can train them."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradsan.facts.culprit import Culprit
from gradsan.facts.location import Frame
from gradsan.observe.modules import parameters_of
from gradsan.observe.naming.subject import holder_of
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.unasked import is_one
from gradsan.source.names import called_name, optimized, targets
from gradsan.source.stores import text


@dataclass(frozen=True, slots=True)
class Untrained:
    """What an optimizer was given, and where."""

    culprit: Culprit
    optimizer: str
    frames: tuple[Frame, ...]
    is_proved: bool  # no other optimizer has anything that could be trained


def untrained(trace: Trace, optimizers: Sequence[Any]) -> Untrained | None:
    """The latest optimizer of which nothing requires a gradient, and nothing was frozen."""
    idle = [each for each in optimizers if _has_only_values(each)]
    kinds = {type(each).__name__ for each in idle}
    is_proved = len(idle) == len(optimizers)
    for execution in reversed(trace.executions) if idle else ():
        for call in execution.calls:
            given = optimized(call) if called_name(call) in kinds else []
            name = next(filter(None, (_named(each) for each, _ in given)), None)
            if name is not None:
                culprit = Culprit(name, holder_of(name, execution.call.scope))
                return Untrained(culprit, _assigned(execution) or called_name(call), execution.frames(), is_proved)
    return None


def _has_only_values(optimizer: Any) -> bool:  # noqa: ANN401 # torch's class
    import torch

    given = parameters_of(optimizer)
    return bool(given) and all(is_one(each, torch.Tensor) and not _learns(each) for each in given)


def _learns(tensor: Any) -> bool:  # noqa: ANN401 # a tensor
    """Whether it requires a gradient, or could: a parameter that does not was frozen."""
    import torch

    return tensor.requires_grad or is_one(tensor, torch.nn.Parameter)


def _named(given: ast.expr) -> str | None:
    """`w`, and `weights` of `weights.values()`."""
    match given:
        case ast.Call(func=ast.Attribute(value=whole, attr="values"), args=[]):
            return _named(whole)
        case ast.Name() | ast.Attribute():
            return text(given)
    return None


def _assigned(execution: Execution) -> str | None:
    names = (text(each) for statement in execution.statements for each in targets(statement))
    return next(filter(None, names), None)
