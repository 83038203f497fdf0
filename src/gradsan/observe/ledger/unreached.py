"""Parameters of optimizers that no pass has reached, and whether their modules run.

Which module runs is not noted all the time: only where parameters are without a gradient after the first steps is one
forward listened to, as a whole.
"""

import weakref
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gradsan.facts.course import CutOff
from gradsan.observe.graph import ranges_of, reach, roots_of
from gradsan.observe.ledger.called import ran_by_name, unheard_parameters
from gradsan.observe.ledger.cutting import find_cut, is_chosen
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.module_runs import Listening, Ran
from gradsan.observe.ledger.passlines import Asked
from gradsan.observe.ledger.unowned import Forgotten
from gradsan.observe.log.frames import frames_out
from gradsan.observe.modules import can_be_added_up, module_names, parameters_of, sum_of, trained
from gradsan.observe.private import has_compiled

if TYPE_CHECKING:
    from gradsan.facts.incident import Stack

_COMPARED = 64  # steps in which it is seen whether such parameters are trained by hand
_LISTENED = frozenset({2, 4, 8})  # steps of an optimizer after which a forward is listened to, if need be
_PATIENCE = 64  # passes for which it is listened on after the last of these: a module may run once an epoch
_AT_A_STEP = 16  # parameters that are looked at again


@dataclass(slots=True)
class _Waiting:
    """The parameters of one optimizer that have had no gradient so far."""

    optimizer: "weakref.ref[Any]"
    parameters: "dict[int, weakref.ref[Any]]"
    late: set[int] = field(default_factory=set)  # those that had one in earlier steps
    steps: int = 0
    turn: int = 0

    def step_begins(self) -> None:
        """Some of them are looked at in each step, in turn: does one have a gradient now?"""
        self.steps += 1
        keys = list(self.parameters)
        self.turn = (self.turn + _AT_A_STEP) % len(keys) if len(keys) > _AT_A_STEP else 0
        for key in keys[self.turn : self.turn + _AT_A_STEP]:
            if not _is_without(self.parameters[key]()):
                del self.parameters[key]


@dataclass(slots=True)
class _Cut:
    fact: CutOff
    optimizer: int
    identities: tuple[int, ...]
    sums: list[tuple["weakref.ref[Any]", Any]]  # of the values that each parameter had when it was found
    moved: Any = False  # whether they are others now; a device's answer is waited for at the end

    def compare(self) -> None:
        """What an optimizer gives no gradient it leaves as it is: other values were put there by hand."""
        for ref, before in self.sums:
            parameter = ref()
            if parameter is not None:
                self.moved = (sum_of(parameter) != before) | self.moved


