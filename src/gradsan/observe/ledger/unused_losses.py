"""Losses that stand beside the one that a pass takes, and are taken by none: looked for in a line's first passes."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from gradsan.facts.course import LeftOut
from gradsan.facts.incident import Stack
from gradsan.facts.location import Frame
from gradsan.observe.graph import leaves_of, reach
from gradsan.observe.graph_snapshot import Look
from gradsan.observe.ledger.beside import Way, losses_beside
from gradsan.observe.ledger.noting import Uses, uses_of, uses_of_attribute, uses_of_item
from gradsan.observe.ledger.wording import statements_at
from gradsan.observe.log.lines import Lines
from gradsan.observe.notes import Begun
from gradsan.source.stores import stores

_LOOKED = frozenset({2, 3, 4})  # passes of a line
_RECENT = 16  # passes that may have taken a loss already


@dataclass(slots=True)
class _Sibling:
    """A loss beside that of a pass, by all the ways that lead to it."""

    ways: list[Way]
    asking: Frame  # the line that asks for the pass
    sibling: Stack
    made: Stack
    numbers: list[int] = field(default_factory=list)
    leaves: set[int] = field(default_factory=set)
    taken: bool = False
    others_taken: bool = True  # of the same dict, tuple or list, always


class Siblings:
    """Of a process."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, str], _Sibling] = {}
        self._recent: deque[Look] = deque(maxlen=_RECENT)

    def pass_begins(self, note: Begun, look: Look, frame: FrameType, lines: Lines | None) -> None:
        """Look for losses in the frame that asks for a pass."""
        for each in self._found.values():
            each.taken = each.taken or any(map(look.walks, each.numbers))
        self._recent.append(look)
        if note.step not in _LOOKED or lines is None or not note.accumulates:
            return
        asking: FrameType | None = frame
        while asking is not None and asking.f_code is not note.caller.calls[-1][0]:
            asking = asking.f_back
        if asking is not None:
            self._look(note, asking, lines)

    def facts(
        self, owned: set[int], reached: set[int], name_of: Callable[[int], str], files: Iterable[str]
    ) -> list[LeftOut]:
        """What no pass took. `owned` and `reached` are the leaves of optimizers, and those that passes reached."""
        found = []
        for each in self._found.values():
            if each.taken or not each.made:
                continue
            uses, first = [_uses(way, each, files) for way in each.ways], each.ways[0]
            found.append(
                LeftOut(
                    made=each.made,
                    name=first.name,
                    holder=first.holder,
                    called=_called(each.made[-1]) or first.name,
                    seen=len(each.numbers),
                    is_read=any(each.is_read for each in uses),
                    is_used=any(each.is_used for each in uses) and not each.others_taken,
                    alone=tuple(map(name_of, (each.leaves & owned) - reached)),
                    sibling=each.sibling,
                )
            )
        return found

    def _look(self, note: Begun, frame: FrameType, lines: Lines) -> None:
        snapshots: list[dict[str, Any]] = []
        try:
            left: dict[int, tuple[list[Way], Any]] = {}
            taken: set[str] = set()  # variables some of whose items a pass took
            for way, tensor in losses_beside(frame, snapshots):
                number = tensor.grad_fn._sequence_nr()  # noqa: SLF001 # creation_number() costs a call more
                if not note.since <= number < note.begin:
                    continue
                if any(each.walks(number) for each in self._recent):
                    taken.update([way.variable] if way.key is not None else [])
                else:
                    left.setdefault(number, ([], tensor.grad_fn))[0].append(way)
            for number, (ways, node) in left.items():
                self._note(note, number, ways, lines.stack_of(number) or ())
                known = self._found[_key(note, ways)]
                known.leaves.update(id(leaf) for leaf in leaves_of(reach([node])))
                known.others_taken &= all(way.key is not None and way.variable in taken for way in ways)
        finally:
            for snapshot in snapshots:
                snapshot.clear()

    def _note(self, note: Begun, number: int, ways: list[Way], made: Stack) -> None:
        code, line = note.caller.calls[-1]
        asking = Frame(code.co_filename, line, code.co_qualname)
        known = self._found.setdefault(_key(note, ways), _Sibling(ways, asking, note.caller.stack, made))
        known.numbers.append(number)


def _key(note: Begun, ways: list[Way]) -> tuple[str, int, str]:
    code, line = note.caller.calls[-1]
    return code.co_filename, line, ways[0].name


def _uses(way: Way, sibling: _Sibling, files: Iterable[str]) -> Uses:
    if way.attribute is not None:
        return uses_of_attribute(way.attribute, files)
    asking = sibling.asking
    # The innermost: whoever calls this function may be called as it is.
    calls = [each.line for each in sibling.made if (each.file, each.function) == (asking.file, asking.function)]
    made = calls[-1] if calls else 0
    if way.key is not None:
        return uses_of_item(way.variable, way.key, asking, made)
    return uses_of(way.variable, asking.file, asking.function, made or asking.line)


def _called(made: Frame) -> str | None:
    """What the line that made it calls it."""
    named = (store for each in statements_at(made) for store in stores(each))
    return next((each.attribute or each.name for each in named if each.attribute or each.name), None)
