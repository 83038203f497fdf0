"""Reference runs: the program as it is, whose passes do what a right fix would make them do.

They need no edit, so they say what an edit is to be compared with. Only the process of a trial runs so: every reference
keeps all graphs, so that nothing raises, and then takes away what its meaning does not allow.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gradsan.observe.graph import (
    adds_up,
    kind_of,
    leading_to,
    leaves_of,
    parameters_behind,
    reach,
    roots_of,
    saves_values,
)
from gradsan.observe.modules import trained
from gradsan.observe.private import NO_NUMBER, private, restore_versions

Node = Any  # autograd's ops have no public type
_RETAIN, _CREATE, _INPUTS = 1, 2, 3  # the places of the engine's arguments, after the tensors

_WALKED = "gradsan_walked"  # on an op: the op counter when the last pass over it ended
_FREED = "gradsan_freed"  # on an op: the same, of a pass that freed it
_NEVER = 2**63  # later than any op
_CUT = "gradsan_cut"  # on an op: nothing flows below it any more
_INNER = "gradsan_inner"  # on an op: a pass came to it through what it trains, so that it is no network's output
_WEIGHING = frozenset({"Mul", "Div"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A pass, as the program asks for it."""

    below: dict[Node, tuple[Node, ...]]  # all ops that its losses lead to
    runs: frozenset[Node]  # those that it walks
    frees: bool
    accumulates: bool  # `backward()`; False: `autograd.grad`


def asked(tensors: Iterable[Any], args: list[Any], named: dict[str, Any]) -> Asked:
    """What the engine is about to do."""
    below = reach(roots_of(tensors))
    inputs = tuple((args[_INPUTS] if len(args) > _INPUTS else named.get("inputs")) or ())
    accumulates = bool(named.get("accumulate_grad"))
    runs = frozenset(below)
    if inputs:
        wanted = {id(each) for each in inputs}
        targets = [node for node in below if id(getattr(node, "variable", None)) in wanted]
        targets += [node for node in roots_of(inputs) if node in below]
        runs = frozenset(leading_to(below, targets, inclusive=accumulates))
    return Asked(below, runs, not args[_RETAIN], accumulates)


