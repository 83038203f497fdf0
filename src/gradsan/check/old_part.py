"""What a pass walks of an older part of the graph, and how the newer part leads there."""

from collections.abc import Collection
from dataclasses import dataclass

from gradsan.check.graph import Leaf, Op, leaves_in
from gradsan.check.walking import Reached, path_to, reach, terms
from gradsan.knowledge.tensors import operation

_ADDING = frozenset({"add", "sub", "subtract", "lerp"})  # one value to another, element by element


@dataclass(frozen=True, slots=True)
class OldPart:
    """A part of the graph that a pass from these roots comes to."""

    roots: tuple[Op, ...]
    op: Op  # of the part: where the path from the roots comes upon it
    ops: Collection[Op]
    found: dict[Op, Reached]

    @property
    def enters(self) -> Op | None:
        """The op that builds on it; None: the pass was asked for it itself."""
        return self.found[self.op].parent

    @property
    def beside(self) -> set[Op]:
        """What the pass walks apart from it."""
        return self.found.keys() - set(self.ops)

    @property
    def is_trained_again(self) -> bool:
        """Whether the term of the loss that builds on it there trains all parameters below apart from it, too."""
        old, linear = leaves_in(below([self.op])), linear_terms(self.roots)
        return bool(old) and self.op not in linear and old <= self._beside_in(linear)

    @property
    def is_reached_again(self) -> bool:
        """Whether every parameter below it is reached apart from it, by whatever term."""
        old = leaves_in(self.ops)
        return bool(old) and old <= leaves_in(self.beside)

    @property
    def _sums(self) -> set[Op]:
        """The losses that the roots are sums of, and the sums."""
        return {term for root in self.roots for term in terms(root)}

    @property
    def is_term(self) -> bool:
        """Whether the loss is a sum, and one of its terms trains nothing but through what is old."""
        linear = linear_terms(self.roots)
        if self.op in linear:
            return True
        return self._last_of(linear) not in (None, *self.roots) and not self._beside_in(linear)

    def _last_of(self, linear: set[Op]) -> Op | None:
        """The one of these terms of the loss through which the path comes to it; None: a pass inside led there."""
        return next((op for op in reversed(path_to(self.op, self.found)) if op in linear), None)

    def _beside_in(self, linear: set[Op]) -> set[Leaf]:
        """What that term trains apart from it."""
        term = self._last_of(linear)
        return set() if term is None else leaves_in(reach([term]).keys() - set(self.ops))

    @property
    def is_average(self) -> bool:
        """Whether it is only added to something new, and all below it is trained without that sum, too."""
        adding, old = self._mixing, leaves_in(below([self.op]))
        if adding is None or adding in self._sums:
            return False
        left_out = {*self.ops, adding}
        roots = [op for op in self.roots if op not in left_out]
        return bool(old) and old <= leaves_in(below(roots, but_for=left_out))

    @property
    def _mixing(self) -> Op | None:
        """The nearest op that adds it to something else; None: something else is done with it first."""
        for op in reversed(path_to(self.op, self.found)[:-1]):
            if len(op.edges) + len(op.leaves) > 1:
                return op if op.name in _ADDING else None
            if operation(op.name).linear is None:
                return None
        return None

    @property
    def is_operand(self) -> bool:
        """Whether it is multiplied as features and weights are, by a function or by a layer that saves its weight."""
        enters = self.enters
        return enters is not None and (operation(enters.name).contracts or bool(enters.leaves and enters.saved))

    @property
    def is_reached_otherwise(self) -> bool:
        """Whether more than terms of the loss leads to it: a state is carried as well."""
        builds_on = (edge.op for op in self.beside - self._sums for edge in op.edges)
        return any(op in self.ops for op in builds_on)


def linear_terms(roots: Collection[Op]) -> set[Op]:
    """The roots, and what is behind ops that only add up, scale or re-shape: terms, of whatever shape."""
    found, waiting = set(roots), list(roots)
    while waiting:
        op = waiting.pop()
        linear = operation(op.name).linear
        if linear is None or (linear == "scales" and len(op.edges) + len(op.leaves) > 1):
            continue
        new = {edge.op for edge in op.edges} - found
        found |= new
        waiting += new
    return found


def below(ops: Collection[Op], *, but_for: Collection[Op] = ()) -> set[Op]:
    """These ops and all that they build on; what is to be left out is not walked."""
    found = set(ops)
    waiting = list(ops)
    while waiting:
        new = [edge.op for edge in waiting.pop().edges if edge.op not in found and edge.op not in but_for]
        found.update(new)
        waiting += new
    return found
