"""Whether the paths from one start agree: a pass that fails on one of them may run to its end on another."""

import ast
from collections import Counter
from dataclasses import dataclass, field, replace

from gradsan.check.facts import stopped
from gradsan.check.graph import DOUBTFUL, LIKELY, Pass
from gradsan.check.stopped import Stopped
from gradsan.check.troubles import NoGraph, Trouble
from gradsan.check.world import World
from gradsan.facts.incident import Edited, Incident, WithoutHistory

Run = tuple[tuple[ast.AST, ...], int]  # the calls that lead to a pass, and how often they had by then


@dataclass(slots=True)
class Agreement:
    """The passes of all paths from one start: those that failed, and those that did not."""

    failed: list[tuple[Run | None, Stopped]] = field(default_factory=list)
    done: set[Run] = field(default_factory=set)

    def add(self, world: World) -> None:
        """What another path shows as well."""
        runs = _runs(world)
        troubles = [(getattr(each, "failing", None), each) for each in world.troubles]
        failing = [each for each, _ in troubles if each is not None]
        for one, each in troubles:  # what has no graph was not walked
            if one is not None:
                earlier = [calls for calls, _ in runs.values() if calls == _calls(one)]
                runs.setdefault(one.number, (_calls(one), 1 + len(earlier) if _lasts(each) else 1))
        self.failed += [(None if one is None else runs[one.number], stopped(each, world)) for one, each in troubles]
        self.done |= {run for number, run in runs.items() if number not in {each.number for each in failing}}

    def stopped(self) -> list[Stopped]:
        """What failed, with its doubt: where the same pass ran on another path, it hangs on what was assumed."""
        return [_doubted(each) if run in self.done else each for run, each in self.failed]


def _lasts(trouble: Trouble) -> bool:
    """Whether a state of the program is the cause, which an earlier iteration left behind: no branch of this one."""
    return isinstance(trouble, NoGraph) and trouble.cut.lasts


def _runs(world: World) -> dict[int, Run]:
    """The passes of a path, by their numbers."""
    seen: Counter[tuple[ast.AST, ...]] = Counter()
    found: dict[int, Run] = {}
    for each in world.passes:
        calls = _calls(each)
        seen[calls] += 1
        found[each.number] = (calls, seen[calls])
    return found


def _calls(done: Pass) -> tuple[ast.AST, ...]:
    return tuple(site.node for site in done.site.outwards())


def _doubted(each: Stopped) -> Stopped:
    doubt = max(each.incident.doubt, _hanging_on_a_choice(each.incident))
    return replace(each, incident=replace(each.incident, doubt=doubt))


def _hanging_on_a_choice(incident: Incident) -> int:
    """Who edits values or cuts them off in one branch alone has most likely chosen it for the case that it fits."""
    is_edited_by_hand = isinstance(incident, Edited) and not incident.by_optimizer
    return DOUBTFUL if is_edited_by_hand or isinstance(incident, WithoutHistory) else LIKELY
