"""Whose saved values were read after they had been freed: the op is found where the failing line looks for it."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradsan.lifecycle.location import Frame
from gradsan.observe.naming.selection import last_name
from gradsan.observe.naming.source import scope_of
from gradsan.observe.naming.statements import parts, text
from gradsan.observe.naming.subject import holder_of
from gradsan.report import Holder

_SAVED = ("_saved_", "_raw_saved_", "saved_tensors", "saved_variables")


@dataclass(frozen=True, slots=True)
class Read:
    """The variable through which saved values were read."""

    name: str
    holder: Holder


def read_through(stack: Sequence[Frame]) -> Read | None:
    """`out`, where a line of the user's says `out.grad_fn.saved_tensors`; `stack`: outermost first."""
    for frame in reversed(stack):
        scope = scope_of(frame.file, frame.function, frame.line)
        for statement in () if scope is None else scope.by_line.get(frame.line, ()):
            for node in _owners(statement):
                name = (text(node) or "").split(".grad_fn")[0].split(".next_functions")[0]
                if name:
                    return Read(name, holder_of(name, scope))
    return None


def _owners(statement: ast.stmt) -> Iterator[ast.expr]:
    """The ops, as expressions, whose saved values a statement reads."""
    for node in parts(statement):
        match node:
            case ast.Attribute(value=value, attr=name) if name.startswith(_SAVED):
                yield value
            case ast.Call(args=[value, _, *_]) if last_name(node) == "getattr":
                yield value
