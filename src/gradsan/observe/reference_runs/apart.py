"""Reference runs in which a pass, a step, or what a pass gives, is taken back."""

from collections.abc import Iterable
from typing import Any

from gradsan.observe.graph import Node, leaves_of
from gradsan.observe.modules import all_parameters, parameters_of
from gradsan.observe.reference_runs.asked import Asked
from gradsan.observe.reference_runs.cut import FREED, Cut
from gradsan.observe.reference_runs.kept import Kept, Same


class Apart(Cut):
    """A pass trains those optimizers alone that step before the next one.

    Where two passes come before the steps, the later one ends where the earlier one has been. But where gradients of
    the earlier one were given up in between, the later one is for those who gave them up.
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
            kept = [each for each, _ in self._before.values() if not _is_given_up(each, self._after.get(id(each)))]
            if len(kept) == len(self._before):
                super().before(pass_)
            else:
                self._withheld = [(each, _copy(each.grad)) for each in kept]
            return
        self._before = {id(each): (each, _copy(each.grad)) for each in all_parameters()}

    def after(self, pass_: Asked) -> None:
        """Note what it walked."""
        super().after(pass_)
        self._give_back()
        self._after = {id(each): _copy(each.grad) for each, _ in self._before.values()}

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """These parameters were meant."""
        super().after_step(optimizer)
        self._stepped |= {id(each) for each in parameters_of(optimizer)}

    def _is_constant(self, node: Node, freed: int) -> bool:
        """Whether an op was itself walked: what else was alive then is part of the later loss."""
        return freed >= 0 and FREED in node.metadata

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
    """A step that changes what the next pass needs is made after that pass; the program may do so anyway."""

    def __init__(self, early: Iterable[int]) -> None:
        super().__init__()
        self._repeated = frozenset(-each - 1 for each in early if each < 0)  # that the program makes again itself
        self._early = frozenset(each for each in early if each >= 0) | self._repeated  # the numbers of such steps
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
            self._waiting += [] if self._steps in self._repeated else [optimizer]
        else:
            super().after_step(optimizer)
        self._steps += 1
        self.skips_steps = self._steps in self._early


class Late(Same):
    """The program as it is. Its steps are noted that come before a pass whose gradients no step is given."""

    def __init__(self) -> None:
        super().__init__()
        self._early: set[int] = set()  # the numbers of such steps
        self._steps = 0
        self._gave: list[tuple[Any, Any]] | None = (
            None  # leaves, and their gradients, since a pass; None: there was none
        )

    @property
    def noted(self) -> Iterable[int]:
        """The steps that came too early, from 0; with others, also one whose pass the program ends with."""
        return self._early | ({self._steps - 1} if self._early and self._steps and self._gave else set())

    def before(self, pass_: Asked) -> None:
        """What the pass before gave may have been given up."""
        super().before(pass_)
        if self._steps and any(_is_given_up(*each) for each in self._gave or ()):
            self._early.add(self._steps - 1)

    def after(self, pass_: Asked) -> None:
        """Note what it gave."""
        super().after(pass_)
        self._gave = _gradients_of(pass_)

    def before_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """A step without any pass is for the next one, and so are all that find nothing then."""
        super().before_step(optimizer)
        finds_nothing = all(_is_given_up(*each) for each in self._gave or ())
        if self._gave is None or (0 in self._early and finds_nothing):
            self._early.add(self._steps)
        if self._gave is not None:
            self._gave = []

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """Count it."""
        super().after_step(optimizer)
        self._steps += 1


class Awaited(Held):
    """Steps that come too early are made after the next pass; what was given up before a step is there again."""

    def __init__(self, early: Iterable[int]) -> None:
        super().__init__(early)
        self._gave: dict[int, Any] = {}  # id of a leaf → its gradient, since a pass
        self._returned: list[tuple[Any, Any]] = []  # parameters that are given it back, and what they have instead

    def after(self, pass_: Asked) -> None:
        """Note what it gave."""
        self._gave |= {id(each): given for each, given in _gradients_of(pass_)}
        super().after(pass_)

    def before_step(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """Give back what was given up since."""
        for each in () if self.skips_steps else parameters_of(optimizer):
            given = self._gave.pop(id(each), None)
            if _is_given_up(each, given):
                self._returned.append((each, each.grad))
                each.grad = given
        super().before_step(optimizer)

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """It is given up now."""
        super().after_step(optimizer)
        for each, gradient in self._returned:
            each.grad = gradient
        self._returned = []


class Gathered(Same):
    """What was given up before a step could take it is there again when the next pass begins."""

    def __init__(self) -> None:
        super().__init__()
        self._gave: dict[int, tuple[Any, Any]] = {}  # leaves, and their gradients, since a step

    def before(self, pass_: Asked) -> None:
        """Give it back."""
        super().before(pass_)
        for each, given in self._gave.values():
            if _is_given_up(each, given):
                each.grad = _copy(given)

    def after(self, pass_: Asked) -> None:
        """Note what it gave."""
        super().after(pass_)
        self._gave |= {id(each): (each, given) for each, given in _gradients_of(pass_)}

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """It has taken them."""
        super().after_step(optimizer)
        for each in parameters_of(optimizer):
            self._gave.pop(id(each), None)


def _gradients_of(pass_: Asked) -> list[tuple[Any, Any]]:
    return [(each, _copy(each.grad)) for each in leaves_of(pass_.below)]


def _is_given_up(leaf: Any, given: Any) -> bool:  # noqa: ANN401 # a tensor, and its gradient
    """Whether a gradient was there, and is there no more."""
    return given is not None and bool(given.any()) and (leaf.grad is None or not bool(leaf.grad.any()))


def _copy(gradient: Any) -> Any:  # noqa: ANN401 # a tensor, or None
    return None if gradient is None else gradient.detach().clone()
