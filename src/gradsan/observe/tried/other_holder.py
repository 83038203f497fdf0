import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from gradsan.facts.culprit import Culprit
from gradsan.facts.live_evidence import Tried
from gradsan.observe.naming.assigned_together import assigned_together
from gradsan.observe.naming.detaching import detached, detached_by
from gradsan.observe.naming.trace import Execution
from gradsan.observe.tried.belief import Belief, Case, place
from gradsan.source.stores import spelled

_WITHOUT_PLACE = re.compile(r"\[[^\]]*\]$")


class OtherHolder(Belief):
    """One of two is detached: `h` of the pair `h, c`, or one of two variables that hold the same tensor."""

    @classmethod
    def found(cls, case: Case) -> Iterator[Tried]:
        """What was tried."""
        if case.culprit is None:
            return
        for execution, statement in case.since_created():
            yield from _half(case, execution, statement)
            for target, inner in detached_by(statement):
                if case.is_called_like_it(target):
                    yield from _other_half(case, execution, statement, spelled(target))
                elif spelled(target).split(".")[0].split("[")[0] != case.culprit and case.is_old(inner, execution):
                    yield _one_of_two(case, execution, statement, spelled(target), case.culprit)


def _one_of_two(case: Case, execution: Execution, statement: ast.stmt, done: str, left: str) -> Tried:
    where = place(execution, statement.lineno)
    sentence = f"`{done}` is detached at {where}, but `{left}` is not, and leads to the old graph"
    return case.tried("half-detached", execution, statement.lineno, left, sentence)


def _other_half(case: Case, execution: Execution, statement: ast.stmt, name: str) -> Iterator[Tried]:
    """The lines do not say which of two, assigned together, leads to the old graph: not the one that is detached."""
    incident = case.incident
    created = () if incident.made is None else incident.made.stack
    enters = () if incident.enters is None else incident.enters.stack
    for each in assigned_together(Culprit(name, "local"), created, enters):
        yield _one_of_two(case, execution, statement, name, each.name)


def _half(case: Case, execution: Execution, statement: ast.stmt) -> Iterator[Tried]:
    """`state = (h.detach(), c)`: the pair itself is what carries."""
    match statement:
        case ast.Assign(targets=[target], value=ast.Tuple(elts=parts) | ast.List(elts=parts)):
            done = [part for part in parts if detached(part) is not None]
            left = [part for part in parts if detached(part) is None]
            if len(left) > 1:  # if it is one alone, no other can lead there
                left = [part for part in left if case.is_old(part, execution)]
            whole = replace(case, culprit=_WITHOUT_PLACE.sub("", case.culprit or ""))
            if done and left and whole.is_called_like_it(target):
                where, one, other = place(execution, statement.lineno), ast.unparse(done[0]), ast.unparse(left[0])
                sentence = f"only `{one}` is detached at {where}; `{other}` is not, and leads to the old graph"
                for part in left:
                    yield Tried(
                        sentence, "part-detached", execution.call.code.file, statement.lineno, ast.unparse(part)
                    )
