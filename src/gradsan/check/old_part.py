"""What a pass walks of an older part of the graph, and how the newer part leads there."""

from collections.abc import Collection
from dataclasses import dataclass

from gradsan.check.graph import Leaf, Op, leaves_in
from gradsan.check.walking import Reached, path_to, reach, terms
from gradsan.knowledge.tensors import operation


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
        old = leaves_in(below([self.op]))
        return bool(old) and self.op not in self._sums and old <= self._beside_in_its_term

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
        if self.op in self._sums:
            return True
        return self._term not in (None, *self.roots) and not self._beside_in_its_term

    @property
    def _term(self) -> Op | None:
        """The term of the loss through which the path comes to it, or the whole loss; None: a pass inside led there."""
        sums = self._sums
        return next((op for op in reversed(path_to(self.op, self.found)) if op in sums), None)

    @property
    def _beside_in_its_term(self) -> set[Leaf]:
        """What that term trains apart from it."""
        term = self._term
        return set() if term is None else leaves_in(reach([term]).keys() - set(self.ops))

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


def below(ops: Collection[Op]) -> set[Op]:
    """These ops and all that they build on."""
    found = set(ops)
    waiting = list(ops)
    while waiting:
        new = [edge.op for edge in waiting.pop().edges if edge.op not in found]
        found.update(new)
        waiting += new
    return found
