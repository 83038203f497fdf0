"""What was computed once, computed in what runs again and again: moved there, written there, or called there."""

import ast
from collections.abc import Iterator

from gradsan.fix.kinds.move_into_loop import into_the_loop
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.refusals.creating import creates_trained
from gradsan.fix.writing.drafting import Draft
from gradsan.source.changes import Changes
from gradsan.source.names import assigned_names, assigns, loaded, loaded_names, parameters, targets
from gradsan.source.placing import indentation, outdented
from gradsan.source.tree import Function, Statement


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
    if creating.cls is None or creating.cls is not reading.cls or not isinstance(method, Function):
        return
    if method.name.startswith("__") or method.decorator_list:
        return
    needed = len(method.args.args) - len(method.args.defaults)
    if needed == 1 and not method.args.kwonlyargs:
        draft = Draft()
        draft.insert_before(reading.tree, reading.statement, f"self.{method.name}()")
        yield draft


def _written_again(creating: Place, reading: Place) -> Iterator[Draft]:
    """The lines that compute it, above the line that reads it; what a method was given for it is kept in the object."""
    maker, reader = creating.scope, reading.scope
    if not isinstance(maker, Function) or not isinstance(reader, Function):
        return
    kept = [each for each in creating.targets if not each.isidentifier() and loaded(reading.statement, each)]
    there = {*parameters(reader.args)}
    again = _leading_to(creating, maker, kept, there)
    needed = sorted(loaded_names(again) & {*parameters(maker.args)} - there)
    if (
        not kept
        or (needed and not {"self"} <= there)
        or assigned_names(again) & ({*assigned_names(reader.body)} | there)
    ):
        return
    if any(creates_trained(creating.text(each), creating.tree.source) for each in again):
        return
    draft = Draft()
    known = {name: _kept_as(maker, name) for name in needed}
    for name in (name for name, attribute in known.items() if attribute is None):
        draft.insert_before(creating.tree, maker.body[-1], f"self.{name} = {name}")
    codes = [_renamed(creating, each, {name: known[name] or f"self.{name}" for name in known}) for each in again]
    draft.insert_before(reading.tree, reading.statement, *codes)
    yield draft


def _leading_to(creating: Place, maker: Function, kept: list[str], there: set[str]) -> list[Statement]:
    """The statements of a function that compute what is kept, and those that these need beside what is `there`."""
    tree, found = creating.tree, list[Statement]()
    needed: set[str] = set()
    for each in reversed([each for each in maker.body if tree.line(each) <= creating.line]):
        touches = any(assigns(each, name) or loaded(each, name) for name in kept)
        fills = not isinstance(each, ast.Assign) and loaded_names(each) & needed  # `rows.append(row)`
        if touches or fills or assigned_names(each) & needed:
            found.append(each)
            needed |= loaded_names(each) - there
    return found[::-1]


def _kept_as(maker: Function, name: str) -> str | None:
    """The attribute that keeps what a method was given by this name."""
    for each in maker.body:
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Name) and each.value.id == name:
            return next((ast.unparse(target) for target in targets(each) if isinstance(target, ast.Attribute)), None)
    return None


def _renamed(creating: Place, statement: Statement, names: dict[str, str]) -> str:
    tree = creating.tree
    changes = Changes()
    for name, new in names.items():
        changes.replaced |= dict.fromkeys(loaded(statement, name), new)
    return outdented(changes.new_part(tree, statement), indentation(tree, statement))
