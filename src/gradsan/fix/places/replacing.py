"""Where a part of a model takes the place of another one: that statement, and the calls that lead to it."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Program
from gradsan.knowledge.effects import does
from gradsan.source.names import argument, call_of, called_name, calls, parameters, targets
from gradsan.source.stores import text
from gradsan.source.tree import Function, Statement, Tree

_DEEPEST = 3  # calls
_ROOT = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Replacing:
    """A statement that does it, itself or by what it calls, and the new part as it would be written there."""

    tree: Tree
    statement: Statement
    part: str

    @property
    def function(self) -> Function | None:
        """The function that it stands in."""
        scope = self.tree.scope(self.statement)
        return scope if isinstance(scope, Function) else None


def replacing(program: Program) -> Iterator[Replacing]:
    """The statement, the calls of its function, the calls of theirs, as far as the files of the diagnosis show them."""
    place = program.innermost(program.diagnosis.changed)
    if place is None or program.name is None:
        return
    trees = program.trees(program.diagnosis.used, program.diagnosis.made, program.diagnosis.changed)
    found = [Replacing(place.tree, place.statement, program.name)]
    for _ in range(_DEEPEST):
        yield from found
        found = [each for inner in found for each in _calling(inner, trees)]


def parameter_put_by(statement: Statement) -> ast.Call | None:
    """The `nn.Parameter(…)` that a statement assigns."""
    match statement:
        case ast.Assign(targets=[_], value=ast.Call(args=[_, *_]) as call) if called_name(call) == "Parameter":
            return call
    return None


def optimizers_at_hand(program: Program, where: Replacing) -> list[str]:
    """The optimizers that a function created above, or was given, or that an object has whose method it is."""
    found: list[str] = []
    for tree in program.trees(program.diagnosis.made, program.diagnosis.used):
        for each in creations(tree):
            found += [name for name in map(text, targets(each)) if name and _is_known(name, tree, each, where)]
    given = () if where.function is None else parameters(where.function.args)
    cleared = [] if where.function is None else [each.func for each in calls(where.function)]
    owners = [text(each.value) for each in only(ast.Attribute, cleared) if each.attr == "zero_grad"]
    found += [name for name in owners if name and _root(name) in given and name != "self"]
    return list(dict.fromkeys(found))


def creations(tree: Tree) -> list[ast.Assign]:
    """The statements of a file that create an optimizer, and keep it."""
    kept = [each for each in only(ast.Assign, tree.statements) if isinstance(each.value, ast.Call)]
    return [each for each in kept if any(does(called_name(call), "optimizes") for call in only(ast.Call, [each.value]))]


def _is_known(name: str, tree: Tree, creating: Statement, where: Replacing) -> bool:
    if tree is not where.tree:
        return False
    if name.startswith("self."):
        return _class_of(tree, creating) is not None and _class_of(tree, creating) is _class_of(tree, where.statement)
    is_above = tree.line(creating) < tree.line(where.statement)
    return is_above and tree.scope(creating) in (where.function, tree.scope(where.statement))


def _class_of(tree: Tree, statement: Statement) -> ast.AST | None:
    return next((each for each in tree.above(statement) if isinstance(each, ast.ClassDef)), None)


def _calling(inner: Replacing, trees: list[Tree]) -> Iterator[Replacing]:
    """The statements that consist of a call of that function."""
    function = inner.function
    if function is None:
        return
    is_method = isinstance(inner.tree.parent(function), ast.ClassDef)
    for tree in trees:
        for statement in tree.statements:
            call = call_of(statement)
            if call is not None and called_name(call) == function.name:
                part = _as_called(call, function, inner.part, is_method=is_method)
                if part is not None:
                    yield Replacing(tree, statement, part)


def _as_called(call: ast.Call, function: Function, part: str, *, is_method: bool) -> str | None:
    """What a part is called where its function is called: `model.head` for the `self.head` of `model.grow()`."""
    root, names = _root(part), parameters(function.args)
    if root not in names:
        return None
    place = names.index(root) - is_method
    if place < 0:
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    else:
        owner = argument(call, root) or next(iter(call.args[place : place + 1]), None)
    name = None if owner is None else text(owner)
    return None if name is None else name + part.removeprefix(root)


def _root(name: str) -> str:
    found = _ROOT.match(name)
    return found[0] if found else ""
