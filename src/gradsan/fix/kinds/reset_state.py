"""Give carried state its initial value at the step's boundary."""

import ast
import builtins
from collections.abc import Iterator

from gradsan.facts.location import Location
from gradsan.fix.kinds import Places, named
from gradsan.fix.places.own_reset import by_its_own_method
from gradsan.fix.reading.collected import collected
from gradsan.fix.reading.emptied_lists import emptied_beside
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.refusals.creating import creates_trained
from gradsan.fix.writing.drafting import Draft
from gradsan.source.imported import word_for
from gradsan.source.names import assigned_names, assigns, bound_inside, calls, loaded, parameters, targets
from gradsan.source.tree import For, Function, Loop, Statement, Tree, same_as


def _at_the_boundary(program: Program, name: str) -> Iterator[Draft]:
    """Beside what the program empties there; else by the class's own method, or with what it was in the beginning."""
    if (forgotten := emptied_beside(program)) is not None:
        tree, emptying, code = forgotten
        draft = Draft()
        draft.insert_after(tree, emptying, code)
        yield draft
        return
    yield from by_its_own_method(program)
    yield from _as_in_the_beginning(program, name)


def _with_its_companions(program: Program, name: str) -> Iterator[Draft]:
    """Below the step, all lists that one pass uses up together; not where the program empties some of them."""
    found = collected(program, name) if emptied_beside(program) is None else None
    if found is not None:
        draft = Draft()
        draft.insert_after(found.tree, found.used, *(f"{each}.clear()" for each in found.names))
        yield draft


def _emptied_memo(program: Program, name: str) -> Iterator[Draft]:
    """Below the pass: the container stays, as whoever else knows it expects, and all that it has is gone."""
    held = program.live.alive.held
    if "[" in name or any(each.kind != "dict" for each in (held.shapes if held is not None else ())):
        return
    for place in program.boundaries():
        access = program.reached_in(place.frame.function)
        written = access.every if access is not None else [name] if _means_the_same(program, place, name) else []
        if written and not isinstance(place.statement, ast.Return):
            draft = Draft()
            draft.insert_after(place.tree, place.statement, *(f"{each}.clear()" for each in written))
            yield draft
            return


def _means_the_same(program: Program, place: Place, name: str) -> bool:
    """Whether a function calls it by the same name as the one that fills it: of its object, or of the whole file."""
    filled = program.diagnosis.made
    if filled is None or filled.file != place.frame.file:
        return False
    if name.startswith("self."):
        return (filled.function or "").rpartition(".")[0] == place.frame.function.rpartition(".")[0]
    return any(assigns(each, name) for each in place.tree.module.body)


def _as_in_the_beginning(program: Program, name: str) -> Iterator[Draft]:
    """Below the pass: what the program itself gave it first."""
    enters = program.diagnosis.enters
    source = None if enters is None else program.source(enters.file)
    if enters is None or source is None:
        return
    for place in program.boundaries():
        if isinstance(place.statement, ast.Return):
            continue
        access = program.reached_in(place.frame.function)
        reached = name if access is None else access.written
        initial = _initial(source.tree, name, _class_of(enters), here=place.frame.file == enters.file)
        if initial is None or (access is None and place.frame.function != enters.function):
            continue
        if not _is_its_own(place, reached):
            continue
        if creates_trained(initial, source):
            continue
        if reached != name and "self" in initial:
            initial = initial.replace("self.", f"{reached.rpartition('.')[0]}.")
        draft = Draft()
        draft.insert_after(place.tree, place.statement, f"{reached} = {initial}")
        yield draft
        return


