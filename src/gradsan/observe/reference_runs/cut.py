"""Reference runs in which what a pass freed, or what is old, is a constant."""

from collections.abc import Callable, Iterable
from typing import Any

from gradsan.observe.graph import VIEWING, Node, adds_up, kind_of, leaves_of, saves_values, terms_of, walked
from gradsan.observe.modules import parameters_of
from gradsan.observe.private import restore_versions
from gradsan.observe.reference_runs.asked import Asked, newest_below, number_of, op_counter
from gradsan.observe.reference_runs.kept import Kept

WALKED = "gradsan_walked"  # on an op: the op counter when the last pass over it ended
FREED = "gradsan_freed"  # on an op: the same, of a pass that freed it
CUT = "gradsan_cut"  # on an op: nothing flows below it any more
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
        self._outer: set[int] = set()  # of those of them that something leads to which was not

    @property
    def noted(self) -> Iterable[int]:
        """The ops that were cut off."""
        return self.constants

    @property
    def sites(self) -> Iterable[int]:
        """The lines that created those of them that others use."""
        return {site for each in self._outer if (site := self.site_of(each)) is not None}

    def before(self, pass_: Asked) -> None:
        """Nothing flows into what is to be a constant."""
        reached = self._reached(pass_)
        self._cut_off(pass_, [node for node in pass_.runs if self._is_constant(node, reached[node])])

    def _cut_off(self, pass_: Asked, constants: Iterable[Node]) -> None:
        for node in constants:
            if is_open(node):
                node.metadata[CUT] = True
                node.register_prehook(_nothing)
                self.constants.add(number_of(node))
        using = [each for node in pass_.runs if is_open(node) for each in pass_.below[node]]
        self._outer |= {number_of(each) for each in using if not is_open(each)}
        left = {id(each) for each in leaves_of(not_cut_off(pass_))}
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
                node.metadata[WALKED] = now
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
        """When what an op saved was freed, or its values became old, by the op counter; -1: never.

        What saves nothing cannot be freed, and is old all the same, but for a view: that has the values of the present.
        """
        marks = node.metadata
        if saves_values(node):
            if FREED in marks:
                return int(marks[FREED])
        elif kind_of(node) in VIEWING:
            return -1
        walked = int(marks.get(WALKED, -1))
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


class Stored(Cut):
    """What lines compute that have computed something which is cut off is a constant, whenever it is used."""

    def __init__(self, sites: Iterable[int]) -> None:
        super().__init__()
        self._sites = frozenset(sites)

    def before(self, pass_: Asked) -> None:
        """Also where no pass has freed it yet."""
        self._cut_off(pass_, [node for node in pass_.runs if self.site_of(number_of(node)) in self._sites])
        self.has_idle_terms = self.has_idle_terms or _has_idle_terms(pass_)
        super().before(pass_)


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


def not_cut_off(pass_: Asked) -> list[Node]:
    """The ops and leaves that something flows to: no other op leads to them than what is cut off."""
    led_to = {each for following in pass_.below.values() for each in following}
    starts = (node for node in pass_.below if node not in led_to)
    return list(walked(filter(is_open, starts), _open_below(pass_)))


def _has_idle_terms(pass_: Asked) -> bool:
    """Whether a loss has a term to which leaves lead, all of them through what is cut off, beside one that trains."""
    terms = [each for each in terms_of(pass_.roots) if _has_leaves(walked([each], pass_.below.__getitem__))]
    trains = [_has_leaves(walked(filter(is_open, [each]), _open_below(pass_))) for each in terms]
    return any(trains) and not all(trains)


def _has_leaves(nodes: Iterable[Node]) -> bool:
    return next(leaves_of(nodes), None) is not None


def _open_below(pass_: Asked) -> Callable[[Node], Iterable[Node]]:
    return lambda node: filter(is_open, pass_.below[node])


def is_open(node: Node) -> bool:
    """Whether something flows through it."""
    return CUT not in node.metadata


def _nothing(gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(None if each is None else each.new_zeros(each.shape) for each in gradients)


def _one(edge: Any) -> Any:  # noqa: ANN401 # a gradient edge
    """The gradient of a number with respect to itself."""
    import torch

    about = edge.node._input_metadata[edge.output_nr]  # noqa: SLF001 # as in graph.py
    return torch.ones(tuple(about.shape), dtype=about.dtype, device=about.device)
