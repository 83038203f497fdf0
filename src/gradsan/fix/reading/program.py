"""The user's program as a diagnosis reports it: the files, and the statement behind every frame of its stacks."""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, takewhile, zip_longest
from pathlib import Path
from typing import Any

from gradsan.causes import cause
from gradsan.causes.remedy import USUAL
from gradsan.facts.live_evidence import NOTHING_READ, Access, LiveEvidence
from gradsan.facts.location import Frame, Location
from gradsan.fix.reading.crossings import all_known, others
from gradsan.fix.reading.meant_statement import meant
from gradsan.report import Diagnosis, FixKind
from gradsan.source.bounded import inside
from gradsan.source.disk import load, parsed
from gradsan.source.file import Source
from gradsan.source.names import targets
from gradsan.source.tree import Loop, Scope, Statement, Tree, is_simple, same_as

_tree_of = lru_cache(maxsize=32)(Tree)  # many diagnoses stand in one file


@dataclass(frozen=True, slots=True)
class Place:
    """A frame of a stack, and the statement that it stands at."""

    tree: Tree
    statement: Statement
    frame: Frame

    @property
    def line(self) -> int:
        """Where the statement begins."""
        return self.tree.line(self.statement)

    @property
    def function(self) -> str:
        """The function that the frame belongs to, as the run calls it."""
        return self.frame.function

    @property
    def owner(self) -> str:
        """The class or function in which that one is defined."""
        return self.function.rpartition(".")[0]

    @property
    def scope(self) -> Scope:
        """The same function, in the source."""
        return self.tree.scope(self.statement)

    @property
    def cls(self) -> ast.ClassDef | None:
        """The class around it."""
        return next((each for each in self.tree.above(self.statement) if isinstance(each, ast.ClassDef)), None)

    @property
    def block(self) -> list[Statement]:
        """The statements that stand beside its own, which is one of them."""
        return list(self.tree.block(self.statement))

    @property
    def above(self) -> list[Statement]:
        """Those of them that come before it."""
        return self.block[: self.block.index(self.statement)]

    @property
    def below(self) -> list[Statement]:
        """Those of them that follow it."""
        return list(self.tree.below(self.statement))

    @property
    def own(self) -> list[Statement]:
        """The simple statements of its function, in the order of the file."""
        own = self.scope
        return [each for each in self.tree.statements if is_simple(each) and self.tree.scope(each) is own]

    @property
    def own_above(self) -> list[Statement]:
        """Those of them that begin in earlier lines."""
        return [each for each in self.own if self.tree.line(each) < self.line]

    @property
    def own_below(self) -> list[Statement]:
        """Those of them that begin in later lines."""
        return [each for each in self.own if self.tree.line(each) > self.line]

    @property
    def around(self) -> list[Statement]:
        """The statement, and those of its function around it, innermost first."""
        inside = takewhile(lambda each: not isinstance(each, Scope), self.tree.above(self.statement))
        return [self.statement, *(each for each in inside if isinstance(each, Statement))]

    @property
    def questions(self) -> list[ast.If]:
        """What may keep the statement from being run, in its file."""
        return [each for each in self.tree.above(self.statement) if isinstance(each, ast.If)]

    @property
    def loops(self) -> list[Loop]:
        """The loops of the function around it, innermost first."""
        return self.tree.loops(self.statement)

    def value_of(self, name: str) -> ast.expr | None:
        """What the statement assigns to this, and to nothing else."""
        match self.statement:
            case ast.Assign(targets=[target], value=value) if same_as(target, name):
                return value
        return None

    @property
    def targets(self) -> list[str]:
        """What the statement assigns to."""
        return list(map(self.text, targets(self.statement)))

    def text(self, node: ast.AST) -> str:
        """A piece of the file, as it is written."""
        return self.tree.text(node)


