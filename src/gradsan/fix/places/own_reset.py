"""The method by which a class resets its own state, where it has one, and who calls it."""

import ast
from collections.abc import Iterator
from itertools import chain

from gradsan.facts.location import in_cell
from gradsan.fix.reading.program import Program
from gradsan.fix.writing.detaching import for_each
from gradsan.fix.writing.drafting import Draft
from gradsan.knowledge.tensors import operation
from gradsan.source.names import assigns, called_name, calls, last_name, loaded, targets
from gradsan.source.tree import Function, Statement, Tree

_FINDING = ("modules", "named_modules", "children", "named_children", "isinstance", "hasattr", "values", "items")


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


def left_open(program: Program) -> str | None:
    """What the program does not say of its state, in a clause: is it carried on, or does it begin again? None: it does.

    It has lines that give the state its initial value again, beside those that train and those that build the model;
    but training never comes to them between two passes: they are in no loop that leads to these, nor in a function
    that is called in one.
    """
    training = program.known(program.diagnosis.used)
    again = _beginnings(program)
    if not again or not training or is_reset_elsewhere(program):
        return None
    loops = [loop for place in training for loop in place.loops]
    resetting = _leading_to_a_reset(program, {getattr(tree.scope(each), "name", "") for tree, each in again})
    outer = [number for number, place in enumerate(training) if place.loops]
    repeated = [place.scope for number, place in enumerate(training) if outer and number > outer[0]]
    is_called = bool(resetting & set(map(called_name, calls([*loops, *repeated]))))
    if (
        is_called
        or _is_handed_on(resetting, program)
        or any(loop in loops for tree, each in again for loop in tree.loops(each))
    ):
        return None
    tree, first = again[0]
    line = tree.line(first)
    cell, top = tree.source.cell_of(line)
    written = f"{in_cell(tree.file, cell)}:{line - top + 1}"
    return f"only its author knows whether `{program.name}` is to be carried on, or to begin again as at {written}"


def _is_handed_on(functions: set[str], program: Program) -> bool:
    """Whether one of them is a callback: it is named, and not called, so that training may call it by another name."""
    nodes = [node for tree in _files(program) for node in ast.walk(tree.source.tree)]
    called = {id(each.func) for each in nodes if isinstance(each, ast.Call)}
    named = (each for each in nodes if isinstance(each, ast.Name | ast.Attribute) and id(each) not in called)
    return any(last_name(each) in functions for each in named if isinstance(each.ctx, ast.Load))


def _leading_to_a_reset(program: Program, resetting: set[str]) -> set[str]:
    """These functions, and those that are there to call one of them, in any file that the state passes through."""
    functions = [each for tree in _files(program) for each in ast.walk(tree.source.tree) if isinstance(each, Function)]
    found: set[str] = set()
    while found != resetting:
        found = resetting
        resetting = found | {each.name for each in functions for name in found if _only_calls(each, name)}
    return found


def _files(program: Program) -> list[Tree]:
    """Those that the state passes through."""
    diagnosis = program.diagnosis
    places = chain.from_iterable(map(program.known, (diagnosis.used, diagnosis.enters, diagnosis.made)))
    return list(dict.fromkeys(each.tree for each in places))


def _beginnings(program: Program) -> list[tuple[Tree, Statement]]:
    """The statements that give an attribute of that name an initial value; not those of constructors and forwards."""
    name = program.name or ""
    training = program.known(program.diagnosis.used)
    reading = [*program.known(program.diagnosis.enters), *program.known(program.diagnosis.made)]
    forwards = {each.scope for each in reading} - {each.scope for each in training}
    trees = dict.fromkeys(each.tree for each in (*reading, *training)) if "." in name else ()
    attribute = name.rpartition(".")[2].partition("[")[0]
    found = [(tree, each) for tree in trees for each in tree.statements if _begins(each, attribute)]
    return [
        (tree, each) for tree, each in found if not _is_constructor(scope := tree.scope(each)) and scope not in forwards
    ]


def _begins(statement: Statement, attribute: str) -> bool:
    """Whether it gives an initial value to an attribute of that name."""
    named = any(isinstance(each, ast.Attribute) and each.attr == attribute for each in targets(statement))
    return named and isinstance(statement, ast.Assign) and _is_initial(statement.value)


def _is_constructor(scope: ast.AST) -> bool:
    """Whether it is a constructor."""
    return getattr(scope, "name", "") in ("__init__", "__post_init__")


def _is_initial(value: ast.expr) -> bool:
    """Whether a value needs nothing that was computed: None, an empty list, zeros."""
    match value:
        case ast.Constant() | ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call():
            return operation(called_name(value)).graph == "creates"
        case ast.Tuple(elts=parts):
            return all(map(_is_initial, parts))
    return False


def _only_calls(function: Function, method: str) -> bool:
    """Whether it is there to call the method for many objects: it calls nothing else but what finds them."""
    called = _called(function)
    return method in called and called <= {method, *_FINDING}


def _called(function: Function) -> set[str]:
    return set(map(called_name, calls(function)))


def by_its_own_method(program: Program) -> Iterator[Draft]:
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
    place, name = program.innermost(program.diagnosis.enters), program.name
    if place is None or place.cls is None or name is None or not name.startswith("self."):
        return None
    methods = (each for each in place.cls.body if isinstance(each, ast.FunctionDef))
    return next((each.name for each in methods if _resets(each, name)), None)


def _resets(method: ast.FunctionDef, state: str) -> bool:
    """Whether it only sets the state, and not from what it was."""
    given = method.args
    needs = len(given.posonlyargs + given.args) - len(given.defaults) > 1 or given.kwonlyargs
    if needs or method.name.startswith("__") or method.decorator_list:
        return False
    return any(assigns(each, state) for each in ast.walk(method)) and not loaded(method, state)
