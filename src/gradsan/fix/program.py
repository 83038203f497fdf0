"""The user's program as a diagnosis tells of it: the files, and the statement behind every frame of its stacks."""

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from gradsan.causes import cause
from gradsan.causes.remedy import USUAL
from gradsan.facts.live_evidence import NOTHING_READ, Access, LiveEvidence
from gradsan.facts.location import Frame, Location
from gradsan.fix.crossings import others
from gradsan.fix.meaning import meant
from gradsan.report import Diagnosis, FixKind
from gradsan.source.bounded import inside
from gradsan.source.disk import load, parsed
from gradsan.source.file import Source
from gradsan.source.tree import Statement, Tree


@dataclass(frozen=True, slots=True)
class Place:
    """A frame of a stack, and the statement that it stands at."""

    tree: Tree
    statement: Statement
    frame: Frame


class Program:
    """Reads the files that a diagnosis names, and never runs them.

    Files outside `root` are left alone. `not_after`, a time, is when the program was started: what changed later is not
    what ran. `changed` has files that read otherwise than on disk; `live`, what the program told when it failed.
    """

    def __init__(
        self,
        diagnosis: Diagnosis,
        root: Path,
        not_after: float | None = None,
        changed: Mapping[str, bytes] | None = None,
        live: LiveEvidence = NOTHING_READ,
    ) -> None:
        self.diagnosis = diagnosis
        self.live = live
        self.remedy = USUAL["advice"]  # what is to be written down: nothing, until it is asked for a kind of fix
        self._changed = changed or {}
        self._root = root.resolve()
        self._not_after = not_after
        self._sources: dict[str, Source | None] = {}
        self._trees: dict[str, Tree | None] = {}

    def asked_for(self, kind: FixKind) -> "Program":
        """The same program, with what its cause asks for by that kind of fix: the same trees."""
        asked = copy(self)
        asked.remedy = cause(self.diagnosis.code).remedy(kind, self.diagnosis.evidence)
        return asked

    def others(self) -> list["Program"]:
        """The same program as the other edges tell of it over which the pass reaches what is old: the same trees."""
        found = []
        for diagnosis, live in others(self.diagnosis, self.live):
            other = copy(self)
            other.diagnosis, other.live = diagnosis, live
            found.append(other)
        return found

    def source(self, file: str) -> Source | None:
        """A file of the user's that says what the diagnosis says it does."""
        if file not in self._sources:
            self._sources[file] = self._read(file)
        return self._sources[file]

    def tree(self, file: str) -> Tree | None:
        """Its statements."""
        if file not in self._trees:
            source = self.source(file)
            self._trees[file] = None if source is None else Tree(file, source)
        return self._trees[file]

    def entries(self) -> list[Path]:
        """The files that the stacks of the diagnosis lead through, outermost first: where following it may begin."""
        stacks = [frames(place) for place in _locations(self.diagnosis)]
        deepest = max(map(len, stacks), default=0)
        files = [stack[at].file for at in range(deepest) for stack in stacks if at < len(stack)]
        sources = [self.source(file) for file in dict.fromkeys(files)]
        return [Path(each.path) for each in sources if each is not None]

    @property
    def changed(self) -> dict[Path, bytes]:
        """The files that read otherwise than on disk."""
        return {self._root / file: content for file, content in self._changed.items()}

    def place_at(self, file: str, line: int, function: str) -> "Place | None":
        """A statement that the diagnosis does not speak of."""
        tree = self.tree(file)
        statement = None if tree is None else tree.statement_at(line)
        return None if tree is None or statement is None else Place(tree, statement, Frame(file, line, function))

    def made_graph(self, place: "Place") -> set[int]:
        """The lines of a file that took part in making the graph: on the way into it, and in all that was consumed."""
        path = Path(place.tree.source.path)
        lines = {line for file, line in self._graph_lines() if (self._root / file).resolve() == path}
        is_live = cause(self.diagnosis.code).old_part_is_live
        for op in self.diagnosis.path:
            if op.location is not None and (is_live or op.state == "freed"):
                lines |= {frame.line for frame in frames(op.location) if frame.file == place.frame.file}
        return lines

    def graph_places(self) -> list["Place"]:
        """The statements that took part in making what was consumed, in any call and file."""
        found = []
        for file, line in self._graph_lines():
            tree = self.tree(file)
            statement = None if tree is None else tree.statement_at(line)
            if tree is not None and statement is not None:
                found.append(Place(tree, statement, Frame(file, line, "")))
        return found

    def leaves_some(self, place: "Place", lines: set[int]) -> bool:
        """Whether some of what was consumed was made elsewhere than at these lines of one function, as a run tells."""
        path, total = Path(place.tree.source.path), self.diagnosis.evidence.get("freed_ops", 0)
        made = [each for each in self.live.graph_lines if each.line in lines]
        here = [each.ops for each in made if (self._root / each.file).resolve() == path]
        return bool(self.live.graph_lines) and sum(here) < int(total)

    def reached_in(self, function: str) -> Access | None:
        """How a function would write what the diagnosis is about, as the live program told; None: it did not."""
        access = self.live.alive.access
        return access if access is not None and access.function == function else None

    def _graph_lines(self) -> list[tuple[str, int]]:
        """As the live program told, or as a silent cause names them for its reader."""
        named = [line.rpartition(":") for line in str(self.diagnosis.evidence.get("graph_lines", "")).splitlines()]
        seen = [(each.file, each.line) for each in self.live.graph_lines]
        return seen or [(file, int(line)) for file, _, line in named]

    def places(self, location: Location | None) -> list[Place | None]:
        """The statements of a stack, outermost first; None for a frame whose file is not to be edited."""
        if location is None:
            return []
        stack = frames(location)
        called = [each.function.rpartition(".")[2] for each in stack[1:]]
        return [self._place(frame, location, callee) for frame, callee in zip(stack, [*called, None], strict=True)]

    def boundaries(self) -> list["Place"]:
        """The statements below which the failing step is over, innermost first.

        None where one call asks for the passes of many steps, as a library's trainer does.
        """
        if self.live.is_one_call:
            return []
        return [each for each in reversed(self.places(self.diagnosis.used)) if each is not None]

    def apart(self, one: Location | None, other: Location | None) -> int | None:
        """The index of the outermost frame in which two stacks stand at different statements of one function."""
        if one is None or other is None:
            return None
        ours, theirs = frames(one), frames(other)
        if ours != theirs:
            return parting(one, other)
        last = len(ours) - 1  # two statements of one line, or the same
        mine, yours = self.places(one)[last], self.places(other)[last]
        return last if mine is not None and yours is not None and mine.statement is not yours.statement else None

    def _place(self, frame: Frame, location: Location, callee: str | None) -> Place | None:
        """The statement that a frame stands at: which of several on one line, the explanation tells."""
        tree = self.tree(frame.file)
        crowd = [] if tree is None else tree.statements_at(frame.line)
        if tree is None or not crowd:
            return None
        statement = crowd[0] if len(crowd) == 1 else meant(tree, crowd, self.diagnosis, location, callee)
        return Place(tree, statement, frame)

    def _read(self, file: str) -> Source | None:
        path = inside(self._root, file)
        if Path(file).is_absolute() or ".." in Path(file).parts:  # an edit names a file under the working directory
            return None
        if path is None or "site-packages" in path.parts:
            return None
        source = parsed(str(path), self._changed[file]) if file in self._changed else load(str(path))
        if source is None or (self._not_after is not None and path.stat().st_mtime > self._not_after):
            return None
        told = [place for place in _locations(self.diagnosis) if place.file == file and place.source is not None]
        return source if all(_says(source, place) for place in told) else None


def frames(location: Location) -> tuple[Frame, ...]:
    """The calls that led to a place, the place itself last."""
    return location.stack or (Frame(location.file, location.line, location.function or "<module>"),)


def callee(location: Location | None, index: int) -> str | None:
    """What one frame of a stack has called: the name of the next one's function."""
    called = () if location is None else frames(location)[index + 1 : index + 2]
    return called[0].function.rpartition(".")[2] if called else None


def parting(one: Location, other: Location) -> int | None:
    """The index of the outermost frame in which two stacks stand at different lines of one function."""
    for index, (ours, theirs) in enumerate(zip(frames(one), frames(other), strict=False)):
        if ours != theirs:
            same = (ours.file, ours.function) == (theirs.file, theirs.function)
            return index if same else None
    return None


def _locations(diagnosis: Diagnosis) -> Iterator[Location]:
    roles = (diagnosis.used, diagnosis.freed, diagnosis.made, diagnosis.enters, diagnosis.changed)
    for each in (*roles, diagnosis.cut, diagnosis.held, *(op.location for op in diagnosis.path)):
        if each is not None:
            yield each


def _says(source: Source, place: Location) -> bool:
    return place.line <= len(source.lines) and source.lines[place.line - 1].strip() == place.source
