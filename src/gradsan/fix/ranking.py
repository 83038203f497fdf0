"""What the source shows about which remedy is meant: the answers to what a cause asks where the run does not say."""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gradsan.causes import choosing
from gradsan.causes.remedy import Sign
from gradsan.fix.kinds import can_be_written
from gradsan.fix.kinds.reorder import takes_both_gradients
from gradsan.fix.places.tried import built_on
from gradsan.fix.reading.collected import collected, filled_by_hooks
from gradsan.fix.reading.counts import asks_for_a_count
from gradsan.fix.reading.drawn import was_drawn_along
from gradsan.fix.reading.emptied_lists import emptied_beside
from gradsan.fix.reading.flow import cuts, dependents, made_of, only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.resets import is_reset_elsewhere
from gradsan.report import Fix, FixKind
from gradsan.source.names import (
    Code,
    argument,
    assigned_names,
    called_name,
    calls,
    loaded_names,
    nodes,
    says_true,
    targets,
)
from gradsan.source.tree import Function, is_simple


def ranked(fixes: tuple[Fix, ...], program: Program) -> tuple[Fix, ...]:
    """The fixes in the order of their cause, which asks the source of the program."""
    return choosing.ranked(fixes, program.diagnosis, _Signs(program))


@dataclass(frozen=True, slots=True)
class _Signs:
    program: Program

    def can_be_written(self, kind: FixKind) -> bool:
        return can_be_written(kind, self.program)

    def was_tried(self, kind: FixKind) -> bool:
        return next(built_on(kind, self.program), None) is not None

    def shows(self, sign: Sign, kind: FixKind) -> bool:
        return SIGNS[sign](self.program.asked_for(kind))


def _is_writable(program: Program) -> bool:
    return can_be_written(program.remedy.kind, program)


def _adds_several(program: Program) -> bool:
    """Whether a total is added to in a loop of its own, below which it is back-propagated: it is a sum of terms.

    Where each iteration of that loop has a total of its own, `totals[name] += loss`, each gets one term.
    """
    parted = program.parted(program.diagnosis.enters, program.diagnosis.used)
    if parted is None or not _is_writable(program):
        return False
    adding, passing = parted
    own = [each for each in adding.loops if each not in passing.loops]
    keys = [each.slice for each in only(ast.Subscript, targets(adding.statement))]
    return bool(own) and not loaded_names(keys) & assigned_names(own)


def _takes_batches(program: Program) -> bool:
    """Whether the loop that overwrites its loss goes over batches, each to be trained on: the update stands below it.

    Where the loop is part of a step, over views or heads of one batch, what it works on comes from that step.
    """
    place = program.in_a_loop(program.diagnosis.made)
    if place is None or not _is_writable(program):
        return False
    loop, *around = place.loops
    step = assigned_names(around[:1]) - assigned_names(loop)
    return not loaded_names(loop) & step


def _gradient_enters_the_loss(program: Program) -> bool:
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


def _is_beside_a_leaf(program: Program) -> bool:
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


def _is_filled_for_one_pass(program: Program) -> bool:
    culprit = program.diagnosis.culprit
    if culprit is None:
        return False
    is_seen = emptied_beside(program) is not None or collected(program, culprit.name) is not None
    held = program.live.alive.held
    return is_seen or (held is not None and held.is_always("list"))


def _is_filled_by_hooks(program: Program) -> bool:
    """Whether forward hooks fill it: what they have kept is for one forward, and the next one fills it again."""
    name = program.name
    return name is not None and name.rpartition(".")[2] in filled_by_hooks(program) and _is_filled_for_one_pass(program)


def _is_renewed_on_schedule(program: Program) -> bool:
    """Whether a guard that asks for a count lets it be computed: `if step % 5 == 0`, `if age > 5` with `age = 0` below.

    Then its values are meant to stay in between. A loss has to be computed for each of its passes, and a term of it
    that is a constant would train nothing.
    """
    if program.diagnosis.enters is None or program.diagnosis.evidence.get("old_part") == "a term of the loss":
        return False
    around = {guard for each in program.known(program.diagnosis.used) for guard in each.questions}
    places = program.apart_from_the_pass(program.diagnosis.made)
    guards = ((each.tree, guard) for each in places for guard in each.questions if guard not in around)
    return any(asks_for_a_count(*each) for each in guards)


def _is_built_of_its_own_items(program: Program) -> bool:
    """Whether a function that led to its creation calls itself, as one does that goes through a tree."""
    scopes = [each.scope for each in program.known(program.diagnosis.made)]
    return any(scope.name in map(called_name, calls(scope)) for scope in scopes if isinstance(scope, Function))


def _hands_out(statement: ast.AST) -> bool:
    match statement:
        case ast.Return():
            return True
        case ast.Assign(targets=targets):
            return any(not isinstance(each, ast.Name | ast.Tuple) for each in targets)
    return False


SIGNS: Mapping[Sign, Callable[[Program], bool]] = {
    "it can be written": _is_writable,
    "a gradient enters the loss": _gradient_enters_the_loss,
    "no gradient enters the loss": lambda program: not _gradient_enters_the_loss(program),
    "the step takes both gradients": takes_both_gradients,
    "the gradient is of a leaf beside it": _is_beside_a_leaf,
    "the program resets it elsewhere": lambda program: (
        emptied_beside(program) is not None or is_reset_elsewhere(program) or _is_filled_by_hooks(program)
    ),
    "it is filled for one pass": _is_filled_for_one_pass,
    "several terms are added": _adds_several,
    "it is renewed on schedule": _is_renewed_on_schedule,
    "the loop takes batches": _takes_batches,
    "it was drawn along": lambda program: next(was_drawn_along(program), None) is not None,
    "it is built of its own items": _is_built_of_its_own_items,
}
