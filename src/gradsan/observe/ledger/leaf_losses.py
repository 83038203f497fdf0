"""Losses that lost their graph and were made to require a gradient: backward() runs, and nothing comes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gradsan.facts.course import CutOff
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.passlines import Asked
from gradsan.observe.log.frames import frames_out
from gradsan.observe.modules import module_names, parameter_names, parameters_of, trained
from gradsan.observe.naming.cuts import clause
from gradsan.observe.naming.losing import loss_of_graph
from gradsan.observe.naming.subject import subject_of

_MADE_A_LEAF = "`requires_grad`, which was set on a value that has no graph,"


@dataclass(slots=True)
class _OfLine:
    """What a line is asked for, pass after pass."""

    fact: CutOff
    passes: int = 0


class LeafLosses:
    """Of a process."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lines: dict[int, _OfLine | None] = {}  # by the id of the line; None: it is asked for something else

    def pass_begins(self, asked: Asked) -> None:
        """See whether it is asked for a number that nothing was computed for; in no pass for anything else.

        Where a batch has nothing to learn from, a zero that requires a gradient stands for the loss.
        """
        if not asked.note.accumulates:
            return
        key = id(asked.line)
        if not all(map(_is_bare, asked.tensors)):
            self._lines[key] = None
        elif key not in self._lines:
            fact = self._run.budget.spend(lambda: self._found(asked))
            self._lines[key] = None if fact is None else _OfLine(fact)
        if (known := self._lines[key]) is not None:
            known.passes += 1

    def facts(self) -> tuple[CutOff, ...]:
        """Those of which all passes were in vain."""
        return tuple(replace(each.fact, steps=each.passes) for each in self._lines.values() if each is not None)

    def _found(self, asked: Asked) -> CutOff | None:
        """Where its graph was lost. What an optimizer has is given a gradient on purpose."""
        alive = trained()
        owned = [each for optimizer in alive.optimizers for each in parameters_of(optimizer)]
        if not owned or any(each is own for own in owned for each in asked.tensors):
            return None
        subject = subject_of(asked.tensors, frames_out(asked.frame)[::-1], self._run.owns)
        lost = loss_of_graph(subject, asked.line.stack, self._run.process.lines, alive.optimizers)
        name = None if subject is None else subject.name
        without = _names(alive.modules, [each for each in owned if each.requires_grad and each.grad is None])
        if not without and name is None:
            return None
        if lost is None or lost.written is None:
            return CutOff(without, "", None, _MADE_A_LEAF, asked.line.stack, name, is_term=not without)
        cut_name = lost.name or (None if without else name)
        return CutOff(without, "", None, clause(lost.written), lost.frames, cut_name, is_term=not without)


def _is_bare(tensor: Any) -> bool:  # noqa: ANN401 # a tensor
    """Whether it is a number that requires a gradient, and that nothing with one has led to."""
    return tensor.requires_grad and tensor.grad_fn is None and tensor.numel() == 1


def _names(modules: Sequence[Any], parameters: Sequence[Any]) -> tuple[str, ...]:
    of_modules, own = module_names(modules), parameter_names(modules)
    known = [id(each) for each in parameters if id(each) in own]
    return tuple(f"{of_modules[each]}.{own[each].rpartition('.')[2]}" for each in known)