class Unreached:
    """Of a process."""

    def __init__(self, run: Run, fail: Callable[[BaseException], object]) -> None:
        self._run = run
        self.forgotten = Forgotten(run)  # when an optimizer was created
        self._listening = Listening(run.owns, fail)
        self._unheard: set[int] = set()  # parameters whose modules must not be listened to, but looked for
        self._listened: set[int] = set()  # those whose modules are listened to
        self._patience = _PATIENCE
        self._waiting: dict[int, _Waiting] = {}  # by the id of the optimizer
        self._before: dict[int, AbstractSet[int]] = {}  # those without a gradient before every rest, by the optimizer
        self._is_between = False  # since a pass that takes no loss
        self._rested = 0  # the op counter when the first rest began
        self._cuts: list[_Cut] = []

    def step_begins(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class, which this file need not import
        """See which of its parameters have a gradient now."""
        self.forgotten.step_begins(optimizer)
        if self._is_between:  # no pass took a loss: it is not listened to for longer than a step
            self.heard()
            self._is_between = False
        waiting = self._waiting.get(id(optimizer))
        if waiting is None or waiting.optimizer() is not optimizer:
            without = {id(each): weakref.ref(each) for each in parameters_of(optimizer) if _is_without(each)}
            before = self._before.get(id(optimizer))
            late = set() if before is None else set(without.keys() - before)
            waiting = self._waiting[id(optimizer)] = _Waiting(weakref.ref(optimizer), without, late)
        waiting.step_begins()
        own = [each for each in self._cuts if each.optimizer == id(optimizer)] if waiting.steps <= _COMPARED else ()
        for each in own:
            each.compare()

    def step_ended(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """Perhaps listen to the forward that follows."""
        waiting = self._waiting.get(id(optimizer))
        if waiting is None or not waiting.parameters or waiting.steps not in _LISTENED:
            return
        if has_compiled():
            self._unheard = self._wanted
        else:
            self._listened = self._wanted
            self._listening.to(self._listened)

    @property
    def _wanted(self) -> set[int]:
        return {key for each in self._waiting.values() for key in each.parameters}

    def rest(self) -> None:
        """Nothing is handed on for a while: after it, others may be without a gradient."""
        self.heard()
        if self._cuts:
            return
        for key, each in self._waiting.items():
            self._before[key] = self._before.get(key, each.parameters.keys()) & each.parameters.keys()
        self._rested = self._rested or self._run.process.passes.counter()
        self._waiting.clear()

    def heard(self) -> list[Ran]:
        """Which of their modules have run since; listening ends."""
        return self._listening.end()

    def pass_begins(self, asked: Asked) -> None:
        """See where what was heard is cut off from the loss of a pass; one for a penalty takes no loss."""
        if not asked.note.accumulates:
            self._is_between = True
            return
        ran = self.heard()
        wanted, self._unheard = self._unheard, set()
        silent, self._listened = self._listened - {key for each in ran for key in each.identities}, set()
        if wanted:
            ran = self._run.budget.spend(lambda: self._ran_by_name(wanted, asked)) or []
        if silent:
            process, frames = self._run.process, frames_out(asked.frame)
            ran += self._run.budget.spend(lambda: unheard_parameters(silent, frames, process)) or []
        if silent and not ran:
            self._listen_on(silent)
        if ran:
            with self._run.budget:
                self._find_cuts(ran, asked)

    def _listen_on(self, silent: set[int]) -> None:
        if self._patience and all(each.steps >= max(_LISTENED) for each in self._waiting.values()):
            self._patience -= 1
            self._listened = silent
            self._listening.to(silent)

    def _ran_by_name(self, wanted: set[int], asked: Asked) -> list[Ran]:
        return ran_by_name(wanted, frames_out(asked.frame), self._run.process, asked.note.since)

    def _find_cuts(self, ran: list[Ran], asked: Asked) -> None:
        note, lines = asked.note, self._run.process.lines
        walked = ranges_of(reach(roots_of(asked.tensors))) if note.seen is None else note.seen.walked
        modules = module_names(trained().modules)
        for each in ran:
            module = modules.get(each.identities[0], "")
            found = find_cut(each, set(module.split(".")), walked, lines, note.since)
            is_late = not self._late.isdisjoint(each.identities)
            if found is not None and not (is_late and is_chosen(found, each, lines, self._rested)):
                names = tuple(f"{module}.{key}".removeprefix(".") for key in each.keys)
                fact = CutOff(names, module, 0, found.how, found.at, found.name, is_late=is_late)
                is_earlier = found.number is not None and found.number < note.since
                self._cut(replace(fact, is_earlier=is_earlier), each)

    @property
    def _late(self) -> set[int]:
        return {key for each in self._waiting.values() for key in each.late}

    def _cut(self, fact: CutOff, ran: Ran) -> None:
        """It was found where one of them is cut off."""
        for identity, waiting in self._waiting.items():
            mine = tuple(each for each in ran.identities if each in waiting.parameters)
            if mine:
                refs = [waiting.parameters[each] for each in mine]
                sums = [(ref, sum_of(each)) for ref in refs if (each := ref()) is not None and can_be_added_up(each)]
                self._cuts.append(_Cut(fact, identity, mine, sums))

    @property
    def has_cuts(self) -> bool:
        """Whether any was found that seems to be cut off: then each step is to be handed on."""
        return bool(self._cuts)

    def facts(self, steps_of: Callable[[int], int]) -> list[CutOff]:
        """Those that are still without a gradient when all is over; one for each cut. `steps_of` an optimizer."""
        found: dict[Stack, CutOff] = {}
        for each in self._cuts:
            waiting = self._waiting[each.optimizer]
            if not all(identity in waiting.parameters for identity in each.identities) or bool(each.moved):
                continue
            known = found.get(each.fact.cut, each.fact)
            names = dict.fromkeys((*known.parameters, *each.fact.parameters))
            name, steps = known.name or each.fact.name, steps_of(each.optimizer)
            found[known.cut] = replace(each.fact, parameters=tuple(names), steps=steps, name=name)
        return list(found.values())


def _is_without(parameter: Any) -> bool:  # noqa: ANN401 # a tensor, or None: it is gone
    """Whether it is to have a gradient, and has none."""
    return parameter is not None and parameter.requires_grad and parameter.grad is None
