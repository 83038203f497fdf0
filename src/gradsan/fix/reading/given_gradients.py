"""What a program does with the gradients that an earlier call gives: they enter a loss, or are of a leaf of its own."""

import ast
from collections.abc import Iterator

from gradsan.fix.reading.flow import cuts, dependents, made_of
from gradsan.fix.reading.program import Place, Program
from gradsan.source.names import Code, argument, assigned_names, called_name, loaded_names, nodes, says_true
from gradsan.source.tree import is_simple


def gradient_enters_the_loss(program: Program) -> bool:
    """Whether what the earlier call returned is used on the way to the later pass, and not merely looked at."""
    freed, used = program.diagnosis.freed, program.diagnosis.used
    apart = program.apart(freed, used)
    if apart is None:
        return False
    taking, passing = program.places(freed)[apart], program.places(used)[apart]
    if taking is None or passing is None or not assigned_names(taking.statement):
        return False
    if any(each is not None and not _leads_out(each) for each in program.places(freed)[apart + 1 :]):
        return False
    lines = range(taking.line + 1, passing.line + 1)
    between = (each for each in taking.tree.statements if taking.tree.line(each) in lines and is_simple(each))
    following = [each for each in between if not cuts(each)]
    return not cuts(taking.statement) and passing.statement in dependents(taking.statement, following)


def is_beside_a_leaf(program: Program) -> bool:
    """Whether the function of the earlier pass asks it for the gradient of a leaf of its own, beside what is named.

    `d.requires_grad_()` above it and `d.grad` below it say so. What is computed from `d` is what the pass is for.
    """
    place = program.innermost(program.diagnosis.freed)
    if place is None:
        return False
    above = [*place.own_above, place.statement]
    computed = {name for each in nodes(above) for name in _made_leaves(each)} & set(_with_gradient(place.own_below))
    if not computed or program.name not in loaded_names(above):
        return False
    return program.name not in computed | assigned_names(made_of(computed, above))


def _requires_gradients(call: ast.Call) -> bool:
    return called_name(call) == "requires_grad_" or says_true(argument(call, "requires_grad"))


def _made_leaves(node: ast.AST) -> Iterator[str]:
    """`d` of `d.requires_grad_()`, and of an assignment of such a value."""
    match node:
        case ast.Assign(value=ast.Call() as call) if _requires_gradients(call):
            yield from assigned_names(node)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="requires_grad_")):
            yield name


def _with_gradient(code: Code) -> Iterator[str]:
    """The names whose `.grad` it reads."""
    for each in nodes(code):
        match each:
            case ast.Attribute(value=ast.Name(id=name), attr="grad", ctx=ast.Load()):
                yield name


def _leads_out(place: Place) -> bool:
    """Whether what a statement computes may leave its function: it is returned, or kept in an object."""
    following = [each for each in place.own_below if not cuts(each)]
    return any(map(_hands_out, dependents(place.statement, following)))


def _hands_out(statement: ast.AST) -> bool:
    match statement:
        case ast.Return():
            return True
        case ast.Assign(targets=targets):
            return any(not isinstance(each, ast.Name | ast.Tuple) for each in targets)
    return False
