"""What a program gives a name first, as code that means the same elsewhere."""

import ast
import builtins
from collections.abc import Iterator

from gradsan.facts.location import Location
from gradsan.fix.reading.flow import names_in, only, value_of, values_of
from gradsan.fix.reading.program import Place, Program
from gradsan.source.imported import word_for
from gradsan.source.names import assigned_names, assigns, bound_inside, loaded, parameters
from gradsan.source.tree import Function, same_as


def initial(tree: ast.Module, name: str, location: Location | None, *, here: bool) -> str | None:
    """What the file first assigns to it, where that needs nothing but the object itself and what every function knows.

    Those of this file know more: what it imports and defines. An attribute is that of the class in which the location
    stands, or of the only one that has such an attribute.
    """
    owner = "" if location is None else (location.function or "").rpartition(".")[0]
    holding = [(_class(root), value) for root in tree.body for value in _whole_values(name, root)[:1]]
    own = [value for holder, value in holding if holder == owner] or [value for _, value in holding]
    if not own or (name.startswith("self.") and len(own) > 1):
        return None
    known = {"torch", "self", *vars(builtins), *(_bound(tree) if here else ())}
    return ast.unparse(own[0]) if names_in(own[0]) <= known else None


def _class(root: ast.stmt) -> str:
    return root.name if isinstance(root, ast.ClassDef) else ""


def _whole_values(name: str, root: ast.AST) -> list[ast.expr]:
    return [each.value for each in only(ast.Assign, ast.walk(root)) if assigns(each, name)]


def _bound(tree: ast.Module) -> Iterator[str]:
    """The names that a module imports, and those of its functions and classes."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((each.asname or each.name).partition(".")[0] for each in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def begun_with(program: Program, adding: Place, name: str) -> str | None:
    """What the program gives a total in the beginning; an item of a dict may stand in the dict as it is written."""
    tree = adding.tree
    if name.isidentifier():
        own = next((each for each in adding.own if assigns(each, name)), None)
        value = None if own is None else value_of(name, own)
        return None if value is None or loaded(value, name) else tree.text(value)
    whole, _, key = name.partition("[")
    for written in values_of(whole, tree.module):
        if isinstance(written, ast.Dict):
            items = zip(written.keys, written.values, strict=True)
            return next((ast.unparse(value) for each, value in items if each and same_as(each, key.rstrip("]"))), None)
    is_here = program.diagnosis.used is not None and program.diagnosis.used.file == adding.frame.file
    return initial(tree.module, name, program.diagnosis.enters, here=is_here)


def is_its_own(place: Place, name: str) -> bool:
    """Whether a function that assigns to a name gives its own variable a value, or its own object."""
    first = name.partition(".")[0]
    if not isinstance(place.scope, Function):
        return first.partition("[")[0] in {each for root in place.tree.module.body for each in bound_inside(root)}
    known = assigned_names(place.scope) | set(parameters(place.scope.args))
    return first in known or ("." in name and not name.startswith("self."))


def as_it_is_read(passing: Place, name: str, start: str) -> str:
    """What a total begins with; a number as a tensor, where the function asks it for what only a tensor has."""
    zeros = word_for(passing.tree.module, "torch", "zeros")
    is_asked = any(isinstance(passing.tree.parent(each), ast.Attribute) for each in loaded(passing.scope, name))
    return f"{zeros}(())" if is_asked and zeros is not None and start in ("0", "0.0") else start
