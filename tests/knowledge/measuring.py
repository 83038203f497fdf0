"""What torch does, measured: an operation is run on small tensors, and what it gives is looked at."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 # as everybody writes it
from torch import Tensor

from knowledge.recipes import DEFAULTS, RECIPES, Recipe

Node = Any  # autograd's ops have no public type
Function = Callable[..., Any]

_HOMES = {"torch": torch, "functional": F, "linalg": torch.linalg, "special": torch.special}
_REFUSALS = (TypeError, RuntimeError, ValueError, IndexError, AttributeError, NotImplementedError, AssertionError)
_NOT_OURS = (BufferError, ZeroDivisionError)
_CLOSE = 1e-5
# Behind an operator of Python's; what torch has under that name is something else.
HIDDEN = {"index"}


def homes_of(name: str) -> dict[str, Function]:
    """Every place in which torch has an operation of that name; where there is none, the op under it."""
    found: dict[str, Function] = {}
    method = getattr(Tensor, name, None)
    if method is not None:
        found["method"] = lambda value, *rest: _asked(value, name, rest)
    for label, home in _HOMES.items():
        function = getattr(home, name, None)
        if callable(function) and (name[:1].isupper() or not isinstance(function, type)):
            found[label] = function
    below = getattr(torch.ops.aten, name, None) or getattr(torch.ops.aten, f"_{name}", None)
    is_hidden = not found or name in HIDDEN
    return {"aten": below} if is_hidden and below is not None else found


def _asked(value: Tensor, name: str, rest: Sequence[Any]) -> Any:
    found = getattr(value, name)
    return found(*rest) if callable(getattr(Tensor, name)) else found


def forms_of(name: str) -> tuple[Recipe, ...]:
    """The arguments to run an operation with: all that are written for it, or one of the usual ones."""
    return RECIPES.get(name, DEFAULTS)


@cache
def runs_of(name: str) -> tuple["Run", ...]:
    """An operation in all its homes, with all the arguments that are written for it, or the first that it takes."""
    return tuple(_runs(name))


def _runs(name: str) -> Iterator["Run"]:
    for home, function in homes_of(name).items():
        for recipe in forms_of(name):
            run = tried(home, function, recipe)
            if run is not None:
                yield run
                if name not in RECIPES:
                    break


def tried(home: str, function: Function, recipe: Recipe) -> "Run | None":
    """None: torch does not take these arguments."""
    given = recipe()
    if home == "method" and not isinstance(given[0], Tensor):
        return None
    try:
        return Run(home, function, given, _called(function, given))
    except (*_REFUSALS, *_NOT_OURS):
        return None


def _called(function: Function, given: Sequence[Any]) -> Any:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*given)


@dataclass(frozen=True)
class Run:
    """An operation has been run on tensors that have a graph."""

    home: str
    function: Function
    given: tuple[Any, ...]
    result: Any

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors of the result."""
        return tuple(_tensors(self.result))

    @cached_property
    def operands(self) -> tuple[Tensor, ...]:
        """The tensors that were given and have a graph."""
        return tuple(each for each in _tensors(self.given) if each.requires_grad)

    @property
    def first(self) -> Tensor | None:
        """The first tensor that was given."""
        return next(_tensors(self.given), None)

    def again(self, change: Callable[[int, Tensor], Tensor]) -> "tuple[Run, tuple[Tensor, ...]]":
        """The same with other operands, and those."""
        places = {id(each): place for place, each in enumerate(self.operands)}
        new = tuple(change(place, each.detach().clone()) for place, each in enumerate(self.operands))

        def replaced(value: Any) -> Any:
            if isinstance(value, Tensor):
                return new[places[id(value)]] if id(value) in places else value
            return type(value)(map(replaced, value)) if type(value) in (list, tuple) else value

        given = tuple(map(replaced, self.given))
        return Run(self.home, self.function, given, _called(self.function, given)), new

    # What is measured.

    @cached_property
    def keeps_graph(self) -> bool:
        """Whether something that it gives has a graph."""
        return any(each.grad_fn is not None for each in self.tensors)

    @cached_property
    def nodes(self) -> list[Node]:
        """The ops that it has put into the graph."""
        below = {each.grad_fn for each in self.operands}
        found: list[Node] = []
        pending = [each.grad_fn for each in self.tensors]
        while pending:
            node = pending.pop()
            if node is not None and node not in below and node not in found:
                found.append(node)
                pending.extend(each for each, _ in node.next_functions)
        return found

    @cached_property
    def saves(self) -> bool:
        """Whether a pass frees something at one of these ops."""
        return any(name.startswith("_raw_saved_") for node in self.nodes for name in dir(type(node)))

    @cached_property
    def saved(self) -> tuple[frozenset[int], ...]:
        """For each operand: those that are saved where only this one has a graph."""
        return tuple(self._saved_for(place) for place in range(len(self.operands)))

    def _saved_for(self, wanted: int) -> frozenset[int]:
        run, operands = self.again(lambda place, each: _with_graph(each) if place == wanted else each)
        kept = _addresses(run.nodes)
        return frozenset(place for place, each in enumerate(operands) if each.data_ptr() in kept)

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """Operands that are saved for their own gradient, too."""
        return tuple(place for place, found in enumerate(self.saved) if place in found)

    @cached_property
    def factors(self) -> tuple[int, ...]:
        """Operands that are saved for the gradient of another one only."""
        others = set().union(*self.saved)
        return tuple(sorted(others.difference(self.inputs)))

    @cached_property
    def saves_result(self) -> bool:
        """Whether what it gives, or the first part of that, is saved."""
        run, operands = self.again(lambda _, each: _with_graph(each))
        given = {each.data_ptr() for each in operands}
        return run.tensors[0].data_ptr() in _addresses(run.nodes) - given

    @property
    def shares_memory(self) -> bool:
        """Whether the first of what it gives has the memory of the first of what it was given."""
        return self.first is not None and _storage(self.tensors[0]) == _storage(self.first)

    @property
    def holds_the_same_values(self) -> bool:
        """Whether exactly the values of what it was given are there."""
        ours, theirs = (sorted(each.detach().flatten().tolist()) for each in (self.tensors[0], self.operands[0]))
        return ours == theirs

    def is_additive(self, *, first_only: bool) -> bool:
        """Whether f(a + b) = f(a) + f(b): in all operands together, or in the first with the others as they are."""
        others = [_other(each, place) for place, each in enumerate(self.operands)]

        def changed(change: Callable[[int, Tensor], Tensor]) -> list[Tensor]:
            run, _ = self.again(lambda place, each: each if first_only and place else change(place, each))
            return [each.to(torch.promote_types(each.dtype, torch.float64)) for each in run.tensors]

        one, two = changed(lambda _, each: each), changed(lambda place, _: others[place])
        both = changed(lambda place, each: each + others[place])
        return all(torch.allclose(a + b, c, atol=_CLOSE) for a, b, c in zip(one, two, both, strict=True))

    @property
    def operands_in_an_element(self) -> int:
        """How many operands there are of which one element of the result takes several elements."""
        run, operands = self.again(lambda _, each: each.requires_grad_())
        gradients = torch.autograd.grad(run.tensors[0].flatten()[0], operands, allow_unused=True)
        return sum(each is not None and int(each.count_nonzero()) > 1 for each in gradients)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _tensors(each)


def _with_graph(value: Tensor) -> Tensor:
    return value.requires_grad_() * 1


def _other(like: Tensor, seed: int) -> Tensor:
    drawn = torch.rand(like.shape, generator=torch.Generator().manual_seed(9 + seed)).to(like.dtype)
    return drawn.flip(0) * (1 + seed)


def _storage(value: Tensor) -> int:
    return value.untyped_storage().data_ptr()


def _addresses(nodes: Sequence[Node]) -> set[int]:
    """Where the tensors lie that some ops keep for the backward pass."""
    kept = [getattr(node, name) for node in nodes for name in dir(node) if name.startswith("_saved_")]
    return {each.data_ptr() for each in _tensors(kept) if each.numel()}
