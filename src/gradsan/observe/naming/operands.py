"""Which variables of a statement an op of it was made of, told from the op's name and the source."""

import ast
from collections.abc import Iterator

from gradsan.observe.naming.selection import last_name
from gradsan.observe.naming.statements import loads, parts

_OPERATORS: dict[str, type[ast.operator]] = {
    "add": ast.Add,
    "sub": ast.Sub,
    "rsub": ast.Sub,
    "mul": ast.Mult,
    "div": ast.Div,
    "pow": ast.Pow,
    "mm": ast.MatMult,
    "bmm": ast.MatMult,
    "mv": ast.MatMult,
    "dot": ast.MatMult,
}


def operands(statement: ast.stmt, op: str) -> list[ast.expr]:
    """The names, attributes and items that are direct inputs of the expressions which make such an op, if any do.

    `op` is PyTorch's name, "SigmoidBackward0".
    """
    kind = op.rpartition("::")[2].split("Backward", maxsplit=1)[0].lower()
    found = [each for node in parts(statement) if _makes(node, kind) for each in _inputs(node)]
    return [each for each in found if each in loads(statement)]


def _makes(node: ast.AST, kind: str) -> bool:
    match node:
        case ast.BinOp(op=operator):
            return type(operator) is _OPERATORS.get(kind)
        case ast.Call():
            return last_name(node).replace("_", "").lower() == kind
    return False


def _inputs(node: ast.AST) -> Iterator[ast.expr]:
    """What stands in an expression and not in another call or operation inside it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Name, ast.Attribute, ast.Subscript)):
            yield child
        elif not isinstance(child, (ast.Call, ast.BinOp, ast.Lambda)):
            yield from _inputs(child)
