"""Reference runs in which what a pass freed, or what is old, is a constant."""

from collections.abc import Iterable
from typing import Any

from gradsan.observe.graph import (
    Node,
    adds_up,
    kind_of,
    leaves_of,
    parameters_behind,
    reach,
    saves_values,
    walked,
)
from gradsan.observe.modules import all_parameters, parameters_of
from gradsan.observe.private import restore_versions
from gradsan.observe.reference_runs.asked import Asked, chosen_below, newest_below, number_of, op_counter
from gradsan.observe.reference_runs.kept import Kept

_WALKED = "gradsan_walked"  # on an op: the op counter when the last pass over it ended
FREED = "gradsan_freed"  # on an op: the same, of a pass that freed it
_NEVER = 2**63  # later than any op
_CUT = "gradsan_cut"  # on an op: nothing flows below it any more
_INNER = "gradsan_inner"  # on an op: a pass came to it through what it trains, so that it is no network's output
_WEIGHING = frozenset({"Mul", "Div"})


class Cut(Kept):
    """What an earlier pass freed trains nothing any more: whatever was alive then and leads into it is a constant.

    A graph that was retained counts as freed once a parameter below it has been trained.
    """

    def __init__(self) -> None:
        super().__init__()
        self._versions: list[tuple[Any, int]] = []
        self._without: list[Any] = []  # leaves that have no gradient, and are not to be given one
        self._lost: set[int] = set()  # ids of leaves to which nothing flows from the passes since the last step
        self._owned: set[int] | None = None  # ids of what optimizers train
        self.constants: set[int] = set()  # the creation numbers of all that was cut off

    @property
    def noted(self) -> Iterable[int]:
        """The ops that were cut off."""
        return self.constants

    def before(self, pass_: Asked) -> None:
        """Nothing flows into what is to be a constant."""
        reached = self._reached(pass_)
        self._cut_off(pass_, [node for node in pass_.runs if self._is_constant(node, reached[node])])

    def _cut_off(self, pass_: Asked, constants: Iterable[Node]) -> None:
        for node in constants:
            if _is_open(node):
                node.metadata[_CUT] = True
                node.register_prehook(_nothing)
                self.constants.add(number_of(node))
        left = {id(each) for each in leaves_of(_not_cut_off(pass_))}
        lost = [each for each in leaves_of(pass_.below) if id(each) not in left]
        self._lost |= {id(each) for each in lost}
        self._without = [each for each in lost if each.grad is None]

    def after(self, pass_: Asked) -> None:
        """Note what it walked, and what it would have freed. Zeros would be a gradient to an optimizer."""
        for each in self._without:
            each.grad = None
        self._without = []
        now = op_counter()
        for node in pass_.runs:
            if number_of(node) >= 0:
                node.metadata[_WALKED] = now
                if pass_.frees:
                    node.metadata[FREED] = now

    def before_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """What is cut off is walked all the same, with nothing: its saved parameters must not seem edited."""
        self._versions = [(each, each._version) for each in parameters_of(optimizer)]  # noqa: SLF001 # as autograd counts
        self._lost.clear()

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """As if they had not been edited."""
        super().after_step(optimizer)
        restore_versions(self._versions)
        self._versions = []

    def _reached(self, pass_: Asked) -> dict[Node, int]:
        """For every op, when the newest of what it leads into was freed; -1: all of it is there."""
        changed = newest_below(pass_.below, self._change_at)
        return newest_below(pass_.below, lambda node: self._freed_at(node, changed[node]))

    def _freed_at(self, node: Node, changed: int) -> int:
        """When what an op saved was freed, by the op counter; -1: never, or it saved nothing."""
        marks = node.metadata
        if not saves_values(node):
            return -1
        if FREED in marks:
            return int(marks[FREED])
        walked = int(marks.get(_WALKED, -1))
        return walked if 0 <= walked <= changed else -1

    def _is_constant(self, node: Node, freed: int) -> bool:
        """Whether an op was there when what it leads into was freed."""
        return 0 <= number_of(node) < freed


class Constant(Cut):
    """What a run of this program cuts off sooner or later is a constant from the start: ops have the same numbers."""

    def __init__(self, constants: Iterable[int]) -> None:
        super().__init__()
        self._always = frozenset(constants)

    def before(self, pass_: Asked) -> None:
        """Also for the first pass that meets it."""
        self._cut_off(pass_, [node for node in pass_.runs if number_of(node) in self._always])
        super().before(pass_)


