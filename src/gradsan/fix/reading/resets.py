"""How a program lets a state begin again: by a method of its class, or by lines that give it its first value."""

import ast
from collections.abc import Iterable

from gradsan.facts.location import in_cell
from gradsan.fix.reading.flow import ending, only
from gradsan.fix.reading.program import Place, Program
from gradsan.knowledge.tensors import operation
from gradsan.source.names import assigns, called_name, calls, last_name, loaded, targets
from gradsan.source.tree import Function, Scope, Statement, Tree

_FINDING = ("modules", "named_modules", "children", "named_children", "isinstance", "hasattr", "values", "items")
_CONSTRUCTORS = ("__init__", "__post_init__")


def resetting_method(program: Program) -> str | None:
    """The method of the state's class that gives it a new value, and needs nothing for it."""
    place, name = program.innermost(program.diagnosis.enters), program.name
    if place is None or place.cls is None or name is None or not name.startswith("self."):
        return None
    methods = only(ast.FunctionDef, place.cls.body)
    return next((each.name for each in methods if _resets(each, name)), None)


def _resets(method: ast.FunctionDef, state: str) -> bool:
    """Whether it only sets the state, and not from what it was."""
    return (
        needs_nothing(method) and any(assigns(each, state) for each in ast.walk(method)) and not loaded(method, state)
    )


def needs_nothing(method: Function) -> bool:
    """Whether it can be called for its object with nothing given, and does then what its lines say."""
    given = method.args
    is_plain = not (method.name.startswith("__") or method.decorator_list or given.kwonlyargs)
    return is_plain and len(given.posonlyargs + given.args) - len(given.defaults) <= 1


def is_reset_elsewhere(program: Program) -> bool:
    """Whether the program calls the state's own method to reset it, but in no function that leads to the pass.

    It does so for its other forwards, as to evaluate: each begins with a new state. Where training resets it too, once
    an epoch, it is to be carried between the iterations.
    """
    method, training = resetting_method(program), program.known(program.diagnosis.used)
    if method is None or not training:
        return False
    functions = _functions(_files(program))
    resetting = _with_those_that_only_call({method}, functions)
    calling = {each.name for each in functions if _called(each) & resetting} - resetting - {"__init__"}
    return bool(calling) and not calling & {each.function.rpartition(".")[2] for each in training}


def left_open(program: Program) -> str | None:
    """What the program does not say of its state, in a clause: is it carried on, or does it begin again? None: it does.

    It has lines that give the state its initial value again, beside those that train and those that build the model;
    but training never comes to them between two passes.
    """
    training, again = program.known(program.diagnosis.used), _beginnings(program)
    if not training or not again or is_reset_elsewhere(program) or _training_comes_to(again, training, program):
        return None
    tree, first = again[0]
    line = tree.line(first)
    cell, top = tree.source.cell_of(line)
    written = f"{in_cell(tree.file, cell)}:{line - top + 1}"
    return f"only its author knows whether `{program.name}` is to be carried on, or to begin again as at {written}"


def _training_comes_to(again: list[tuple[Tree, Statement]], training: list[Place], program: Program) -> bool:
    """Whether one of these lines stands in a loop that leads to the passes, or in a function that is called in one."""
    loops = [loop for place in training for loop in place.loops]
    if any(loop in loops for tree, each in again for loop in tree.loops(each)):
        return True
    files = _files(program)
    resetting = _with_those_that_only_call({getattr(t.scope(each), "name", "") for t, each in again}, _functions(files))
    outermost = next((number for number, place in enumerate(training) if place.loops), len(training))
    repeated = [place.scope for place in training[outermost + 1 :]]
    return bool(resetting & _called([*loops, *repeated])) or _is_handed_on(resetting, files)


def _is_handed_on(functions: set[str], files: Iterable[Tree]) -> bool:
    """Whether one of them is a callback: it is named, and not called, so that training may call it by another name."""
    nodes = [node for tree in files for node in ast.walk(tree.module)]
    called = {each.func for each in only(ast.Call, nodes)}
    named = (each for each in nodes if isinstance(each, ast.Name | ast.Attribute) and each not in called)
    return any(last_name(each) in functions for each in named if isinstance(each.ctx, ast.Load))


def _with_those_that_only_call(resetting: set[str], functions: list[Function]) -> set[str]:
    """These functions, and those that are there to call one of them for many objects: they call what finds these."""
    found: set[str] = set()
    while found != resetting:
        found = resetting
        calling = (
            each.name for each in functions if (called := _called(each)) & found and called <= {*found, *_FINDING}
        )
        resetting = {*found, *calling}
    return found


def _functions(trees: Iterable[Tree]) -> list[Function]:
    return [each for tree in trees for each in tree.statements if isinstance(each, Function)]


def _files(program: Program) -> list[Tree]:
    """Those that the state passes through."""
    return program.trees(program.diagnosis.used, program.diagnosis.enters, program.diagnosis.made)


def _beginnings(program: Program) -> list[tuple[Tree, Statement]]:
    """The statements that give an attribute of that name an initial value; not those of constructors and forwards."""
    training = {each.scope for each in program.known(program.diagnosis.used)}
    reading = [*program.known(program.diagnosis.enters), *program.known(program.diagnosis.made)]
    forwards = {each.scope for each in reading} - training
    _, dot, attribute = (program.name or "").rpartition(".")
    trees = _files(program) if dot else []
    found = [(tree, each) for tree in trees for each in tree.statements if _begins(each, attribute.partition("[")[0])]
    return [each for each in found if not _is_built_or_computed(each[0].scope(each[1]), forwards)]


def _is_built_or_computed(scope: Scope, forwards: set[Scope]) -> bool:
    return getattr(scope, "name", "") in _CONSTRUCTORS or scope in forwards


def _begins(statement: Statement, attribute: str) -> bool:
    """Whether it gives an initial value to an attribute of that name."""
    if not isinstance(statement, ast.Assign) or not _is_initial(statement.value):
        return False
    return any(isinstance(each, ast.Attribute) and ending(each) == attribute for each in targets(statement))


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


def _called(code: ast.AST | Iterable[ast.AST]) -> set[str]:
    return set(map(called_name, calls(code)))
