"""What flows from one statement to another, as far as the names in them say."""

import ast
from collections.abc import Iterable, Iterator
from itertools import chain

from gradsan.fix.reading.program import Program
from gradsan.knowledge.effects import does
from gradsan.knowledge.tensors import operation
from gradsan.source.file import Source
from gradsan.source.names import assigned_names, called_name, calls, loaded_names, targets
from gradsan.source.tree import Scope, Statement, Tree, same_as


def dependents(first: Statement, following: Iterable[Statement]) -> list[Statement]:
    """The statement, and all of those after it that use what it or they make."""
    taken, names = [first], assigned_names(first)
    for each in following:
        if loaded_names(each) & names:
            taken.append(each)
            names |= assigned_names(each)
    return taken


def cuts(statement: ast.AST) -> bool:
    """Whether what it assigns or returns has no graph, whatever goes into it: `(x + step).detach()`."""
    match statement:
        case ast.Assign(value=ast.Call() as call) | ast.Return(value=ast.Call() as call):
            return operation(called_name(call)).cuts
    return False


def constants(source: Source, name: str) -> list[object]:
    """The constants that the file gives to this name: None, a number."""
    given = [value for target, value in assignments(source.tree) if same_as(target, name)]
    return [value.value for value in given if isinstance(value, ast.Constant)]


def stores(source: Source, name: str) -> list[int]:
    """The lines of a file at which it gets a value."""
    return [each.lineno for each in _named(source, name) if isinstance(each.ctx, ast.Store)]


def reads(source: Source, name: str) -> list[int]:
    """The lines of a file at which an expression is read."""
    return [each.lineno for each in _named(source, name) if isinstance(each.ctx, ast.Load)]


def _named(source: Source, name: str) -> Iterator[ast.Name | ast.Attribute | ast.Subscript]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and same_as(node, name):
            yield node


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
        case ast.Tuple(elts=targets), ast.Tuple(elts=values):
            return zip(targets, values, strict=False)
    return [(target, value)]


def was_drawn_along(program: Program) -> Iterator[Program]:
    """The edges into what was created by a function that draws from what a network gave: `action = policy(x).sample()`.

    It is a record of what was done. A buffer that is handed on has a method of that name, too.
    """
    for each in (program, *program.others()):
        places = each.apart_from_the_pass(each.diagnosis.made)
        if any(_draws_from_what_is_computed(place.tree, place.scope) for place in places):
            yield each


def _draws_from_what_is_computed(tree: Tree, scope: Scope) -> bool:
    """Whether a function draws from a distribution that it has computed itself: `policy(x).sample()`."""
    own = [each for each in tree.statements if tree.scope(each) is scope]
    computed = {tree.text(each) for statement in own for each in targets(statement)}
    drawing = (call.func for call in calls(own) if does(called_name(call), "draws"))
    drawn = [each.value for each in drawing if isinstance(each, ast.Attribute)]
    return any(isinstance(each, ast.Call) or tree.text(each) in computed for each in drawn)
