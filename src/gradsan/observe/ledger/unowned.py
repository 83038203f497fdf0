"""Parameters that get gradients and belong to no optimizer, where the program shows that one was to have them.

That alone says nothing: a network that only hands gradients on is often left as it is. Three things say more. An
optimizer has parameters that no module has any more, and others like them get the gradients: a part was exchanged below
the line that created the optimizer. A model of which the optimizer has the rest keeps layers in a plain list. Or one of
its modules has a tensor that is no parameter where it was to have one: a view of it, say.
"""

import sys
import weakref
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from gradsan.facts.course import Forgetting, Unowned
from gradsan.observe.graph import leaves_of, reach
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.slots import created_at, slot_of
from gradsan.observe.ledger.wording import reads_gradients
from gradsan.observe.modules import (
    can_be_added_up,
    module_names,
    owners,
    parameter_names,
    parameters_of,
    sum_of,
    trained,
)
from gradsan.observe.unasked import attributes_of, ids, is_one, named_attributes

_SEARCHED = frozenset({3, 8, 32})  # steps of an optimizer that were attended to
_COMPARED = 64  # likewise, after they were found: in which it is seen whether they are trained by hand
_LAYERS = 2  # in a list; a single module is put into one so that it is no part of the model
_PLAIN = ids(list, tuple, dict)
_TENSORS: tuple[Forgetting, ...] = ("computed", "plain")
_OPS = 64  # below a tensor that was computed from a parameter when the model was created


@dataclass(slots=True)
class _Found:
    fact: Unowned
    sums: list[tuple["weakref.ref[Any]", Any]]  # of the values that each parameter had when it was found
    steps: int = 0
    moved: Any = False  # whether they are others now; a device's answer is waited for at the end

    def compare(self) -> None:
        """See whether somebody trains them after all."""
        if self.steps == _COMPARED:
            return
        self.steps += 1
        for ref, before in self.sums:
            parameter = ref()
            if parameter is not None:
                self.moved = (sum_of(parameter) != before) | self.moved


@dataclass(slots=True)
class _Followed:
    """One optimizer."""

    ref: "weakref.ref[Any]"
    steps: int = 0
    fewest: int = sys.maxsize  # of its parameters that had a gradient when it stepped
    found: _Found | None = None

    def leaves_out(self, optimizer: Any) -> bool:  # noqa: ANN401 # torch's class
        """Whether fewer of its parameters have a gradient than ever before: a pass leaves some out."""
        reached = sum(each.grad is not None for each in parameters_of(optimizer))
        fewest, self.fewest = self.fewest, min(reached, self.fewest)
        return self.steps > 1 and reached < fewest


