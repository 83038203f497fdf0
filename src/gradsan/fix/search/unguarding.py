"""What is computed only if it is not there yet, computed always."""

import ast
from collections.abc import Iterator

from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.source.names import called_name, nodes
from gradsan.source.placing import code_of
from gradsan.source.tree import Function, Statement


def without_the_question(program: Program) -> Iterator[Draft]:
    """Without each question that may leave the creating statement out, in every function that leads to it."""
    for place in program.apart_from_the_pass(program.diagnosis.made):
        yield from _without_the_branch(place)
        yield from _without_the_early_return(place)
        yield from _without_the_choice(place)


def _without_the_branch(place: Place) -> Iterator[Draft]:
    """`if …:` and `try:` around it, which do something else in other iterations."""
    inner: Statement = place.statement
    for around in place.tree.above(place.statement):
        if isinstance(around, Function | ast.ClassDef | ast.Lambda):
            return
        if isinstance(around, ast.ExceptHandler):
            inner = next(each for each in place.tree.above(around) if isinstance(each, ast.Try | ast.TryStar))
            yield _only(place, inner, around.body)
        elif isinstance(around, ast.If):
            yield _only(place, around, around.body if inner in around.body else around.orelse)
            inner = around
        elif isinstance(around, ast.stmt):
            inner = around


def _only(place: Place, question: Statement, block: list[Statement]) -> Draft:
    draft = Draft()
    codes = [code_of(place.tree, each, blanks=number > 0) for number, each in enumerate(block)]
    draft.rewrite(place.tree, question, *codes)
    return draft


def _without_the_early_return(place: Place) -> Iterator[Draft]:
    """`if key in cache: return cache[key]` above it."""
    tree = place.tree
    for around in (place.statement, *tree.above(place.statement)):
        if isinstance(around, Function):
            return
        if not isinstance(around, ast.stmt):
            continue
        block = list(tree.block(around))
        for each in reversed(block[: block.index(around)]):
            body = each.body if isinstance(each, ast.If | ast.Try) and not each.orelse else []
            if body and isinstance(body[-1], ast.Return | ast.Continue):
                draft = Draft()
                draft.remove(tree, each)
                yield draft


def _without_the_choice(place: Place) -> Iterator[Draft]:
    """`x if x is not None else f()`, `x or f()`, `cache.setdefault(key, f())`: the call alone."""
    for node in nodes(place.statement, into_functions=False):
        for code in _computing(node):
            draft = Draft()
            draft.replace(place.tree, node, place.text(code))
            yield draft


def _computing(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.IfExp(body=body, orelse=other):
            choices = [body, other]
        case ast.BoolOp(values=choices):
            pass
        case ast.Call(args=[_, *choices]) if called_name(node) in ("setdefault", "get"):
            pass
        case _:
            choices = []
    return [each for each in choices if any(isinstance(inner, ast.Call) for inner in nodes(each))]
