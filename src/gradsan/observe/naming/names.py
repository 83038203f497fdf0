"""The name through which a consumed graph survived: from the live objects, and from the lines that ran."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Literal

from gradsan.facts.location import Frame
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.calling import asks_for_pass
from gradsan.observe.naming.dataflow import Flow, behind, flow, inline
from gradsan.observe.naming.demands import Binding
from gradsan.observe.naming.holders import Held
from gradsan.observe.naming.living_tensors import held
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.ownership import Ownership
from gradsan.report import Holder
from gradsan.source.scopes import scope_of
from gradsan.source.stores import buffers, loads, text

_TOO_DOUBTFUL = 6.0
_ITEMS = re.compile(r"(?:\[(?:\d+|\"[^\"]*\")\])+$")  # `["decoder.0"][1]` at the end of a name


@dataclass(frozen=True, slots=True)
class Carrier:
    """What carried a consumed graph into the later forward, as the user would write it."""

    name: str  # `h`, `self.hidden`, `states["h"]`, `losses[0]`
    holder: Holder
    file: str
    line: int  # where it enters the later forward, or where it was stored
    confidence: Literal["certain", "likely"]  # certain: also seen live, leading to the very op


@dataclass(frozen=True, slots=True)
class Crossing:
    """The edge over which a failing pass reaches what an earlier one consumed."""

    consumed: frozenset[int]  # creation numbers of all consumed ops that the failing pass reaches
    made_number: int  # the newest of them on this way
    enters_number: int | None  # the op of the later forward that builds on it; `None`: the failing root is consumed
    made: tuple[Frame, ...]  # the user's stack when the one was made, outermost first
    enters: tuple[Frame, ...]  # and when the other was; of the failing pass if there is none
    freed_number: int | None = None  # the op counter when the freeing pass ran: what survived was stored before it
    enters_op: str | None = None  # PyTorch's name of the op that builds on it


def carrier(
    crossing: Crossing,
    frames: Sequence[FrameType],
    lines: Lines | None,
    *,
    owns: Callable[[str], bool] | None = None,
) -> Carrier | None:
    """The name of what carried the graph; `None` where no name is good enough.

    `frames` are the live ones at the failure, the innermost first. Keeps none of them, and nothing found in them.
    """
    owns = owns or Ownership().owns
    live = held(crossing.consumed | {crossing.made_number}, crossing.made_number, frames, owns)
    followed = None if lines is None else _followed(crossing, frames, lines)
    if followed is not None:
        binding, where = followed
        is_seen = any(each.is_exact and _is_same(each, binding) for each in live)
        if not is_seen and binding.kind not in {"local", "argument"}:
            # What lasts should have been seen. It has another value by now; what the line reads beside it may not.
            here = [(each.file, each.line) for each in crossing.enters[-1:]]
            other = _seen(crossing, live, frames, owns)
            is_lasting = other is not None and other.holder not in {"local", "argument"}  # no target of a loop
            if other is not None and is_lasting and other.confidence == "certain" and (other.file, other.line) in here:
                return other
        return Carrier(
            binding.name, _holder(binding, live), where.call.code.file, where.line, "certain" if is_seen else "likely"
        )
    return _seen(crossing, live, frames, owns)


# From the lines that ran.


def _followed(crossing: Crossing, frames: Sequence[FrameType], lines: Lines) -> tuple[Binding, Execution] | None:
    enters = crossing.enters_number
    marks = [crossing.made_number] if enters is None else [crossing.made_number, enters]
    trace = Trace(lines, crossing.made_number, enters, tuple(marks))
    makers = trace.at.get(crossing.made_number, ())
    entering = trace.at.get(-1 if enters is None else enters) or _failing(trace, crossing, frames)
    found = flow(trace, makers, entering, crossing.enters_op)
    if found is None or found.cost > _TOO_DOUBTFUL:
        binding = behind(makers, entering) or inline(makers, entering)
    else:
        binding = _survivor(found, _boundary(trace, crossing, found))
    if binding is None:
        return None
    is_read_there = enters is not None and binding.read in entering
    return binding, (binding.read if is_read_there else binding.written)


def _failing(trace: Trace, crossing: Crossing, frames: Sequence[FrameType]) -> tuple[Execution, ...]:
    """What was running when the pass failed. The log may have gone on since."""
    stack = [(each.file, each.function, each.line) for each in reversed(crossing.enters)] or [
        (each.f_code.co_filename, each.f_code.co_qualname, each.f_lineno or 0) for each in frames
    ]
    found = (trace.last_at(*place) for place in stack)
    failing = next((execution for execution in found if execution is not None), None)
    if failing is not None and not _is_pass(failing):
        failing = trace.handed_back(failing) or failing
    return () if failing is None else failing.stack


def _boundary(trace: Trace, crossing: Crossing, found: Flow) -> int:
    """When the graph was freed, as an index of executions; without a note of it, the last backward before."""
    first, last = found.makers[-1].index, found.entering[-1].index
    number = crossing.freed_number
    for execution in reversed(trace.executions[first:last]):
        if number is not None and execution.number > number:
            continue
        if _is_pass(execution):
            return execution.index
        if number is not None and execution.number < number:
            return execution.index
    return last + 1  # both sides of the crossing were there before it was freed


def _is_pass(execution: Execution) -> bool:
    return any(map(asks_for_pass, execution.statements))


def _survivor(found: Flow, boundary: int) -> Binding | None:
    """The variable that was stored before the graph was freed and read after it."""
    spanning = [
        each for each in found.bindings if each.written.index < boundary <= each.read.index or _went_round(each, found)
    ]
    if spanning:
        nearest = _kept_since(found, spanning[0], boundary) or spanning[0]
        inside = (each for each in found.bindings if each.by_object and not nearest.by_object)
        return next((each for each in inside if _is_alive(each, found)), nearest)
    lasting = [each for each in found.bindings if each.kind != "argument"] or list(found.bindings)
    return max(lasting, key=lambda each: each.read.index - each.written.index, default=None)


def _kept_since(found: Flow, held: Binding, boundary: int) -> Binding | None:
    """What a variable was put into once the graph was freed, if it has another value itself by the next step."""
    nearer = found.bindings[: found.bindings.index(held)] if _is_rebound(held, found) else ()
    lasting = (each for each in nearer if each.kind not in {"local", "argument"})
    return next((each for each in lasting if each.written.index > boundary), None)


def _went_round(binding: Binding, found: Flow) -> bool:
    """Whether a loop carried it from one round to the next: it is stored further down than it is read."""
    written, read = binding.written, binding.read
    return (
        read in found.entering
        and written.call is read.call
        and written.index < read.index
        and written.line >= read.line
    )


def _is_alive(binding: Binding, found: Flow) -> bool:
    """Whether a variable still has that value where the graph enters again."""
    if binding.kind not in {"local", "argument"}:
        return True
    call = binding.written.call
    return any(each.call is call for each in found.entering) and not _is_rebound(binding, found)


def _is_rebound(binding: Binding, found: Flow) -> bool:
    """Whether a variable was given another value before the graph enters again."""
    until = found.entering[-1].index
    return any(
        store.replaces and not store.path and binding.written.index < execution.index < until
        for execution, store in binding.written.call.stores_to(binding.name)
    )


def _holder(binding: Binding, live: list[Held]) -> Holder:
    if binding.name.endswith("]"):
        return "item"
    is_buffer = any(each.holder == "buffer" and _is_same(each, binding) for each in live)
    if binding.kind == "attribute" and binding.name.rpartition(".")[2] in buffers(binding.written.call.code.file):
        is_buffer = True
    return "buffer" if is_buffer else binding.kind


def _is_same(each: Held, binding: Binding) -> bool:
    if binding.kind == "attribute":
        live = {each.name.rpartition(".")[2], _ITEMS.sub("", each.name).rpartition(".")[2]}  # it, or the list it is in
        return binding.name.rpartition(".")[2] in live and "." in each.name
    name, _, item = each.name.partition("[")
    if each.name != binding.name and not (item and name == binding.name):
        return False
    return each.holder in {"global", "closure"} or each.function == binding.written.call.code.function


# From the live objects.


def _seen(
    crossing: Crossing, live: list[Held], frames: Sequence[FrameType], owns: Callable[[str], bool]
) -> Carrier | None:
    """A live holder that the entering line reads, under the name it has there."""
    stack = list(reversed(crossing.enters)) or [
        Frame(each.f_code.co_filename, each.f_lineno or 0, each.f_code.co_qualname)
        for each in frames
        if owns(each.f_code.co_filename)
    ]
    for exact in (True, False):
        for frame in stack:
            for each in sorted(live, key=lambda one: -one.number):
                name = _read_as(each, frame) if each.is_exact is exact else None
                if name is not None:
                    sure: Literal["certain", "likely"] = "certain" if exact else "likely"
                    return Carrier(name, each.holder, frame.file, frame.line, sure)
    lasting = {
        (name, each.holder)
        for each in live
        if each.is_exact and each.holder not in {"local", "argument"} and (name := _container(each.name))
    }
    if len(lasting) == 1 and crossing.made:
        (name, holder), where = lasting.pop(), crossing.made[-1]
        return Carrier(name, holder, where.file, where.line, "likely")
    return None


def _container(name: str) -> str:
    """Without the position in a list, which is nothing that a user would write."""
    while name.endswith("]") and not name.endswith('"]'):
        name = name[: name.rindex("[")]
    return name


def _read_as(each: Held, frame: Frame) -> str | None:
    """What the statement at a frame's line calls a live holder, if it reads it."""
    scope = scope_of(frame.file, frame.function, frame.line)
    statements = () if scope is None else scope.by_line.get(frame.line, ())
    names = {text(node) for statement in statements for node in loads(statement)}
    is_visible = each.holder == "global" or each.function == frame.function
    is_own = scope is not None and scope.owner is not None and each.owner is not None and scope.owner in each.owner
    for name in dict.fromkeys((each.name, _container(each.name), _ITEMS.sub("", each.name))):
        attribute = f"self.{_ITEMS.sub('', name).rpartition('.')[2]}{''.join(_ITEMS.findall(name))}"
        if is_own and attribute in names:
            return attribute
        if is_visible and name in names:
            return name
    return None
