"""What is at hand when a pass has failed: the graph it was to walk, and how its parts become plain facts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import FrameType
from typing import Any

from gradsan.facts.incident import LONGEST_PATH, GraphPath, OpFact, PassFact, Stack, When
from gradsan.facts.location import Frame
from gradsan.observe.failure.pass_graph import Graph
from gradsan.observe.graph import Node
from gradsan.observe.log.iterations import BEFORE, Iterations
from gradsan.observe.log.lines import Lines
from gradsan.observe.modules import Trained, module_names, owners, trained
from gradsan.observe.notes import PassNote
from gradsan.observe.passes import Passes
from gradsan.observe.process import NOTHING_RECORDED, Process
from gradsan.observe.steps import Steps
from gradsan.observe.user_statements import scope_at

_CHECKPOINT = "torch/utils/checkpoint.py"


@dataclass(frozen=True)
class Scene:
    """Everything that is at hand when a pass has failed. Nothing of it is kept."""

    tensors: tuple[Any, ...]  # what the pass was asked for
    frames: Sequence[FrameType]  # the live ones, outermost first
    note: PassNote
    process: Process

    @property
    def owns(self) -> Callable[[str], bool]:
        """Says of a file whether it is the user's."""
        return self.process.owns

    @property
    def passes(self) -> Passes:
        """All passes of the process."""
        return self.process.passes

    @property
    def steps(self) -> Steps:
        """All steps of its optimizers."""
        return self.process.steps

    @property
    def in_checkpoint(self) -> bool:
        """Whether an activation checkpoint is at work."""
        return any(_CHECKPOINT in each.f_code.co_filename.replace("\\", "/") for each in self.frames)

    # To walk a large graph, or to find all objects of a class in a large program, takes time: it is done once.

    @cached_property
    def lines(self) -> Lines:
        """The lines that ran in its thread."""
        return self.process.lines

    @property
    def has_lines(self) -> bool:
        """Whether any were recorded."""
        return self.lines is not NOTHING_RECORDED

    @cached_property
    def earlier(self) -> list[PassNote]:
        """What is still known of its thread's passes before this one or inside it, oldest first."""
        return self.passes.besides(self.note)

    @cached_property
    def graph(self) -> "Graph":
        """The graph that the failing pass was to walk."""
        return Graph(self.tensors, self.modules)

    @cached_property
    def trained(self) -> Trained:
        """The live modules and optimizers."""
        return trained()

    @cached_property
    def loops(self) -> tuple[Iterations, ...]:
        """The loops that are running, outermost first; none where no lines were recorded."""
        return self.lines.iterations()

    @cached_property
    def owners(self) -> dict[int, set[int]]:
        """For the id of every parameter, the ids of the optimizers that own it."""
        return owners(self.trained.optimizers)

    @cached_property
    def modules(self) -> dict[int, str]:
        """For the id of every parameter, the name of its module."""
        return module_names(self.trained.modules)


def pass_fact(note: PassNote) -> PassFact:
    """A pass in plain facts."""
    return PassFact(
        kind="backward" if note.accumulates else "grad",
        retains=note.retains,
        stack=note.stack,
        step=note.step,
        begin=note.begin,
        order=note.index,
        nested=note.outer is not None,
        in_forward=any(runs(frame.function, "forward") for frame in note.stack),
        seen=note.seen,
    )


def runs(qualified: str, method: str) -> bool:
    """Whether a qualified name is that of such a method."""
    return qualified.rpartition(".")[2] == method and "." in qualified


def path_fact(path: list[Node], graph: Graph, freed_by: dict[Node, PassNote], scene: Scene) -> GraphPath:
    """A path in plain facts, both of its ends."""
    half = LONGEST_PATH // 2
    left_out = max(len(path) - LONGEST_PATH, 0)
    ends = [*path[:half], *path[-half:]] if left_out else path
    return GraphPath(tuple(op_fact(node, graph, freed_by, scene) for node in ends), left_out)


def op_fact(node: Node, graph: Graph, freed_by: dict[Node, PassNote], scene: Scene) -> OpFact:
    """An op in plain facts."""
    number = graph.number.get(node)
    if number is None:
        return OpFact(str(node.name()), None)
    return OpFact(
        name=str(node.name()).rpartition("::")[2],
        number=number,
        stack=outside_of_compiled(scene.lines.stack_of(number) or ()),
        consumed=node in freed_by,
        step=scene.passes.step_of(number, scene.note),
        module=graph.module(node),
    )


def outside_of_compiled(stack: Stack) -> Stack:
    """The calls to the innermost that stands at a statement.

    What `torch.compile` makes of a function stands at its head as long as it runs. That head created nothing, and what
    did is not known: the line that called it says more.
    """
    while len(stack) > 1 and _stands_at_head(stack[-1]):
        stack = stack[:-1]
    return stack


def _stands_at_head(frame: Frame) -> bool:
    scope = scope_at(frame)
    return scope is not None and not scope.is_transparent and frame.line < min(scope.by_line, default=frame.line)


def moment(number: int, loop: Iterations) -> When:
    """When an op was created, against the iterations of a loop."""
    created = loop.iteration_of(number)
    if created is None:
        return "unknown"
    if created == BEFORE:
        return "before"
    return "now" if created == loop.now else "earlier"
