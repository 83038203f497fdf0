"""The name through which a freed graph survived: five questions, in this order, until one is answered.

1. On the path that the value took, which variable was stored before the graph was freed, and read after it?
2. Which object did one statement call both times, so that the second call gave back what the first had created?
3. What does one statement call and hand on at once, so that no variable ever held it?
4. Which live holder of the very op does a line read on which the graph enters again?
5. Which is the only live holder of it that outlasts a call?

The first three are asked of the lines that ran, the others of the live objects.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Literal

from gradsan.facts.culprit import Holder
from gradsan.facts.location import Frame
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.dataflow import flow
from gradsan.observe.naming.demands import Binding
from gradsan.observe.naming.holders import Held
from gradsan.observe.naming.living_tensors import held
from gradsan.observe.naming.survivors import boundary, survivor
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.naming.unheld import called_twice, handed_on
from gradsan.observe.ownership import Ownership
from gradsan.source.scopes import scope_of
from gradsan.source.stores import buffers, loads, stores, text

_PASSING = frozenset({"local", "argument"})  # holders that are gone when their call ends
_ITEMS = re.compile(r"(?:\[(?:\d+|\"[^\"]*\")\])+$")  # `["decoder.0"][1]` at the end of a name


@dataclass(frozen=True, slots=True)
class Carrier:
    """What carried a freed graph into the later forward, as the user would write it."""

    name: str  # `h`, `self.hidden`, `states["h"]`, `losses[0]`
    holder: Holder
    confidence: Literal["certain", "likely"]  # certain: also seen live, leading to the very op


@dataclass(frozen=True, slots=True)
class Crossing:
    """The edge over which a failing pass reaches what an earlier one freed."""

    made_number: int  # the newest freed op on this path
    enters_number: int | None  # the op of the later forward that builds on it; `None`: the failing root is freed
    made: tuple[Frame, ...]  # the user's stack when the one was created, outermost first
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
    live = held(crossing.made_number, frames, owns)
    stack = list(reversed(crossing.enters)) or [
        Frame(each.f_code.co_filename, each.f_lineno or 0, each.f_code.co_qualname)
        for each in frames
        if owns(each.f_code.co_filename)
    ]
    binding = None if lines is None else _of_lines(crossing, stack, lines)
    if binding is not None:
        return _confirmed(binding, live, stack)
    return _read_live(live, stack) or _only_lasting(live)


# From the lines that ran.


def _of_lines(crossing: Crossing, stack: Sequence[Frame], lines: Lines) -> Binding | None:
    """Questions 1 to 3."""
    made, enters = crossing.made_number, crossing.enters_number
    trace = Trace(lines, made, enters, (made,) if enters is None else (made, enters))
    makers = trace.at.get(made, ())
    entering = trace.at.get(-1 if enters is None else enters) or _failing(trace, stack)
    if not makers or not entering:
        return None
    path = flow(trace, makers, entering, crossing.enters_op)
    if path is None:
        return called_twice(makers, entering) or handed_on(makers, entering)
    return survivor(path, boundary(trace, path, crossing.freed_number))


def _failing(trace: Trace, stack: Sequence[Frame]) -> tuple[Execution, ...]:
    """What was running when the pass failed. The log may have gone on since."""
    found = (trace.last_at(each.file, each.function, each.line) for each in stack)
    return next((execution.stack for execution in found if execution is not None), ())


def _confirmed(binding: Binding, live: list[Held], stack: Sequence[Frame]) -> Carrier:
    """The variable; certain if it is also seen live.

    What lasts should have been seen. If it was not, it has another value by now, and what the line reads beside it may
    have the old one.
    """
    same = [each for each in live if _is_same(each, binding)]
    stored = None if same else _stored_beside(binding, live)
    if stored is not None:
        return Carrier(stored.name, stored.holder, "certain")
    lasting = [each for each in live if each.holder not in _PASSING]
    here = [each for each in stack if (each.file, each.line) == (stack[0].file, stack[0].line)]  # a comprehension's too
    beside = None if same or binding.kind in _PASSING else _read_live(lasting, here)
    return beside or Carrier(binding.name, _holder(binding, same), "certain" if same else "likely")


def _stored_beside(binding: Binding, live: list[Held]) -> Held | None:
    """Another variable that the same statement stores, and that is seen to lead to the op: `a, b = f(x), g(x)`."""
    written = binding.written
    names = {store.name for each in written.statements for store in stores(each) if store.attribute is None}
    here = [each for each in live if each.function == written.call.code.function]
    return next((each for each in here if each.name in names), None)


def _holder(binding: Binding, same: list[Held]) -> Holder:
    if binding.name.endswith("]"):
        return "item"
    is_registered = binding.name.rpartition(".")[2] in buffers(binding.written.call.code.file)
    is_buffer = any(each.holder == "buffer" for each in same) or (binding.kind == "attribute" and is_registered)
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


def _read_live(live: list[Held], stack: Sequence[Frame]) -> Carrier | None:
    """Question 4: under the name that it has there."""
    for frame in stack:
        for each in live:
            name = _read_as(each, frame)
            if name is not None:
                return Carrier(name, each.holder, "certain")
    return None


def _only_lasting(live: list[Held]) -> Carrier | None:
    """Question 5."""
    lasting = {(_container(each.name), each.holder) for each in live if each.holder not in _PASSING}
    return Carrier(*lasting.pop(), "likely") if len(lasting) == 1 else None


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
    is_own = scope is not None and scope.owner is not None and each.owner is not None and scope.owner in each.owner
    is_visible = each.holder == "global" or each.function == frame.function
    candidates = _candidates(each, is_own=is_own, is_visible=is_visible)
    return next((name for name in candidates if name in names), None)


def _candidates(each: Held, *, is_own: bool, is_visible: bool) -> Iterator[str]:
    """What it may be called there: `self.…` in a method of its owner, its own name where that is visible."""
    for name in dict.fromkeys((each.name, _container(each.name), _ITEMS.sub("", each.name))):
        if is_own:
            yield f"self.{_ITEMS.sub('', name).rpartition('.')[2]}{''.join(_ITEMS.findall(name))}"
        if is_visible:
            yield name
