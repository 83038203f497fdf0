"""The loops that are running when a pass fails, asked by the log and the graph whether they go over steps."""

from dataclasses import dataclass
from functools import cached_property

from gradsan.facts.incident import Repetition, When
from gradsan.facts.step_loop import StepLoop, loop_of_steps
from gradsan.observe.failure.creators import creator_iterations, goes_over_functions
from gradsan.observe.failure.memos import memo_behind
from gradsan.observe.failure.pass_graph import Graph
from gradsan.observe.failure.scene import Scene, moment
from gradsan.observe.graph import REARRANGING, Node, kind_of, parameters_behind
from gradsan.observe.log.iterations import BEFORE, Iterations, Repeats
from gradsan.observe.log.lines import Unknown
from gradsan.observe.notes import PassNote


@dataclass(frozen=True)
class OldPart:
    """What the failing pass needs and an earlier one has freed, and how the pass gets there."""

    graph: Graph
    path: list[Node]  # from the root to the op that raised
    freeing: PassNote
    leaves: frozenset[int]  # ids of the parameters behind it
    is_changed: bool  # a parameter was changed since the freeing pass

    @cached_property
    def numbers(self) -> list[int]:
        """The creation numbers of the ops on the path."""
        return [number for node in self.path if (number := self.graph.number.get(node)) is not None]

    @cached_property
    def origin(self) -> int:
        """The number of what is old. What only re-arranged it (`values = values.squeeze()`) did not create it."""
        numbers = self.graph.number
        freed = [node for node in self.path if node in numbers and self.freeing.walks(numbers[node])]
        return numbers[next((node for node in freed if kind_of(node) not in REARRANGING), freed[0])]


def repetition_of(old: OldPart, scene: Scene) -> tuple[Repetition, Iterations] | None:
    """The innermost loop in which the two passes belong to different steps; None: none is known."""
    loops = scene.loops
    inwards = reversed(range(len(loops)))
    found = loop_of_steps(RunningLoop(loops[place], loops[:place], old, scene) for place in inwards)
    return None if found is None else (found.repetition, found.loop)


class RunningLoop(StepLoop):
    """One of them, with those around it, outermost first."""

    def __init__(self, loop: Iterations, around: tuple[Iterations, ...], old: OldPart, scene: Scene) -> None:
        self.loop = loop
        self._around = around
        self._old = old
        self._scene = scene
        self._lines = scene.lines
        self._origin = old.origin
        self._freed = iteration_before(old.freeing.begin, loop)
        self._start = loop.start_of(loop.now)

    def has_both_passes_in_one_iteration(self) -> bool:
        """As the log counts them."""
        return self.loop.now in (self._freed, BEFORE)

    def began_between_the_passes(self) -> bool:
        """As the log counts them."""
        return self.loop.kind is Repeats.CALLS and self._freed == BEFORE

    def is_run_again_by_a_loop_around(self) -> bool:
        """The freeing pass came before this run of it, and in an earlier iteration of a loop around."""
        return self._freed == BEFORE and any(self._parts(each) for each in self._around)

    def _parts(self, loop: Iterations) -> bool:
        freed = iteration_before(self._old.freeing.begin, loop)
        return freed is not None and BEFORE < freed < loop.now

    def has_no_known_beginning(self) -> bool:
        """A long run's log was thinned."""
        return self._start is None

    def goes_over_the_parts_of_a_step(self) -> bool:
        """By the functions that it entered."""
        return goes_over_functions(self._origin, self.loop, self._lines, self._old.numbers)

    def has_skipped_the_creator(self) -> bool:
        """Of calls nobody knows what they skip."""
        if self.loop.kind is not Repeats.LOOP or self._moment != "earlier":
            return False
        return len(self._creator) > 1 and self.loop.now not in self._creator

    def trains_again(self) -> bool:
        """A later layer or loss is no new step: where nothing was changed, all parameters have to be used again."""
        if self._old.graph.is_older_than(self.loop):
            return False
        return self._old.is_changed or self._uses_all_again()

    def _uses_all_again(self) -> bool:
        graph, start = self._old.graph, self._start or 0
        created = (node for node, number in graph.number.items() if number >= start)
        return self._old.leaves <= {id(leaf) for node in created for leaf in parameters_behind(node, graph.below)}

    @property
    def repetition(self) -> Repetition:
        """The facts about it."""
        loop, creator, born = self.loop, self._creator, self.loop.iteration_of(self._origin)
        outer = self._around[-1] if self._around else None
        return Repetition(
            header=loop.frame,
            now=loop.now,
            freed=self._freed,
            made="earlier" if self._is_drawn_by_header() else self._moment,
            creator_runs=len(creator),
            creator_ran_now=loop.now in creator,
            created_in_outer_iteration=outer is not None and outer.iteration_of(self._origin) == outer.now,
            creator_ran_since=born is not None and any(born < each < loop.now for each in creator),
            memo=self._memo(),
        )

    def _memo(self) -> str | None:
        stack = self._lines.stack_of(self._origin)
        if isinstance(stack, Unknown) or self._start is None:
            return None
        return memo_behind(stack[max(self.loop.depth, 0) :], self._start, self._scene)

    def _is_drawn_by_header(self) -> bool:
        """A generator that the loop draws from makes its first item while the header is evaluated, before the first."""
        if self._moment != "before" or self.loop.now not in self._creator:
            return False
        stack = self._lines.stack_of(self._origin)
        return not isinstance(stack, Unknown) and self.loop.frame in stack

    @cached_property
    def _moment(self) -> When:
        return moment(self._origin, self.loop)

    @cached_property
    def _creator(self) -> set[int]:
        """The iterations that created what is old, with the present one where it will do so yet."""
        found = creator_iterations(self._origin, self.loop, self._lines)
        return found | {self.loop.now} if self._is_due() else found

    def _is_due(self) -> bool:
        """Whether what leads out of the present iteration is created below the pass: this one comes to it yet."""
        loop, start = self.loop, self._start
        carried = next((number for number in self._old.numbers if start is not None and number < start), None)
        if carried is None or loop.iteration_of(carried) != loop.now - 1:
            return False
        passes = [each.begin for each in self._scene.earlier if each.line == self._scene.note.line]
        last = max((each for each in passes if iteration_before(each, loop) == loop.now - 1), default=None)
        return last is not None and last <= carried


def iteration_before(begin: int, loop: Iterations) -> int | None:
    """The iteration of a pass: the op counter may stand still from a pass to the next, so what came before it tells."""
    return loop.iteration_of(max(begin - 1, 0))
