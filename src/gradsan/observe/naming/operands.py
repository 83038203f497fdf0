"""Which variables and calls of a statement an op of it was created of, read from the op's name and the source."""

import ast
from collections.abc import Iterator, Sequence

from gradsan.source.names import called_name
from gradsan.source.stores import parts

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


def operands(statement: ast.stmt, op: str, read: Sequence[ast.expr]) -> list[ast.expr]:
    """What of that which is read is a direct input of the expressions that make such an op, if any do.

    `op` is PyTorch's name, "SigmoidBackward0".
    """
    kind = op.rpartition("::")[2].split("Backward", maxsplit=1)[0].lower()
    found = [each for node in parts(statement) if _creates_op(node, kind) for each in _inputs(node)]
    return [each for each in found if each in read]


def _creates_op(node: ast.AST, kind: str) -> bool:
    match node:
        case ast.BinOp(op=operator):
            return type(operator) is _OPERATORS.get(kind)
        case ast.Call():
            return called_name(node).replace("_", "").lower() == kind
    return False


def _inputs(node: ast.AST) -> Iterator[ast.expr]:
    """What stands in an expression and not in another call or operation inside it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            yield child
        elif not isinstance(child, (ast.BinOp, ast.Lambda)):
            yield from _inputs(child)
