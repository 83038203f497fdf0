"""The reference run in which what was computed from parameters that have been trained since is a constant."""

from collections.abc import Iterable
from typing import Any

from gradsan.observe.graph import Node, leaves_of, loss_chain, parameters_behind, reach
from gradsan.observe.modules import all_parameters, parameters_of
from gradsan.observe.reference_runs.asked import Asked, chosen_below, newest_below, number_of, op_counter
from gradsan.observe.reference_runs.cut import CUT, WALKED, Cut, is_open, not_cut_off

_NEVER = 2**63  # later than any op
_INNER = "gradsan_inner"  # on an op: a pass came to it through what it trains, so that it is no network's output


class Beside(Cut):
    """What was computed from parameters that have all been trained since is a constant.

    Where old values are also what leads to others, they cannot be: then the reference is stale.
    """

    def __init__(self) -> None:
        super().__init__()
        self._steps = 0
        self._step_of: dict[int, int] = {}  # id of a parameter → the number of its last step
        self._early: set[int] = set()  # steps that changed what a later pass needs
        self._repeated: set[int] = set()  # those of them that are made again, with the gradients of the later pass, too
        self._has_one_loss = False  # two passes with a step in between were asked for one loss
        self._piled: set[int] = set()  # ids of parameters whose gradients were stepped with, and are added to
        self._reached_before: set[int] = set()  # ids of the leaves that the pass before came to
        self._losses_before: set[int] = set()  # creation numbers of the loss that it was asked for, and of its terms
        self._is_same_loss = False  # a step came between two passes that are asked for one loss

    @property
    def noted(self) -> Iterable[int]:
        """The steps that came too early, from 0; those that are made again as numbers below it."""
        return (-each - 1 if each in self._repeated else each for each in self._early)

    def before(self, pass_: Asked) -> None:
        """Cut them off, and see whether old ops are left."""
        early = self._steps_since(pass_)
        self.is_joint = self.is_joint or bool(early and self._adds_to_others(pass_))
        self._early |= early
        self._is_same_loss = bool(early) and not self._losses_before.isdisjoint(_losses_of(pass_))
        self._has_one_loss = self._has_one_loss or self._is_same_loss
        self._piled = {id(each) for each in leaves_of(pass_.below) if early and self._was_used(each)}
        oldest = chosen_below(pass_.below, self._change_of_trained, min)
        self._cut_off(pass_, [node for node in pass_.runs if 0 <= number_of(node) < oldest[node] < _NEVER])
        left = {node: tuple(filter(is_open, pass_.below[node])) for node in not_cut_off(pass_)}
        newest = newest_below(left, self._change_at)
        self.is_stale = self.is_stale or any(0 <= number_of(node) < newest[node] for node in left)
        self.is_shared = self.is_shared or self._cuts_inside(pass_, left)

    def after(self, pass_: Asked) -> None:
        """Note what lies behind parameters."""
        super().after(pass_)
        using = [node for node in pass_.runs if number_of(node) >= 0 and parameters_behind(node, pass_.below)]
        for inner in reach(each for node in using for each in pass_.below[node]):
            inner.metadata[_INNER] = True
        self._reached_before = {id(each) for each in leaves_of(pass_.below)}
        self._losses_before = _losses_of(pass_)
        self._ended = op_counter()

    def before_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """What it is there to train may not be a constant, nor may it take again what it has taken already.

        Nor does anybody know where two optimizers are to step from that are given gradients of one loss.
        """
        again = [id(each) for each in parameters_of(optimizer) if id(each) in self._piled]
        self._repeated |= {self._step_of[each] for each in again}
        self.is_piled = bool(self._repeated) and not self._has_one_loss
        is_other = not any(self._changed.get(id(each), -1) >= self._ended for each in parameters_of(optimizer))
        self.is_joint = self.is_joint or bool(again) or (self._is_same_loss and is_other)
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

    def _was_used(self, leaf: Any) -> bool:  # noqa: ANN401 # a tensor
        """Whether an optimizer has stepped with the gradient that it still has."""
        is_newer = self._changed.get(id(leaf), -1) >= self._ended
        return is_newer and leaf.grad is not None and bool(leaf.grad.any())

    def _adds_to_others(self, pass_: Asked) -> bool:
        """Whether it adds to what the pass before gave to parameters that have not been trained since."""
        leaves = [each for each in leaves_of(pass_.below) if id(each) in self._reached_before and each.grad is not None]
        waiting = [each for each in leaves if self._changed.get(id(each), -1) < self._ended]
        return any(bool(each.grad.any()) for each in waiting)

    def _cuts_inside(self, pass_: Asked, left: Iterable[Node]) -> bool:
        """Whether a cut takes gradients from parameters whose features an earlier pass has led on through others.

        What a network gives out has no parameters above it in its own pass. What has some is a part that two losses
        share, and only the author knows whether both are to train it. Not so where the pass before has come to what
        this one still trains, as that of a maker leads through its critic: such losses are for one network each.
        """
        trained = {id(each) for each in all_parameters()}
        lost = trained & self._lost
        if trained & self._reached_before & {id(each) for each in leaves_of(left)}:
            return False
        stack = [each for node in left for each in pass_.below[node] if CUT in each.metadata]
        while stack:
            node = stack.pop()
            if WALKED not in node.metadata:
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


def _losses_of(pass_: Asked) -> set[int]:
    """The creation numbers of the loss, without what only scales it."""
    return {number_of(each) for each in loss_chain(pass_.roots)}
