"""Whose saved values were read after they had been freed: the op is found where the failing line looks for it."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType

from gradsan.facts.culprit import Holder
from gradsan.observe.naming.live_values import is_op, value_of
from gradsan.observe.naming.subject import holder_of
from gradsan.observe.private import creation_number
from gradsan.source.names import called_name
from gradsan.source.scopes import Scope, scope_of
from gradsan.source.stores import loads, parts, spelled

_SAVED = ("_saved_", "_raw_saved_", "saved_tensors", "saved_variables")


@dataclass(frozen=True, slots=True)
class Read:
    """The variable through which saved values were read."""

    name: str
    holder: Holder
    number: int | None  # the op's creation number; None: it could not be looked at


def read_through(calls: Sequence[tuple[FrameType, int]]) -> Read | None:
    """`out`, where a line of the user's says `out.grad_fn.saved_tensors`.

    `calls` are the user's, outermost first, each with the line that it had come to: a frame goes on when an error
    is caught.
    """
    found = (_read(node, frame, line) for frame, line in reversed(calls) for node in _candidates(frame, line))
    return next((each for each in found if each is not None), None)


def _scope(frame: FrameType, line: int) -> Scope | None:
    scope = scope_of(frame.f_code.co_filename, frame.f_code.co_qualname, line)
    while scope is not None and scope.is_transparent:  # a comprehension of 3.11 is a call
        scope = scope.outer
    return scope


def _candidates(frame: FrameType, line: int) -> Iterator[tuple[ast.expr, bool]]:
    """What a line reads, with whether it is an op that saved values are read of."""
    scope = _scope(frame, line)
    for statement in () if scope is None else scope.by_line.get(line, ()):
        owners = list(_owners(statement))
        yield from ((node, node in owners) for node in (*owners, *loads(statement)))


def _read(candidate: tuple[ast.expr, bool], frame: FrameType, line: int) -> Read | None:
    node, is_owner = candidate
    values = (value_of(each, frame) for each in (node, ast.Attribute(value=node, attr="grad_fn")))
    op = next(filter(is_op, values), None)
    name = spelled(node).split(".grad_fn")[0].split(".next_functions")[0]
    if not name or (op is None and not is_owner):
        return None
    return Read(name, holder_of(name, _scope(frame, line)), None if op is None else creation_number(op))


def _owners(statement: ast.stmt) -> Iterator[ast.expr]:
    """The ops, as expressions, whose saved values a statement reads."""
    for node in parts(statement):
        match node:
            case ast.Attribute(value=value, attr=name) if name.startswith(_SAVED):
                yield value
            case ast.Call(args=[value, _, *_]) if called_name(node) == "getattr":
                yield value