class Kept:
    """All graphs are kept: every loss trains all that it was computed from."""

    def __init__(self) -> None:
        self.is_stale = False  # a pass walked ops that are older than the last change of what they were computed from
        self.skips_steps = False  # until the next pass: they are those of a pass that was not to be made
        self.is_shared = False  # what was cut off lies inside of what an earlier pass trained
        self._changed: dict[int, int] = {}  # id of a parameter → the op counter at its last step
        self._versions_then: dict[int, int] = {}  # id of a leaf → how often it had been edited when the last pass ended
        self._ended = -1  # the op counter then
        self._withheld: list[tuple[Any, Any]] = []  # leaves, with the gradients that they are to have again

    @property
    def noted(self) -> Iterable[int]:
        """What another reference of the same program goes by: the numbers of ops, or of steps."""
        return ()

    def asks(self, tensors: Any, args: list[Any], pass_: Asked) -> Any:  # noqa: ANN401, ARG002 # references differ in it
        """What the engine is asked of; what else it is given, `args`, is changed in place."""
        args[_RETAIN] = True
        return tensors

    def before(self, pass_: Asked) -> None:
        """A pass is about to run. A step that asks for several has changed parameters without being over."""
        for each in leaves_of(pass_.below):
            if self._versions_then.get(id(each), each._version) != each._version:  # noqa: SLF001 # as autograd counts
                self._changed[id(each)] = max(self._ended, self._changed.get(id(each), -1))
        self.is_stale = self.is_stale or self._walks_old_ops(pass_)

    def after(self, pass_: Asked) -> None:
        """It has run."""
        self._versions_then |= {id(each): each._version for each in leaves_of(pass_.below)}  # noqa: SLF001 # as above
        self._ended = _counter()

    def before_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """An optimizer is about to step."""

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """It has stepped."""
        now = _counter()
        for each in parameters_of(optimizer):
            if each.grad is not None:
                self._changed[id(each)] = now

    def _withhold(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """Without gradients, an optimizer leaves everything as it is."""
        self._withheld = [(each, each.grad) for each in parameters_of(optimizer)]
        for each, _ in self._withheld:
            each.grad = None

    def _give_back(self) -> None:
        for each, gradient in self._withheld:
            each.grad = gradient
        self._withheld = []

    def _walks_old_ops(self, pass_: Asked) -> bool:
        """Whether an op is older than the last change of a parameter below it."""
        newest = _newest_below(pass_.below, self._change_at)
        return any(0 <= _number(node) < newest[node] for node in pass_.runs)

    def _change_at(self, node: Node) -> int:
        return max((self._changed.get(id(leaf), -1) for leaf in leaves_of([node])), default=-1)


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
        self.site_of: Callable[[int], int | None] = lambda _number: (
            None
        )  # by the number of an op: its line, as a number

    @property
    def sites(self) -> set[int]:
        """The lines that made what was cut off."""
        return {site for each in self.constants if (site := self.site_of(each)) is not None}

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
            if _CUT not in node.metadata:
                node.metadata[_CUT] = True
                node.register_prehook(_nothing)
                self.constants.add(_number(node))
        left = {id(each) for each in leaves_of(_not_cut_off(pass_))}
        lost = [each for each in leaves_of(pass_.below) if id(each) not in left]
        self._lost |= {id(each) for each in lost}
        self._without = [each for each in lost if each.grad is None]

    def after(self, pass_: Asked) -> None:
        """Note what it walked, and what it would have freed. Zeros would be a gradient to an optimizer."""
        for each in self._without:
            each.grad = None
        self._without = []
        now = _counter()
        for node in pass_.runs:
            if _number(node) >= 0:
                node.metadata[_WALKED] = now
                if pass_.frees:
                    node.metadata[_FREED] = now

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
        changed = _newest_below(pass_.below, self._change_at)
        return _newest_below(pass_.below, lambda node: self._freed_at(node, changed[node]))

    def _freed_at(self, node: Node, changed: int) -> int:
        """When what an op saved was freed, by the op counter; -1: never, or it saved nothing."""
        marks = node.metadata
        if not saves_values(node):
            return -1
        if _FREED in marks:
            return int(marks[_FREED])
        walked = int(marks.get(_WALKED, -1))
        return walked if 0 <= walked <= changed else -1

    def _is_constant(self, node: Node, freed: int) -> bool:
        """Whether an op was there when what it leads into was freed."""
        return 0 <= _number(node) < freed


class Constant(Cut):
    """What a run of this program cuts off sooner or later is a constant from the start: ops have the same numbers."""

    def __init__(self, constants: Iterable[int]) -> None:
        super().__init__()
        self._always = frozenset(constants)

    def before(self, pass_: Asked) -> None:
        """Also for the first pass that meets it."""
        self._cut_off(pass_, [node for node in pass_.runs if _number(node) in self._always])
        super().before(pass_)


class Stored(Cut):
    """What lines compute that have computed something which is cut off is a constant, whenever it is used."""

    def __init__(self, sites: Iterable[int]) -> None:
        super().__init__()
        self._sites = frozenset(sites)

    def before(self, pass_: Asked) -> None:
        """Also where no pass has freed it yet."""
        self._cut_off(pass_, [node for node in pass_.runs if self.site_of(_number(node)) in self._sites])
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
        self._reached_before: set[int] = set()  # ids of the leaves that the pass before came to

    @property
    def noted(self) -> Iterable[int]:
        """The steps that came too early, from 0."""
        return self._early

    def before(self, pass_: Asked) -> None:
        """Cut them off, and see whether old ops are left."""
        self._early |= self._steps_since(pass_)
        oldest = _below(pass_.below, self._change_of_trained, min)
        self._cut_off(pass_, [node for node in pass_.runs if 0 <= _number(node) < oldest[node] < _NEVER])
        left = {
            node: tuple(each for each in pass_.below[node] if _CUT not in each.metadata) for node in _not_cut_off(pass_)
        }
        newest = _newest_below(left, self._change_at)
        self.is_stale = self.is_stale or any(0 <= _number(node) < newest[node] for node in left)
        self.is_shared = self.is_shared or self._cuts_inside(pass_, left)

    def after(self, pass_: Asked) -> None:
        """Note what lies behind parameters."""
        super().after(pass_)
        using = [node for node in pass_.runs if _number(node) >= 0 and parameters_behind(node, pass_.below)]
        for inner in reach(each for node in using for each in pass_.below[node]):
            inner.metadata[_INNER] = True
        self._reached_before = {id(each) for each in leaves_of(pass_.below)}

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
        used = ((_number(node), leaf) for node in pass_.runs for leaf in parameters_behind(node, pass_.below))
        old = (id(leaf) for number, leaf in used if 0 <= number < self._changed.get(id(leaf), -1))
        return {self._step_of[each] for each in old}

    def _cuts_inside(self, pass_: Asked, left: Iterable[Node]) -> bool:
        """Whether a cut takes gradients from parameters whose features an earlier pass has led on through others.

        What a network gives out has no parameters above it in its own pass. What has some is a part that two losses
        share, and only the author knows whether both are to train it. Not so where the pass before has come to what
        this one still trains, as that of a maker leads through its critic: such losses are for one network each.
        """
        trained = {id(each) for each in _trained()}
        lost = trained & self._lost
        if trained & self._reached_before & {id(each) for each in leaves_of(left)}:
            return False
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
        owned = {id(each) for each in _trained()} if self._owned is None else self._owned
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


class Apart(Cut):
    """A pass trains those optimizers alone that step before the next one.

    Where two passes come before the steps, the later one ends where the earlier one has been.
    """

    def __init__(self) -> None:
        super().__init__()
        self._before: dict[int, tuple[Any, Any]] = {}  # parameters, and their gradients before the passes
        self._after: dict[int, Any] = {}  # their gradients after them
        self._stepped: set[int] = set()  # ids of the parameters that were trained since

    def before(self, pass_: Asked) -> None:
        """Take back what the passes before have given to optimizers that did not step."""
        if self._stepped:
            self._take_back()
        if self._before:
            super().before(pass_)
            return
        self._before = {id(each): (each, _copy(each.grad)) for each in _trained()}

    def after(self, pass_: Asked) -> None:
        """Note what it walked."""
        super().after(pass_)
        self._after = {id(each): _copy(each.grad) for each, _ in self._before.values()}

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """These parameters were meant."""
        super().after_step(optimizer)
        self._stepped |= {id(each) for each in parameters_of(optimizer)}

    def _is_constant(self, node: Node, freed: int) -> bool:
        """Whether an op was itself walked: what else was alive then is part of the later loss."""
        return freed >= 0 and _FREED in node.metadata

    def _take_back(self) -> None:
        for number, (each, earlier) in self._before.items():
            given = self._after.get(number)
            is_as_given = each.grad is not None and given is not None and each.grad.equal(given)
            if number not in self._stepped and is_as_given:  # else the program has cleared it
                each.grad = earlier
        self._before, self._after, self._stepped = {}, {}, set()


class Skipped(Cut):
    """A pass that leads into what an earlier one freed is not made, nor are the steps before the next pass."""

    def before(self, pass_: Asked) -> None:
        """See whether it is to be made: what it gives is taken back if not."""
        reached = self._reached(pass_)
        self.skips_steps = any(reached[node] >= 0 for node in pass_.runs)
        if self.skips_steps:
            self._withheld = [(each, _copy(each.grad)) for each in leaves_of(pass_.below)]

    def after(self, pass_: Asked) -> None:
        """Note what it walked, where it was to be made."""
        self._give_back()
        if not self.skips_steps:
            super().after(pass_)

    def before_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """Nothing is to come of it."""
        super().before_step(optimizer)
        if self.skips_steps:
            self._withhold(optimizer)

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """The gradients are there again."""
        super().after_step(optimizer)
        self._give_back()


class Held(Kept):
    """A step that changes what the next pass needs is made after that pass."""

    def __init__(self, early: Iterable[int]) -> None:
        super().__init__()
        self._early = frozenset(early)  # the numbers of such steps
        self._steps = 0
        self._waiting: list[Any] = []  # optimizers
        self.skips_steps = 0 in self._early

    def after(self, pass_: Asked) -> None:
        """Make the steps that have waited for it."""
        super().after(pass_)
        waiting, self._waiting = self._waiting, []
        self._steps -= len(waiting)  # they are not counted twice
        for each in waiting:
            self.skips_steps = False
            each.step()

    def before_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """It waits."""
        if self.skips_steps:
            self._withhold(optimizer)

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """See whether the next one is to wait, too."""
        if self.skips_steps:
            self._give_back()
            self._waiting.append(optimizer)
        else:
            super().after_step(optimizer)
        self._steps += 1
        self.skips_steps = self._steps in self._early


class Copied(Kept):
    """Every saved value is a copy: an edit in place changes what comes after it, and nothing that was saved before."""

    def __init__(self) -> None:
        super().__init__()
        import torch

        hooks = torch.autograd.graph.saved_tensors_hooks(lambda each: each.detach().clone(), lambda each: each)
        hooks.__enter__()  # for good: the process ends with it


class Created(Kept):
    """Gradients that the program asks for are part of the graph."""

    def asks(self, tensors: Any, args: list[Any], pass_: Asked) -> Any:  # noqa: ANN401 # as above
        """`autograd.grad` with `create_graph=True`."""
        if not pass_.accumulates:
            args[_CREATE] = True
        return super().asks(tensors, args, pass_)


class Cleared(Kept):
    """Every step is given what passes gave since the one before it."""

    def asks(self, tensors: Any, args: list[Any], pass_: Asked) -> Any:  # noqa: ANN401, ARG002 # as above
        """Graphs live as long as the program lets them."""
        return tensors

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """Gradients are given up."""
        for each in parameters_of(optimizer):
            each.grad = None


_REFERENCES: dict[str, Callable[[], Kept]] = {
    "kept": Kept,
    "cut": Cut,
    "beside": Beside,
    "term": Term,
    "apart": Apart,
    "skipped": Skipped,
    "copied": Copied,
    "created": Created,
    "cleared": Cleared,
}


# Those that go by what another one has noted.
_INFORMED: dict[str, Callable[[Iterable[int]], Kept]] = {"constant": Constant, "held": Held, "stored": Stored}


def without_version_checks() -> None:
    """Let passes walk what saved values that were edited since: where that is cut off, nothing comes of it.

    Optimizers are seen to edit what they train, and a program's own edits in place are not. PyTorch does not compare
    the versions of what it saves through hooks; that is no rule for every reference, since `torch.func` forbids them.
    """
    import torch

    torch.autograd.graph.saved_tensors_hooks(lambda each: each, lambda each: each).__enter__()  # for good


def reference(name: str, noted: Iterable[int]) -> Kept:
    """The reference of that name; `noted`: by another run of the same program."""
    return _INFORMED[name](noted) if name in _INFORMED else _REFERENCES[name]()


def parameters_of(optimizer: Any) -> list[Any]:  # noqa: ANN401 # torch's class
    """All that it trains, in its order."""
    return [each for group in optimizer.param_groups for each in group["params"]]


def _not_cut_off(pass_: Asked) -> list[Node]:
    """The ops and leaves that something flows to: no other op leads to them than what is cut off."""
    led_to = {each for following in pass_.below.values() for each in following}
    stack = [node for node in pass_.below if node not in led_to]
    found: dict[Node, None] = {}
    while stack:
        node = stack.pop()
        if node not in found and _CUT not in node.metadata:
            found[node] = None
            stack += pass_.below[node]
    return list(found)


def _nothing(gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(None if each is None else each.new_zeros(each.shape) for each in gradients)


def _counter() -> int:
    counter = private().op_counter
    return 0 if counter is None else counter()


def _number(node: Node) -> int:
    """The creation number; -1 for a leaf's, which has none."""
    number = node._sequence_nr()  # noqa: SLF001 # as in graph.py
    return -1 if number == NO_NUMBER else int(number)


def _one(edge: Any) -> Any:  # noqa: ANN401 # a gradient edge
    """The gradient of a number with respect to itself."""
    import torch

    about = edge.node._input_metadata[edge.output_nr]  # noqa: SLF001 # as in graph.py
    return torch.ones(tuple(about.shape), dtype=about.dtype, device=about.device)


def _copy(gradient: Any) -> Any:  # noqa: ANN401 # a tensor, or None
    return None if gradient is None else gradient.detach().clone()


def _trained() -> list[Any]:
    """The parameters of all optimizers that are alive."""
    return [each for optimizer in trained().optimizers for each in parameters_of(optimizer)]


def _newest_below(below: dict[Node, tuple[Node, ...]], time_of: Callable[[Node], int]) -> dict[Node, int]:
    """For every op the latest of the times of itself and of all that it leads to."""
    return _below(below, time_of, max)


def _below(
    below: dict[Node, tuple[Node, ...]], time_of: Callable[[Node], int], chosen: Callable[[list[int]], int]
) -> dict[Node, int]:
    """For every op the one that is chosen of the times of itself and of all that it leads to."""
    found: dict[Node, int] = {}
    for root in below:
        stack = [root]
        while stack:
            node = stack[-1]
            waiting = [each for each in below[node] if each not in found]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            found[node] = chosen([time_of(node), *(found[each] for each in below[node])])
    return found
