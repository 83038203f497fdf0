import ast
from collections.abc import Iterator

from gradsan.observe.beliefs.belief import Belief, Case, detached, place
from gradsan.observe.naming.source import COMPREHENSIONS


class DroppedDetach(Belief):
    """`h.detach()` as a statement: it returns a new tensor, and nobody takes it."""

    @classmethod
    def notes(cls, case: Case) -> Iterator[str]:
        """What to tell the user."""
        for execution, statement in case.since_made():
            if not isinstance(statement, ast.Expr):
                continue
            value = statement.value
            inner = value.elt if isinstance(value, COMPREHENSIONS) and not isinstance(value, ast.DictComp) else value
            target, why = detached(inner), "its result is dropped"
            if isinstance(value, ast.Attribute) and value.attr in {"detach", "detach_"}:
                target, why = value.value, "it is not called, `()` is missing"
            if target is not None and case.concerns(target, execution):
                yield f"`{ast.unparse(value)}` at {place(execution, statement.lineno)} has no effect: {why}"
