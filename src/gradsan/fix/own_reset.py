"""The method by which a class resets its own state, where it has one, and who calls it."""

import ast
from collections.abc import Iterator

from gradsan.fix.carried import for_each
from gradsan.fix.drafting import Draft
from gradsan.fix.program import Program
from gradsan.source.names import assigns, called_name, calls, loaded
from gradsan.source.tree import Function

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

    Its class can reset it, and training never does so between two passes: in no loop that leads to them.
    """
    method, training = _resetting_method(program), program.known(program.diagnosis.used)
    if method is None or is_reset_elsewhere(program):
        return None
    functions = [each for place in training for each in ast.walk(place.tree.source.tree) if isinstance(each, Function)]
    resetting = {method, *(each.name for each in functions if _only_calls(each, method))}
    between = [each for place in training for each in calls(place.loops)]
    if resetting & set(map(called_name, between)):
        return None
    return f"only its author knows whether `{program.name}` is to be carried on, or to begin again: `{method}()`"


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
