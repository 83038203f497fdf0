"""What is carried from one step to the next, cut between the two: below the pass, or above the loop that reads it."""

import ast
from collections.abc import Iterator, Sequence

from gradsan.facts.held import Held, any_of
from gradsan.fix.reading.program import Place, Program, common_frames, frames
from gradsan.fix.reading.revealing import held_above, held_below
from gradsan.fix.reading.uses import use_of
from gradsan.fix.writing.cutting import cut_statements
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import is_only_given
from gradsan.knowledge.libraries import ALIASES
from gradsan.source.names import assigns, call_of, called_name, calls, nodes
from gradsan.source.tree import Statement, Tree, same_as


def at_the_boundary(program: Program, name: str) -> Iterator[Draft]:
    """Between two steps nothing needs the graph: below the pass, or above the loop in which a step reads it."""
    yield from _below_the_pass(program, name)
    yield from _before_the_loop(program, name)


def right_below_the_pass(program: Program, name: str) -> Iterator[Draft]:
    """Below the pass itself, whatever the rest of the step computes from it: that is trained by the next pass."""
    for place in program.boundaries():
        names = _written_in(program, place, name)
        if names and not isinstance(place.statement, ast.Return):
            held = any_of(held_below(program, place.tree, place.statement, each, known_as=name) for each in names)
            yield from cut_below(program, place.tree, place.statement, names, held)
            return


def cut_below(program: Program, tree: Tree, above: Statement, names: Sequence[str], held: Held) -> Iterator[Draft]:
    """What some names hold, cut below a statement of the same file."""
    draft = Draft()
    if statements := cut_statements(program, tree, names, held, draft):
        yield draft.insert_after(tree, above, *statements)


def _below_the_pass(program: Program, name: str) -> Iterator[Draft]:
    """Once the pass is done, nothing needs the graph any more."""
    for place in program.boundaries():
        names = _written_in(program, place, name)
        if names:
            yield from _behind(program, place, name, names)
            return
    yield from _where_declared(program, name)


def _behind(program: Program, place: Place, name: str, names: list[str]) -> Iterator[Draft]:
    """Below the last statement of the step that gives it a value; there is nothing below what returns."""
    if isinstance(place.statement, ast.Return):
        return
    above = _last_writing(program, place, names[0])
    held = any_of(held_below(program, place.tree, above, each, known_as=name) for each in names)
    yield from cut_below(program, place.tree, above, names, held)


def _written_in(program: Program, place: Place, name: str) -> list[str]:
    """How a function would write it, and what goes with it; nothing, where it cannot name it."""
    access = program.reached_in(place.function)
    if access is not None:
        return [access.written, *access.beside]
    if is_only_given(place.scope, name):
        return []
    return [name] if _knows(program, place, name) else list(filter(None, [_seen_from(program, place, name)]))


def _where_declared(program: Program, name: str) -> Iterator[Draft]:
    """A variable that only inner functions can name is cut where the one that binds it again, once a step, says so."""
    places = program.places(program.diagnosis.enters)
    for index, place in enumerate(places):
        declaration = None if place is None else _declaration(place, name)
        if place is None or declaration is None:
            continue
        if without_a_loop(program, places[:index]):
            held = held_below(program, place.tree, declaration, name)
            yield from cut_below(program, place.tree, declaration, [name], held)
        return


def _declaration(place: Place, name: str) -> Statement | None:
    """`nonlocal name`, or `global name`, in the function of a place."""
    inside = nodes(place.scope, into_functions=False)
    declared = (each for each in inside if isinstance(each, ast.Nonlocal | ast.Global))
    return next((each for each in declared if name in each.names), None)


def without_a_loop(program: Program, places: Sequence[Place | None]) -> bool:
    """Whether no loop within a step leads through these places, the outer ones of the later forward."""
    enters, used = program.diagnosis.enters, program.diagnosis.used
    if enters is None or used is None:
        return False
    shared = common_frames(enters, used)
    outside = program.at(used, shared)
    around = [] if outside is None else outside.loops
    return all(loop in around for each in filter(None, places[shared:]) for loop in each.loops)


def _last_writing(program: Program, place: Place, name: str) -> Statement:
    """The pass, or what gives the name a value below it in the same block: what is cut must be what is carried on."""
    creating = [each.statement for each in program.known(program.diagnosis.made)]
    owner = name.rpartition(".")[0]

    def writes(each: Statement) -> bool:
        return each in creating or assigns(each, name) or _calls_a_method_of(owner, each)

    return next(filter(writes, reversed(place.below)), place.statement)


def _calls_a_method_of(owner: str, statement: Statement) -> bool:
    """Whether a statement calls a method of the object whose attribute it is: that may write it."""
    match call_of(statement):
        case ast.Call(func=ast.Attribute(value=called)):
            return bool(owner) and same_as(called, owner)
    return False


def _before_the_loop(program: Program, name: str) -> Iterator[Draft]:
    """Where a function that each step calls reads it in a loop: once, above that loop."""
    use, used = use_of(program, name), program.diagnosis.used
    if use is None or not use.loops:
        return
    if any((frame.file, frame.function) == (use.frame.file, use.function) for frame in frames(used)):
        return  # the loop may be that of the steps
    draft = Draft()
    held = held_above(program, use.tree, use.loops[-1], name)
    if statements := cut_statements(program, use.tree, [name], held, draft):
        yield draft.insert_before(use.tree, use.loops[-1], *statements)


def _knows(program: Program, place: Place, name: str) -> bool:
    """Whether the name means the same in this function: its own local, or an attribute of the same object's."""
    use = use_of(program, name)
    if use is None or place.function == use.function:
        return use is not None
    return name.startswith("self.") and bool(place.owner) and place.owner == use.owner


def _seen_from(program: Program, place: Place, name: str) -> str | None:
    """How this function would write it, as the calls between it and the reading line show."""
    use, places = use_of(program, name), program.places(program.diagnosis.enters)
    here = [n for n, each in enumerate(places) if each is not None and each.function == place.function]
    return _as_seen_from(places[here[-1] : places.index(use) + 1], name) if here and use in places else None


def _as_seen_from(places: Sequence[Place | None], name: str) -> str | None:
    """How the outermost of these frames would write what the innermost calls `name`; None where it is not clear."""
    for caller, callee in zip(reversed(places[:-1]), reversed(places[1:]), strict=True):
        if caller is None or callee is None:
            return None
        if not name.startswith("self."):
            return None
        receiver = _receiver(caller, callee.frame.function.rpartition(".")[2])
        if receiver is None:
            return None
        name = receiver + name.removeprefix("self")
    return name


def _receiver(place: Place, method: str) -> str | None:
    """On whose behalf a statement calls a method; a module's `forward` is called by calling the module."""
    found = set()
    for call in calls(place.statement):
        match call.func:
            case ast.Attribute(value=receiver, attr=name) if name == method:
                found.add(place.tree.text(receiver))
            case ast.Name() | ast.Attribute() if method in ("forward", "__call__") and _may_be_a_module(place, call):
                found.add(place.tree.text(call.func))
    return found.pop() if len(found) == 1 else None


def _may_be_a_module(place: Place, call: ast.Call) -> bool:
    """`model(x)` or `self.cell(x)`, but no function of a library, class, or method of a tensor."""
    code = place.tree.text(call.func)
    parts = code.split(".")
    is_own = len(parts) == 1 or parts[0] == "self"
    return is_own and parts[0] not in {*ALIASES, "super"} and called_name(call)[:1].islower() and code.isascii()
