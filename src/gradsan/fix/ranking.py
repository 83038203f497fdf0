"""What the source shows about which remedy is meant: the answers to what a cause asks where the run does not say."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gradsan.causes import choosing
from gradsan.causes.remedy import Sign
from gradsan.fix.kinds import can_be_written
from gradsan.fix.kinds.reorder import takes_both_gradients
from gradsan.fix.places.tried import built_on
from gradsan.fix.reading.counts import asks_for_a_count
from gradsan.fix.reading.drawn import was_drawn_along
from gradsan.fix.reading.filled import is_filled_for_one_pass, was_to_begin_again
from gradsan.fix.reading.given_gradients import gradient_enters_the_loss, is_beside_a_leaf
from gradsan.fix.reading.program import Program
from gradsan.report import Fix, FixKind
from gradsan.source.names import (
    assigned_names,
    called_name,
    calls,
    loaded_names,
    targets,
)
from gradsan.source.tree import Function


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
    keys = [each.slice for each in targets(adding.statement) if isinstance(each, ast.Subscript)]
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


SIGNS: Mapping[Sign, Callable[[Program], bool]] = {
    "it can be written": _is_writable,
    "a gradient enters the loss": gradient_enters_the_loss,
    "no gradient enters the loss": lambda program: not gradient_enters_the_loss(program),
    "the step takes both gradients": takes_both_gradients,
    "the gradient is of a leaf beside it": is_beside_a_leaf,
    "the program resets it elsewhere": was_to_begin_again,
    "it is filled for one pass": is_filled_for_one_pass,
    "several terms are added": _adds_several,
    "it is renewed on schedule": _is_renewed_on_schedule,
    "the loop takes batches": _takes_batches,
    "it was drawn along": lambda program: next(was_drawn_along(program), None) is not None,
    "it is built of its own items": _is_built_of_its_own_items,
}
