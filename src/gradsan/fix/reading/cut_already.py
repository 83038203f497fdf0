"""What a program cuts itself, or begins anew: a name that carries no graph into the next iteration."""

import ast

from gradsan.fix.reading.program import Place, Program
from gradsan.knowledge.tensors import operation
from gradsan.source.names import assigns, called_name, loaded, nodes
from gradsan.source.tree import Statement


def carries_nothing(program: Program, name: str) -> bool:
    """Whether its graph ends with the iteration: the program cuts it below the pass, or creates it before reading it.

    One statement may give values to two names, of which only one is carried: `params[k], state[k] = step(…)`.
    """
    for place in program.boundaries():
        if place.loops and name.isidentifier():
            return _is_cut_below(place, name) or (_is_created_first(place, name) and not _is_handed_on(place, name))
    return False


def _is_cut_below(place: Place, name: str) -> bool:
    """Whether the last statement below the pass that gives it a value gives it one without a graph."""
    writing = [each for each in place.below if name in _bound(each)]
    return bool(writing) and _assigns_cut(writing[-1], name)


def _is_created_first(place: Place, name: str) -> bool:
    """Whether the first statement of the loop that has it gives it a value, whatever it had before."""
    first = next((each for each in place.loops[0].body if _has(each, name)), None)
    return isinstance(first, ast.Assign) and assigns(first, name) and not loaded(first, name)


def _is_handed_on(place: Place, name: str) -> bool:
    """Whether something below the pass reads it, and keeps its graph."""
    return any(
        loaded(each, name) and not (isinstance(each, ast.Assign) and _is_cut(each.value)) for each in place.below
    )


def _assigns_cut(statement: Statement, name: str) -> bool:
    return isinstance(statement, ast.Assign) and assigns(statement, name) and _is_cut(statement.value)


def _bound(statement: Statement) -> set[str]:
    return {each.id for each in nodes(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _has(statement: Statement, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in nodes(statement))


def _is_cut(value: ast.expr) -> bool:
    """Whether a value has no graph, whatever it is computed from: `x.detach()`, and a container of nothing else."""
    match value:
        case ast.Call(func=ast.Attribute(value=owner), args=[], keywords=[]) as call:
            return operation(called_name(call)).cuts or _is_cut(owner)  # `x.detach().requires_grad_()`
        case ast.DictComp(value=each) | ast.ListComp(elt=each) | ast.GeneratorExp(elt=each):
            return _is_cut(each)
        case ast.Call(func=ast.Name(id="tuple" | "list"), args=[each]):
            return _is_cut(each)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return bool(items) and all(map(_is_cut, items))
    return False
