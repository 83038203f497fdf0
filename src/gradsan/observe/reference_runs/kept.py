"""Reference runs that keep all graphs, and those that only change how a pass or a step is made."""

from collections.abc import Callable, Iterable
from typing import Any

from gradsan.observe.graph import VIEWING, Node, kind_of, leaves_of
from gradsan.observe.modules import parameters_of
from gradsan.observe.reference_runs.asked import CREATE, RETAIN, Asked, asked, newest_below, number_of, op_counter


def _unknown(_number: int) -> None:
    return None


class Kept:
    """All graphs are kept: every loss trains all that it was computed from."""

    runs_on = False  # to its end: what it is compared in may come after the first steps

    def __init__(self) -> None:
        self.is_stale = False  # a pass walked ops that are older than the last change of what they were computed from
        self.skips_steps = False  # until the next pass: they are those of a pass that was not to be made
        self.is_shared = False  # what was cut off lies inside of what an earlier pass trained
        self.has_idle_terms = False  # a term of a loss trains nothing, since all that it is computed from is a constant
        self.keeps_momentum = False  # an optimizer was given a parameter when it knew of others from earlier steps
        self.is_piled = False  # a step took gradients again that it had taken, with those of a pass in between
        self.is_joint = False  # a step came between two passes whose gradients others take together, or they run as one
        self._running: list[Asked] = []  # passes, each inside of the one before
        self._changed: dict[int, int] = {}  # id of a parameter → the op counter at its last step
        self._versions_then: dict[int, int] = {}  # id of a leaf → how often it had been edited when the last pass ended
        self._ended = -1  # the op counter then
        self.site_of: Callable[[int], int | None] = _unknown  # by the number of an op: its line, as a number
        self._withheld: list[tuple[Any, Any]] = []  # leaves, with the gradients that they are to have again

    @property
    def noted(self) -> Iterable[int]:
        """What another reference of the same program goes by: the numbers of ops, or of steps."""
        return ()

    @property
    def sites(self) -> Iterable[int]:
        """The lines that created what was cut off."""
        return ()

    def run(self, engine: Any, tensors: Any, args: list[Any], named: dict[str, Any]) -> Any:  # noqa: ANN401 # as the engine has it
        """Have the engine make a pass, as this run would have it."""
        if len(args) <= RETAIN:
            return engine(tensors, *args, **named)
        pass_ = asked(tensors, args, named)
        tensors = self.asks(tensors, args, pass_)
        self.before(pass_)
        self._running.append(pass_)
        try:
            result = engine(tensors, *args, **named)
        finally:
            self._running.pop()
        self.after(pass_)
        return result

    def asks(self, tensors: Any, args: list[Any], pass_: Asked) -> Any:  # noqa: ANN401, ARG002 # references differ in it
        """What the engine is asked of; what else it is given, `args`, is changed in place."""
        args[RETAIN] = True
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
        self._ended = op_counter()

    def before_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """An optimizer is about to step."""

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """It has stepped."""
        now = op_counter()
        for each in parameters_of(optimizer):
            if each.grad is not None:
                self._changed[id(each)] = now
            if id(each) in self._versions_then:  # this edit is no other's
                self._versions_then[id(each)] = each._version  # noqa: SLF001 # as above

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
        """Whether an op is older than the last change of a parameter below it; a view has the values of the present."""
        newest = newest_below(pass_.below, self._change_at)
        return any(0 <= number_of(node) < newest[node] and kind_of(node) not in VIEWING for node in pass_.runs)

    def _change_at(self, node: Node) -> int:
        return max((self._changed.get(id(leaf), -1) for leaf in leaves_of([node])), default=-1)


class Same(Kept):
    """The program itself."""

    def asks(self, tensors: Any, args: list[Any], pass_: Asked) -> Any:  # noqa: ANN401, ARG002 # as above
        """As it is."""
        return tensors


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
            args[CREATE] = True
        elif any(not each.runs.isdisjoint(pass_.runs) for each in self._running):
            self.is_joint = True  # both give their gradients to the same parameters
        return super().asks(tensors, args, pass_)


class Cleared(Same):
    """Every step is given what passes gave since the one before it."""

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """Gradients are given up."""
        for each in parameters_of(optimizer):
            each.grad = None
