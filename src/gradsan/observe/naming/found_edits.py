"""Which edit changed a saved value: from the lines that ran since it was saved, the graph, and the live tensors."""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from types import FrameType

from gradsan.facts.incident import Edited, OpFact, Stack, Suspect
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.contexts import unrecorded
from gradsan.observe.naming.dataflow import doubt_of
from gradsan.observe.naming.edits import InPlace, edits
from gradsan.observe.naming.holders import Held
from gradsan.observe.naming.living_tensors import edited_as_often, numbers_in
from gradsan.observe.naming.spelling import is_called_like
from gradsan.observe.naming.stored import Stores
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.user_statements import read_at
from gradsan.source.stores import spelled, text

_SEARCHED = 400  # edits, the latest first
_TOO_DOUBTFUL = 3.0


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit that changed a saved value."""

    name: str | None  # what was edited, as it is written there
    at: Execution
    line: int
    saver: OpFact | None
    is_proved: bool

    @property
    def frames(self) -> Stack:
        """The user's calls when it was created."""
        return self.at.frames(self.line)


def edit_behind(
    incident: Edited, frames: Sequence[FrameType], lines: Lines, owns: Callable[[str], bool]
) -> Edit | None:
    """The edit; None where none is likely enough. `frames` are the live ones."""
    if incident.value is None or not incident.suspects:
        return None
    live = edited_as_often(incident.value, frames, owns)
    return _Inquiry(incident, lines, live, numbers_in(frames)).run()


class _Inquiry:
    def __init__(self, incident: Edited, lines: Lines, live: list[Held], counted: set[tuple[str, str]]) -> None:
        self._suspects = incident.suspects
        self._live = live
        self._counted = counted
        ops = (op for each in incident.suspects for op in (each.saver, each.source, each.edit, *each.takers))
        numbers = sorted({op.number for op in ops if op is not None and op.number is not None})
        self._trace = Trace(lines, numbers[0] if numbers else 0, None, tuple(numbers))
        self._stores = Stores(self._trace)
        self._written = list(islice(self._edits(), _SEARCHED))

    def run(self) -> Edit | None:
        found = (find() for find in (self._recorded, self._followed, self._seen, self._only))
        return next((each for each in found if each is not None), None)

    def _edits(self) -> Iterator[tuple[Execution, InPlace]]:
        """What was edited, the latest first."""
        for execution in reversed(self._trace.executions):
            for statement in execution.statements:
                yield from ((execution, each) for each in edits(statement, execution.call.code.file))

    def _running(self, op: OpFact | None) -> tuple[Execution, ...]:
        """The statement that created an op; none where that is not known."""
        return () if op is None or op.number is None else self._trace.at.get(op.number, ())[-1:]

    def _recorded(self) -> Edit | None:
        """The graph has the op that the edit created: its line is where it was edited."""
        recorded = ((suspect, each) for suspect in self._suspects for each in self._running(suspect.edit))
        found = (
            Edit(text(each.target), execution, each.line, suspect.saver, is_proved=True)
            for suspect, at in recorded
            for execution, each in self._written
            if execution is at
        )
        return next(found, None)

    def _followed(self) -> Edit | None:
        """What was edited is, by the lines that ran, what the suspected op had saved."""
        found = (self._followed_from(each) for each in self._suspects)
        return next((each for each in found if each is not None), None)

    def _followed_from(self, suspect: Suspect) -> Edit | None:
        source, first = suspect.source, dict[ast.expr, tuple[Execution, InPlace]]()
        creators = () if source is None or source.number is None else self._trace.at.get(source.number, ())
        for execution, each in self._after(suspect):
            first.setdefault(each.target, (execution, each))
        doubts = [(doubt_of(self._stores, creators, each.target, at), at, each) for at, each in first.values()]
        likely = [each for each in doubts if each[0] is not None and each[0] <= _TOO_DOUBTFUL]
        if not likely:
            return None
        _, execution, edit = min(likely, key=lambda each: each[0] or 0.0)
        seen = self._is_live(execution, edit) is not None or self._created_an_op_of_it(execution, suspect)
        return Edit(text(edit.target), execution, edit.line, suspect.saver, is_proved=seen)

    def _created_an_op_of_it(self, execution: Execution, suspect: Suspect) -> bool:
        """Whether the edit was recorded: the graph has an op, created then, that takes just what was saved."""
        return any(execution in self._running(each) for each in suspect.takers)

    def _seen(self) -> Edit | None:
        """What was edited has been edited as often as PyTorch says, and has the same size."""
        live = ((at, each, self._is_live(at, each)) for at, each in self._written)
        for execution, each, held in (one for one in live if one[2] is not None):
            saver = self._reader(execution, each)
            if saver is not None or (held is not None and held.is_exact):  # of the same size only, it may be another
                return Edit(text(each.target), execution, each.line, saver, is_proved=saver is not None)
        return None

    def _only(self) -> Edit | None:
        """There is just one thing that it can have been."""
        plain = [(at, each) for at, each in self._written if each.is_plain]
        plain = plain or [(at, each) for at, each in self._tensors() if unrecorded(at) is not None]
        if len({ast.dump(each.target) for _, each in plain}) != 1:
            return None
        execution, each = plain[0]
        return Edit(text(each.target), execution, each.line, self._reader(execution, each), is_proved=False)

    def _tensors(self) -> Iterator[tuple[Execution, InPlace]]:
        """What was edited, but for numbers."""
        for at, each in self._written:
            if (at.call.code.function, spelled(each.target)) not in self._counted:
                yield at, each

    def _after(self, suspect: Suspect) -> Iterable[tuple[Execution, InPlace]]:
        """The edits since an op was created, the first of them first."""
        saved = suspect.saver.number or 0
        return [(execution, each) for execution, each in reversed(self._written) if execution.number > saved]

    def _is_live(self, execution: Execution, each: InPlace) -> Held | None:
        name, function = spelled(each.target), execution.call.code.function
        alike = (held for held in self._live if is_called_like(held.name, name))
        return next(
            (held for held in alike if "." in name or held.holder == "global" or held.function == function), None
        )

    def _reader(self, execution: Execution, each: InPlace) -> OpFact | None:
        """The newest op before the edit whose line, or whose caller's line, reads what was edited; else a leaf's."""
        name = spelled(each.target)
        earlier = [one for one in self._suspects if (one.saver.number or 0) < execution.number]
        reading = [one for one in earlier if any(map(partial(is_called_like, name), _read_by(one.saver)))]
        leafs = [one for one in earlier if one.is_leafs]
        return next((one.saver for one in (*reading, *leafs)), None)


def _read_by(op: OpFact) -> set[str]:
    """The names that the lines of the calls read which created an op."""
    return set[str]().union(*map(read_at, op.stack))
