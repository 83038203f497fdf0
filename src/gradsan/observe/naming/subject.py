"""What a failing pass was asked for, as the user wrote it: found by looking which variable is that very tensor."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from gradsan.facts.culprit import Holder
from gradsan.facts.location import Frame
from gradsan.knowledge.effects import asks_for_pass
from gradsan.knowledge.tensors import operation
from gradsan.observe.graph import loss_chain, roots_of
from gradsan.observe.naming.live_values import value_of
from gradsan.observe.user_statements import calls_at, parameters_in, place_of, scope_at, statements_at
from gradsan.source.names import called_name
from gradsan.source.scopes import Scope
from gradsan.source.stores import loads, text


@dataclass(frozen=True, slots=True)
class Subject:
    """An expression that a pass was asked for, in one of the user's frames."""

    node: ast.expr
    name: str | None  # as the user would write it
    holder: Holder
    frame: Frame
    is_seen: bool  # it is the very tensor, or the loss behind it; otherwise it stands where that would stand


def subject_of(tensors: Sequence[Any], frames: Sequence[FrameType], owns: Callable[[str], bool]) -> Subject | None:
    """The outermost name of what was asked for; else what the innermost call of the user's hands over.

    `frames` are the live ones, outermost first. Keeps none of them.
    """
    users = [frame for frame in frames if owns(frame.f_code.co_filename)]
    chain = set(loss_chain(roots_of(tensors)))
    for frame in users:
        for node in _read(frame):
            value = value_of(node, frame)
            if any(value is each for each in tensors) or _op(value) in chain:
                return _subject(node, frame, is_seen=True)
    asking = ((call, frame) for frame in reversed(users) for call in calls_at(place_of(frame)))
    passes = (_subject(_handed_over(call), frame, is_seen=False) for call, frame in asking if _is_pass(call))
    return next(passes, None)


def asked_gradient_of(place: Frame) -> str | None:
    """The variable of which the one `autograd.grad` on a line takes a gradient: `u` in `grad(u.sum(), x)`."""
    asked = [call.args[0] for call in calls_at(place) if _is_pass(call) and called_name(call) == "grad" and call.args]
    match [_reduced(each) for each in asked]:
        case [ast.Name() | ast.Attribute() as node]:
            return text(node)
    return None


def _reduced(node: ast.expr) -> ast.expr:
    """What methods of a tensor's are called on."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if not operation(name).is_assumed:
            return _reduced(value)
    return node


def _is_pass(call: ast.Call) -> bool:
    return asks_for_pass(called_name(call))


def _handed_over(call: ast.Call) -> ast.expr:
    """`loss.backward()`, but `torch.autograd.grad(loss, x)` and `accelerator.backward(loss)`."""
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    return call.args[0] if call.args else receiver


def _subject(node: ast.expr, frame: FrameType, *, is_seen: bool) -> Subject:
    place, name = place_of(frame), text(node)
    return Subject(node, name, holder_of(name or "", scope_at(place)), place, is_seen)


def holder_of(name: str, scope: Scope | None) -> Holder:
    """What kind of variable a name is in a function."""
    if name.endswith("]"):
        return "item"
    if "." in name:
        return "attribute"
    if scope is None or scope.outer is None:
        return "global"
    return "argument" if name in parameters_in(scope) else "local"


def _read(frame: FrameType) -> Iterator[ast.expr]:
    for statement in statements_at(place_of(frame)):
        yield from loads(statement)


def _op(value: object) -> object:
    import torch

    return value.grad_fn if type(value) is torch.Tensor and value._base is None else None  # noqa: SLF001 # a view may rebuild its op
