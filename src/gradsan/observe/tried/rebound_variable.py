import ast
from collections.abc import Iterator

from gradsan.facts.live_evidence import Tried
from gradsan.observe.naming.detaching import detached
from gradsan.observe.tried.belief import Belief, Case, place
from gradsan.source.scopes import Scope, statements_of
from gradsan.source.stores import loads


class ReboundVariable(Belief):
    """`for h in states: h = h.detach()`: the loop's variable is detached, what the container holds is not."""

    @classmethod
    def found(cls, case: Case) -> Iterator[Tried]:
        """What was tried."""
        for execution, statement in case.since_created():
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    target = detached(value)
                    loop = _loop_of(name, statement, execution.call.scope)
                    if loop is None or not isinstance(target, ast.Name) or target.id != name:
                        continue
                    if not _is_read_later(name, statement, loop) and case.concerns(target, execution):
                        where, held = place(execution, statement.lineno), ast.unparse(loop.iter)
                        written = ast.unparse(statement)
                        sentence = f"`{written}` at {where} detaches the loop's variable, not what `{held}` holds"
                        yield case.tried("loop-variable", execution, statement.lineno, held, sentence)


def _loop_of(name: str, statement: ast.stmt, scope: Scope | None) -> ast.For | None:
    for each in () if scope is None else statements_of(scope):
        if isinstance(each, ast.For) and statement in each.body:
            names = {part.id for part in ast.walk(each.target) if isinstance(part, ast.Name)}
            if name in names:
                return each
    return None


def _is_read_later(name: str, statement: ast.stmt, loop: ast.For) -> bool:
    following = loop.body[loop.body.index(statement) + 1 :]
    later = [each for block in following for each in ast.walk(block) if isinstance(each, ast.stmt)]
    return any(isinstance(node, ast.Name) and node.id == name for each in later for node in loads(each))
