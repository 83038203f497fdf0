"""Run the forward again for the later pass, so that it has a graph of its own."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradsan.causes.computed_once import CONSTRUCTORS
from gradsan.facts.location import Location
from gradsan.fix.calling_again import call_again
from gradsan.fix.creating import creates_trained, holds_trained
from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import bracketed
from gradsan.fix.flow import dependents
from gradsan.fix.kinds import Places
from gradsan.fix.paths import seen_at
from gradsan.fix.program import Place, Program, frames
from gradsan.knowledge.effects import does
from gradsan.source.changes import Changes
from gradsan.source.names import assigned_names, loaded, loaded_names, parameters
from gradsan.source.placing import code_of
from gradsan.source.tree import Function, Loop, Statement, Tree, is_simple, same_as


def _written_out_in_the_loop(program: Program) -> Iterator[Draft]:
    """A local of before the loop is written out inside."""
    made, used = program.diagnosis.made, program.diagnosis.used
    apart = program.apart(made, used)
    making, passing = (None, None) if apart is None else (program.places(made)[apart], program.places(used)[apart])
    if making is not None and passing is not None and _loops(making) != _loops(passing):
        yield from _written_anew(program)


def _loops(place: Place) -> list[Loop]:
    return place.tree.loops(place.statement)


def _written_anew(program: Program) -> Iterator[Draft]:
    """The later loss with old names written out; the call that computed one, where a step has come in between."""
    yield from _names_written_out(program)
    if program.diagnosis.changed is not None:
        yield from call_again(program)


def _names_written_out(program: Program) -> Iterator[Draft]:
    made, freed, used = program.diagnosis.made, program.diagnosis.freed, program.diagnosis.used
    apart = program.apart(made, used)
    if apart is None:
        return
    making = program.places(made)[apart]
    for later in (program.diagnosis.enters, used):
        place = None if later is None else _beside(program, later, apart)
        if place is not None and making is not None and _runs_for_each(program, place, freed, used):
            yield from _inlined(program, place, making)


def _runs_for_each(program: Program, place: Place, freed: Location | None, used: Location | None) -> bool:
    """Whether the program comes to a statement again for the later pass, and not once for both.

    Where one line makes both passes, the innermost loop is what brings it there again.
    """
    if freed is None or used is None or frames(freed) != frames(used):
        return True
    places = program.places(used)
    inner = places[places.index(place) + 1 :] if place in places else []
    return not any(each is not None and each.tree.loops(each.statement) for each in inner)


def _lines_after_the_step(program: Program) -> Iterator[Draft]:
    """Several lines lead to the loss: they are run again below the step, rather than written out in one."""
    yield from (each.draft for each in _after_the_step(program) if len(each.renewed) > 1)


def _line_after_the_step(program: Program) -> Iterator[Draft]:
    """The one line from the network's output to the loss is run again below the step."""
    yield from (each.draft for each in _after_the_step(program) if len(each.renewed) == 1)


@dataclass(frozen=True, slots=True)
class _Again:
    draft: Draft
    renewed: list[Statement]


def _after_the_step(program: Program) -> Iterator[_Again]:
    """The lines from the changed network's output to the loss, right above the pass: they see the new parameters."""
    made, used = program.diagnosis.made, program.diagnosis.used
    apart = program.apart(made, used)
    making, passing = (None, None) if apart is None else (program.places(made)[apart], program.places(used)[apart])
    if making is None or passing is None:
        return
    tree, block = making.tree, list(making.tree.block(making.statement))
    if passing.statement not in block or block.index(passing.statement) <= block.index(making.statement):
        return
    between = block[block.index(making.statement) + 1 : block.index(passing.statement)]
    stepping = None if program.diagnosis.changed is None else _beside(program, program.diagnosis.changed, apart or 0)
    if stepping is not None and stepping.statement in block and stepping.statement not in between:
        return  # an earlier iteration made it
    renewed = [making.statement, *_on_the_way(making.statement, between, passing.statement)]
    if not all(isinstance(each, ast.Assign) for each in renewed):
        return
    draft = Draft()
    kept = [each for each in between if each not in renewed]
    for each in reversed(renewed):
        if any(loaded_names(other) & assigned_names(each) for other in kept):
            kept.append(each)
        else:
            draft.remove(tree, each)  # nobody else needs it where it stood
    draft.insert_before(tree, passing.statement, *(code_of(tree, each, comments=False) for each in renewed))
    yield _Again(draft, renewed)


def _on_the_way(first: Statement, between: Sequence[Statement], last: Statement) -> list[Statement]:
    """Of the statements between two, those through which the last depends on the first."""
    later = dependents(first, between)[1:]
    needed, found = loaded_names(last), []
    for each in reversed(later):
        if assigned_names(each) & needed:
            needed |= loaded_names(each)
            found.append(each)
    return found[::-1]


def _attribute_written_out(program: Program) -> Iterator[Draft]:
    """What a constructor derived from parameters, where it is read: if that needs nothing but the object itself."""
    culprit, made = program.diagnosis.culprit, program.diagnosis.made
    if culprit is None or not culprit.name.startswith("self."):
        return
    for place in program.places(made):
        if place is None or not place.frame.function.endswith(CONSTRUCTORS):
            continue
        match place.statement:
            case ast.Assign(targets=[target], value=value) if same_as(target, culprit.name):
                own = assigned_names(place.tree.scope(place.statement)) | _parameters(place)
                readers = [each for each in program.places(program.diagnosis.enters) if each is not None]
                reader = next((each for each in readers if loaded(each.statement, culprit.name)), None)
                if reader is not None and not loaded_names(value) & (own - {"self"}):
                    draft = Draft()
                    for load in loaded(reader.statement, culprit.name):
                        draft.replace(reader.tree, load, bracketed(place.tree.text(value)))
                    yield draft


