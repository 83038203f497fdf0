"""Parameters that get gradients and belong to no optimizer, where the program shows that one was to have them.

That alone says nothing: a network that only hands gradients on is often left as it is. Two things say more. An
optimizer has parameters that no module has any more, and others like them get the gradients: a part was exchanged below
the line that created the optimizer. Or a model of which the optimizer has the rest keeps layers in a plain list.
"""

import weakref
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gradsan.facts.course import Unowned
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.modules import (
    can_be_added_up,
    module_names,
    owners,
    parameter_names,
    parameters_of,
    sum_of,
    trained,
)
from gradsan.observe.unasked import attributes_of, ids, is_one

_SEARCHED = frozenset({3, 8, 32})  # steps of an optimizer that were attended to
_COMPARED = 64  # likewise, after they were found: in which it is seen whether they are trained by hand
_LAYERS = 2  # in a list; a single module is put into one so that it is no part of the model
_PLAIN = ids(list, tuple, dict)


@dataclass(slots=True)
class _Found:
    fact: Unowned
    sums: list[tuple["weakref.ref[Any]", Any]]  # of the values that each parameter had when it was found
    moved: Any = False  # whether they are others now; a device's answer is waited for at the end

    def compare(self) -> None:
        """See whether somebody trains them after all."""
        for ref, before in self.sums:
            parameter = ref()
            if parameter is not None:
                self.moved = (sum_of(parameter) != before) | self.moved


class Forgotten:
    """Of a process."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._owned: set[int] = set()  # ids of parameters
        self._steps: dict[int, int] = {}  # by the id of the optimizer
        self._fewest: dict[int, int] = {}  # likewise: parameters that had a gradient when it stepped
        self._found: dict[int, _Found] = {}  # likewise

    def step_begins(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class, which this file need not import
        """Look for them in some of the first steps, and when a part seems to have been exchanged."""
        steps = self._steps[id(optimizer)] = self._steps.get(id(optimizer), 0) + 1
        if steps == 1:
            self._owned.update(map(id, parameters_of(optimizer)))
        found = self._found.get(id(optimizer))
        is_late = found is None and self._is_left_out(optimizer)
        if is_late or (found is None and steps in _SEARCHED and self._some_are_reached()):
            self._run.budget.spend(lambda: self._search(optimizer, is_late=is_late))
        elif found is not None and found.fact.steps < _COMPARED:
            found.compare()
            found.fact = replace(found.fact, steps=found.fact.steps + 1)

    def facts(self) -> tuple[Unowned, ...]:
        """Those that stayed as they were."""
        named = ((optimizer, each) for optimizer, each in self._found.items() if not bool(each.moved))
        return tuple(replace(each.fact, step=self._last_step(optimizer)) for optimizer, each in named)

    def _last_step(self, optimizer: int) -> Any:  # noqa: ANN401 # a stack
        last = self._run.process.steps.last_of(optimizer)
        return () if last is None else last.stack

    def _is_left_out(self, optimizer: Any) -> bool:  # noqa: ANN401 # as above
        """Whether fewer of its parameters have a gradient than ever before: a pass leaves some out."""
        reached = sum(each.grad is not None for each in parameters_of(optimizer))
        fewest = self._fewest.setdefault(id(optimizer), reached)
        self._fewest[id(optimizer)] = min(reached, fewest)
        return reached < fewest

    def _some_are_reached(self) -> bool:
        """Whether passes reach leaves that no optimizer has: nothing else is worth a search among all objects."""
        return any(not each.reached <= self._owned for each in self._run.lines.lines.values())

    def _search(self, optimizer: Any, *, is_late: bool) -> None:  # noqa: ANN401 # as above
        kept_in, some = forgotten_by(optimizer)
        if some:
            fact = Unowned(_names(some, trained().modules), kept_in, is_late=is_late)
            sums = [(weakref.ref(each), sum_of(each)) for each in some]
            self._found[id(optimizer)] = _Found(fact, sums)


def forgotten_by(optimizer: Any) -> tuple[str | None, list[Any]]:  # noqa: ANN401 # as above
    """What an optimizer was to have, and the plain list that it is kept in; None: it stands in the place of others."""
    alive = trained()
    owned = owners(alive.optimizers)
    held = held_by(alive.modules)
    without = {key: each for key, each in held.items() if key not in owned and _gets_gradients(each)}
    listed = _listed(optimizer, alive.modules, owned, without)
    return next(listed, (None, _replaced(optimizer, held, without)))


def held_by(modules: Sequence[Any]) -> dict[int, Any]:
    """Their parameters, by id."""
    return {id(each): each for module in modules for each in _own(module)}


def _names(some: Sequence[Any], modules: Sequence[Any]) -> tuple[str, ...]:
    owner, own = module_names(modules), parameter_names(modules)
    return tuple(f"{owner[id(each)]}.{own[id(each)].rpartition('.')[2]}" for each in some)


def _replaced(optimizer: Any, held: dict[int, Any], without: dict[int, Any]) -> list[Any]:  # noqa: ANN401 # as above
    """What stands in the place of parameters that this optimizer has, and no module has any more."""
    own = parameters_of(optimizer)
    left = [each for each in own if id(each) not in held]
    if len(left) == len(own) or not left or any(each.grad is not None for each in left):
        return []
    alike = [each for each in without.values() if any(_is_alike(each, one) for one in left)]
    return alike if all(any(_is_alike(each, one) for each in alike) for one in left) else []


def _is_alike(new: Any, old: Any) -> bool:  # noqa: ANN401 # tensors
    """As the weights of a layer with another number of inputs or outputs are, or its biases."""
    if new.dim() != old.dim():
        return False
    return bool(new.dim() < 2 or new.shape[1:] == old.shape[1:] or new.shape[0] == old.shape[0])  # noqa: PLR2004 # a matrix


def _listed(
    optimizer: Any,  # noqa: ANN401 # as above
    modules: Sequence[Any],
    owned: Container[int],
    without: Container[int],
) -> Iterator[tuple[str, list[Any]]]:
    """What is in modules that a model keeps in a plain list, if this optimizer has something of the model."""
    from torch import nn

    own = set(map(id, parameters_of(optimizer)))
    for model in modules:
        if own.isdisjoint(map(id, _all_of(model))):
            continue
        for name, value in (attributes_of(model) or {}).items():
            items = list(value.values() if type(value) is dict else value) if id(type(value)) in _PLAIN else []
            layers = [list(_all_of(each)) for each in items if is_one(each, nn.Module)]
            if len(layers) == len(items) >= _LAYERS and all(_is_forgotten(each, owned, without) for each in layers):
                yield name, [each for layer in layers for each in layer if id(each) in without]


def _is_forgotten(layer: Sequence[Any], owned: Container[int], without: Container[int]) -> bool:
    """Whether no optimizer has any of it, and a loss reaches some: what a last layer hands on may lead nowhere."""
    return not any(id(each) in owned for each in layer) and any(id(each) in without for each in layer)


def _all_of(module: Any) -> Iterator[Any]:  # noqa: ANN401 # an nn.Module
    """Its parameters, and those of all modules in it."""
    yield from _own(module)
    for child in vars(module).get("_modules", {}).values():
        if child is not None:
            yield from _all_of(child)


def _own(module: Any) -> list[Any]:  # noqa: ANN401 # as above
    return [each for each in vars(module).get("_parameters", {}).values() if each is not None]


def _gets_gradients(parameter: Any) -> bool:  # noqa: ANN401 # a tensor
    return can_be_added_up(parameter) and parameter.requires_grad and parameter.grad is not None
