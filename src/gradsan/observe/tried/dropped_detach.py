import ast
from collections.abc import Iterator

from gradsan.facts.live_evidence import Tried
from gradsan.observe.naming.detaching import detached
from gradsan.observe.tried.belief import Belief, Case, place
from gradsan.source.stores import spelled, text
from gradsan.source.tree import COMPREHENSIONS


class DroppedDetach(Belief):
    """`h.detach()` as a statement: it returns a new tensor, and nobody takes it."""

    @classmethod
    def found(cls, case: Case) -> Iterator[Tried]:
        """What was tried."""
        for execution, statement in case.since_created():
            if not isinstance(statement, ast.Expr):
                continue
            value = statement.value
            inner = value.elt if isinstance(value, COMPREHENSIONS) and not isinstance(value, ast.DictComp) else value
            target, why = detached(inner), "its result is dropped"
            if isinstance(value, ast.Attribute) and value.attr in {"detach", "detach_"}:
                target, why = value.value, "it is not called, `()` is missing"
            if target is not None and case.concerns(target, execution):
                sentence = f"`{ast.unparse(value)}` at {place(execution, statement.lineno)} has no effect: {why}"
                name = _whole(value) or spelled(target)
                yield case.tried("dropped-detach", execution, statement.lineno, name, sentence)


def _whole(value: ast.expr) -> str | None:
    """What a comprehension goes over: `states` of `[each.detach() for each in states]`."""
    return text(value.generators[0].iter) if isinstance(value, COMPREHENSIONS) else None