class Program:
    """Reads the files that a diagnosis names, and never runs them.

    Files outside `root` are left alone, unless edits are made `anywhere`: to be shown, and not to be written.
    `not_after`, a time, is when the program was started: what changed later is not what ran. `changed` has files that
    read otherwise than on disk; `live`, what was read of it when it failed.
    """

    def __init__(
        self,
        diagnosis: Diagnosis,
        root: Path,
        not_after: float | None = None,
        changed: Mapping[str, bytes] | None = None,
        live: LiveEvidence = NOTHING_READ,
        *,
        anywhere: bool = False,
    ) -> None:
        self.diagnosis = diagnosis
        self.live = live
        self.answers = dict[object, Any]()  # what was found out about the files, by the question: it takes long
        self._anywhere = anywhere
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
        """The same program as the other edges show it over which the pass reaches what is old: the same trees."""
        return [self._as_shown_by(*other) for other in others(self.diagnosis, self.live)]

    @property
    def knows_every_edge(self) -> bool:
        """Whether each of them can be treated."""
        return all_known(self.live)

    def _as_shown_by(self, diagnosis: Diagnosis, live: LiveEvidence) -> "Program":
        other = copy(self)
        other.diagnosis, other.live = diagnosis, live
        return other

    @property
    def name(self) -> str | None:
        """What carries the old graph, where that has a name."""
        return None if self.diagnosis.culprit is None else self.diagnosis.culprit.name

    def source(self, file: str) -> Source | None:
        """A file of the user's that says what the diagnosis says it does."""
        if file not in self._sources:
            self._sources[file] = self._read(file)
        return self._sources[file]

    def tree(self, file: str) -> Tree | None:
        """Its statements."""
        if file not in self._trees:
            source = self.source(file)
            self._trees[file] = None if source is None else _tree_of(file, source)
        return self._trees[file]

    def entries(self) -> list[Path]:
        """The files that the stacks of the diagnosis lead through, outermost first: where following it may begin."""
        stacks = map(frames, _locations(self.diagnosis))
        by_depth = filter(None, chain.from_iterable(zip_longest(*stacks)))
        sources = map(self.source, dict.fromkeys(frame.file for frame in by_depth))
        return [Path(each.path) for each in filter(None, sources)]

    @property
    def changed(self) -> dict[Path, bytes]:
        """The files that read otherwise than on disk."""
        return {self._root / file: content for file, content in self._changed.items()}

    def place_at(self, file: str, line: int, function: str) -> Place | None:
        """A statement that the diagnosis does not speak of."""
        return self._place(Frame(file, line, function), lambda _, crowd: crowd[0])

    def created_graph(self, place: Place) -> set[int]:
        """The lines of a file that took part in creating the graph: on the path into it, and in all that was freed."""
        named = {line for file, line in self._graph_lines() if self._is_file_of(place, file)}
        of_old_ops = chain.from_iterable(map(frames, self._old_ops()))
        return named | {frame.line for frame in of_old_ops if frame.file == place.frame.file}

    def _old_ops(self) -> Iterable[Location]:
        """Where the ops of the path were created that are old: all of them, or those that were freed."""
        is_live = cause(self.diagnosis.code).old_part_is_live
        return filter(None, (op.location for op in self.diagnosis.path if is_live or op.state == "freed"))

    def graph_places(self) -> list[Place]:
        """The statements that took part in creating what was freed, in any call and file."""
        return list(filter(None, (self.place_at(file, line, "") for file, line in self._graph_lines())))

    def leaves_some(self, place: Place, lines: set[int]) -> bool:
        """Whether some of what was freed was created elsewhere than at these lines of one function, as a run shows."""
        created = [each for each in self.live.graph_lines if each.line in lines]
        here = [each.ops for each in created if self._is_file_of(place, each.file)]
        return bool(self.live.graph_lines) and sum(here) < int(self.diagnosis.evidence.get("freed_ops", 0))

    def _is_file_of(self, place: Place, file: str) -> bool:
        return (self._root / file).resolve() == Path(place.tree.source.path)

    def reached_in(self, function: str) -> Access | None:
        """How a function would write what the diagnosis is about, as the live program showed; None: it did not."""
        access = self.live.alive.access
        return access if access is not None and access.function == function else None

    def _graph_lines(self) -> list[tuple[str, int]]:
        """As the live program showed, or as a silent cause names them for its reader."""
        named = [line.rpartition(":") for line in str(self.diagnosis.evidence.get("graph_lines", "")).splitlines()]
        seen = [(each.file, each.line) for each in self.live.graph_lines]
        return seen or [(file, int(line)) for file, _, line in named]

    def places(self, location: Location | None) -> list[Place | None]:
        """The statements of a stack, outermost first; None for a frame whose file is not to be edited."""
        if location is None:
            return []
        stack = frames(location)
        called = [each.function.rpartition(".")[2] for each in stack[1:]]
        choices = [partial(meant, self.diagnosis, location, callee) for callee in (*called, None)]
        return list(map(self._place, stack, choices))

    def known(self, location: Location | None) -> list[Place]:
        """The same, without those that are not to be edited."""
        return list(filter(None, self.places(location)))

    def trees(self, *locations: Location | None) -> list[Tree]:
        """The files that they lead through, each once."""
        return list(dict.fromkeys(place.tree for each in locations for place in self.known(each)))

    def inward(self, location: Location | None) -> list[Place]:
        """The same, innermost first."""
        return self.known(location)[::-1]

    def apart_from_the_pass(self, location: Location | None) -> list[Place]:
        """The same, but for the outer calls that the failing pass has in common with it."""
        used = self.diagnosis.used
        shared = common_frames(location, used)
        return list(filter(None, self.places(location)[shared:]))[::-1]

    def innermost(self, location: Location | None) -> Place | None:
        """The first of those."""
        return next(iter(self.inward(location)), None)

    @property
    def asking_for_both(self) -> Place | None:
        """The statement that asks for the earlier pass and for the later one, where one line does."""
        freed, used = self.diagnosis.freed, self.diagnosis.used
        is_one_line = used is not None and frames(freed) == frames(used)
        return self.places(used)[-1] if is_one_line else None

    def in_a_loop(self, location: Location | None) -> Place | None:
        """The innermost of them that stands in a loop of its function."""
        return next((each for each in self.inward(location) if each.loops), None)

    def at(self, location: Location | None, depth: int) -> Place | None:
        """The statement of one frame of a stack, where it is so deep."""
        return next(iter(self.places(location)[depth : depth + 1]), None)

    def boundaries(self) -> list["Place"]:
        """The statements below which the failing step is over, innermost first.

        None where one call asks for the passes of many steps, as a library's trainer does.
        """
        if self.live.is_one_call:
            return []
        return self.inward(self.diagnosis.used)

    def apart(self, one: Location | None, other: Location | None) -> int | None:
        """The index of the outermost frame in which two stacks stand at different statements of one function."""
        if one is None or other is None:
            return None
        ours, theirs = frames(one), frames(other)
        if ours != theirs:
            return parting(one, other)
        last = len(ours) - 1  # two statements of one line, or the same
        mine, yours = self.at(one, last), self.at(other, last)
        return last if mine is not None and yours is not None and mine.statement is not yours.statement else None

    def parted(self, one: Location | None, other: Location | None) -> tuple[Place, Place] | None:
        """The statements of both stacks in the function in which they part, where both can be edited."""
        ours, theirs = self.beside(one, other), self.beside(other, one)
        return None if ours is None or theirs is None else (ours, theirs)

    def beside(self, one: Location | None, other: Location | None) -> Place | None:
        """The statement of the one stack alone."""
        apart = self.apart(one, other)
        return None if apart is None else self.at(one, apart)

    def _place(self, frame: Frame, chosen: "_Choice") -> Place | None:
        """The statement that a frame stands at: of several on one line, the one that is chosen."""
        tree = self.tree(frame.file)
        crowd = [] if tree is None else tree.statements_at(frame.line)
        return None if tree is None or not crowd else Place(tree, chosen(tree, crowd), frame)

    def _read(self, file: str) -> Source | None:
        path = self._path(file)
        if path is None or "site-packages" in path.parts:
            return None
        source = parsed(str(path), self._changed[file]) if file in self._changed else load(str(path))
        return source if source is not None and self._is_what_ran(file, path, source) else None

    def _path(self, file: str) -> Path | None:
        """Where it lies. An edit that is written names a file under the working directory."""
        if self._anywhere and Path(file).is_absolute():
            return Path(file).resolve()
        if Path(file).is_absolute() or ".." in Path(file).parts:
            return None
        return inside(self._root, file)

    def _is_what_ran(self, file: str, path: Path, source: Source) -> bool:
        """Whether a file has not changed since the start, and says at each line what the diagnosis quotes."""
        if self._not_after is not None and file not in self._changed and path.stat().st_mtime > self._not_after:
            return False
        return all(_says(source, place) for place in _locations(self.diagnosis) if place.file == file)


