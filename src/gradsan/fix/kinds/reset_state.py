"""Give carried state its initial value at the step's boundary."""

import ast
from collections.abc import Iterator

from gradsan.fix.kinds import Places, named
from gradsan.fix.places.first_values import as_it_is_read, begun_with, initial, is_its_own
from gradsan.fix.reading.collected import collected
from gradsan.fix.reading.emptied_lists import emptied_beside
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.resets import resetting_method
from gradsan.fix.refusals.creating import creates_trained
from gradsan.fix.writing.detaching import for_each
from gradsan.fix.writing.drafting import Draft
from gradsan.source.names import assigned_names, assigns, calls, loaded, targets
from gradsan.source.tree import For, Loop, Statement, Tree, same_as


def _at_the_boundary(program: Program, name: str) -> Iterator[Draft]:
    """Beside what the program empties there; else by the class's own method, or with what it was in the beginning."""
    if (forgotten := emptied_beside(program)) is not None:
        yield Draft().insert_after(*forgotten)
        return
    yield from _by_its_own_method(program)
    yield from _as_in_the_beginning(program, name)


def _by_its_own_method(program: Program) -> Iterator[Draft]:
    """`layer.reset()`, what the class itself has for that, for every layer that carries: where the iteration begins.

    Below the pass, where there is no loop around it: another forward may come in between.
    """
    method = resetting_method(program)
    reached = ((each, access) for each in program.boundaries() if (access := program.reached_in(each.function)))
    place, access = next(reached, (None, None)) if method else (None, None)
    if place is None or access is None:
        return
    codes = for_each(access.every, place.tree.source, lambda state: [f"{state.rpartition('.')[0]}.{method}()"])
    if place.loops:
        yield Draft().insert_before(place.tree, place.loops[0].body[0], *codes)
    else:
        yield Draft().insert_after(place.tree, place.statement, *codes)


def _as_in_the_beginning(program: Program, name: str) -> Iterator[Draft]:
    """Below the pass: what the program itself gave it first."""
    enters = program.diagnosis.enters
    source = None if enters is None else program.source(enters.file)
    if enters is None or source is None:
        return
    for place in program.boundaries():
        access = program.reached_in(place.function)
        if isinstance(place.statement, ast.Return) or (access is None and place.function != enters.function):
            continue
        reached = name if access is None else access.written
        start = initial(source.tree, name, enters, here=place.frame.file == enters.file)
        if start is not None and is_its_own(place, reached) and not creates_trained(start, source):
            code = start if reached == name else start.replace("self.", f"{reached.rpartition('.')[0]}.")
            yield Draft().insert_after(place.tree, place.statement, f"{reached} = {code}")
            return


def _with_its_companions(program: Program, name: str) -> Iterator[Draft]:
    """Below the step, all lists that one pass uses up together; not where the program empties some of them."""
    found = collected(program, name) if emptied_beside(program) is None else None
    if found is not None:
        yield Draft().insert_after(found.tree, found.used, *(f"{each}.clear()" for each in found.names))


def _emptied_memo(program: Program, name: str) -> Iterator[Draft]:
    """Below the pass: the container stays, as whoever else knows it expects, and all that it has is gone."""
    held = program.live.alive.held
    if "[" in name or any(each.kind != "dict" for each in (held.shapes if held is not None else ())):
        return
    for place in program.boundaries():
        access = program.reached_in(place.function)
        written = access.every if access is not None else [name] if _means_the_same(program, place, name) else []
        if written and not isinstance(place.statement, ast.Return):
            yield Draft().insert_after(place.tree, place.statement, *(f"{each}.clear()" for each in written))
            return


def _means_the_same(program: Program, place: Place, name: str) -> bool:
    """Whether a function calls it by the same name as the one that fills it: of its object, or of the whole file."""
    filled = program.diagnosis.made
    if filled is None or filled.file != place.frame.file:
        return False
    if name.startswith("self."):
        return (filled.function or "").rpartition(".")[0] == place.owner
    return any(assigns(each, name) for each in place.tree.module.body)