def _is_its_own(place: Place, name: str) -> bool:
    """Whether a function that assigns to a name gives its own variable a value, or its own object."""
    if not isinstance(place.scope, Function):
        bound = {each for root in place.tree.module.body for each in bound_inside(root)}
        return name.partition(".")[0].partition("[")[0] in bound
    known = assigned_names(place.scope) | set(parameters(place.scope.args))
    return name.partition(".")[0] in known or ("." in name and not name.startswith("self."))


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
    reached, start = _written_in(program, passing, name), _begun_with(program, adding, name)
    loop = next((each for each in passing.loops if each in adding.loops), None)
    around = passing.scope if loop is None else loop
    if reached is None or start is None:
        yield from _where_it_is_added_to(program, passing, name)
    elif (first := _first_below_the_freeing_pass(program, adding)) is not None:
        draft = Draft()
        draft.insert_before(adding.tree, first, f"{reached} = {start}")
        yield draft
    elif isinstance(around, ast.Module | ast.Lambda):
        return
    elif passing.statement in around.body:
        yield from _at_the_top(passing, loop, reached, start)
    else:
        yield from _at_the_bottom(passing, reached, start)


def _first_below_the_freeing_pass(program: Program, adding: Place) -> Statement | None:
    """What adds to the total, in the block in which the pass that took it stands above; None: it stands elsewhere."""
    freeing = program.beside(program.diagnosis.freed, program.diagnosis.used)
    if freeing is None or freeing.tree is not adding.tree:
        return None
    around = (adding.statement, *adding.tree.above(adding.statement))
    return next((each for each in around if each in freeing.below), None)


def _at_the_top(passing: Place, loop: Loop | None, reached: str, start: str) -> Iterator[Draft]:
    draft, tree = Draft(), passing.tree
    draft.insert_before(tree, passing.block[0], f"{reached} = {start}")
    superfluous = _initial_above(tree, loop, reached)
    if superfluous is not None:
        draft.remove(tree, superfluous)
    yield draft


def _at_the_bottom(passing: Place, reached: str, start: str) -> Iterator[Draft]:
    draft, last = Draft(), passing.block[-1]
    if not isinstance(last, ast.Return | ast.Continue | ast.Break):
        draft.insert_after(passing.tree, last, f"{reached} = {_as_it_is_read(passing, reached, start)}")
        yield draft


def _where_it_is_added_to(program: Program, passing: Place, name: str) -> Iterator[Draft]:
    """In the innermost function that adds to it, where each call on the path there is for another object."""
    enters, used = program.diagnosis.enters, program.diagnosis.used
    called = program.places(enters)[program.apart(enters, used) :]
    if all(each is not None and _goes_over_what_it_calls(each, passing) for each in called):
        yield from _begun_where_it_is_added_to(called[-1], name)


def _as_it_is_read(passing: Place, name: str, start: str) -> str:
    """What a total begins with; a number as a tensor, where the function asks it for what only a tensor has."""
    zeros = word_for(passing.tree.source.tree, "torch", "zeros")
    read = loaded(passing.scope, name)
    is_asked = any(isinstance(passing.tree.parent(each), ast.Attribute) for each in read)
    return f"{zeros}(())" if is_asked and zeros is not None and start in ("0", "0.0") else start


def _goes_over_what_it_calls(place: Place, passing: Place) -> bool:
    """Whether each loop around a call, but for those of the pass, calls another object in every iteration."""
    called = {place.tree.text(each.func).partition(".")[0] for each in calls(place.statement)}
    around = passing.loops
    own = [each for each in place.loops if each not in around]
    return all(isinstance(each, For) and called & assigned_names(each.target) for each in own)


def _begun_where_it_is_added_to(place: Place | None, name: str) -> Iterator[Draft]:
    """`self.x = self.x + term` is `self.x = term`, where whoever asks for the pass cannot begin the total again.

    Right where that line runs once for every pass and object, which a trial has to show.
    """
    match None if place is None else place.statement:
        case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=ast.Add(), right=term)) as adding if same_as(
            left, name
        ) and same_as(target, name):
            pass
        case ast.AugAssign(target=target, op=ast.Add(), value=term) as adding if same_as(target, name):
            pass
        case _:
            return
    if place is not None and not loaded(term, name):
        draft = Draft()
        draft.replace(place.tree, adding, f"{name} = {place.tree.text(term)}")
        yield draft


