"""Give carried state its initial value at the step's boundary."""

import ast
import builtins
from collections.abc import Iterator

from gradsan.facts.location import Location
from gradsan.fix.carried import for_each
from gradsan.fix.collected import collected
from gradsan.fix.creating import creates_trained
from gradsan.fix.drafting import Draft
from gradsan.fix.kinds import Places, named
from gradsan.fix.program import Place, Program, frames
from gradsan.source.names import assigned_names, assigns, called_name, calls, loaded, targets
from gradsan.source.tree import For, Function, Loop, Statement, Tree, same_as

_FINDING = ("modules", "named_modules", "children", "named_children", "isinstance", "hasattr", "values", "items")


def _at_the_boundary(program: Program, name: str) -> Iterator[Draft]:
    """Beside what the program empties there; else by the class's own method, or with what it was in the beginning."""
    if (forgotten := emptied_beside(program)) is not None:
        where, emptying, code = forgotten
        draft = Draft()
        draft.insert_after(where.tree, emptying, code)
        yield draft
        return
    yield from _by_its_own_method(program)
    yield from _as_in_the_beginning(program, name)


def _with_its_companions(program: Program, name: str) -> Iterator[Draft]:
    """Below the step, all lists that one pass uses up together."""
    found = collected(program, name)
    if found is not None:
        draft = Draft()
        draft.insert_after(found.tree, found.used, *(f"{each}.clear()" for each in found.names))
        yield draft


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
        initial = _initial(source.tree, name, here=place.frame.file == enters.file)
        if initial is None or (access is None and place.frame.function != enters.function):
            continue
        if creates_trained(initial, source):
            continue
        if reached != name and "self" in initial:
            initial = initial.replace("self.", f"{reached.rpartition('.')[0]}.")
        draft = Draft()
        draft.insert_after(place.tree, place.statement, f"{reached} = {initial}")
        yield draft
        return


def _where_the_iteration_begins(program: Program, name: str) -> Iterator[Draft]:
    """A total of several terms: at the top of what runs once for every pass, the loop or else the function.

    Where the pass is asked for in some iterations only, several of them make one loss: there, it is below the pass.
    """
    enters, used = program.diagnosis.enters, program.diagnosis.used
    apart = program.apart(enters, used)
    adding, passing = (None, None) if apart is None else (program.places(enters)[apart], program.places(used)[apart])
    if adding is None or passing is None:
        return
    tree = passing.tree
    reached, start = _written_in(program, passing, name), _begun_with(program, adding, name)
    loop = next((each for each in tree.loops(passing.statement) if each in tree.loops(adding.statement)), None)
    around = loop if loop is not None else tree.scope(passing.statement)
    if reached is None or start is None:
        called = program.places(enters)[apart:]
        if all(each is not None and _goes_over_what_it_calls(each, passing) for each in called):
            yield from _begun_where_it_is_added_to(called[-1], name)
        return
    if isinstance(around, ast.Module | ast.Lambda):
        return
    draft, here = Draft(), list(tree.block(passing.statement))
    if passing.statement not in around.body:
        if isinstance(here[-1], ast.Return | ast.Continue | ast.Break):
            return
        draft.insert_after(tree, here[-1], f"{reached} = {start}")
        yield draft
        return
    draft.insert_before(tree, here[0], f"{reached} = {start}")
    superfluous = _initial_above(tree, loop, reached)
    if superfluous is not None:
        draft.remove(tree, superfluous)
    yield draft


def _goes_over_what_it_calls(place: Place, passing: Place) -> bool:
    """Whether each loop around a call, but for those of the pass, calls another object in every iteration."""
    called = {place.tree.text(each.func).partition(".")[0] for each in calls(place.statement)}
    around = passing.tree.loops(passing.statement)
    own = [each for each in place.tree.loops(place.statement) if each not in around]
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
    return _initial(tree.source.tree, name, here=is_here)


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


def emptied_beside(program: Program) -> tuple[Place, Statement, str] | None:
    """Where the program empties another list below the pass, and how it would empty the culprit there.

    Only of a list that was added to where the old graph was created, and that the same function reads.
    """
    diagnosis = program.diagnosis
    enters, culprit = diagnosis.enters, diagnosis.culprit
    if enters is None or culprit is None or not _is_added_to(program, culprit.name):
        return None
    for place in program.places(diagnosis.used):
        if place is None or place.frame.function != enters.function or place.frame.file != enters.file:
            continue
        for each in reversed(place.tree.below(place.statement)):
            code = _emptying(each, culprit.name)
            if code is not None:
                return place, each, code
    return _emptied_by_a_method(program, culprit.name, enters)


def _emptied_by_a_method(program: Program, name: str, enters: Location) -> tuple[Place, Statement, str] | None:
    """Where the list's own class has a method that empties its other lists, and forgets this one."""
    source = program.source(enters.file)
    owner = (enters.function or "").partition(".<locals>")[0].rpartition(".")[0]
    if source is None or not owner or not name.startswith("self."):
        return None
    used = {
        frame.function for place in (program.diagnosis.made, enters) if place is not None for frame in frames(place)
    }
    classes = [each for each in ast.walk(source.tree) if isinstance(each, ast.ClassDef) and each.name == owner]
    methods = [each for kind in classes for each in kind.body if isinstance(each, ast.FunctionDef)]
    for method in methods:
        emptying = [each for each in method.body if _may_empty(each)]
        is_known = method.name.startswith("__") or f"{owner}.{method.name}" in used
        if is_known or any(name in ast.unparse(each) for each in emptying):
            continue
        for each in reversed(emptying):
            place = program.place_at(enters.file, each.lineno, f"{owner}.{method.name}")
            code = None if place is None else _emptying(place.statement, name)
            if place is not None and code is not None:
                return place, place.statement, code
    return None


