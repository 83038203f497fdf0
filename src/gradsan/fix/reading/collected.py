"""Lists that collect what one pass uses, as the log-probabilities and rewards of an episode, and are never emptied."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from gradsan.fix.reading.program import Place, Program
from gradsan.knowledge.effects import does
from gradsan.knowledge.tensors import operation
from gradsan.source.names import called_name, calls, loaded, nodes
from gradsan.source.tree import Function, Statement, Tree


@dataclass(frozen=True, slots=True)
class Collected:
    """Lists that belong together, and the statement below which they have been used."""

    tree: Tree
    used: Statement
    names: tuple[str, ...]  # as the function writes them that asks for the pass


def collected(program: Program, name: str) -> Collected | None:
    """The list of that name, and all that its function goes over above the pass and that is filled along with it.

    They are as long as one another: emptied one by one, they would no longer fit together. So there is no answer where
    one of them belongs to another object, or is filled somewhere else: whether it is to grow, only its author knows.
    What forward hooks fill belongs to one forward, whatever object it is kept in.
    """
    along = _filled_along(program.places(program.diagnosis.made))
    hooked = filled_by_hooks(program)
    for place in program.boundaries():
        earlier = [each for each in _own(place.tree, place.scope) if place.tree.line(each) < place.line]
        above = [each for each in earlier if each not in place.loops]  # what those go over is for many passes
        if not any(loaded(each, name) for each in above):
            continue
        above += _in_own_methods(place, above)
        names = [each for each in _gone_over(above) if not _is_begun(above, each) and not _is_reported(place, each)]
        whole = name.rpartition(".")[0]
        fit = [last in hooked or (owner == whole and last in along) for owner, _, last in _parted(names)]
        return Collected(place.tree, _last_of_the_step(place), tuple(names)) if name in names and all(fit) else None
    return None


def _in_own_methods(place: Place, above: Iterable[Statement]) -> Iterator[Statement]:
    """The statements of methods that a method calls on its own object: `returns = self.returns()`."""
    called = {ast.unparse(each.func) for statement in above for each in calls(statement)}
    for each in [] if place.cls is None else place.cls.body:
        if isinstance(each, Function) and each is not place.scope and f"self.{each.name}" in called:
            yield from _own(place.tree, each)


def _parted(names: Iterable[str]) -> list[tuple[str, str, str]]:
    return [each.rpartition(".") for each in names]


def filled_by_hooks(program: Program) -> set[str]:
    """The last names of what functions add to, item by item, that are registered as forward hooks."""
    found: set[str] = set()
    for tree in {id(each.tree): each.tree for each in program.known(program.diagnosis.enters)}.values():
        hooks = list(_hooks(tree))
        names = {ast.unparse(each).rpartition(".")[2] for each in hooks}
        functions = [each for each in tree.statements if isinstance(each, Function) and each.name in names]
        bodies = [each.body for each in hooks if isinstance(each, ast.Lambda)]
        found |= _added_to([*chain.from_iterable(each.body for each in functions), *bodies])
    return found


def _hooks(tree: Tree) -> Iterator[ast.expr]:
    """What is given to `register_forward_hook`."""
    for node in ast.walk(tree.module):
        if isinstance(node, ast.Call) and called_name(node) == "register_forward_hook":
            yield from node.args[:1]


def _added_to(parts: Iterable[ast.AST]) -> set[str]:
    """The last names of what parts of a program add to, item by item."""
    adding = (call.func for each in parts for call in calls(each) if does(called_name(call), "stores"))
    return {ast.unparse(each.value).rpartition(".")[2] for each in adding if isinstance(each, ast.Attribute)}


def _filled_along(places: Iterable[Place | None]) -> set[str]:
    """The last names of what is added to, item by item, as often as the statements of a stack run."""
    found: set[str] = set()
    for place in places:
        if place is None:
            continue
        tree = place.tree
        around = tree.loops(place.statement)[:1]
        beside = [each for each in _own(tree, tree.scope(place.statement)) if tree.loops(each)[:1] == around]
        found |= _added_to(beside)
    return found


def _own(tree: Tree, function: ast.AST) -> list[Statement]:
    return [each for each in tree.statements if tree.scope(each) is function]


def _gone_over(statements: Iterable[Statement]) -> Iterator[str]:
    """What a loop goes over, by itself or together with others, and what a tensor is made of; each once."""
    whole: dict[str, None] = {}
    for statement in statements:
        for node in nodes(statement, into_functions=False):
            given = [_unsliced(each) for each in _listed(node)]
            whole |= {ast.unparse(each): None for each in given if isinstance(each, ast.Name | ast.Attribute)}
    yield from whole


def _listed(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Call(func=ast.Name(id="zip"), args=together):
            return together
        case ast.For(iter=over) | ast.comprehension(iter=over):
            return [over]
        case ast.Call(args=[first, *_]) if operation(called_name(node)).graph == "builds" or _joins(node):
            return [first]
    return []


def _joins(call: ast.Call) -> bool:
    return called_name(call) in ("stack", "cat", "sum")


def _unsliced(value: ast.expr) -> ast.expr:
    match value:
        case ast.Subscript(value=inner, slice=ast.Slice(lower=None, upper=None)):
            return inner
        case ast.Call(func=ast.Name(id="reversed" | "list" | "tuple" | "enumerate"), args=[inner]):
            return inner
    return value


def _is_begun(above: Iterable[Statement], name: str) -> bool:
    """Whether the function begins it itself, above its pass."""
    written = (node for each in above for node in nodes(each, into_functions=False))
    return any(isinstance(getattr(each, "ctx", None), ast.Store) and ast.unparse(each) == name for each in written)


def _is_reported(place: Place, name: str) -> bool:
    """Whether it is added to below the pass: then it is about passes, and not for one of them."""
    below = calls(place.below)
    added = (each.func for each in below if does(called_name(each), "stores"))
    return any(isinstance(each, ast.Attribute) and ast.unparse(each.value) == name for each in added)


def _last_of_the_step(place: Place) -> Statement:
    """The step below the pass, where it stands there; else the pass."""
    below = place.below
    stepping = (each for each in below if any(does(called_name(call), "steps") for call in calls(each)))
    return next(stepping, place.statement)