class Forgotten:
    """Of a process."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._owned: set[int] = set()  # ids of parameters
        self._followed: dict[int, _Followed] = {}  # by the id of the optimizer

    def step_begins(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class, which this file need not import
        """Look for them in some of the first steps, and when a part seems to have been exchanged."""
        followed = self._followed.get(id(optimizer))
        if followed is None or followed.ref() is not optimizer:
            followed = self._followed[id(optimizer)] = _Followed(weakref.ref(optimizer))
            self._owned.update(map(id, parameters_of(optimizer)))
        followed.steps += 1
        if followed.found is not None:
            followed.found.compare()
            return
        is_late = followed.leaves_out(optimizer)
        if is_late or (followed.steps in _SEARCHED and self._some_are_reached()):
            followed.found = self._run.budget.spend(lambda: self._search(optimizer, is_late=is_late))

    def facts(self) -> tuple[Unowned, ...]:
        """Those that stayed as they were."""
        named = ((key, each.found) for key, each in self._followed.items() if each.found and not bool(each.found.moved))
        return tuple(replace(each.fact, step=self._last_step(key), steps=each.steps) for key, each in named)

    def _last_step(self, optimizer: int) -> Any:  # noqa: ANN401 # a stack
        last = self._run.process.steps.last_of(optimizer)
        return () if last is None else last.stack

    def _some_are_reached(self) -> bool:
        """Whether passes reach leaves that no optimizer has: nothing else is worth a search among all objects."""
        return any(not each.reached <= self._owned for each in self._run.lines.lines.values())

    def _search(self, optimizer: Any, *, is_late: bool) -> _Found | None:  # noqa: ANN401 # as above
        found = forgotten_by(optimizer)
        some = found.parameters
        if not some or (found.how in _TENSORS and reads_gradients(self._run.files)):
            return None
        how: Forgetting = "exchanged" if is_late and found.how == "replaced" else found.how
        modules = trained().modules
        fact = Unowned(_names(some, modules), how, found.kept_in)
        if found.how == "replaced":
            slot = slot_of(some, modules, self._run)
            fact = replace(fact, slot=slot, created=created_at(optimizer, self._run.files))
        return _Found(fact, [(weakref.ref(each), sum_of(each)) for each in some])


@dataclass(frozen=True, slots=True)
class Lacking:
    """What an optimizer was to have, why it has not, and the attribute of the model in which it is kept."""

    how: Forgetting
    kept_in: str | None
    parameters: list[Any]


def forgotten_by(optimizer: Any) -> Lacking:  # noqa: ANN401 # as above
    """The first that is found."""
    alive = trained()
    owned = owners(alive.optimizers)
    held = held_by(alive.modules)
    without = {key: each for key, each in held.items() if key not in owned and _gets_gradients(each)}
    found = chain(
        _listed(optimizer, alive.modules, owned, without),
        _as_tensors(optimizer, alive.modules, owned.keys() | held.keys()),
    )
    return next(found, None) or Lacking("replaced", None, _replaced(optimizer, held, without))


def in_place_of(optimizer: Any, new: Sequence[Any]) -> dict[int, list[Any]]:  # noqa: ANN401 # as above
    """For the id of every parameter that no module has any more, what has taken its place; in the model's order."""
    modules = trained().modules
    parts = {id(each) for module in modules for each in _children(module)}
    order = (each for module in modules if id(module) not in parts for each in _all_of(module))
    places = {id(each): place for place, each in enumerate(order)}
    waiting = sorted(new, key=lambda each: places.get(id(each), len(places)))
    left = [each for each in parameters_of(optimizer) if id(each) not in places]
    found: dict[int, list[Any]] = {id(each): [] for each in left}
    for old in left:
        alike = [each for each in waiting if _is_alike(each, old)]
        taken = next((each for each in alike if each.shape == old.shape), next(iter(alike), None))
        if taken is not None:
            found[id(old)].append(taken)
            waiting = [each for each in waiting if each is not taken]
    if left:
        found[id(left[-1])] += waiting
    return found


def held_by(modules: Sequence[Any]) -> dict[int, Any]:
    """Their parameters, by id."""
    return {id(each): each for module in modules for each in _own(module)}


def _names(some: Sequence[Any], modules: Sequence[Any]) -> tuple[str, ...]:
    owner, own = module_names(modules), parameter_names(modules)
    return tuple(f"{owner[id(each)]}.{own[id(each)].rpartition('.')[2]}" for each in some if id(each) in owner)


def _replaced(optimizer: Any, held: dict[int, Any], without: dict[int, Any]) -> list[Any]:  # noqa: ANN401 # as above
    """What stands in the place of parameters that this optimizer has, and no module has any more."""
    own = parameters_of(optimizer)
    left = [each for each in own if id(each) not in held]
    if len(left) == len(own) or not left or any(each.grad is not None for each in left):
        return []
    alike = [each for each in without.values() if any(_is_alike(each, one) for one in left)]
    return alike if all(any(_is_alike(each, one) for each in alike) for one in left) else []


