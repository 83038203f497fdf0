"""Which edit changed a saved value: from the lines that ran since it was saved, the graph, and the live tensors."""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType

from gradsan.facts.incident import Edited, OpFact, Suspect
from gradsan.facts.location import Frame
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.contexts import unrecorded
from gradsan.observe.naming.dataflow import doubt_of
from gradsan.observe.naming.edits import InPlace, edits
from gradsan.observe.naming.holders import Held
from gradsan.observe.naming.living_tensors import edited_as_often
from gradsan.observe.naming.stored import Stores
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.source.scopes import scope_of
from gradsan.source.stores import loads, text

_LOOKED_AT = 400  # edits, the latest first
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
    def frames(self) -> tuple[Frame, ...]:
        """The user's calls when it was made."""
        return self.at.frames(self.line)


def edit_behind(
    incident: Edited, frames: Sequence[FrameType], lines: Lines, owns: Callable[[str], bool]
) -> Edit | None:
    """The edit; None where none is likely enough. `frames` are the live ones."""
    if incident.value is None or not incident.suspects:
        return None
    live = edited_as_often(incident.value, frames, owns)
    return _Inquiry(incident, lines, live).run()


class _Inquiry:
    def __init__(self, incident: Edited, lines: Lines, live: list[Held]) -> None:
        self._suspects = incident.suspects
        self._live = live
        facts = [
            fact for each in incident.suspects for fact in (each.saver, each.source, each.edit, *each.takers) if fact
        ]
        numbers = sorted({fact.number for fact in facts if fact.number is not None})
        self._trace = Trace(lines, numbers[0] if numbers else 0, None, tuple(numbers))
        self._stores = Stores(self._trace)
        self._written = list(self._edits())

    def run(self) -> Edit | None:
        for find in (self._recorded, self._followed, self._seen, self._only):
            found = find()
            if found is not None:
                return found
        return None

    def _edits(self) -> Iterator[tuple[Execution, InPlace]]:
        """What was edited, the latest first."""
        looked_at = 0
        for execution in reversed(self._trace.executions):
            for statement in execution.statements:
                for each in edits(statement, execution.call.code.file):
                    yield execution, each
                    looked_at += 1
            if looked_at >= _LOOKED_AT:
                return

    def _recorded(self) -> Edit | None:
        """The graph has the op that the edit made: its line is where it was edited."""
        for suspect in self._suspects:
            if suspect.edit is None or suspect.edit.number is None:
                continue
            running = self._trace.at.get(suspect.edit.number, ())
            for execution, each in self._written:
                if running and execution is running[-1]:
                    return Edit(text(each.target), execution, each.line, suspect.saver, is_proved=True)
        return None

    def _followed(self) -> Edit | None:
        """What was edited is, by the lines that ran, what the suspected op had saved."""
        best: tuple[float, int, Edit] | None = None
        tried: set[tuple[ast.expr, int]] = set()
        for rank, suspect in enumerate(self._suspects):
            source = suspect.source
            makers = () if source is None or source.number is None else self._trace.at.get(source.number, ())
            for execution, each in self._after(suspect) if makers else ():
                key = (each.target, rank)
                doubt = None if key in tried else doubt_of(self._stores, makers, each.target, execution)
                tried.add(key)
                if doubt is None or doubt > _TOO_DOUBTFUL or (best is not None and best[:2] <= (doubt, rank)):
                    continue
                seen = self._is_live(execution, each) is not None or self._made_an_op_of_it(execution, suspect)
                best = (doubt, rank, Edit(text(each.target), execution, each.line, suspect.saver, is_proved=seen))
            if best is not None:
                break
        return None if best is None else best[2]

    def _made_an_op_of_it(self, execution: Execution, suspect: Suspect) -> bool:
        """Whether the edit was recorded: the graph has an op, made then, that takes just what was saved."""
        stacks = (self._trace.at.get(each.number, ()) for each in suspect.takers if each.number is not None)
        return any(stack and stack[-1] is execution for stack in stacks)

    def _seen(self) -> Edit | None:
        """What was edited has been edited as often as PyTorch says, and has the same size."""
        for execution, each in self._written:
            held = self._is_live(execution, each)
            if held is not None:
                saver = self._reader(execution, each)
                if saver is not None or held.is_exact:  # of the same size only, it may be another
                    return Edit(text(each.target), execution, each.line, saver, is_proved=saver is not None)
        return None

    def _only(self) -> Edit | None:
        """There is just one thing that it can have been."""
        plain = [(at, each) for at, each in self._written if each.is_plain]
        plain = plain or [(at, each) for at, each in self._written if unrecorded(at) is not None]
        if len({ast.dump(each.target) for _, each in plain}) != 1:
            return None
        execution, each = plain[0]
        return Edit(text(each.target), execution, each.line, self._reader(execution, each), is_proved=False)

    def _after(self, suspect: Suspect) -> Iterable[tuple[Execution, InPlace]]:
        """The edits since an op was made, the first of them first."""
        saved = suspect.saver.number or 0
        return [(execution, each) for execution, each in reversed(self._written) if execution.number > saved]

    def _is_live(self, execution: Execution, each: InPlace) -> Held | None:
        name, code = text(each.target), execution.call.code
        if name is None:
            return None
        for held in self._live:
            if "." in name:
                is_same = "." in held.name and held.name.rpartition(".")[2] == name.rpartition(".")[2]
            else:
                is_same = held.name == name and (held.holder == "global" or held.function == code.function)
            if is_same:
                return held
        return None

    def _reader(self, execution: Execution, each: InPlace) -> OpFact | None:
        """The newest op before the edit whose line, or whose caller's line, reads what was edited; else a leaf's."""
        name = text(each.target)
        attribute = name.rpartition(".")[2] if name is not None and "." in name else None
        earlier = [one for one in self._suspects if (one.saver.number or 0) < execution.number]
        for suspect in earlier:
            reads = (read for frame in suspect.saver.stack for read in _reads(frame))
            if any(_is_name(read, name, attribute) for read in reads):
                return suspect.saver
        return next((suspect.saver for suspect in earlier if suspect.is_leafs), None)


def _reads(frame: Frame) -> Iterator[str]:
    scope = scope_of(frame.file, frame.function, frame.line)
    for statement in () if scope is None else scope.by_line.get(frame.line, ()):
        yield from (name for node in loads(statement) if (name := text(node)) is not None)


def _is_name(read: str, name: str | None, attribute: str | None) -> bool:
    return read == name if attribute is None else "." in read and read.rpartition(".")[2] == attribute
