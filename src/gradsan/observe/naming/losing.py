"""From the failing pass back to the call that cut the graph, with the name of the first tensor that had none."""

import ast
from dataclasses import dataclass

from gradsan.lifecycle.location import Frame
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.contexts import switches
from gradsan.observe.naming.lost import lost
from gradsan.observe.naming.statements import calls, text
from gradsan.observe.naming.stored import Stores
from gradsan.observe.naming.subject import Subject
from gradsan.observe.naming.trace import Trace
from gradsan.report import Holder


@dataclass(frozen=True, slots=True)
class Loss:
    """Where the history was lost."""

    name: str | None  # of the first tensor without it
    holder: Holder
    frames: tuple[Frame, ...]
    written: str  # what cut it
    is_proved: bool


def loss_of_history(subject: Subject, lines: Lines) -> Loss | None:
    """None where the lines that ran do not tell."""
    trace, frame = Trace(lines, 0, None, ()), subject.frame
    at = trace.last_at(frame.file, frame.function, frame.line)
    if at is None:
        return None
    found = lost(Stores(trace), subject.node, at)
    if found is None:
        return _frozen(trace, subject)
    binding = found.binding
    return Loss(
        name=subject.name if binding is None else binding.name,
        holder=subject.holder if binding is None else binding.kind,
        frames=found.at.frames(found.line),
        written=found.written,
        is_proved=found.is_proved,
    )


def _frozen(trace: Trace, subject: Subject) -> Loss | None:
    """Nothing on the way cuts: then nothing had a history, because it was switched off."""
    for execution in reversed(trace.executions):
        written = next((found for each in execution.statements if (found := _switched_off(each))), None)
        if written is not None:
            return Loss(subject.name, subject.holder, execution.frames(), written, is_proved=False)
    return None


def _switched_off(statement: ast.stmt) -> str | None:
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr="requires_grad") as target], value=ast.Constant(value=False)):
            return f"{text(target)} = False"
        case ast.Expr(value=ast.Call() as call) if switches(call) is True:
            return ast.unparse(call)
    for call in calls(statement):
        match call:
            case ast.Call(func=ast.Attribute(attr="requires_grad_"), args=[ast.Constant(value=False)]):
                return ".requires_grad_(False)"
    return None