def _is_alike(new: Any, old: Any) -> bool:  # noqa: ANN401 # tensors
    """As the weights of a layer with another number of inputs or outputs are, or its biases; a number in any shape."""
    if new.dim() != old.dim():
        return bool(new.numel() == old.numel() == 1)
    return bool(new.dim() < 2 or new.shape[1:] == old.shape[1:] or new.shape[0] == old.shape[0])  # noqa: PLR2004 # a matrix


def _listed(
    optimizer: Any,  # noqa: ANN401 # as above
    modules: Sequence[Any],
    owned: Container[int],
    without: Container[int],
) -> Iterator[Lacking]:
    """What is in modules that a model keeps in a plain list, if this optimizer has something of the model."""
    from torch import nn

    own = set(map(id, parameters_of(optimizer)))
    for model in modules:
        if own.isdisjoint(map(id, _all_of(model))):
            continue
        known = {id(each) for each in _all_in([model])}
        for name, value in (attributes_of(model) or {}).items():
            items = list(value.values() if type(value) is dict else value) if id(type(value)) in _PLAIN else []
            # What is registered as well is one that `parameters()` knows of.
            layers = [list(_all_of(each)) for each in items if is_one(each, nn.Module) and id(each) not in known]
            if len(layers) == len(items) >= _LAYERS and all(_is_forgotten(each, owned, without) for each in layers):
                yield Lacking("listed", name, [each for layer in layers for each in layer if id(each) in without])


def _as_tensors(optimizer: Any, modules: Sequence[Any], known: Container[int]) -> Iterator[Lacking]:  # noqa: ANN401 # as above
    """What modules that this optimizer trains as a whole have as plain tensors, and what such were computed from."""
    from torch import Tensor

    own = set(map(id, parameters_of(optimizer)))
    trained_by_it = (each for each in modules if not own.isdisjoint(map(id, _all_of(each))))
    for module in _all_in(trained_by_it):
        tensors = [(name, each) for name, each in named_attributes(module) if type(each) is Tensor]
        for name, value in tensors if all(id(each) in own for each in _all_of(module)) else ():
            leaves = _leaves_behind(value)
            if leaves and all(id(each) not in known and _gets_gradients(each) for each in leaves):
                yield Lacking("plain" if value.is_leaf else "computed", name, leaves)


def _leaves_behind(value: Any) -> list[Any]:  # noqa: ANN401 # a tensor
    """The tensor itself, or those that it was computed from; none, where that would be a search of its own."""
    if value.is_leaf:
        return [value] if value.requires_grad else []
    below = reach([value.grad_fn], _OPS)
    return list(leaves_of(below)) if len(below) < _OPS else []


def _all_in(modules: Iterable[Any]) -> Iterator[Any]:
    """These modules and all that are in them, each once."""
    waiting, seen = list(modules), set[int]()
    while waiting:
        module = waiting.pop()
        if id(module) not in seen:
            seen.add(id(module))
            yield module
            waiting += _children(module)


def _is_forgotten(layer: Sequence[Any], owned: Container[int], without: Container[int]) -> bool:
    """Whether no optimizer has any of it, and a loss reaches some: what a last layer hands on may lead nowhere."""
    return not any(id(each) in owned for each in layer) and any(id(each) in without for each in layer)


def _all_of(module: Any) -> Iterator[Any]:  # noqa: ANN401 # an nn.Module
    """Its parameters, and those of all modules in it."""
    yield from _own(module)
    for child in _children(module):
        yield from _all_of(child)


def _children(module: Any) -> list[Any]:  # noqa: ANN401 # as above
    return [each for each in vars(module).get("_modules", {}).values() if each is not None]


def _own(module: Any) -> list[Any]:  # noqa: ANN401 # as above
    return [each for each in vars(module).get("_parameters", {}).values() if each is not None]


def _gets_gradients(parameter: Any) -> bool:  # noqa: ANN401 # a tensor
    return can_be_added_up(parameter) and parameter.requires_grad and parameter.grad is not None
