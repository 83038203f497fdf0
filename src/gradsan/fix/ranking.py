"""What the source tells about which remedy is meant, where the run alone could not."""

from gradsan.fix.expressions import assigned_names
from gradsan.fix.flow import dependents
from gradsan.fix.program import Program, parting
from gradsan.report import Fix


def ranked(fixes: tuple[Fix, ...], program: Program) -> tuple[Fix, ...]:
    """The fixes, the one that the source speaks for first."""
    kinds = [fix.kind for fix in fixes]
    if program.diagnosis.code == "GS107" and {"create-graph", "retain-graph"} <= set(kinds):
        first = "create-graph" if _gradient_enters_the_loss(program) else "retain-graph"
        return tuple(sorted(fixes, key=lambda fix: fix.kind != first))
    return fixes


def _gradient_enters_the_loss(program: Program) -> bool:
    """Whether what the earlier call returned is used on the way to the later pass, and not merely looked at."""
    freed, used = program.diagnosis.freed, program.diagnosis.used
    apart = None if freed is None or used is None else parting(freed, used)
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
