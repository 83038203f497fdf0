"""What a failing pass was asked for, as the user wrote it: found by looking which variable is that very tensor."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from gradsan.facts.culprit import Holder
from gradsan.facts.location import Frame
from gradsan.knowledge.effects import asks_for_pass
from gradsan.observe.graph import loss_chain, roots_of
from gradsan.observe.naming.looking import value_of
from gradsan.observe.naming.selection import last_name
from gradsan.source.names import parameters
from gradsan.source.scopes import Scope, scope_of
from gradsan.source.stores import calls, loads, text


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
            if any(value is each for each in tensors) or (chain and _op(value) in chain):
                return _subject(node, frame, is_seen=True)
    for frame in reversed(users):
        for statement in _statements(frame):
            for call in calls(statement):
                if asks_for_pass(last_name(call)):
                    return _subject(_handed_over(call), frame, is_seen=False)
    return None


def _handed_over(call: ast.Call) -> ast.expr:
    """`loss.backward()`, but `torch.autograd.grad(loss, x)` and `accelerator.backward(loss)`."""
    given = call.args[0] if call.args else call.func
    if isinstance(call.func, ast.Attribute) and not call.args:
        given = call.func.value
    return given


def _subject(node: ast.expr, frame: FrameType, *, is_seen: bool) -> Subject:
    code = frame.f_code
    place = Frame(code.co_filename, frame.f_lineno or 0, code.co_qualname)
    name = text(node)
    return Subject(node, name, holder_of(name or "", scope_of(place.file, place.function, place.line)), place, is_seen)


def holder_of(name: str, scope: Scope | None) -> Holder:
    """What kind of variable a name is in a function."""
    if name.endswith("]"):
        return "item"
    if "." in name:
        return "attribute"
    if scope is None or scope.outer is None:
        return "global"
    is_argument = scope.arguments is not None and name in parameters(scope.arguments)
    return "argument" if is_argument else "local"


def _statements(frame: FrameType) -> tuple[ast.stmt, ...]:
    line, code = frame.f_lineno or 0, frame.f_code
    scope = scope_of(code.co_filename, code.co_qualname, line)
    return () if scope is None else scope.by_line.get(line, ())


def _read(frame: FrameType) -> Iterator[ast.expr]:
    for statement in _statements(frame):
        yield from loads(statement)


def _op(value: object) -> object:
    import torch

    return value.grad_fn if type(value) is torch.Tensor and value._base is None else None  # noqa: SLF001 # a view may rebuild its op
