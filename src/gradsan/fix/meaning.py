"""Which of the statements on one line an explanation means: a stack knows the line alone."""

from collections.abc import Sequence

from gradsan.facts.location import Location
from gradsan.fix.calls import asks_for_pass
from gradsan.report import Diagnosis
from gradsan.source.names import called_name, calls
from gradsan.source.tree import Statement, Tree, is_simple


def meant(
    tree: Tree, crowd: Sequence[Statement], diagnosis: Diagnosis, location: Location, callee: str | None
) -> Statement:
    """The one that calls what the stack goes on with, or does what the place is named for; else the first."""
    plain = [each for each in crowd if is_simple(each)]
    if callee is not None:
        return next((each for each in plain if any(called_name(call) == callee for call in calls(each))), plain[0])
    passes = [each for each in plain if any(asks_for_pass(call) for call in calls(each))]
    if location is diagnosis.freed and passes:
        return passes[0]
    if location is diagnosis.used and passes:
        return passes[-1] if diagnosis.freed is not None and diagnosis.freed.line == location.line else passes[0]
    if location is diagnosis.changed:
        steps = [each for each in plain if any(called_name(call) == "step" for call in calls(each))]
        plain = steps or plain
    name = "" if diagnosis.culprit is None else diagnosis.culprit.name.partition("[")[0]
    return next((each for each in plain if name and name in tree.text(each)), plain[0])
