"""What live objects show of a name: which of them holds the very op, and what a line of the user's calls it."""

import re
from collections.abc import Iterator, Sequence

from gradsan.facts.culprit import Culprit, Holder, Named
from gradsan.facts.location import Frame
from gradsan.observe.naming.demands import Binding
from gradsan.observe.naming.holders import Held
from gradsan.observe.naming.spelling import last_part
from gradsan.observe.user_statements import read_at, scope_at
from gradsan.source.stores import buffers

_PASSING = frozenset({"local", "argument"})  # holders that are gone when their call ends
_ITEMS = re.compile(r"(?:\[(?:\d+|\"[^\"]*\")\])+$")  # `["decoder.0"][1]` at the end of a name
_POSITIONS = re.compile(r"(?:\[[^]\"]*\])+$")  # `[1][2]`: nothing that a user would write


def read_live(live: list[Held], stack: Sequence[Frame]) -> Named | None:
    """The live holder that a line of these calls reads, under the name that it has there."""
    named = ((_read_as(each, frame), each.holder) for frame in stack for each in live)
    return next((Named(Culprit(name, holder), certain=True) for name, holder in named if name), None)


def only_lasting(live: list[Held]) -> Named | None:
    """The only live holder that outlasts a call."""
    found = {Culprit(_POSITIONS.sub("", each.name), each.holder) for each in lasting(live)}
    return Named(found.pop(), certain=False) if len(found) == 1 else None


def lasting(live: list[Held]) -> list[Held]:
    """The holders that are there when their call has ended."""
    return [each for each in live if each.holder not in _PASSING]


def confirmed(binding: Binding, live: list[Held], stack: Sequence[Frame]) -> Named:
    """The variable through which a value came, by the lines that ran; certain if it is also seen live.

    What lasts should have been seen. If it was not, it has another value by now, and what the line reads beside it may
    have the old one.
    """
    same = [each for each in live if _is_same(each, binding)]
    if same:
        return Named(Culprit(binding.name, _holder(binding, same)), certain=True)
    return _beside(binding, live, stack) or Named(Culprit(binding.name, _holder(binding, same)), certain=False)


def _beside(binding: Binding, live: list[Held], stack: Sequence[Frame]) -> Named | None:
    """Another variable that the same statement stores, as in `a, b = f(x), g(x)`, or that the line reads."""
    written = binding.written
    names = {store.name for store in written.stores() if store.attribute is None}
    stored = [each for each in live if each.function == written.call.code.function and each.name in names]
    if stored:
        return Named(Culprit(stored[0].name, stored[0].holder), certain=True)
    here = [each for each in stack if (each.file, each.line) == (stack[0].file, stack[0].line)]  # a comprehension's too
    return None if binding.kind in _PASSING else read_live(lasting(live), here)


def _holder(binding: Binding, same: list[Held]) -> Holder:
    if binding.name.endswith("]"):
        return "item"
    is_registered = last_part(binding.name) in buffers(binding.written.call.code.file)
    is_buffer = any(each.holder == "buffer" for each in same) or (binding.kind == "attribute" and is_registered)
    return "buffer" if is_buffer else binding.kind


def _is_same(each: Held, binding: Binding) -> bool:
    if binding.kind == "attribute":
        live = {last_part(each.name), last_part(_ITEMS.sub("", each.name))}  # it, or the list it is in
        return "." in each.name and last_part(binding.name) in live
    if binding.name not in {each.name, each.name.partition("[")[0]}:
        return False
    return each.holder in {"global", "closure"} or each.function == binding.written.call.code.function


def _read_as(each: Held, frame: Frame) -> str | None:
    """What the statement at a frame's line calls a live holder, if it reads it."""
    read = read_at(frame)
    return next((name for name in _candidates(each, frame) if name in read), None)


def _candidates(each: Held, frame: Frame) -> Iterator[str]:
    """What it may be called there: `self.…` in a method of its owner, its own name where that is visible."""
    scope = scope_at(frame)
    owner = scope.owner if scope is not None else None
    is_own = owner is not None and owner in (each.owner or "")
    is_visible = each.holder == "global" or each.function == frame.function
    for name in dict.fromkeys((each.name, _POSITIONS.sub("", each.name), _ITEMS.sub("", each.name))):
        if is_own:
            yield f"self.{last_part(_ITEMS.sub('', name))}{''.join(_ITEMS.findall(name))}"
        if is_visible:
            yield name
