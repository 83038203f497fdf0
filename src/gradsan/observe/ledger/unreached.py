"""Parameters of optimizers that no pass has reached, and whether their modules run.

Which module runs is not noted all the time: only where parameters are without a gradient after the first steps is one
forward listened to, as a whole.
"""

import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gradsan.facts.course import CutOff
from gradsan.facts.incident import Stack
from gradsan.facts.location import Frame
from gradsan.observe.guarding import is_ours
from gradsan.observe.log.frames import frames_out
from gradsan.observe.private import NO_NUMBER, has_compiled
from gradsan.observe.unasked import ids, is_one

_LARGEST = 1_000_000  # elements of a parameter that are added up
_COMPARED = 64  # steps in which it is seen whether such parameters are trained by hand
_LISTENED = frozenset({2, 4, 8})  # steps of an optimizer after which a forward is listened to, if need be
_AT_A_STEP = 16  # parameters that are looked at again


@dataclass(slots=True)
class Ran:
    """A module with such parameters, which has just run."""

    keys: tuple[str, ...]  # of the parameters
    identities: tuple[int, ...]
    stack: Stack  # the user's calls that led there
    number: int | None  # of the op that made its output; None: nothing was recorded
    classes: tuple[str, ...] = ()  # the user's own, whose methods read its parameters by name


@dataclass(slots=True)
class _Waiting:
    """The parameters of one optimizer that have had no gradient so far."""

    parameters: "dict[int, weakref.ref[Any]]"
    steps: int = 0
    turn: int = 0


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
                self.moved = (_sum_of(parameter) != before) | self.moved


