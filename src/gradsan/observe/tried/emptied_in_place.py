"""`buffer.zero_()`: new values in the same tensor, and its graph stays."""

import ast
from collections.abc import Iterator

from gradsan.facts.live_evidence import Tried
from gradsan.knowledge.tensors import overwrites
from gradsan.observe.tried.belief import Case
from gradsan.source.stores import calls, spelled


def found(case: Case) -> Iterator[Tried]:
    """What was tried."""
    for ran in case.since_created():
        for node, target in _emptied(ran.statement):
            if case.is_culprit(target, ran.at):
                sentence = f"`{ast.unparse(node)}` at {ran.where} gives it new values and leaves its graph as it is"
                yield case.tried("emptied", ran, spelled(target), sentence)


def _emptied(statement: ast.stmt) -> Iterator[tuple[ast.AST, ast.expr]]:
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=target, slice=key)], value=ast.Constant() | ast.Call()):
            is_whole = isinstance(key, ast.Slice) and key.lower is None and key.upper is None
            if is_whole or (isinstance(key, ast.Constant) and key.value is ...):
                yield statement, _without_data(target)
        case ast.AugAssign(target=target, op=ast.Mult(), value=ast.Constant(value=0 | 0.0)):
            yield statement, _without_data(target)
    for call in calls(statement):
        if isinstance(call.func, ast.Attribute) and overwrites(call.func.attr):
            yield call, _without_data(call.func.value)


def _without_data(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Attribute) and node.attr == "data" else node