def _may_empty(statement: ast.stmt) -> bool:
    """Whether it may empty a list of the object's own."""
    return isinstance(statement, ast.Delete | ast.Assign | ast.Expr) and "self." in ast.unparse(statement)


def _is_added_to(program: Program, name: str) -> bool:
    """Whether the statement that created the old graph adds to a list of that name."""
    for place in program.places(program.diagnosis.made):
        match None if place is None else place.statement:
            case ast.Expr(ast.Call(func=ast.Attribute(value=grown, attr="append" | "extend"))):
                if ast.unparse(grown).rpartition(".")[2] == name.rpartition(".")[2]:
                    return True
    return False


def _emptying(statement: Statement, name: str) -> str | None:
    """What a statement that empties a list would be for another one; None: it empties none."""
    match statement:
        case ast.Delete(targets=[ast.Subscript(slice=ast.Slice(lower=None, upper=None))]):
            return f"del {name}[:]"
        case ast.Expr(ast.Call(func=ast.Attribute(attr="clear"), args=[], keywords=[])):
            return f"{name}.clear()"
        case ast.Assign(targets=[_], value=ast.List(elts=[])):
            return f"{name} = []"
    return None


def is_reset_elsewhere(program: Program) -> bool:
    """Whether the program calls the state's own method to reset it, but in no function that leads to the pass.

    It does so for its other forwards, as to evaluate: each begins with a new state. Where training resets it too, once
    an epoch, it is to be carried between the iterations.
    """
    method, training = _resetting_method(program), program.known(program.diagnosis.used)
    if method is None or not training:
        return False
    trees = {each.tree for each in (*training, *program.known(program.diagnosis.enters))}
    functions = [each for tree in trees for each in ast.walk(tree.source.tree) if isinstance(each, Function)]
    resetting = {method, *(each.name for each in functions if _only_calls(each, method))}
    calling = {each.name for each in functions if _called(each) & resetting} - resetting - {"__init__"}
    on_the_path = {each.function.rpartition(".")[2] for each in training}
    return bool(calling) and not calling & on_the_path


def _only_calls(function: Function, method: str) -> bool:
    """Whether it is there to call the method for many objects: it calls nothing else but what finds them."""
    called = _called(function)
    return method in called and called <= {method, *_FINDING}


def _called(function: Function) -> set[str]:
    return set(map(called_name, calls(function)))


def _by_its_own_method(program: Program) -> Iterator[Draft]:
    """`layer.reset()`, what the class itself has for that, for every layer that carries: where the iteration begins.

    Below the pass, where there is no loop around it: another forward may come in between.
    """
    method = _resetting_method(program)
    for place in program.boundaries():
        access = program.reached_in(place.frame.function)
        if method is None or access is None:
            continue

        def call(state: str) -> list[str]:
            return [f"{state.rpartition('.')[0]}.{method}()"]

        draft, codes = Draft(), for_each(access.every, place.tree.source, call)
        if place.loops:
            draft.insert_before(place.tree, place.loops[0].body[0], *codes)
        else:
            draft.insert_after(place.tree, place.statement, *codes)
        yield draft
        return


def _resetting_method(program: Program) -> str | None:
    """The method of the state's class that gives it a new value, and needs nothing for it."""
    diagnosis = program.diagnosis
    enters, culprit = diagnosis.enters, diagnosis.culprit
    source = None if enters is None else program.source(enters.file)
    if enters is None or culprit is None or source is None or not culprit.name.startswith("self."):
        return None
    owner = (enters.function or "").rpartition(".")[0]
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and node.name == owner:
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            return next((each.name for each in methods if _resets(each, culprit.name)), None)
    return None


def _resets(method: ast.FunctionDef, state: str) -> bool:
    """Whether it only sets the state, and not from what it was."""
    given = method.args
    needs = len(given.posonlyargs + given.args) - len(given.defaults) > 1 or given.kwonlyargs
    if needs or method.name.startswith("__") or method.decorator_list:
        return False
    read = {ast.unparse(each) for each in ast.walk(method) if isinstance(getattr(each, "ctx", None), ast.Load)}
    written = {ast.unparse(each) for each in ast.walk(method) if isinstance(getattr(each, "ctx", None), ast.Store)}
    return state in written and state not in read


def _emptied(program: Program) -> Iterator[Draft]:
    """The list whose losses a loop back-propagates, below that loop."""
    for place in reversed(program.places(program.diagnosis.used)):
        loops = [] if place is None else place.tree.loops(place.statement)
        if place is None or not loops:
            continue
        loop = loops[0]
        match loop:
            case ast.For(target=ast.Name(id=name), iter=ast.Attribute() as losses) if loaded(place.statement, name):
                draft = Draft()
                draft.insert_after(place.tree, loop, f"{place.tree.text(losses)}.clear()")
                yield draft
        return


def _initial(tree: ast.Module, name: str, *, here: bool) -> str | None:
    """What the file first assigns to it, where that needs nothing but the object itself and what every function knows.

    Those of this file know more: what it imports and defines.
    """
    known = {"torch", "self", *vars(builtins), *(_bound(tree) if here else ())}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(ast.unparse(each) == name for each in node.targets):
            names = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
            return ast.unparse(node.value) if names <= known else None
    return None


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
            "collection": _with_its_companions,
        }
    ),
}
