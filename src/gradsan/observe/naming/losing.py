"""From the failing pass back to the call that cut the graph, with the name of the first tensor that had none."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from gradsan.facts.culprit import Holder
from gradsan.facts.location import Frame
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.contexts import switches
from gradsan.observe.naming.demands import Binding
from gradsan.observe.naming.history_cut import Idle, Lost, lost
from gradsan.observe.naming.stored import Stores
from gradsan.observe.naming.subject import Subject, holder_of
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.user_statements import parameters_in
from gradsan.source.scopes import statements_of
from gradsan.source.stores import calls, spelled, text


@dataclass(frozen=True, slots=True)
class Loss:
    """Where the graph was lost."""

    name: str | None  # of the first tensor without it
    holder: Holder
    frames: tuple[Frame, ...]
    written: str  # what cut it
    is_proved: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the pass was asked for, and the statement that has it."""

    node: ast.expr
    at: Execution
    name: str | None
    holder: Holder

    def lost_by(self, statement: "tuple[Execution, str] | None") -> Loss | None:
        """Its loss, where some statement is to blame for it, as it is written."""
        if statement is None:
            return None
        return Loss(self.name, self.holder, statement[0].frames(), statement[1], is_proved=False)


def loss_of_graph(subject: Subject | None, frames: Sequence[Frame], lines: Lines) -> Loss | None:
    """None where the lines that ran do not say. `frames`: the user's calls that led to the pass, outermost first."""
    trace = Trace(lines, 0, None, ())
    asked = _handed_back(trace, frames) if subject is None else _written(trace, subject)
    return None if asked is None else _loss(asked, trace)


def _loss(asked: _Asked, trace: Trace) -> Loss | None:
    is_recorded = _records()
    switched = None if is_recorded else _switch(trace)
    if switched is not None:  # whatever else cut it, nothing is recorded now
        return asked.lost_by(switched)
    match lost(Stores(trace), asked.node, asked.at):
        case Lost(binding=Binding(name=name, kind=kind)) as found:
            return Loss(name, kind, found.at.frames(found.line), found.written, found.is_proved)
        case Lost() as found:
            return Loss(asked.name, asked.holder, found.at.frames(found.line), found.written, found.is_proved)
        case Idle() as idle if is_recorded:
            return asked.lost_by(_freezing(trace, idle))
    return None


def _written(trace: Trace, subject: Subject) -> _Asked | None:
    at = trace.last_at(subject.frame)
    return None if at is None else _Asked(subject.node, at, subject.name, subject.holder)


def _handed_back(trace: Trace, frames: Sequence[Frame]) -> _Asked | None:
    """A library asks for the pass: on what a function of the user's, which it had called, gave back last."""
    asking = trace.last_at(frames[-1]) if frames else None
    found = None if asking is None else trace.handed_back(asking)
    if found is None:
        return None
    node, at = found
    return _Asked(node, at, text(node), holder_of(spelled(node), at.call.scope))


def _records() -> bool:
    import torch

    return torch.is_grad_enabled()


def _switch(trace: Trace) -> tuple[Execution, str] | None:
    """The statement that switched recording off for all that follows: the last that switched it, if it did so."""
    for execution in reversed(trace.executions):
        for each in execution.statements:
            is_off = switches(each.value) if isinstance(each, ast.Expr) else None
            if is_off is not None:
                return (execution, ast.unparse(each)) if is_off else None
    return None


def _freezing(trace: Trace, idle: Idle) -> tuple[Execution, str] | None:
    """The statement that last froze parameters, which may be those of the modules that recorded nothing."""
    called = {part for at in idle.calls for each in at.statements for name in _called(each) for part in name.split(".")}
    for execution in reversed(trace.executions):
        for statement in execution.statements:
            frozen = _frozen(statement)
            if frozen is not None and _may_concern(frozen[0], execution, called):
                return execution, frozen[1]
    return None


def _frozen(statement: ast.stmt) -> tuple[ast.expr, str] | None:
    """What a statement freezes, and how that is written."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr="requires_grad") as target], value=ast.Constant(value=False)):
            return target.value, f"{text(target)} = False"
    for call in calls(statement):
        match call:
            case ast.Call(func=ast.Attribute(attr="requires_grad_", value=value), args=[ast.Constant(value=False)]):
                return value, ".requires_grad_(False)"
    return None


def _may_concern(frozen: ast.expr, at: Execution, called: set[str]) -> bool:
    """Whether it is one of the objects that were called, a part of one, or something that came in or went out.

    A plain variable that nobody calls, and that its function keeps to itself, is some tensor of its own.
    """
    scope = at.call.scope
    if not isinstance(frozen, ast.Name) or scope is None or frozen.id in called:
        return True
    return frozen.id in parameters_in(scope) or any(_comes_or_goes(frozen.id, each) for each in statements_of(scope))


def _comes_or_goes(name: str, statement: ast.stmt) -> bool:
    """Whether a statement gives a variable one thing after the other, hands it to a call, keeps it or returns it."""
    places: list[ast.AST] = [each for call in calls(statement) for each in (*call.args, *call.keywords)]
    match statement:
        case ast.For(target=value) | ast.AsyncFor(target=value) | ast.Return(value=ast.expr() as value):
            places.append(value)
        case ast.Assign(value=ast.Name() as value):
            places.append(value)
    return any(name in _whole(place) for place in places)


def _whole(node: ast.AST) -> set[str]:
    """The variables that an expression hands on themselves, and not only something that it reads of them."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Attribute | ast.FormattedValue):
        return set()
    return {each for child in ast.iter_child_nodes(node) for each in _whole(child)}


def _called(statement: ast.stmt) -> list[str]:
    return [name for call in calls(statement) if (name := text(call.func)) is not None]
