"""Terms of losses as they are written: with a weight, added to nothing, trained on every n-th time."""

import ast

from gradsan.knowledge.hints import WEIGHT_WORDS
from gradsan.source.names import last_name
from gradsan.source.stores import text


def dropped_term(statement: ast.stmt) -> ast.expr | None:
    """What a statement adds to nothing: `loss + 0.1 * penalty`, or `+ 0.1 * penalty` on a line of its own."""
    match statement:
        case ast.Expr(value=ast.BinOp(op=ast.Add() | ast.Sub(), right=term)):
            return term
        case ast.Expr(value=term) if _has_a_sign(term):
            return term
    return None


def _has_a_sign(node: ast.expr) -> bool:
    match node:
        case ast.BinOp(left=left):
            return _has_a_sign(left)
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub)


def name_of_term(term: ast.expr) -> str:
    """The last variable that it is computed from."""
    return next((written for each in reversed(_operands(term)) if (written := text(each))), "")


def _operands(node: ast.expr) -> list[ast.expr]:
    """In the order in which they are written."""
    match node:
        case ast.BinOp(left=left, right=right):
            return [*_operands(left), *_operands(right)]
    return [node]


def is_weighted(node: ast.AST | None) -> bool:
    """`self.balance_weight * balance`: whether something is multiplied by what is called a weight."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return any(word in last_name(side).lower() for side in (left, right) for word in WEIGHT_WORDS)
    return False


def counts(test: ast.expr) -> bool:
    """`(i + 1) % 4 == 0`: whether a condition is about the rest of a division."""
    return any(isinstance(each, ast.Mod) for each in ast.walk(test))