class Beside(Cut):
    """What was computed from parameters that have all been trained since is a constant.

    Where old values are also what leads to others, they cannot be: then the reference is stale.
    """

    def __init__(self) -> None:
        super().__init__()
        self._steps = 0
        self._step_of: dict[int, int] = {}  # id of a parameter → the number of its last step
        self._early: set[int] = set()  # steps that changed what a later pass needs

    @property
    def noted(self) -> Iterable[int]:
        """The steps that came too early, from 0."""
        return self._early

    def before(self, pass_: Asked) -> None:
        """Cut them off, and see whether old ops are left."""
        self._early |= self._steps_since(pass_)
        oldest = chosen_below(pass_.below, self._change_of_trained, min)
        self._cut_off(pass_, [node for node in pass_.runs if 0 <= number_of(node) < oldest[node] < _NEVER])
        left = {node: tuple(filter(_is_open, pass_.below[node])) for node in _not_cut_off(pass_)}
        newest = newest_below(left, self._change_at)
        self.is_stale = self.is_stale or any(0 <= number_of(node) < newest[node] for node in left)
        self.is_shared = self.is_shared or self._cuts_inside(pass_, left)

    def after(self, pass_: Asked) -> None:
        """Note what lies behind parameters."""
        super().after(pass_)
        using = [node for node in pass_.runs if number_of(node) >= 0 and parameters_behind(node, pass_.below)]
        for inner in reach(each for node in using for each in pass_.below[node]):
            inner.metadata[_INNER] = True

    def before_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """What it is there to train may not be a constant."""
        self.is_stale = self.is_stale or any(id(each) in self._lost for each in parameters_of(optimizer))
        super().before_step(optimizer)

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """Note which step it was."""
        super().after_step(optimizer)
        self._step_of |= dict.fromkeys(map(id, parameters_of(optimizer)), self._steps)
        self._steps += 1

    def _steps_since(self, pass_: Asked) -> set[int]:
        """Those that changed a parameter after an op of the pass had used it."""
        used = ((number_of(node), leaf) for node in pass_.runs for leaf in parameters_behind(node, pass_.below))
        old = (id(leaf) for number, leaf in used if 0 <= number < self._changed.get(id(leaf), -1))
        return {self._step_of[each] for each in old}

    def _cuts_inside(self, pass_: Asked, left: Iterable[Node]) -> bool:
        """Whether a cut takes gradients from parameters whose features an earlier pass has led on through others.

        What a network gives out has no parameters above it in its own pass. What has some is a part that two losses
        share, and only the author knows whether both are to train it.
        """
        lost = {id(each) for each in all_parameters()} & self._lost
        stack = [each for node in left for each in pass_.below[node] if _CUT in each.metadata]
        while stack:
            node = stack.pop()
            if _WALKED not in node.metadata:
                stack += pass_.below[node]
            elif _INNER in node.metadata and lost & {id(each) for each in leaves_of(reach([node]))}:
                return True
        return False

    def _change_of_trained(self, node: Node) -> int:
        """When the parameter behind a node was changed; -1: not yet; `_NEVER`: it is none that is trained."""
        owned = {id(each) for each in all_parameters()} if self._owned is None else self._owned
        self._owned = owned
        changes = [self._changed.get(id(leaf), -1) for leaf in leaves_of([node]) if id(leaf) in owned]
        return min(changes, default=_NEVER)


class Term(Cut):
    """A pass over a total is asked of what was added to it since the pass before, each with its full weight.

    What a total is multiplied with before it is added to other losses is no average's: that weight stays.
    """

    def asks(self, tensors: Any, args: list[Any], pass_: Asked) -> Any:  # noqa: ANN401 # as above
        """The new terms, where old ones are among those that a total is the sum of."""
        from torch.autograd.graph import GradientEdge

        tensors = super().asks(tensors, args, pass_)
        roots = [GradientEdge(each.grad_fn, each.output_nr) for each in tensors if getattr(each, "grad_fn", None)]
        reached = self._reached(pass_)
        if not pass_.accumulates or not any(reached[root.node] >= 0 for root in roots):
            return tensors
        terms = self._new_terms(roots, reached)
        if terms is None:
            return tensors
        args[0] = tuple(_one(each) for each in terms)
        return tuple(terms)

    def _new_terms(self, roots: list[Any], reached: dict[Node, int]) -> list[Any] | None:
        """None: what is old is not added to the loss, but part of what is computed."""
        from torch.autograd.graph import GradientEdge

        found, waiting = [], [(each, False) for each in roots]
        while waiting:
            edge, is_added = waiting.pop()
            is_weighed = is_added and kind_of(edge.node) in _WEIGHING
            if reached[edge.node] < 0:
                found.append(edge)
            elif not self._is_constant(edge.node, reached[edge.node]):
                if not adds_up(edge.node):
                    return None
                terms = [GradientEdge(*each) for each in edge.node.next_functions if each[0] is not None]
                found += [edge] if is_weighed else []
                waiting += [] if is_weighed else [(each, is_added or len(terms) > 1) for each in terms]
        return found


def _not_cut_off(pass_: Asked) -> list[Node]:
    """The ops and leaves that something flows to: no other op leads to them than what is cut off."""
    led_to = {each for following in pass_.below.values() for each in following}
    starts = (node for node in pass_.below if node not in led_to)
    return list(walked(filter(_is_open, starts), lambda node: filter(_is_open, pass_.below[node])))


def _is_open(node: Node) -> bool:
    """Whether something flows through it."""
    return _CUT not in node.metadata


def _nothing(gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(None if each is None else each.new_zeros(each.shape) for each in gradients)


def _one(edge: Any) -> Any:  # noqa: ANN401 # a gradient edge
    """The gradient of a number with respect to itself."""
    import torch

    about = edge.node._input_metadata[edge.output_nr]  # noqa: SLF001 # as in graph.py
    return torch.ones(tuple(about.shape), dtype=about.dtype, device=about.device)
