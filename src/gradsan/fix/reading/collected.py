"""Lists that collect what one pass uses, as the log-probabilities and rewards of an episode, and are never emptied."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gradsan.fix.reading.flow import calls_for, ending, only, owners
from gradsan.fix.reading.program import Place, Program
from gradsan.knowledge.tensors import operation
from gradsan.source.names import called_name, calls, loaded, nodes
from gradsan.source.tree import Function, Statement, Tree

_JOINING = ("stack", "cat", "sum")


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
    place = next((each for each in program.boundaries() if loaded(_above(each), name)), None)
    if place is None:
        return None
    above = [*_above(place), *_in_own_methods(place)]
    names = [each for each in _gone_over(above) if not _is_begun(above, each) and not _is_reported(place, each)]
    along, hooked = _filled_along(program.known(program.diagnosis.made)), filled_by_hooks(program)
    parts = [each.rpartition(".") for each in names]
    fit = [last in hooked or (owner == name.rpartition(".")[0] and last in along) for owner, _, last in parts]
    return Collected(place.tree, _last_of_the_step(place), tuple(names)) if name in names and all(fit) else None


def _above(place: Place) -> list[Statement]:
    """What its function does above; what the loops of the pass go over is for many passes."""
    own = (each for each in _statements(place.tree, place.scope) if each not in place.loops)
    return [each for each in own if place.tree.line(each) < place.line]


def _in_own_methods(place: Place) -> list[Statement]:
    """The statements of methods that a method calls on its own object above: `returns = self.returns()`."""
    called = {ast.unparse(each.func) for each in calls(_above(place))}
    methods = [] if place.cls is None else [each for each in place.cls.body if isinstance(each, Function)]
    others = [each for each in methods if each is not place.scope and f"self.{each.name}" in called]
    return [statement for each in others for statement in _statements(place.tree, each)]


def _statements(tree: Tree, function: ast.AST) -> list[Statement]:
    return [each for each in tree.statements if tree.scope(each) is function]


def filled_by_hooks(program: Program) -> set[str]:
    """The last names of what functions add to, item by item, that are registered as forward hooks."""
    trees = program.trees(program.diagnosis.enters)
    every = [node for tree in trees for node in ast.walk(tree.module)]
    registering = (each for each in only(ast.Call, every) if called_name(each) == "register_forward_hook")
    hooks = [hook for each in registering for hook in each.args[:1]]
    names = set(map(ending, hooks))
    functions = [part for each in every if isinstance(each, Function) and each.name in names for part in each.body]
    return _added_to([*functions, *(each.body for each in only(ast.Lambda, hooks))])


def _added_to(code: Iterable[ast.AST]) -> set[str]:
    """The last names of what parts of a program add to, item by item."""
    return set(map(ending, owners(code, "stores")))


def _filled_along(places: Iterable[Place]) -> set[str]:
    """The last names of what is added to, item by item, as often as the statements of a stack run."""
    return _added_to(
        statement
        for place in places
        for statement in _statements(place.tree, place.scope)
        if place.tree.loops(statement)[:1] == place.loops[:1]
    )


def _gone_over(statements: Iterable[Statement]) -> Iterator[str]:
    """What a loop goes over, by itself or together with others, and what a tensor is made of; each once."""
    given = (_unsliced(each) for node in nodes(statements, into_functions=False) for each in _listed(node))
    return iter(dict.fromkeys(ast.unparse(each) for each in given if isinstance(each, ast.Name | ast.Attribute)))


def _listed(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Call(func=ast.Name(id="zip"), args=together):
            return together
        case ast.For(iter=over) | ast.comprehension(iter=over):
            return [over]
        case ast.Call(args=[first, *_]):
            makes_one = operation(called_name(node)).graph == "builds" or called_name(node) in _JOINING
            return [first] if makes_one else []
    return []


def _unsliced(value: ast.expr) -> ast.expr:
    match value:
        case ast.Subscript(value=inner, slice=ast.Slice(lower=None, upper=None)):
            return inner
        case ast.Call(func=ast.Name(id="reversed" | "list" | "tuple" | "enumerate"), args=[inner]):
            return inner
    return value


def _is_begun(above: Iterable[Statement], name: str) -> bool:
    """Whether the function begins it itself, above its pass."""
    written = (each for each in nodes(above, into_functions=False) if isinstance(getattr(each, "ctx", None), ast.Store))
    return name in map(ast.unparse, written)


def _is_reported(place: Place, name: str) -> bool:
    """Whether it is added to below the pass: then it is about passes, and not for one of them."""
    return name in map(ast.unparse, owners(place.below, "stores"))


def _last_of_the_step(place: Place) -> Statement:
    """The step below the pass, where it stands there; else the pass."""
    return next((each for each in place.below if calls_for(each, "steps")), place.statement)
