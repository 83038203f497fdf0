import ast
from collections.abc import Iterator

from gradsan.facts.live_evidence import Tried
from gradsan.observe.naming.detaching import detached
from gradsan.observe.tried.belief import Belief, Case, place
from gradsan.observe.tried.unused_forward import is_read_after
from gradsan.source.stores import spelled, text


class DetachedCopy(Belief):
    """`last = h.detach()`, and the later forward is given `h` all the same: nobody uses the detached one."""

    @classmethod
    def found(cls, case: Case) -> Iterator[Tried]:
        """What was tried."""
        for execution, statement in case.since_created():
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    target = detached(value)
                    if target is None or text(target) == name or not case.is_culprit(target, execution):
                        continue
                    if not is_read_after(name, execution):
                        where = place(execution, statement.lineno)
                        sentence = (
                            f"`{name}`, detached at {where}, is not used: backward() goes through `{text(target)}`"
                        )
                        yield case.tried("detached-copy", execution, statement.lineno, spelled(target), sentence)
