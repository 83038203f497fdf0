"""Losses that stand beside the one that a pass takes, and are taken by none: looked for in a line's first passes."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from gradsan.lifecycle.course import LeftOut
from gradsan.lifecycle.incident import Stack
from gradsan.observe.graph import leaves_of, reach
from gradsan.observe.ledger.noting import uses_of
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.holders import variables
from gradsan.observe.passes import Begun, Look

_LOOKED = frozenset({2, 3, 4})  # passes of a line
_RECENT = 16  # passes that may have taken a loss already


@dataclass(slots=True)
class _Sibling:
    """A variable beside the loss of a pass."""

    sibling: Stack
    made: Stack
    numbers: list[int] = field(default_factory=list)
    leaves: set[int] = field(default_factory=set)
    taken: bool = False


class Siblings:
    """Of a process."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, str], _Sibling] = {}
        self._recent: deque[Look] = deque(maxlen=_RECENT)

    def pass_begins(self, note: Begun, look: Look, frame: FrameType, since: int, lines: Lines | None) -> None:
        """Look for losses in the frame that asks for a pass; `since`: the op counter at its line's pass before."""
        for each in self._found.values():
            each.taken = each.taken or any(map(look.walks, each.numbers))
        self._recent.append(look)
        if note.step not in _LOOKED or lines is None or not note.accumulates:
            return
        asking: FrameType | None = frame
        while asking is not None and asking.f_code is not note.caller.calls[-1][0]:
            asking = asking.f_back
        if asking is not None:
            self._look(note, asking, since, lines)

    def facts(self, owned: set[int], reached: set[int], name_of: Callable[[int], str]) -> list[LeftOut]:
        """What no pass took. `owned` and `reached` are the leaves of optimizers, and those that passes reached."""
        found = []
        for (_, _, name), each in self._found.items():
            if each.taken or not each.made:
                continue
            where = each.made[-1]
            uses = uses_of(name, where.file, where.function, where.line)
            found.append(
                LeftOut(
                    made=each.made,
                    name=name,
                    seen=len(each.numbers),
                    is_read=uses.is_read,
                    is_used=uses.is_used,
                    alone=tuple(map(name_of, (each.leaves & owned) - reached)),
                    sibling=each.sibling,
                )
            )
        return found

    def _look(self, note: Begun, frame: FrameType, since: int, lines: Lines) -> None:
        import torch

        snapshots: list[dict[str, Any]] = []
        try:
            for name, value in variables(frame, snapshots):
                if type(value) is not torch.Tensor or value._base is not None or value.numel() != 1:  # noqa: SLF001 # a view's history may be made by looking at it
                    continue
                node = value.grad_fn
                number = -1 if node is None else node._sequence_nr()  # noqa: SLF001 # creation_number() costs a call more
                if not since <= number < note.begin or any(each.walks(number) for each in self._recent):
                    continue
                key = (frame.f_code.co_filename, note.caller.calls[-1][1], name)
                known = self._found.setdefault(key, _Sibling(note.caller.stack, lines.stack_of(number) or ()))
                known.numbers.append(number)
                known.leaves.update(id(leaf) for leaf in leaves_of(reach([node])))
        finally:
            for snapshot in snapshots:
                snapshot.clear()
