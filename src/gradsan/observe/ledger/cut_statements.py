"""What one statement does to a value that is followed: cuts it, hands it from call to call, compares with it."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gradsan.facts.course import Cutting
from gradsan.facts.incident import Stack
from gradsan.facts.location import Frame
from gradsan.knowledge.hints import LOSS_WORDS
from gradsan.observe.naming.cuts import Cut, cut_at
from gradsan.observe.naming.trace import Execution
from gradsan.observe.user_statements import statements_at
from gradsan.source.names import called_name
from gradsan.source.stores import parts, stores

# Of several cuts in one statement, the first of these is reported.
_ORDER: tuple[Cutting, ...] = ("numpy", "detach", "data", "number", "new-tensor")


@dataclass(frozen=True, slots=True)
class FoundCut:
    """Where, how, and what was cut."""

    how: Cutting
    at: Stack
    name: str | None
    number: int | None = None  # the op counter when its statement began, where that is known


def hands_on(execution: Execution, names: set[str]) -> bool:
    """`head(encoder(x))`: whether what something of such a name returns is given to another call of the statement.

    Where nothing in it has such a name, whether any call's result is.
    """
    given = (each for call in execution.calls for each in (*call.args, *(one.value for one in call.keywords)))
    inside = {called_name(call) for each in given for call in calls_in(ast.walk(each))}
    return bool(inside & names or (inside and not names & {called_name(call) for call in execution.calls}))


def found_at(statement: ast.stmt, cut: Cut, execution: Execution) -> FoundCut:
    """A cut of a statement, in words."""
    found = list(cuts_in(statement))
    how = next(each for each in _ORDER if each in {one.how for one in found})
    given = (each.id for one in found for each in one.given if isinstance(each, ast.Name))
    stored = (store.name for store in stores(statement))
    return FoundCut(how, execution.frames(cut.line), next(filter(None, (*given, *stored)), None), execution.number)


def is_target(statement: ast.stmt) -> bool:
    """`mse_loss(output, features.detach())`: whether all that it cuts is what a loss compares with."""
    given = [each for call in calls_in(parts(statement)) if _is_loss(call) for each in call.args]
    found = list(cuts_in(statement))
    return bool(found) and all(any(each.node in (one, getattr(one, "func", None)) for one in given) for each in found)


def _is_loss(call: ast.Call) -> bool:
    return any(word in called_name(call).lower() for word in LOSS_WORDS)


def cuts_in(statement: ast.stmt) -> Iterator[Cut]:
    """All that cut, and may do so by accident."""
    found = (cut_at(node) for node in parts(statement) if isinstance(node, ast.expr))
    return (each for each in found if each is not None and each.how is not None)


def is_compared_at(place: Frame) -> bool:
    """`set_grad_enabled(step < 1000)`: whether something is compared there, as a schedule is."""
    return any(isinstance(node, ast.Compare) for each in statements_at(place) for node in parts(each))


def calls_in(nodes: Iterable[ast.AST]) -> list[ast.Call]:
    """Those of them that are calls."""
    return [node for node in nodes if isinstance(node, ast.Call)]
