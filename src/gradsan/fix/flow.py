"""What flows from one statement to another, as far as the names in them tell."""

import ast
from collections.abc import Iterable, Iterator, Sequence

from gradsan.fix.expressions import assigned_names, loaded_names
from gradsan.fix.tree import Statement, Tree
from gradsan.source.file import Source


def dependents(first: Statement, following: Iterable[Statement]) -> list[Statement]:
    """The statement, and all of those after it that use what it or they make."""
    taken, names = [first], assigned_names(first)
    for each in following:
        if loaded_names(each) & names:
            taken.append(each)
            names |= assigned_names(each)
    return taken


def header_names(tree: Tree, statement: Statement) -> set[str]:
    """The names that a statement reads before any statement inside it."""
    body = getattr(statement, "body", None)
    return loaded_names(statement) - (loaded_names(body) if body in tree.statements else set())


def between(block: Sequence[Statement], first: Statement, last: Statement) -> list[Statement]:
    """The statements of a block after one and before another."""
    here = list(block)
    return here[here.index(first) + 1 : here.index(last)]


def constants(source: Source, name: str) -> list[object]:
    """The constants that the file gives to this name: None, a number."""
    wanted = ast.dump(ast.parse(name, mode="eval").body)
    return [
        value.value
        for target, value in _assignments(source.tree)
        if isinstance(value, ast.Constant) and _as_load(target) == wanted
    ]


def stores(source: Source, name: str) -> list[int]:
    """The lines of a file at which it gets a value."""
    wanted = ast.dump(ast.parse(name, mode="eval").body)
    return [
        node.lineno
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store) and _as_load(node) == wanted
    ]


def reads(source: Source, name: str) -> list[int]:
    """The lines of a file at which an expression is read."""
    wanted = ast.dump(ast.parse(name, mode="eval").body)
    return [
        node.lineno
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and ast.dump(node) == wanted
    ]


def _assignments(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target with its value, also of `a, b = 1, None`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                match target, node.value:
                    case ast.Tuple(elts=targets), ast.Tuple(elts=values):
                        yield from zip(targets, values, strict=False)
                    case _:
                        yield target, node.value


def _as_load(target: ast.expr) -> str:
    return ast.dump(ast.parse(ast.unparse(target), mode="eval").body)
