"""What the source tells about which remedy is meant, where the run alone could not."""

import ast

from gradsan.causes import cause
from gradsan.causes.diagnosing import fix_of
from gradsan.fix.flow import dependents
from gradsan.fix.kinds import clone, move_into_loop, no_grad, recompute, reorder, reset_state
from gradsan.fix.kinds.reset_state import emptied_beside, resetting_method
from gradsan.fix.program import Place, Program
from gradsan.fix.tried import built_on
from gradsan.report import Fix, FixKind
from gradsan.source.names import assigned_names, loaded_names
from gradsan.source.tree import For, is_simple


def ranked(fixes: tuple[Fix, ...], program: Program) -> tuple[Fix, ...]:
    """The fixes, the one that the source speaks for first."""
    fixes = tuple(fix for fix in fixes if not _does_harm(fix, program))
    kinds = {fix.kind for fix in fixes}
    first: FixKind | None = next((kind for kind in _ordered(fixes) if next(built_on(kind, program), None)), None)
    if first is not None:  # what was tried tells what is meant
        return tuple(sorted(fixes, key=lambda fix: fix.kind != first))
    match program.diagnosis.code:
        case "GS101" if "retain-graph" in kinds and next(recompute.drafts(program), None) is None:
            first = "retain-graph"
        case "GS103" if "reset-state" in kinds and (_belongs_to_its_batch(program) or emptied_beside(program)):
            first = "reset-state"
        case "GS105" if next(reset_state.drafts(program), None) is not None and _adds_several(program):
            first = "reset-state"
            fixes = fixes if first in kinds else (fix_of(first, cause("GS105")), *fixes)
        case "GS107" if {"create-graph", "retain-graph"} <= kinds:
            first = "create-graph" if _gradient_enters_the_loss(program) else "retain-graph"
        case "GS301" if "no-grad" in kinds and next(no_grad.drafts(program), None) is not None:
            first = "no-grad"  # what only measures needs no graph at all
        case "GS102" | "GS103" | "GS109" as code if next(move_into_loop.drafts(program), None) is not None:
            # A buffer, or a cache, that is to begin anew with every round: only the source tells.
            first = "move-into-loop"
            fixes = fixes if first in kinds else (fix_of(first, cause(code)), *fixes)
        case "GS202" if {"clone", "reorder"} <= kinds and next(clone.drafts(program), None) is None:
            first = "reorder"  # what has a name for one line only cannot be exchanged for a copy
        case "GS304" if {"combine-losses", "move-into-loop"} <= kinds and _takes_batches(program):
            first = "move-into-loop"
    return fixes if first is None else tuple(sorted(fixes, key=lambda fix: fix.kind != first))


def _does_harm(fix: Fix, program: Program) -> bool:
    """Whether a step would be moved past a pass whose gradients it was not to be given."""
    is_moved = program.diagnosis.code == "GS201" and fix.kind == "reorder"
    return is_moved and next(reorder.drafts(program), None) is None


def _ordered(fixes: tuple[Fix, ...]) -> list[FixKind]:
    return [fix.kind for fix in fixes]


def _adds_several(program: Program) -> bool:
    """Whether a total is added to in a loop of its own, below which it is back-propagated: it is a sum of terms."""
    enters, used = program.diagnosis.enters, program.diagnosis.used
    apart = program.apart(enters, used)
    adding, passing = (None, None) if apart is None else (program.places(enters)[apart], program.places(used)[apart])
    if adding is None or passing is None:
        return False
    around = passing.tree.loops(passing.statement)
    return any(each not in around for each in adding.tree.loops(adding.statement))


def _belongs_to_its_batch(program: Program) -> bool:
    """Whether a layer's state means nothing to the next batch: they come shuffled, and its class knows how to reset it.

    A memory outlives the batch too, but is no part of the forward itself: something else writes it.
    """
    made = program.diagnosis.made
    if made is None or not (made.function or "").endswith(".forward") or resetting_method(program) is None:
        return False
    for place in reversed(program.places(program.diagnosis.used)):
        loops = [] if place is None else place.tree.loops(place.statement)
        if place is not None and loops:
            taken = loaded_names(loops[0].iter) if isinstance(loops[0], For) else set()
            return bool(taken & _shuffled(place.tree.source.tree))
    return False


def _shuffled(tree: ast.Module) -> set[str]:
    """The names of what is made with `shuffle=True`."""
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for keyword in node.value.keywords
        if keyword.arg == "shuffle" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for target in node.targets
        if isinstance(target, ast.Name)
    }


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
    if any(each is not None and not _leads_out(each) for each in program.places(freed)[apart + 1 :]):
        return False
    tree = taking.tree
    first, last = tree.line(taking.statement), tree.line(passing.statement)
    following = [each for each in tree.statements if first < tree.line(each) <= last and is_simple(each)]
    following.sort(key=tree.line)
    return passing.statement in dependents(taking.statement, following)


def _leads_out(place: Place) -> bool:
    """Whether what a statement computes may leave its function: it is returned, or kept in an object."""
    tree = place.tree
    first = tree.line(place.statement)
    following = [each for each in tree.statements if tree.line(each) > first and is_simple(each)]
    following = [each for each in following if tree.scope(each) is tree.scope(place.statement)]
    following.sort(key=tree.line)
    return any(_hands_out(each) for each in dependents(place.statement, following))


def _hands_out(statement: ast.AST) -> bool:
    match statement:
        case ast.Return():
            return True
        case ast.Assign(targets=targets):
            return any(not isinstance(each, ast.Name | ast.Tuple) for each in targets)
    return False
