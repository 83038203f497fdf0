"""The name of an attribute that the program computes: found among the live objects, by the line that creates it."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

from gradsan.facts.location import Frame
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.demands import Binding
from gradsan.observe.naming.holders import Search
from gradsan.observe.naming.line_names import Crossing
from gradsan.observe.naming.living_tensors import op_of
from gradsan.observe.naming.spelling import last_part
from gradsan.observe.naming.trace import Execution
from gradsan.observe.private import creation_number
from gradsan.source.keyed_attributes import COMPUTED, as_attribute
from gradsan.source.stores import parts


def concrete(
    binding: Binding,
    crossing: Crossing,
    frames: Sequence[FrameType],
    lines: Lines,
    owns: Callable[[str], bool],
) -> Binding:
    """The binding under the name that it has in the live program; as it is written where that cannot be told.

    The line that stored it stores as many attributes again in the present iteration, in the same order: counted from
    the last one, the attribute is the one that has the same place.
    """
    if COMPUTED not in binding.name:
        return binding
    stack = lines.stack_of(crossing.created_number)
    alike = _Alike(stack[-1], lines, owns).run(frames) if stack else []
    attributes = {last_part(each.name): each.number for each in alike if each.holder in ("attribute", "buffer")}
    newest_first = sorted(attributes, key=lambda each: -attributes[each])
    after = _stored_after(binding.written, crossing.freed_number)
    if after < len(newest_first):
        return replace(binding, name=binding.name.replace(COMPUTED, newest_first[after]))
    return replace(binding, name=_written(binding.read) or binding.name.rpartition(".")[0])


def _stored_after(written: Execution, freed: int | None) -> int:
    """How often the line of an execution ran again in its call before the graph was freed."""
    later = written.call.executions[written.position + 1 :]
    return sum(each.line == written.line and (freed is None or each.number < freed) for each in later)


def _written(read: Execution) -> str | None:
    keyed = (each for statement in read.statements for each in parts(statement) if isinstance(each, ast.expr))
    return next((ast.unparse(each) for each in keyed if (found := as_attribute(each)) and found.attr == COMPUTED), None)


class _Alike(Search):
    """Tensors that the same line has created, the newest best."""

    opens_libraries = True

    def __init__(self, place: Frame, lines: Lines, owns: Callable[[str], bool]) -> None:
        super().__init__(owns)
        self._place = place
        self._lines = lines

    def _judge(self, tensor: Any) -> tuple[int, bool] | None:  # noqa: ANN401
        try:
            op = op_of(tensor)
        except (RuntimeError, NotImplementedError):
            return None
        number = None if op is None else creation_number(op)
        stack = None if number is None else self._lines.stack_of(number)
        return (number, False) if number is not None and stack and stack[-1] == self._place else None