def _where_the_iteration_begins(program: Program, name: str) -> Iterator[Draft]:
    """A total of several terms: at the top of what runs once for every pass, the loop or else the function.

    Where the pass is asked for in some iterations only, several of them make one loss: there, it is below the pass.
    Where another pass of the same iteration took what it had, it begins again between the two.
    """
    diagnosis = program.diagnosis
    # What is put together in the statement of the pass itself was added to where its terms are created.
    adding_at = (diagnosis.enters, diagnosis.made)
    parted = next(filter(None, (program.parted(each, diagnosis.used) for each in adding_at)), None)
    if parted is None:
        return
    adding, passing = parted
    reached, start = _written_in(program, passing, name), begun_with(program, adding, name)
    loop = next((each for each in passing.loops if each in adding.loops), None)
    around = passing.scope if loop is None else loop
    if reached is None or start is None:
        yield from _where_it_is_added_to(program, passing, name)
    elif (first := _first_below_the_freeing_pass(program, adding)) is not None:
        yield Draft().insert_before(adding.tree, first, f"{reached} = {start}")
    elif isinstance(around, ast.Module | ast.Lambda):
        return
    elif passing.statement in around.body:
        draft = Draft().insert_before(passing.tree, passing.block[0], f"{reached} = {start}")
        yield draft.remove(passing.tree, *_superfluous_above(passing.tree, loop, reached))
    elif not isinstance(last := passing.block[-1], ast.Return | ast.Continue | ast.Break):
        yield Draft().insert_after(passing.tree, last, f"{reached} = {as_it_is_read(passing, reached, start)}")


def _first_below_the_freeing_pass(program: Program, adding: Place) -> Statement | None:
    """What adds to the total, in the block in which the pass that took it stands above; None: it stands elsewhere."""
    freeing = program.beside(program.diagnosis.freed, program.diagnosis.used)
    if freeing is None or freeing.tree is not adding.tree:
        return None
    return next((each for each in adding.around if each in freeing.below), None)


def _written_in(program: Program, place: Place, name: str) -> str | None:
    """How a function writes the total: by the same name where it adds to it or shares its object."""
    enters = program.diagnosis.enters
    there = "" if enters is None else enters.function or ""
    if place.function == there or (name.startswith("self.") and place.owner == there.rpartition(".")[0]):
        return name
    access = program.reached_in(place.function)
    return None if access is None else access.written


def _superfluous_above(tree: Tree, loop: Loop | None, name: str) -> list[Statement]:
    """The assignment right above the loop that it makes superfluous: nothing but the loop's own pass reads it."""
    if loop is None:
        return []
    above = list(tree.block(loop))[: list(tree.block(loop)).index(loop)]
    creators = [each for each in above if [tree.text(target) for target in targets(each)] == [name]]
    is_read = bool(loaded([*above, *tree.below(loop)], name))
    return creators if len(creators) == 1 and not is_read else []


def _where_it_is_added_to(program: Program, passing: Place, name: str) -> Iterator[Draft]:
    """`self.x = self.x + term` is `self.x = term`, where whoever asks for the pass cannot begin the total again.

    Right where that line runs once for every pass and object, which a trial has to show: in the innermost function that
    adds to it, where each call on the path there is for another object.
    """
    enters, used = program.diagnosis.enters, program.diagnosis.used
    called = program.places(enters)[program.apart(enters, used) :]
    if not all(each is not None and _goes_over_what_it_calls(each, passing) for each in called):
        return
    place = called[-1]
    match place and place.statement:
        case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=ast.Add(), right=term)) as adding if same_as(
            left, name
        ):
            pass
        case ast.AugAssign(target=target, op=ast.Add(), value=term) as adding:
            pass
        case _:
            return
    if place is not None and same_as(target, name) and not loaded(term, name):
        yield Draft().replace(place.tree, adding, f"{name} = {place.tree.text(term)}")


def _goes_over_what_it_calls(place: Place, passing: Place) -> bool:
    """Whether each loop around a call, but for those of the pass, calls another object in every iteration."""
    called = {place.tree.text(each.func).partition(".")[0] for each in calls(place.statement)}
    own = [each for each in place.loops if each not in passing.loops]
    return all(isinstance(each, For) and called & assigned_names(each.target) for each in own)


def _emptied(program: Program) -> Iterator[Draft]:
    """The list whose losses a loop back-propagates, below that loop."""
    place = program.in_a_loop(program.diagnosis.used)
    match place, place and place.loops[0]:
        case Place(), ast.For(target=ast.Name(id=name), iter=ast.Attribute() as losses) as loop if loaded(
            place.statement, name
        ):
            yield Draft().insert_after(place.tree, loop, f"{place.text(losses)}.clear()")


PLACES: Places = {
    "store": _emptied,
    **named(
        {
            "iteration": _where_the_iteration_begins,
            "boundary": _at_the_boundary,
            "memo": _emptied_memo,
            "collection": _with_its_companions,
        }
    ),
}
