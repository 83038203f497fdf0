"""Lists that a program empties once their pass is done, and the one that it forgot."""

import ast
from collections.abc import Iterator

from gradsan.fix.reading.flow import ending, last_part, owners
from gradsan.fix.reading.program import Program
from gradsan.source.tree import Function, Statement, Tree


def emptied_beside(program: Program) -> tuple[Tree, Statement, str] | None:
    """Where the program empties other lists below the pass, and how it would empty the culprit there.

    Only of a list that was added to where the old graph was created, and that the function of the pass reads or its own
    class empties.
    """
    name = program.name
    made = [each.statement for each in program.known(program.diagnosis.made) if isinstance(each.statement, ast.Expr)]
    if name is None or last_part(name) not in map(ending, owners(made, "stores")):
        return None
    beside = (*_below_the_pass(program), *_in_its_class(program, name))
    emptied = ((tree, each, code) for tree, each in beside if (code := _emptying(each, name)) is not None)
    return next(emptied, None)


def _below_the_pass(program: Program) -> Iterator[tuple[Tree, Statement]]:
    """The statements below the pass in the function that reads the list, last first."""
    enters = program.diagnosis.enters
    for place in program.known(program.diagnosis.used):
        if enters is not None and (place.frame.file, place.function) == (enters.file, enters.function):
            yield from ((place.tree, each) for each in reversed(place.below))


def _in_its_class(program: Program, name: str) -> Iterator[tuple[Tree, Statement]]:
    """The statements of its class's methods that do not mention it, last first: they may empty other lists."""
    place = program.innermost(program.diagnosis.enters)
    if place is None or place.cls is None or not name.startswith("self."):
        return
    methods = [each for each in place.cls.body if isinstance(each, Function) and name not in place.text(each)]
    for method in methods:
        yield from ((place.tree, each) for each in reversed(method.body) if "self." in place.text(each))


def _emptying(statement: Statement, name: str) -> str | None:
    """What a statement that empties a list would be for another one; None: it empties none."""
    match statement:
        case ast.Delete(targets=[ast.Subscript(slice=ast.Slice(lower=None, upper=None))]):
            return f"del {name}[:]"
        case ast.Expr(ast.Call(func=ast.Attribute(attr="clear"), args=[], keywords=[])):
            return f"{name}.clear()"
        case ast.Assign(targets=[_], value=ast.List(elts=[])):
            return f"{name} = []"
    return None
