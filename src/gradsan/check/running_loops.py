"""The loops that are running when a pass fails, asked by what was followed whether they go over steps."""

import ast
from dataclasses import dataclass
from functools import cached_property

from gradsan.check.graph import Label, LoopRun, Moment, Op, Site, leaves_in
from gradsan.check.moments import parting
from gradsan.check.old_part import below
from gradsan.check.spots import spot
from gradsan.check.troubles import SecondWalk
from gradsan.check.world import Assumed, World
from gradsan.facts.incident import Repetition, When
from gradsan.facts.step_loop import StepLoop, loop_of_steps
from gradsan.source.memos import memo_filled_at

_BEFORE = 0  # the iteration of what came before the first one
_LEADING_OUT = (ast.Continue, ast.Break, ast.Return, ast.Raise)


def step_loop(trouble: SecondWalk, old: Op, label: Label | None, world: World) -> "RunningLoop | None":
    """The innermost loop in which the two passes belong to different steps; None: none is known."""
    places = reversed(range(len(trouble.failing.moment)))
    return loop_of_steps(RunningLoop(place, trouble, old, label, world) for place in places)


@dataclass(frozen=True)
class RunningLoop(StepLoop):
    """One of them, by its place among those that the failing pass runs in."""

    place: int  # from the outermost, which is 0
    trouble: SecondWalk
    old: Op  # the first op on the path that was freed
    label: Label | None  # the name that leads to it
    world: World

    @property
    def run(self) -> LoopRun:
        """The run of it that is under way."""
        return self.trouble.failing.moment[self.place][0]

    @property
    def now(self) -> int:
        """The iteration that is under way."""
        return self.trouble.failing.moment[self.place][1]

    def iteration_of(self, moment: Moment) -> int | None:
        """Which of its iterations a moment falls into; None: this run of the loop was not under way."""
        return dict(moment).get(self.run)

    @cached_property
    def _freed(self) -> int:
        return self.iteration_of(self.trouble.freeing.moment) or _BEFORE

    def has_both_passes_in_one_iteration(self) -> bool:
        """As they were followed."""
        return self._freed == self.now

    def is_run_again_by_a_loop_around(self) -> bool:
        """The freeing pass came before this run of it, and in an earlier iteration of a loop around."""
        return self._freed == _BEFORE and parting(self.trouble.freeing.moment, self.trouble.failing.moment) is not None

    def has_skipped_the_creator(self) -> bool:
        """An assumption has left it out."""
        return self.repetition.skipped

    def trains_again(self) -> bool:
        """A later layer or loss is no new step: where nothing was changed, all parameters have to be used again."""
        failing, freeing = self.trouble.failing, self.trouble.freeing
        if not any(map(self.iteration_of, (root.moment for root in failing.roots))):
            return False
        return self.world.changed_between(freeing, failing) or self._uses_all_again()

    def _uses_all_again(self) -> bool:
        created = (op for op in self.trouble.found if self.iteration_of(op.moment) == self.now)
        return leaves_in(below(self.trouble.freed)) <= leaves_in(created)

    @cached_property
    def repetition(self) -> Repetition:
        """The facts about it."""
        failing = self.trouble.failing.moment
        ran_now = self.now in map(self.iteration_of, self.world.created_at.get(id(self.old.site.node), ()))
        return Repetition(
            header=spot(self.run.header),
            now=self.now,
            freed=self._freed,
            made=self._when(),
            # Two iterations cannot show a habit: what was left out on an assumption would have run in others.
            creator_runs=1 if ran_now or not self._is_left_out() else 2,
            creator_ran_now=ran_now,
            created_in_outer_iteration=self.place > 0 and self.old.moment[: self.place] == failing[: self.place],
            memo=next(filter(None, map(_memo_at, self.old.site.outwards())), None),
        )

    def _when(self) -> When:
        created = self.iteration_of(self.old.moment)
        if created is None:
            return "before"
        return "earlier" if created < self.now else "now"

    def _is_left_out(self) -> bool:
        """Whether an assumption kept the line that created it from running again, and not the cache that it fills."""
        name = "" if self.label is None else self.label.name.rsplit(".", 1)[-1].split("[")[0]
        iteration = self.trouble.failing.moment[: self.place + 1]
        assumed = [each for each in self.world.assumptions if each[2][: len(iteration)] == iteration]
        left_out = (statement for statement, code, _ in assumed if _decides_over(statement, self.old.site, code))
        return any(_asked_in(each).isdisjoint({name, *self.world.stored_under.get(id(each), ())}) for each in left_out)


def _memo_at(site: Site) -> str | None:
    where = spot(site)
    return memo_filled_at(where.file, where.line)


def _decides_over(statement: Assumed, site: Site, code: object) -> bool:
    """Whether what was assumed of a statement of some code can keep a line below it from running."""
    below = [each.node for each in site.outwards() if each.code == code]
    if not below or isinstance(statement, ast.Try):
        return bool(below)
    return any(node in below or isinstance(node, _LEADING_OUT) for node in ast.walk(statement))


def _asked_in(statement: Assumed) -> set[str]:
    asked = list(ast.walk(statement.test)) if isinstance(statement, ast.If) else []
    names = {each.id for each in asked if isinstance(each, ast.Name)}
    return names | {each.attr for each in asked if isinstance(each, ast.Attribute)}
