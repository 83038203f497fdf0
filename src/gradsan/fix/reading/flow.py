"""Where values go and come from, as far as the names in the source say: what every rule that asks for that builds on.

Statements are given in the order of the file, and one name is one value: loops and branches are not followed.
"""

import ast
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TypeVar

from gradsan.knowledge.call import Effect
from gradsan.knowledge.effects import does
from gradsan.knowledge.tensors import operation
from gradsan.source.file import Source, expression
from gradsan.source.names import Code, assigned_names, called_name, calls, last_name, loaded_names, nodes
from gradsan.source.tree import Statement, same_as

T = TypeVar("T")


def only(kind: type[T], found: Iterable[object]) -> list[T]:
    """Those of one kind."""
    return [each for each in found if isinstance(each, kind)]


def names_in(code: Code) -> set[str]:
    """The plain names that it has, whatever it does with them."""
    return {each.id for each in only(ast.Name, nodes(code))}


def made_of(names: set[str], statements: Iterable[Statement], also: Iterable[Statement] = ()) -> list[Statement]:
    """Of some statements, those that use these names, or what such a one makes; `also` begin with nothing of it."""
    known, begun = set(names), list(also)
    found = []
    for each in statements:
        if each in begun or loaded_names(each) & known:
            found.append(each)
            known |= assigned_names(each)
    return found


def leading_to(names: set[str], statements: Iterable[Statement]) -> list[Statement]:
    """Of some statements, those that make these names, or what such a one uses."""
    needed = set(names)
    found = []
    for each in reversed(list(statements)):
        if assigned_names(each) & needed:
            found.append(each)
            needed |= loaded_names(each)
    return found[::-1]


def dependents(first: Statement, following: Iterable[Statement]) -> list[Statement]:
    """The statement, and all of those after it that use what it or they make."""
    return [first, *made_of(assigned_names(first), following)]


def has_no_graph(value: ast.AST) -> bool:
    """Whether a value has no graph, whatever goes into it: `(x + step).detach()`, and a container of nothing else."""
    match value:
        case ast.Call(func=ast.Name(id="tuple" | "list"), args=[each]):
            return has_no_graph(each)
        case ast.Call(func=ast.Attribute(value=owner), args=[], keywords=[]) as call:
            return operation(called_name(call)).cuts or has_no_graph(owner)  # `x.detach().clone()`
        case ast.Call():
            return operation(called_name(value)).cuts
        case ast.DictComp(value=each) | ast.ListComp(elt=each) | ast.GeneratorExp(elt=each):
            return has_no_graph(each)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return bool(items) and all(map(has_no_graph, items))
    return False


def cuts(statement: ast.AST) -> bool:
    """Whether what it assigns or returns has no graph."""
    return (
        isinstance(statement, ast.Assign | ast.Return) and statement.value is not None and has_no_graph(statement.value)
    )


def is_cut_copy(value: ast.AST, name: str) -> bool:
    """`name.detach()`."""
    match value:
        case ast.Call(func=ast.Attribute(value=owner), args=[], keywords=[]):
            return operation(called_name(value)).cuts and ast.unparse(owner) == name
    return False


def assignments(code: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target with its value, also of `a, b = 1, None`."""
    for node in ast.walk(code):
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from chain.from_iterable(_paired(each, value) for each in targets)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from _paired(target, value)


def _paired(target: ast.expr, value: ast.expr) -> Iterable[tuple[ast.expr, ast.expr]]:
    match target, value:
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            return zip(targets, values, strict=True)
    return [(target, value)]


def values_of(name: str, code: ast.AST) -> list[ast.expr]:
    """What is assigned to this anywhere in it."""
    return [value for target, value in assignments(code) if same_as(target, name)]


def value_of(name: str, statement: ast.AST) -> ast.expr | None:
    """What a statement assigns to this: of `x, y = f(a), g(b)`, `y` is `g(b)`."""
    return next(iter(values_of(name, statement)), None)


def constants(source: Source, name: str) -> list[object]:
    """The constants that the file gives to this name: None, a number."""
    return [each.value for each in only(ast.Constant, values_of(name, source.tree))]


def lines_of(source: Source, name: str, use: type[ast.expr_context]) -> set[int]:
    """The lines of a file at which an expression is read, or gets a value."""
    nodes = (each for each in ast.walk(source.tree) if isinstance(getattr(each, "ctx", None), use))
    return {each.lineno for each in only(ast.expr, nodes) if same_as(each, name)}


def ending(node: ast.AST | None) -> str:
    """`memory` of `self.memory["left"]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return last_name(node) if isinstance(node, ast.expr) else ""


def last_part(name: str | None) -> str:
    """The same, of what is written so."""
    return ending(expression(name or ""))


def calls_for(code: Code, effect: Effect) -> list[ast.Call]:
    """The calls in it that do this."""
    return [each for each in calls(code) if does(called_name(each), effect)]


def owners(code: Code, effect: Effect) -> list[ast.expr]:
    """The objects whose methods do this: `queue` of `queue.append(x)`."""
    called = (each.func for each in calls_for(code, effect))
    return [each.value for each in only(ast.Attribute, called)]
