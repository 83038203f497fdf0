"""The option of a class that switches a cache on, and the calls that ask for it: `Layer(…, cached=True)`."""

import ast
from collections.abc import Iterable

from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Place
from gradsan.source.names import argument, called_name, nodes, says_true
from gradsan.source.tree import Function, Tree, same_as


def asking_for_a_cache(place: Place, trees: Iterable[Tree]) -> list[tuple[Tree, ast.Call, str]]:
    """All calls of its class that switch on the option which decides whether a statement is skipped, and that option.

    None where it is not read from an option of the constructor, or nobody writes `True` for it.
    """
    if place.cls is None:
        return []
    calls = [(tree, each) for tree in trees for each in only(ast.Call, nodes(tree.module))]
    created = [(tree, each) for tree, each in calls if called_name(each) == place.cls.name]
    switches = [each for each in _switches(place) if each in _kept_options(place.cls)]
    asking = ([(*each, switch) for each in created if says_true(argument(each[1], switch))] for switch in switches)
    return next(filter(None, asking), [])


def _switches(place: Place) -> list[str]:
    """The attributes without which a statement runs every time: `not self.on` around it, `self.on and …` above it."""
    around = [each for question in place.questions for each in _parts(question.test, ast.Or)]
    negated = [each.operand for each in only(ast.UnaryOp, around) if isinstance(each.op, ast.Not)]
    above = (each for each in only(ast.If, place.above) if isinstance(each.body[-1], ast.Return))
    leaving = [each for question in above for each in _parts(question.test, ast.And)]
    asked = only(ast.Attribute, (*negated, *leaving))
    return [each.attr for each in asked if same_as(each.value, "self")]


def _parts(test: ast.expr, operator: type[ast.boolop]) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, operator) else []


def _kept_options(cls: ast.ClassDef) -> set[str]:
    """What its constructor keeps under the name that it was given by, as it is."""
    constructors = [each for each in cls.body if isinstance(each, Function) and each.name == "__init__"]
    written = [each for one in constructors for each in only(ast.Assign, one.body)]
    named = [(each.targets[0], each.value.id) for each in written if isinstance(each.value, ast.Name)]
    return {name for target, name in named if same_as(target, f"self.{name}")}
