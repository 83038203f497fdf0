"""The programs that a file holds, and the paths through them: which are followed, and what they showed together."""

import ast
from dataclasses import dataclass, field

from gradsan.check.agreement import Agreement
from gradsan.check.certainty import of_its_own, weighed_by_callers
from gradsan.check.choices import Met, Policy, policies
from gradsan.check.leading_functions import Start, callers, definitions, has_pass
from gradsan.check.machine import Machine, OutOfPatienceError
from gradsan.check.project import Project
from gradsan.check.shown import Shown
from gradsan.check.starts import WHOLE_FILE, follow, kept
from gradsan.check.suspicions import Suspicions, suspicions
from gradsan.check.world import World
from gradsan.facts.held import any_of
from gradsan.source.file import Source

_PATIENCE_FOR_A_FILE = 15_000  # expressions
_PATIENCE_FOR_A_LINE = 25  # expressions more
_MOST_PATIENCE = 120_000


@dataclass
class Reader:
    """Follows the paths through one file."""

    source: Source
    shown: Shown = field(default_factory=Shown)
    left: int = 0
    most: int = _MOST_PATIENCE
    entered: set[ast.AST] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.project = Project(self.source.path)

    def read(self) -> Shown:
        """Follow the file as a program; then every function with a pass that this did not reach, and who calls it."""
        self.left = min(_PATIENCE_FOR_A_FILE + _PATIENCE_FOR_A_LINE * len(self.source.lines), self.most)
        self._explore(WHOLE_FILE)
        for start, node in definitions(self.source.tree):
            if node not in self.entered and has_pass(node):
                self._explore(start)
        for start, node in callers(self.source, self.project):
            if node not in self.entered:
                before = list(self.shown.stopped)
                self._explore(start)
                self.shown.stopped = [*before, *of_its_own(start, self.shown.stopped[len(before) :])]
        return self.shown

    def _explore(self, start: Start) -> None:
        """All paths from one start, and what they show together."""
        shown, agreement, met = Suspicions(), Agreement(), Met()
        entered: set[ast.AST] = set()
        for policy in policies(met):
            machine = self._follow(start, policy)
            if machine is None:
                break
            self._note(machine.world)
            closed = start == WHOLE_FILE and machine.patience >= 0  # what was not followed may use all that is there
            shown.add(suspicions(machine.world, closed=closed, kept=kept(machine, start)))
            agreement.add(machine.world)
            entered |= machine.entered
            met.add(machine.choices, passes=bool(machine.world.passes or machine.world.troubles))
        self.shown.stopped += [
            weighed_by_callers(each, start, entered, self.source.tree) for each in agreement.stopped()
        ]
        course = shown.course()
        self.shown.courses += [] if course is None else [course]

    def _note(self, world: World) -> None:
        """Keep what a path shows besides problems."""
        self.shown.revealed |= any_of(world.revealed)
        self.shown.misfits |= world.misfits
        self.shown.trained |= {
            f"{leaf.module}.{leaf.name}" for done in world.passes if done.kind == "backward" for leaf in done.reached
        }

    def _follow(self, start: Start, policy: Policy) -> Machine | None:
        if self.left <= 0:
            self.shown.complete = False
            return None
        machine = Machine(policy, self.project)
        before = machine.patience = min(machine.patience, self.left)
        try:
            follow(machine, self.source, start)
        except (OutOfPatienceError, RecursionError):
            self.shown.complete = False
        self.left -= before - max(machine.patience, 0)
        self.entered |= machine.entered
        self.shown.drawn_in |= set(machine.modules)
        return machine
