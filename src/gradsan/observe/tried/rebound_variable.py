"""`for h in states: h = h.detach()`: the loop's variable is detached, what the container holds is not."""

import ast
from collections.abc import Iterator

from gradsan.facts.live_evidence import Tried
from gradsan.observe.naming.detaching import detached
from gradsan.observe.tried.belief import Case
from gradsan.source.scopes import Scope, statements_of
from gradsan.source.stores import loads


def found(case: Case) -> Iterator[Tried]:
    """What was tried."""
    for ran in case.since_created():
        match ran.statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                target = detached(value)
                loop = _loop_of(name, ran.statement, ran.at.call.scope)
                if loop is None or not isinstance(target, ast.Name) or target.id != name:
                    continue
                if not _is_read_later(name, ran.statement, loop) and case.concerns(target, ran.at):
                    written, held = ast.unparse(ran.statement), ast.unparse(loop.iter)
                    sentence = f"`{written}` at {ran.where} detaches the loop's variable, not what `{held}` holds"
                    yield case.tried("loop-variable", ran, held, sentence)


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
