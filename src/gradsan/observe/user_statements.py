"""The statements of the user's that stand at a place, and what it reads there."""

import ast
from types import FrameType

from gradsan.facts.location import Frame
from gradsan.observe.log.source_loops import Loop, loops_of
from gradsan.source.names import parameters
from gradsan.source.scopes import Scope, scope_of, statements_of
from gradsan.source.stores import calls, loads, text


def place_of(frame: FrameType) -> Frame:
    """Where a live call stands."""
    return Frame(frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_qualname)


def scope_at(place: Frame) -> Scope | None:
    """The function that a place is in; None where its source cannot be read."""
    return scope_of(place.file, place.function, place.line)


def parameters_in(scope: Scope | None) -> list[str]:
    """The names of a function's parameters; none where it has none, or is not known."""
    return [] if scope is None or scope.arguments is None else list(parameters(scope.arguments))


def statements_at(place: Frame) -> tuple[ast.stmt, ...]:
    """What stands on a line; nothing where its source cannot be read."""
    scope = scope_at(place)
    return () if scope is None else scope.by_line.get(place.line, ())


def function_at(place: Frame) -> set[ast.stmt]:
    """All statements of the function that a place is in."""
    scope = scope_at(place)
    return set() if scope is None else statements_of(scope)


def loops_at(place: Frame) -> list[Loop]:
    """The loops of a function that a line stands in, outer ones first."""
    scope = scope_at(place)
    found = () if scope is None else loops_of(place.file, place.function, scope.first)
    return [each for each in found if each.holds(place.line)]


def calls_at(place: Frame) -> list[ast.Call]:
    """The calls that are written on a line."""
    return [call for statement in statements_at(place) for call in calls(statement)]


def read_at(place: Frame) -> set[str]:
    """The names that a line reads, as they are written."""
    return {name for statement in statements_at(place) for node in loads(statement) if (name := text(node))}