_Choice = Callable[[Tree, Sequence[Statement]], Statement]  # of the statements on one line


def frames(location: Location | None) -> tuple[Frame, ...]:
    """The calls that led to a place, the place itself last."""
    if location is None:
        return ()
    return location.stack or (Frame(location.file, location.line, location.function or "<module>"),)


def callee(location: Location | None, index: int) -> str | None:
    """What one frame of a stack has called: the name of the next one's function."""
    called = frames(location)[index + 1 : index + 2]
    return called[0].function.rpartition(".")[2] if called else None


def parting(one: Location, other: Location) -> int | None:
    """The index of the outermost frame in which two stacks stand at different lines of one function."""
    index = _first_difference(one, other)
    return None if index is None or not _is_one_function(frames(one)[index], frames(other)[index]) else index


def common_frames(one: Location | None, other: Location | None) -> int:
    """How many of the outer frames two stacks have in common, where they part."""
    return _first_difference(one, other) or 0


def _first_difference(one: Location | None, other: Location | None) -> int | None:
    pairs = enumerate(zip(frames(one), frames(other), strict=False))
    return next((index for index, (ours, theirs) in pairs if ours != theirs), None)


def _is_one_function(one: Frame, other: Frame) -> bool:
    return (one.file, one.function) == (other.file, other.function)


def _locations(diagnosis: Diagnosis) -> list[Location]:
    roles = (diagnosis.used, diagnosis.freed, diagnosis.made, diagnosis.enters, diagnosis.changed)
    in_path = (op.location for op in diagnosis.path)
    return list(filter(None, (*roles, diagnosis.cut, diagnosis.held, *in_path)))


def _says(source: Source, place: Location) -> bool:
    if place.source is None:
        return True
    line = source.line_in(place.cell, place.line)
    return line <= len(source.lines) and source.as_written(line).strip() == place.source
