"""How sure it is what a method carries on, where nobody was seen to call it again and again."""

import ast
from dataclasses import replace

from gradsan.check.definitions import attributes_set
from gradsan.check.graph import DOUBTFUL, UNKNOWN, Op
from gradsan.check.leading_functions import Start, definitions
from gradsan.check.stopped import Stopped
from gradsan.facts.incident import Edited, Incident


def weighed_by_callers(stopped: Stopped, start: Start, entered: set[ast.AST], tree: ast.Module) -> Stopped:
    """With its doubt: whoever calls a method may call others that reset what it carries."""
    match start:
        case [cls, _] if _is_invented(stopped.crosses) or _is_reset(stopped, cls, entered, tree):
            return replace(stopped, incident=replace(stopped.incident, doubt=DOUBTFUL))
    return stopped


def _is_invented(carried: Op | None) -> bool:
    """Whether only a pass shows that it is there, or it was there before the method was called."""
    return carried is not None and (carried.name == UNKNOWN or not any(run.imagined for run, _ in carried.moment))


def _is_reset(stopped: Stopped, cls: str, entered: set[ast.AST], tree: ast.Module) -> bool:
    """Whether a method that was not followed sets the attribute that carries it."""
    first, _, rest = ("" if stopped.label is None else stopped.label.name).partition(".")
    attribute = rest.partition(".")[0].partition("[")[0]
    others = [node for names, node in definitions(tree) if names[0] == cls and node not in entered]
    return first == "self" and any(attribute in attributes_set(each) for each in others)


def of_its_own(start: Start, raised: list[Stopped]) -> list[Stopped]:
    """What raises in a method whatever it is given: a step of its object's optimizer changed what a pass needs.

    What else raises there, or in a function, hangs on arguments that nobody knows: frozen models, short loops.
    """
    is_method = len(start) > 1
    return [each for each in raised if is_method and _is_within_one_call(each.incident)]


def _is_within_one_call(incident: Incident) -> bool:
    return isinstance(incident, Edited) and incident.by_optimizer and incident.when == "now"
