"""Losses that stand beside the one that a pass takes, and are taken by none: looked for in a line's first passes."""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from types import FrameType
from typing import TYPE_CHECKING, Any

from gradsan.facts.course import LeftOut
from gradsan.facts.incident import Stack
from gradsan.facts.location import Frame
from gradsan.observe.frame_variables import variables_of
from gradsan.observe.graph import adds_up, leaves_of, loss_chain, reach
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.losses_in_reach import LossPath, losses_beside
from gradsan.observe.ledger.noting import Uses, uses_of, uses_of_attribute, uses_of_item
from gradsan.observe.ledger.passlines import Asked
from gradsan.observe.ledger.wording import is_weighted_at, stored_at
from gradsan.observe.log.frames import frames_out

if TYPE_CHECKING:
    from gradsan.observe.graph_snapshot import Snapshot

_SEARCHED_PASSES = frozenset({2, 3, 4})  # passes of a line
_RECENT = 16  # passes that may have taken a loss already
_ALIKE = 256  # runs of a line, first and last ones, of which it is asked whether a pass took what they created


@dataclass(slots=True)
class _Sibling:
    """A loss beside that of a pass, by all the paths that lead to it."""

    paths: list[LossPath]
    asking: Frame  # the line that asks for the pass
    sibling: Stack
    created: Stack
    numbers: list[int] = field(default_factory=list)
    leaves: set[int] = field(default_factory=set)
    taken: bool = False
    others_taken: bool = True  # of the same dict, tuple or list, always
    is_total: bool = True  # the loss of the pass was a term of it, always
    terms: set[int] = field(default_factory=set)  # the ops behind it that are numbers, and that no pass had walked


class Siblings:
    """Of a process."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._found: dict[tuple[str, int, str], _Sibling] = {}
        self._recent: deque[Snapshot] = deque(maxlen=_RECENT)

    def pass_begins(self, asked: Asked) -> None:
        """Look for losses in the frame that asks for a pass whose graph was seen."""
        note, snapshot = asked.note, asked.note.seen
        if snapshot is None:
            return
        for each in self._found.values():
            each.taken = each.taken or any(map(snapshot.walks, each.numbers))
        self._recent.append(snapshot)
        if note.step in _SEARCHED_PASSES and note.accumulates:
            asking = (each for each in frames_out(asked.frame) if each.f_code is note.caller.calls[-1][0])
            for frame in islice(asking, 1):
                self._search(asked, frame)

    def facts(self, owned: set[int], reached: set[int], name_of: Callable[[int], str]) -> list[LeftOut]:
        """What no pass took. `owned` and `reached` are the leaves of optimizers, and those that passes reached."""
        found, files = [], self._run.files if self._found else set()
        for each in self._found.values():
            if each.taken or not each.created:
                continue
            uses, first = [_uses(path, each, files) for path in each.paths], each.paths[0]
            found.append(
                LeftOut(
                    made=each.created,
                    name=first.name,
                    holder=first.holder,
                    called=stored_at(each.created[-1]) or first.name,
                    seen=len(each.numbers),
                    is_read=any(each.is_read for each in uses),
                    is_used=any(each.is_used for each in uses) and not each.others_taken,
                    alone=tuple(map(name_of, (each.leaves & owned) - reached)),
                    sibling=each.sibling,
                    is_total=each.is_total and self._has_untaken_terms(each),
                    is_weighted=is_weighted_at(each.created[-1]) and self._has_untaken_terms(each),
                )
            )
        return found

    def _has_untaken_terms(self, sibling: _Sibling) -> bool:
        """Whether no pass at all walks what is created as its other terms are: not late, nor in turns."""
        notes = self._run.process.passes.all()
        begins = [each.begin for each in notes]
        alike = [number for each in sibling.terms for number in self._created_alike(each)]
        following = ((each, bisect_right(begins, each)) for each in alike)
        return bool(alike) and not any(
            note.walks(each) for each, first in following for note in notes[first : first + _RECENT]
        )

    def _created_alike(self, number: int) -> list[int]:
        """The ops that the same line created in the same place among its others, whenever it ran: the ends of these."""
        process = self._run.process
        stack = process.stack_of(number)
        spans = process.lines.created_by(stack[-1].file, stack[-1].line) if stack else ()
        own = [(start, stop - start) for start, stop in spans if start <= number < stop]
        found = [start + number - begin for begin, size in own for start, stop in spans if stop - start == size]
        return found if len(found) <= 2 * _ALIKE else found[:_ALIKE] + found[-_ALIKE:]

    def _search(self, asked: Asked, frame: FrameType) -> None:
        note = asked.note
        left: dict[int, tuple[list[LossPath], Any]] = {}
        taken: set[str] = set()  # variables some of whose items a pass took
        with variables_of([frame]) as (variables,):
            for path, tensor in losses_beside(variables):
                number = tensor.grad_fn._sequence_nr()  # noqa: SLF001 # creation_number() costs a call more
                if not note.since <= number < note.begin:
                    continue
                if any(each.walks(number) for each in self._recent):
                    taken.update([path.variable] if path.keys else [])
                else:
                    left.setdefault(number, ([], tensor.grad_fn))[0].append(path)
        for number, (paths, node) in left.items():
            self._note(asked, number, paths, self._run.process.stack_of(number))
            known = self._found[_key(asked, paths)]
            known.leaves.update(id(leaf) for leaf in leaves_of(reach([node])))
            terms = [each._sequence_nr() for each in loss_chain([node]) if not adds_up(each)]  # noqa: SLF001 # as above
            known.is_total &= any(map(self._recent[-1].walks, terms))
            known.terms.update(each for each in terms if not any(one.walks(each) for one in self._recent))
            known.others_taken &= all(path.keys and path.variable in taken for path in paths)

    def _note(self, asked: Asked, number: int, paths: list[LossPath], created: Stack) -> None:
        stack = asked.note.caller.stack
        known = self._found.setdefault(_key(asked, paths), _Sibling(paths, stack[-1], stack, created))
        known.numbers.append(number)


def _key(asked: Asked, paths: list[LossPath]) -> tuple[str, int, str]:
    asking = asked.note.caller.stack[-1]
    return asking.file, asking.line, paths[0].name


def _uses(path: LossPath, sibling: _Sibling, files: Iterable[str]) -> Uses:
    if path.attribute is not None:
        return uses_of_attribute(path.attribute, files)
    asking = sibling.asking
    # The innermost: whoever calls this function may be called as it is.
    calls = [each.line for each in sibling.created if (each.file, each.function) == (asking.file, asking.function)]
    created = calls[-1] if calls else 0
    if path.keys:
        return uses_of_item(path.variable, path.keys, asking, created)
    return uses_of(path.variable, asking.file, asking.function, created or asking.line)