@dataclass(slots=True)
class Unreached:
    """Of a process."""

    owns: Callable[[str], bool]
    fail: Callable[[BaseException], object] = lambda _: None
    ran: list[Ran] = field(default_factory=list)
    unheard: set[int] = field(default_factory=set)  # parameters whose modules must not be listened to, but looked for
    _waiting: dict[int, _Waiting] = field(default_factory=dict)
    _cuts: list[_Cut] = field(default_factory=list)
    _stop: Callable[[], None] | None = None

    def step_begins(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class, which this file need not import
        """See which of its parameters have a gradient now."""
        waiting = self._waiting.get(id(optimizer))
        if waiting is None:
            every = [each for group in optimizer.param_groups for each in group["params"]]
            without = {id(each): weakref.ref(each) for each in every if each.requires_grad and each.grad is None}
            waiting = self._waiting[id(optimizer)] = _Waiting(without)
        waiting.steps += 1
        if waiting.steps <= _COMPARED:
            for each in self._cuts:
                if each.optimizer == id(optimizer):
                    each.compare()
        if waiting.parameters:
            keys = list(waiting.parameters)
            waiting.turn = (waiting.turn + _AT_A_STEP) % len(keys) if len(keys) > _AT_A_STEP else 0
            for key in keys[waiting.turn : waiting.turn + _AT_A_STEP]:
                parameter = waiting.parameters[key]()
                if parameter is None or parameter.grad is not None or not parameter.requires_grad:
                    del waiting.parameters[key]

    def step_ended(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """Perhaps listen to the forward that follows."""
        waiting = self._waiting.get(id(optimizer))
        if waiting is None or not waiting.parameters or waiting.steps not in _LISTENED:
            return
        if has_compiled():
            self.unheard = self._wanted
        elif self._stop is None:
            self._listen(self._wanted)

    @property
    def _wanted(self) -> set[int]:
        return {key for each in self._waiting.values() for key in each.parameters}

    def heard(self) -> list[Ran]:
        """Which of their modules have run since; listening ends."""
        if self._stop is not None:
            self._stop()
            self._stop = None
        ran, self.ran = self.ran, []
        return ran

    def cut(self, fact: CutOff, ran: Ran) -> None:
        """It was found where one of them is cut off."""
        for identity, waiting in self._waiting.items():
            mine = tuple(each for each in ran.identities if each in waiting.parameters)
            if mine:
                refs = [waiting.parameters[each] for each in mine]
                sums = [(ref, _sum_of(each)) for ref in refs if (each := ref()) is not None and _can_be_added_up(each)]
                self._cuts.append(_Cut(fact, identity, mine, sums))

    @property
    def has_cuts(self) -> bool:
        """Whether any was found that seems to be cut off: then each step is to be told of."""
        return bool(self._cuts)

    def facts(self, steps_of: Callable[[int], int]) -> list[CutOff]:
        """Those that are still without a gradient when all is over; one for each cut. `steps_of` an optimizer."""
        found: dict[Stack, CutOff] = {}
        for each in self._cuts:
            waiting = self._waiting[each.optimizer]
            if not all(identity in waiting.parameters for identity in each.identities) or bool(each.moved):
                continue
            fact, known = each.fact, found.get(each.fact.cut)
            names = dict.fromkeys((*(() if known is None else known.parameters), *fact.parameters))
            found[fact.cut] = CutOff(
                parameters=tuple(names),
                module=fact.module,
                steps=steps_of(each.optimizer),
                how=fact.how,
                cut=fact.cut,
                name=fact.name,
            )
        return list(found.values())

    def _listen(self, wanted: set[int]) -> None:
        from torch.nn.modules.module import register_module_forward_hook

        def hear(module: Any, _given: Any, output: Any) -> None:  # noqa: ANN401 # as torch calls it
            try:
                if any(id(each) in wanted for each in module._parameters.values()):  # noqa: SLF001 # without running the user's code
                    self.ran += runs_of(module, wanted, self._stack(), _number_of(output))
            except BaseException as error:
                if not is_ours(error):
                    raise
                self.fail(error)

        self._stop = register_module_forward_hook(hear).remove

    def _stack(self) -> Stack:
        frames = frames_out(sys._getframe(2))  # noqa: SLF001 # the only way to a frame
        return tuple(
            Frame(each.f_code.co_filename, each.f_lineno or 0, each.f_code.co_qualname)
            for each in reversed(frames)
            if self.owns(each.f_code.co_filename)
        )


def runs_of(module: Any, wanted: set[int], stack: Stack, number: int | None) -> list[Ran]:  # noqa: ANN401 # an nn.Module
    """A run of a module, told apart by the parameters of its own that are wanted (by id)."""
    own = [(key, id(each)) for key, each in module._parameters.items() if id(each) in wanted]  # noqa: SLF001 # as above
    classes = _own_classes(module)
    # What a method of the user's does with one parameter says nothing of the others.
    groups = [[each] for each in own] if classes else [own] if own else []
    named = (tuple(zip(*some, strict=True)) for some in groups)
    return [Ran(keys, identities, stack, number, classes) for keys, identities in named]


def _can_be_added_up(parameter: Any) -> bool:  # noqa: ANN401 # a tensor
    import torch

    plain = id(type(parameter)) in ids(torch.Tensor, torch.nn.Parameter)  # a distributed one would talk to its peers
    return plain and parameter.layout is torch.strided and parameter.numel() <= _LARGEST


def _sum_of(parameter: Any) -> Any:  # noqa: ANN401 # a tensor, and a device's answer
    return parameter.detach().sum()


def _own_classes(module: Any) -> tuple[str, ...]:  # noqa: ANN401 # an nn.Module
    """The classes of a module that are not PyTorch's."""
    return tuple(
        each.__qualname__ for each in type(module).__mro__[:-1] if each.__module__.partition(".")[0] != "torch"
    )


def _number_of(output: Any) -> int | None:  # noqa: ANN401 # whatever a module returns
    import torch

    first = output
    while id(type(first)) in ids(tuple, list) and first:
        first = first[0]
    if not is_one(first, torch.Tensor) or first.grad_fn is None:
        return None
    number = first.grad_fn._sequence_nr()  # noqa: SLF001 # creation_number() costs a call more
    return None if number == NO_NUMBER else int(number)
