"""What was computed once, computed in what runs again and again: moved there, written there, or called there."""

import ast
from collections.abc import Iterator

from gradsan.fix.kinds.move_into_loop import into_the_loop
from gradsan.fix.reading.flow import assignments
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.resets import needs_nothing
from gradsan.fix.refusals.creating import creates_trained
from gradsan.fix.writing.drafting import Draft
from gradsan.source.changes import Changes
from gradsan.source.names import assigned_names, assigns, loaded, loaded_names, parameters
from gradsan.source.placing import indentation, outdented
from gradsan.source.tree import Function, Statement, same_as


def into_what_repeats(program: Program) -> Iterator[Draft]:
    """Into the loop, whatever the lines are; or from one function of a file into another, which reads it."""
    yield from into_the_loop(program, widely=True)
    for creating in program.apart_from_the_pass(program.diagnosis.made):
        for reading in program.apart_from_the_pass(program.diagnosis.enters):
            if creating.tree is reading.tree and creating.scope is not reading.scope:
                yield from _called_again(creating, reading)
                yield from _written_again(creating, reading)


def _called_again(creating: Place, reading: Place) -> Iterator[Draft]:
    """The method that computes it is called above the line that reads it."""
    method = creating.scope
    is_of_one_class = creating.cls is not None and creating.cls is reading.cls
    if is_of_one_class and isinstance(method, Function) and needs_nothing(method):
        yield Draft().insert_before(reading.tree, reading.statement, f"self.{method.name}()")


def _written_again(creating: Place, reading: Place) -> Iterator[Draft]:
    """The lines that compute it, above the line that reads it; what a method was given for it is kept in the object."""
    maker, reader = creating.scope, reading.scope
    if not isinstance(maker, Function) or not isinstance(reader, Function):
        return
    kept = [each for each in creating.targets if not each.isidentifier() and loaded(reading.statement, each)]
    there = {*parameters(reader.args)}
    again = _leading_to(creating, maker, kept, there)
    needed = sorted(loaded_names(again) & {*parameters(maker.args)} - there)
    can_be_kept = "self" in there or not needed
    can_be_bound = assigned_names(again).isdisjoint({*assigned_names(reader.body), *there})
    creates = any(creates_trained(creating.text(each), creating.tree.source) for each in again)
    if not kept or not can_be_kept or not can_be_bound or creates:
        return
    known = {name: _kept_as(maker, name) for name in needed}
    names = {name: attribute or f"self.{name}" for name, attribute in known.items()}
    keeping = (f"self.{name} = {name}" for name, attribute in known.items() if attribute is None)
    draft = Draft().insert_before(creating.tree, maker.body[-1], *keeping)
    yield draft.insert_before(reading.tree, reading.statement, *(_renamed(creating, each, names) for each in again))


def _leading_to(creating: Place, maker: Function, kept: list[str], there: set[str]) -> list[Statement]:
    """The statements of a function that compute what is kept, and those that these need beside what is `there`."""
    found, needed = list[Statement](), set[str]()
    for each in reversed([each for each in maker.body if creating.tree.line(each) <= creating.line]):
        touches = any(assigns(each, name) or loaded(each, name) for name in kept)
        fills = not isinstance(each, ast.Assign) and loaded_names(each) & needed  # `rows.append(row)`
        if touches or fills or assigned_names(each) & needed:
            found.append(each)
            needed |= loaded_names(each) - there
    return found[::-1]


def _kept_as(maker: Function, name: str) -> str | None:
    """The attribute that keeps what a method was given by this name."""
    given = ((target, value) for each in maker.body for target, value in assignments(each) if same_as(value, name))
    return next((ast.unparse(target) for target, _ in given if isinstance(target, ast.Attribute)), None)


def _renamed(creating: Place, statement: Statement, names: dict[str, str]) -> str:
    tree = creating.tree
    changes = Changes()
    for name, new in names.items():
        changes.replaced |= dict.fromkeys(loaded(statement, name), new)
    return outdented(changes.new_part(tree, statement), indentation(tree, statement))