def _written_in(program: Program, place: Place, name: str) -> str | None:
    """How a function writes the total: by the same name where it adds to it or shares its object."""
    enters = program.diagnosis.enters
    here, there = place.frame.function, "" if enters is None else enters.function or ""
    owns = here.rpartition(".")[0] == there.rpartition(".")[0]
    if here == there or (name.startswith("self.") and owns):
        return name
    access = program.reached_in(here)
    return None if access is None else access.written


def _begun_with(program: Program, adding: Place, name: str) -> str | None:
    """What the program gives the total in the beginning; an item of a dict may stand in the dict as it is written."""
    tree = adding.tree
    if name.isidentifier():
        scope = tree.scope(adding.statement)
        own = [each for each in tree.statements if tree.scope(each) is scope and assigns(each, name)]
        return _given(tree, min(own, key=tree.line), name) if own else None
    whole, _, key = name.partition("[")
    for node in ast.walk(tree.source.tree):
        match node:
            case ast.Assign(targets=[target], value=ast.Dict(keys=keys, values=values)) if ast.unparse(target) == whole:
                written = {ast.unparse(k): ast.unparse(v) for k, v in zip(keys, values, strict=True) if k is not None}
                return written.get(key.rstrip("]").replace('"', "'"))
    is_here = program.diagnosis.used is not None and program.diagnosis.used.file == adding.frame.file
    return _initial(tree.source.tree, name, _class_of(program.diagnosis.enters), here=is_here)


def _given(tree: Tree, statement: Statement, name: str) -> str | None:
    """What a statement assigns to a name, also as one of several: `total, count = 0.0, 0`."""
    match statement:
        case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple(elts=elements)):
            names = [tree.text(each) for each in targets(statement)]
            found = elements[names.index(name)] if len(names) == len(elements) else None
        case ast.Assign(targets=[ast.Name()], value=value):
            found = value
        case _:
            found = None
    return None if found is None or loaded(found, name) else tree.text(found)


def _initial_above(tree: Tree, loop: Loop | None, name: str) -> Statement | None:
    """The assignment right above the loop that it makes superfluous: nothing but the loop's own pass reads it."""
    if loop is None:
        return None
    block = list(tree.block(loop))
    above = block[: block.index(loop)]
    creators = [each for each in above if [tree.text(target) for target in targets(each)] == [name]]
    is_read = any(loaded(each, name) for each in [*above, *block[len(above) + 1 :]])
    return creators[0] if len(creators) == 1 and not is_read else None


def _emptied(program: Program) -> Iterator[Draft]:
    """The list whose losses a loop back-propagates, below that loop."""
    place = program.in_a_loop(program.diagnosis.used)
    match place, place and place.loops[0]:
        case Place(), ast.For(target=ast.Name(id=name), iter=ast.Attribute() as losses) as loop if loaded(
            place.statement, name
        ):
            draft = Draft()
            draft.insert_after(place.tree, loop, f"{place.text(losses)}.clear()")
            yield draft


def _initial(tree: ast.Module, name: str, owner: str, *, here: bool) -> str | None:
    """What the file first assigns to it, where that needs nothing but the object itself and what every function knows.

    Those of this file know more: what it imports and defines. An attribute is that of the class `owner`, or of the only
    one that has such an attribute.
    """
    known = {"torch", "self", *vars(builtins), *(_bound(tree) if here else ())}
    holding: list[tuple[str, ast.expr]] = []
    for root in tree.body:
        first = next((each for each in ast.walk(root) if isinstance(each, ast.Assign) and assigns(each, name)), None)
        if first is not None:
            holding.append((root.name if isinstance(root, ast.ClassDef) else "", first.value))
    own = [value for holder, value in holding if holder == owner] or [value for _, value in holding]
    if not own or (name.startswith("self.") and len(own) > 1):
        return None
    names = {each.id for each in ast.walk(own[0]) if isinstance(each, ast.Name)}
    return ast.unparse(own[0]) if names <= known else None


def _class_of(location: Location | None) -> str:
    return "" if location is None else (location.function or "").rpartition(".")[0]


def _bound(tree: ast.Module) -> Iterator[str]:
    """The names that a module imports, and those of its functions and classes."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((each.asname or each.name).partition(".")[0] for each in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


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
