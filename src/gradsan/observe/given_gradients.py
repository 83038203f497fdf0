"""What every optimizer is given at its steps, noted in the process of a trial, to be compared with another run."""

import math
import random
import sys
import weakref
import zlib
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from gradsan.observe.graph import leaves_of, own_backwards, reach, roots_of
from gradsan.observe.modules import parameter_names, parameters_of, trained

STEPS = 60  # that are noted; two programs that differ do so early
_AFTER = 20  # steps that are noted of those that come later, from where something is trained that was not before
_PARAMETERS = 4000  # of one optimizer
_LEAVES = 200  # of a program without an optimizer


class GivenGradients:
    """Notes of one process. A program that updates by hand, or not at all, is noted once, at its end."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self.late: list[dict[str, Any]] = []  # of the steps that come later, for whoever compares what begins late
        self.names: list[tuple[int, list[str]]] = []  # of each optimizer's parameters
        self.left_out = 0  # steps that a reference run did not make
        self._optimizers: list[tuple[int, Any]] = []  # in the order of their first steps
        self._trained: dict[int, weakref.ref[Any]] = {}  # parameters that had a gradient at some step
        self._open = 0  # steps that are to be noted yet, however late they come
        self._leaves: dict[int, Any] = {}  # that passes led to, while no optimizer has stepped
        self._behind: dict[str, set[int]] = {}  # ids of leaves that a backward of the program's own passes gradients to

    @property
    def is_full(self) -> bool:
        """Whether no further step is noted: then a reference that goes by another's notes has none any more."""
        return len(self.steps) + self.left_out >= STEPS

    def passing(self, tensors: Iterable[Any]) -> None:
        """A pass is about to run."""
        if self.is_full:
            return
        below = reach(roots_of(tensors))
        if not self._optimizers and len(self._leaves) < _LEAVES:
            self._leaves |= {id(each): each for each in leaves_of(below)}
        for name, nodes in own_backwards(below).items():
            self._behind.setdefault(name, set()).update(map(id, leaves_of(reach(nodes))))

    def stepping(self, optimizer: Any, *, is_stale: bool = False) -> None:  # noqa: ANN401 # torch's class
        """An optimizer is about to step; `is_stale`: a pass has walked what was computed from older parameters."""
        parameters = parameters_of(optimizer)[:_PARAMETERS]
        self._open = _AFTER if self._trains_more(parameters) else self._open - 1
        if self.is_full:
            self._note_late(parameters)
            return
        number = next((number for number, each in self._optimizers if each is optimizer), None)
        if number is None:
            number = self._number_of(optimizer)
            self._optimizers.append((number, optimizer))
            names = parameter_names(trained().modules)
            self.names.append((number, [names.get(id(each), f"parameter {n}") for n, each in enumerate(parameters)]))
        self.steps.append(_noted(number, [_in_numbers(each.grad) for each in parameters]))
        self.steps[-1]["stale"] = is_stale

    def _trains_more(self, parameters: Iterable[Any]) -> bool:
        """Whether one of them has a gradient, and had none at any step before."""
        given = [each for each in parameters if each.grad is not None]
        new = [each for each in given if id(each) not in self._trained or self._trained[id(each)]() is not each]
        self._trained |= {id(each): weakref.ref(each) for each in new}
        return bool(new)

    def _note_late(self, parameters: Iterable[Any]) -> None:
        if self._open > 0 and len(self.late) < STEPS:
            self.late.append(_noted(0, [_in_numbers(each.grad) for each in parameters]))

    def _number_of(self, optimizer: Any) -> int:  # noqa: ANN401 # torch's class
        """The same in every run of the program: by what it trains, since an edit may let another step first."""
        like = (type(optimizer).__name__, [tuple(each.shape) for each in parameters_of(optimizer)])
        taken = [number for number, _ in self._optimizers]
        candidates = (zlib.crc32(repr((like, nth)).encode()) for nth in count())
        return next(each for each in candidates if each not in taken)

    def shaped(self) -> list[tuple[str, int, int]]:
        """Each backward of the program's own, with an optimizer and the place of a parameter that it leads to."""
        places = {
            id(each): (number, place)
            for number, optimizer in self._optimizers
            for place, each in enumerate(parameters_of(optimizer)[:_PARAMETERS])
        }
        return [(name, *places[each]) for name, leaves in self._behind.items() for each in leaves & places.keys()]

    def ending(self) -> None:
        """The program is over: the leaves of one without an optimizer, each with its value and its gradient."""
        if self._leaves and not self._optimizers:
            leaves = list(self._leaves.values())[:_LEAVES]
            given = [[*(_in_numbers(each) or ()), *(_in_numbers(each.grad) or (0.0, 0.0))] for each in leaves]
            self.steps.append({**_noted(0, given), "last": True})


def _noted(optimizer: int, given: Sequence[list[float] | None]) -> dict[str, Any]:
    return {"optimizer": optimizer, "gradients": given, "random": _random_state(), "last": False, "stale": False}


def _in_numbers(tensor: Any) -> list[float] | None:  # noqa: ANN401 # a tensor
    """Two numbers that two different tensors hardly share: its size, and one that is never larger."""
    import torch

    if tensor is None:
        return None
    values = tensor.detach().to_dense() if tensor.is_sparse else tensor.detach()
    values = values.double().flatten()
    size = max(len(values), 1)
    places = torch.arange(1, len(values) + 1, dtype=values.dtype, device=values.device) / size
    return [float(values.norm()), float((values * places).sum()) / math.sqrt(size)]


def _random_state() -> int:
    """Says whether as many random numbers were drawn."""
    import torch

    state = zlib.crc32(torch.random.get_rng_state().numpy().tobytes())
    state = zlib.crc32(repr(random.getstate()).encode(), state)
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return state
    _, keys, place, *_ = numpy.random.get_state()
    return zlib.crc32(bytes(keys) + str(place).encode(), state)