def _parameters(place: Place) -> set[str]:
    function = place.tree.scope(place.statement)
    return set(parameters(function.args)) if isinstance(function, Function) else set()


def _beside(program: Program, later: Location, apart: int) -> Place | None:
    places = program.places(later)
    return places[apart] if apart < len(places) else None


def _inlined(program: Program, place: Place, making: Place) -> Iterator[Draft]:
    """The statement that uses the old result, with the names on the way to it written out."""
    tree = place.tree
    if making.tree is not tree or place.statement is making.statement:
        return
    if not is_simple(place.statement):
        return
    definitions = {
        name: value
        for name, value in _definitions(program, making).items()
        if not _creates(program, making, name, value) and _is_the_only_one(place, name, value)
    }
    draft = Draft()
    renewed: set[str] = set()
    for name, value in definitions.items():
        for load in loaded(place.statement, name):
            written = _written_out(tree, value, definitions, renewed)
            draft.replace(tree, load, bracketed(written))
            renewed.add(name)
    if renewed & assigned_names(making.statement):  # else the old graph is still there
        makers = [tree.containing(value) for name, value in definitions.items() if name in renewed]
        lines = {line for each in makers for line in range(tree.line(each), tree.end_line(each) + 1)}
        draft.is_partial = program.leaves_some(making, lines)
        yield draft


def _creates(program: Program, making: Place, name: str, value: ast.expr) -> bool:
    """Whether writing it out would create again what is trained."""
    if holds_trained(program.live, making.frame.function, {name}):
        return True
    return creates_trained(making.tree.text(value), making.tree.source)


def _is_the_only_one(place: Place, name: str, value: ast.expr) -> bool:
    """Whether on every path to a statement the name has this value: another branch may have given it another one."""
    tree = place.tree
    made = tree.line(tree.containing(value))
    seen = seen_at(tree.source.tree, tree.line(place.statement), name)
    return seen <= {made}


def _definitions(program: Program, making: Place) -> dict[str, ast.expr]:
    """What the lines that made the old graph assign, in the function of the making line."""
    tree, found = making.tree, dict[str, ast.expr]()
    scope = tree.scope(making.statement)
    for line in sorted(program.made_graph(making) | {making.frame.line}):
        statement = tree.statement_at(line)
        if statement is None or tree.scope(statement) is not scope:
            continue
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
    return found


def _written_out(
    tree: Tree, value: ast.expr, definitions: dict[str, ast.expr], renewed: set[str], depth: int = 0
) -> str:
    """The expression, with the names in it that stand for old results written out too."""
    changes = Changes()
    for name, inner in definitions.items():
        for load in loaded(value, name) if inner is not value and depth <= len(definitions) else ():
            changes.replaced[load] = bracketed(_written_out(tree, inner, definitions, renewed, depth + 1))
            renewed.add(name)
    return changes.new_part(tree, value)


def _without_the_cache(program: Program) -> Iterator[Draft]:
    """Without every cache between the parameters and the pass: one that is left keeps the values of the first step."""
    others = [list(_of_one_cache(program, each)) for each in program.graph_places()]
    for place in reversed(program.places(program.diagnosis.made)):
        for draft in () if place is None else _of_one_cache(program, place):
            whole: Draft | None = draft
            for alike in (each for each in others if each):
                whole = next((both for one in alike if whole is not None and (both := whole.joined(one))), None)
            yield draft if whole is None else whole


def _of_one_cache(program: Program, place: Place) -> Iterator[Draft]:
    yield from _unguarded(program, place)
    yield from _undecorated(place)


def _unguarded(program: Program, place: Place) -> Iterator[Draft]:
    """`if self.cached is None: self.cached = …`: without the question, in the function that then hands it out."""
    tree = place.tree
    guard = next((each for each in tree.above(place.statement) if isinstance(each, ast.If)), None)
    if guard is None or guard.orelse or place.statement not in guard.body:
        return
    if not all(isinstance(each, ast.Assign | ast.Expr) for each in guard.body):
        return
    culprit = program.diagnosis.culprit
    held = [*_held(place), *([culprit.name] if culprit is not None else [])]
    if not any(loaded(statement, name.partition("[")[0]) for statement in tree.below(guard) for name in held):
        return
    draft = Draft()
    first, *others = guard.body
    codes = [code_of(tree, first, comments=False), *(code_of(tree, each, blanks=True) for each in others)]
    draft.rewrite(tree, guard, *codes)
    yield draft


def _held(place: Place) -> list[str]:
    match place.statement:
        case ast.Assign(targets=assigned):
            return [place.tree.text(each) for each in assigned]
    return []


def _undecorated(place: Place) -> Iterator[Draft]:
    """`@lru_cache` on the function that computed it; what is read like an attribute still is."""
    function = place.tree.scope(place.statement)
    decorators = function.decorator_list if isinstance(function, Function) else []
    draft = Draft()
    for each in decorators:
        if _decorator_name(each) == "cached_property":
            draft.replace(place.tree, each, "property")
        elif does(_decorator_name(each), "caches") and isinstance(function, Function):
            draft.undecorate(place.tree, function, each)
    if any(_decorator_name(each) == "cached_property" or does(_decorator_name(each), "caches") for each in decorators):
        yield draft


def _decorator_name(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(called).rsplit(".", 1)[-1]


PLACES: Places = {
    "cache": _without_the_cache,
    "attribute": _attribute_written_out,
    "use": _written_anew,
    "use in the loop": _written_out_in_the_loop,
    "lines after the step": _lines_after_the_step,
    "line after the step": _line_after_the_step,
}
