"""The text of expressions that an edit puts together."""

import ast
from collections.abc import Sequence

from gradsan.fix.reading.flow import only
from gradsan.source.file import expression
from gradsan.source.names import assigned_names
from gradsan.source.tree import Function, Tree, same


def bracketed(code: str) -> str:
    """An expression as it is written where a dot follows."""
    match expression(f"{code}.x"):
        case ast.Attribute(value=value) if same(value, expression(code)):
            return code
    return f"({code})"


def method(code: str, name: str) -> str:
    """`expression.name()`."""
    return f"{bracketed(code)}.{name}()"


def written_out(tree: Tree, edit: ast.AugAssign, old: str) -> str:
    """`x += y` as an assignment of a new value, where `old` says what the old one is."""
    between = tree.source.text[tree.whole(edit.target)[1] : tree.whole(edit.value)[0]]
    operand = tree.text(edit.value)
    if _needs_brackets(edit) and not tree.is_bracketed(edit.value):
        operand = f"({operand})"
    return f"{tree.text(edit.target)} = {old} {between.strip().removesuffix('=')} {operand}"


def _needs_brackets(edit: ast.AugAssign) -> bool:
    """Whether the operand would be taken apart without them: a product that is added would not."""
    match edit.op, edit.value:
        case ast.Add() | ast.Sub(), ast.BinOp(op=ast.Mult() | ast.Div() | ast.MatMult() | ast.Pow()):
            return False
    return isinstance(edit.value, ast.BinOp | ast.BoolOp | ast.IfExp | ast.Compare)


def is_only_given(scope: ast.AST, name: str) -> bool:
    """Whether a function has it from its caller and never gives it a value: bound again there, nobody would know."""
    if not isinstance(scope, Function):
        return False
    given = (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)
    return any(each.arg == name for each in given) and name not in assigned_names(scope.body)


def free_name(scope: ast.AST, wished: Sequence[str]) -> str:
    """A name that means nothing else in a file or function: the first of some that is free, or one like the last."""
    inside = list(ast.walk(scope))
    names = {each.id for each in only(ast.Name, inside)}
    names |= {each.name for each in inside if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    numbered = (f"{wished[-1]}_{n}" for n in range(2, len(names) + 3))
    return next(each for each in (*wished, *numbered) if each not in names)
