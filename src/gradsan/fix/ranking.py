"""What the source tells about which remedy is meant, where the run alone could not."""

from gradsan.fix.expressions import assigned_names, loaded_names
from gradsan.fix.flow import dependents
from gradsan.fix.kinds import move_into_loop, no_grad
from gradsan.fix.program import Program
from gradsan.report import Fix, FixKind


def ranked(fixes: tuple[Fix, ...], program: Program) -> tuple[Fix, ...]:
    """The fixes, the one that the source speaks for first."""
    kinds = {fix.kind for fix in fixes}
    first: FixKind | None = None
    match program.diagnosis.code:
        case "GS107" if {"create-graph", "retain-graph"} <= kinds:
            first = "create-graph" if _gradient_enters_the_loss(program) else "retain-graph"
        case "GS301" if "no-grad" in kinds and next(no_grad.drafts(program), None) is not None:
            first = "no-grad"  # what only measures needs no graph at all
        case "GS304" if {"combine-losses", "move-into-loop"} <= kinds and _takes_batches(program):
            first = "move-into-loop"
    return fixes if first is None else tuple(sorted(fixes, key=lambda fix: fix.kind != first))


def _takes_batches(program: Program) -> bool:
    """Whether the loop that overwrites its loss goes over batches, each to be trained on: the update stands below it.

    Where the loop is part of a step, over views or heads of one batch, what it works on comes from that step.
    """
    for place in reversed(program.places(program.diagnosis.made)):
        loops = [] if place is None else place.tree.loops(place.statement)
        if place is None or not loops or next(move_into_loop.drafts(program), None) is None:
            continue
        around = loops[1:2]
        step = assigned_names(around[0]) - assigned_names(loops[0]) if around else set()
        return not loaded_names(loops[0]) & step
    return False


def _gradient_enters_the_loss(program: Program) -> bool:
    """Whether what the earlier call returned is used on the way to the later pass, and not merely looked at."""
    freed, used = program.diagnosis.freed, program.diagnosis.used
    apart = program.apart(freed, used)
    if apart is None:
        return False
    taking, passing = program.places(freed)[apart], program.places(used)[apart]
    if taking is None or passing is None or not assigned_names(taking.statement):
        return False
    tree = taking.tree
    first, last = tree.line(taking.statement), tree.line(passing.statement)
    following = [each for each in tree.statements if first < tree.line(each) <= last and not hasattr(each.body, "body")]
    following.sort(key=tree.line)
    return passing.statement in dependents(taking.statement, following)
