"""Which of the statements on one line an explanation means: a stack knows the line alone."""

import ast
from collections.abc import Callable, Sequence

from gradsan.facts.location import Location
from gradsan.knowledge.effects import may_ask_for_pass
from gradsan.report import Diagnosis
from gradsan.source.names import called_name, calls
from gradsan.source.tree import Statement, Tree, is_simple


def meant(
    diagnosis: Diagnosis, location: Location, callee: str | None, tree: Tree, crowd: Sequence[Statement]
) -> Statement:
    """The one that calls what the stack goes on with, or does what the place is named for; else the first."""
    if len(crowd) == 1:
        return crowd[0]
    plain = list(filter(is_simple, crowd))
    if callee is not None:
        return [*_calling(plain, lambda call: called_name(call) == callee), *plain][0]
    name = "" if diagnosis.culprit is None else diagnosis.culprit.name.partition("[")[0]
    doing = _doing(diagnosis, location, plain) or plain
    naming = [each for each in doing if name and name in tree.text(each)]
    return [*naming, *doing][0]


def _doing(diagnosis: Diagnosis, location: Location, plain: Sequence[Statement]) -> list[Statement]:
    """Those that do what the place is named for: ask for the earlier pass, or for the later one, or step."""
    freed, used = diagnosis.freed, diagnosis.used
    if location is diagnosis.changed:
        return _calling(plain, lambda call: called_name(call) == "step")
    if location is not freed and location is not used:
        return []
    passes = _calling(plain, lambda call: may_ask_for_pass(called_name(call)))
    is_later = location is not freed and freed is not None and freed.line == location.line
    return passes[-1:] if is_later else passes[:1]


def _calling(statements: Sequence[Statement], is_it: Callable[[ast.Call], bool]) -> list[Statement]:
    return [each for each in statements if any(map(is_it, calls(each)))]
