"""The rest of a step left out, wherever a branch has left out what the step is made of."""

import ast
from collections.abc import Iterator

from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.source.names import nodes
from gradsan.source.placing import code_of, nested
from gradsan.source.tree import Function, Statement, Tree

_JUMPS = (ast.Return, ast.Continue, ast.Break, ast.Raise)


def with_the_rest(program: Program) -> Iterator[Draft]:
    """`continue`, or `return`, at the end of every branch beside the one that computes it."""
    parted = program.parted(program.diagnosis.made, program.diagnosis.used)
    if parted is None or parted[0].tree is not parted[1].tree:
        return
    creating, passing = parted
    jump = _jump(passing)
    guards = [each for each in creating.around[1:] if isinstance(each, ast.If | ast.Try) and each not in passing.around]
    if jump is None or not guards:
        return
    draft, tree, inner = Draft(), creating.tree, creating.statement
    for guard in guards:
        _leave(tree, guard, inner, jump, draft)
        inner = guard
    yield draft


def _jump(passing: Place) -> str | None:
    """What leaves the rest of a step out; None where the function has to give something back."""
    if passing.loops:
        return "continue"
    function = passing.scope
    if not isinstance(function, Function):
        return None
    returns = only(ast.Return, nodes(function.body, into_functions=False))
    return "return" if all(each.value is None for each in returns) else None


def _leave(tree: Tree, guard: ast.If | ast.Try, inner: Statement, jump: str, draft: Draft) -> None:
    """The branches of one question that do not compute it end with the jump."""
    branches = [guard.body, guard.orelse] if isinstance(guard, ast.If) else [each.body for each in guard.handlers]
    others = [each for each in branches if inner not in each]
    for block in filter(None, others):
        if not isinstance(block[-1], _JUMPS):
            draft.insert_after(tree, block[-1], jump)
    if isinstance(guard, ast.If) and not guard.orelse:
        draft.rewrite(tree, guard, f"{code_of(tree, guard, comments=False)}\n{nested(tree, 'else:', jump)}")
