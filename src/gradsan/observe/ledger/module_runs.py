"""Which modules run: a forward is listened to, as a whole."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradsan.facts.incident import Stack
from gradsan.observe.guarding import is_ours
from gradsan.observe.log.frames import frames_out
from gradsan.observe.private import NO_NUMBER
from gradsan.observe.unasked import ids, is_one
from gradsan.observe.user_statements import place_of


@dataclass(slots=True)
class Ran:
    """A module with parameters that are looked for, which has just run."""

    keys: tuple[str, ...]  # of the parameters
    identities: tuple[int, ...]
    stack: Stack  # the user's calls that led there
    number: int | None  # of the op that created its output; None: nothing was recorded
    classes: tuple[str, ...] = ()  # the user's own, whose methods read its parameters by name
    is_bare: bool = False  # no module has the parameter: a variable is it, or an attribute of another object


class Listening:
    """To all modules, while it is on. `fail` is given an error of our own."""

    def __init__(self, owns: Callable[[str], bool], fail: Callable[[BaseException], object]) -> None:
        self._owns = owns
        self._fail = fail
        self._ran: list[Ran] = []
        self._stop: Callable[[], None] = _nothing

    def to(self, wanted: set[int]) -> None:
        """Note which modules with these parameters (by id) run from now on."""
        from torch.nn.modules.module import register_module_forward_hook

        def hear(module: Any, _given: Any, output: Any) -> None:  # noqa: ANN401 # as torch calls it
            try:
                if any(id(each) in wanted for each in module._parameters.values()):  # noqa: SLF001 # without running the user's code
                    self._ran += runs_of(module, wanted, self._stack(), _number_of(output))
            except BaseException as error:
                if not is_ours(error):
                    raise
                self._fail(error)

        if self._stop is _nothing:
            self._stop = register_module_forward_hook(hear).remove

    def end(self) -> list[Ran]:
        """Which of them have run since."""
        stop, self._stop = self._stop, _nothing
        stop()
        ran, self._ran = self._ran, []
        return ran

    def _stack(self) -> Stack:
        frames = reversed(frames_out(sys._getframe(2)))  # noqa: SLF001 # the only way to a frame
        return tuple(place_of(each) for each in frames if self._owns(each.f_code.co_filename))


def _nothing() -> None:
    pass


def runs_of(module: Any, wanted: set[int], stack: Stack, number: int | None) -> list[Ran]:  # noqa: ANN401 # an nn.Module
    """A run of a module, distinguished by the parameters of its own that are wanted (by id)."""
    own = [(key, id(each)) for key, each in module._parameters.items() if id(each) in wanted]  # noqa: SLF001 # as above
    classes = _own_classes(module)
    # What a method of the user's does with one parameter says nothing of the others.
    groups = [[each] for each in own] if classes else [own] if own else []
    named = (tuple(zip(*some, strict=True)) for some in groups)
    return [Ran(keys, identities, stack, number, classes) for keys, identities in named]


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
