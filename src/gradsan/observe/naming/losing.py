"""From the failing pass back to the call that cut the graph, with the name of the first tensor that had none."""

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from gradsan.facts.culprit import Holder
from gradsan.facts.location import Frame
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.contexts import switches
from gradsan.observe.naming.demands import Binding
from gradsan.observe.naming.freezing import freezing
from gradsan.observe.naming.history_cut import Lost, lost
from gradsan.observe.naming.stored import Stores
from gradsan.observe.naming.subject import Subject, holder_of
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.naming.untrained import untrained
from gradsan.source.stores import spelled, text


@dataclass(frozen=True, slots=True)
class Loss:
    """Where the graph was lost."""

    name: str | None  # of the first tensor without it
    holder: Holder
    frames: tuple[Frame, ...]
    written: str | None  # what cut it; None: an optimizer was given it as it was
    is_proved: bool
    optimizer: str | None = None


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


def loss_of_graph(
    subject: Subject | None, frames: Sequence[Frame], lines: Lines, optimizers: Sequence[Any]
) -> Loss | None:
    """None where the lines that ran do not say. `frames`: the user's calls that led to the pass, outermost first."""
    trace = Trace(lines, 0, None, ())
    asked = _handed_back(trace, frames) if subject is None else _written(trace, subject)
    found = None if asked is None else _loss(asked, trace)
    given = untrained(trace, optimizers)
    if given is not None and (found is None or given.is_proved or not found.is_proved):
        name, holder = given.culprit.name, given.culprit.holder
        return Loss(name, holder, given.frames, None, given.is_proved, given.optimizer)
    return found


def _loss(asked: _Asked, trace: Trace) -> Loss | None:
    is_recorded = _records()
    switched = None if is_recorded else _switch(trace)
    if switched is not None:  # whatever else cut it, nothing is recorded now
        return asked.lost_by(switched)
    found, idle = lost(Stores(trace), asked.node, asked.at)
    frozen = freezing(trace, idle) if idle and is_recorded else None
    if frozen is not None and (found is None or _was_trained_through(trace, found, idle, frozen[0])):
        return asked.lost_by(frozen)
    match found:
        case Lost(binding=Binding(name=name, kind=kind)):
            return Loss(name, kind, found.at.frames(found.line), found.written, found.is_proved)
        case Lost():
            return Loss(asked.name, asked.holder, found.at.frames(found.line), found.written, found.is_proved)
    return None


def _was_trained_through(trace: Trace, cut: Lost, idle: Collection[Execution], frozen: Execution) -> bool:
    """Whether a module that recorded nothing did so before it was frozen, though the same statement had cut then.

    A critic that is given a detached picture trains itself, until it is frozen for somebody else's pass.
    """
    earlier = trace.executions[: frozen.index]
    recorded = [each for each in earlier if each in trace.created_ops and any(map(each.is_again, idle))]
    return any(each.is_again(cut.at) and each.index <= recorded[-1].index for each in earlier) if recorded else False


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
