"""The programs that a file holds, and the paths through them: which are followed, and what they showed together."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gradsan.check.builtin_calls import REVEALING
from gradsan.check.choices import Policy, Ways, policies
from gradsan.check.frames import Frame
from gradsan.check.function_calls import enter
from gradsan.check.graph import DOUBTFUL, UNKNOWN, LoopRun, Op
from gradsan.check.imports import lazy_module, name_of
from gradsan.check.interpreter import run_main
from gradsan.check.machine import Call, Machine, OutOfPatienceError
from gradsan.check.object_calls import construct
from gradsan.check.pass_calls import run_pass
from gradsan.check.suspicions import Suspicions, suspicions
from gradsan.check.troubles import Misfit
from gradsan.check.values import NONE, Class, Const, Function, Instance, Mapping, foreign_bases, ops_of
from gradsan.check.world import World
from gradsan.facts.held import NOTHING, Held, any_of
from gradsan.knowledge.effects import asks_for_pass
from gradsan.knowledge.libraries import LIGHTNING_BASES
from gradsan.source.file import Source
from gradsan.source.names import called_name, calls, nodes

if TYPE_CHECKING:
    from gradsan.check.stopped import Stopped
    from gradsan.facts.course import Course

_PATIENCE_FOR_A_FILE = 15_000  # expressions
_PATIENCE_FOR_A_LINE = 25  # expressions more
_MOST_PATIENCE = 120_000


@dataclass(slots=True)
class Shown:
    """Everything that the paths through a file showed."""

    stopped: "list[Stopped]" = field(default_factory=list)
    courses: "list[Course]" = field(default_factory=list)  # for each start of which there is something to say
    drawn_in: set[str] = field(default_factory=set)  # files that were read on the way
    revealed: Held = NOTHING  # what the expressions may be that somebody asked about
    misfits: set[Misfit] = field(default_factory=set)
    trained: set[str] = field(default_factory=set)  # the parameters that some pass gave a gradient
    complete: bool = True


@dataclass(slots=True, eq=False)
class _Start:
    """Where a path begins: the whole file, or a function of it that nothing in the file calls."""

    function: tuple[str, ...] = ()  # names, from the module inwards; empty: the file itself


@dataclass(slots=True)
class Reader:
    """Follows the paths through one file."""

    source: Source
    shown: Shown = field(default_factory=Shown)
    left: int = 0
    most: int = _MOST_PATIENCE
    entered: set[ast.AST] = field(default_factory=set)
    sources: dict[str, Source | None] = field(default_factory=dict)  # of all paths

    def read(self) -> Shown:
        """Follow the file as a program; then every function with a pass that this did not reach."""
        self.left = min(_PATIENCE_FOR_A_FILE + _PATIENCE_FOR_A_LINE * len(self.source.lines), self.most)
        self._explore(_Start())
        for names, node in _functions(self.source.tree):
            if node not in self.entered and _has_pass(node):
                self._explore(_Start(names))
        return self.shown

    def _explore(self, start: _Start) -> None:
        """All paths from one start, and what they show together."""
        shown = Suspicions()
        taken: Ways = {}
        varying: set[ast.AST] = set()
        for policy in policies(taken, varying):
            machine = self._follow(start, policy)
            if machine is None:
                break
            self._note(machine.world)
            shown.add(suspicions(machine.world, closed=not start.function, kept=_kept(machine, start)))
            self.shown.stopped += [self._weighed(each, start, machine) for each in _stopped(machine)]
            varying |= machine.choices.varying
            for node, ways in machine.choices.open_branches.items():
                taken.setdefault(node, set()).update(ways)
        course = shown.course()
        self.shown.courses += [] if course is None else [course]

    def _note(self, world: World) -> None:
        """Keep what a path shows besides problems."""
        self.shown.revealed |= any_of(world.revealed)
        self.shown.misfits |= world.misfits
        self.shown.trained |= {
            f"{leaf.module}.{leaf.name}" for done in world.passes if done.kind == "backward" for leaf in done.reached
        }

    def _weighed(self, stopped: "Stopped", start: _Start, machine: Machine) -> "Stopped":
        """A method that is called again and again: whoever calls it may call others that reset what it carries."""
        imagined = len(start.function) > 1
        made, label = stopped.crosses, stopped.label
        doubted = replace(stopped, incident=replace(stopped.incident, doubt=DOUBTFUL))
        if imagined and made is not None and (made.name == UNKNOWN or not any(run.imagined for run, _ in made.moment)):
            return doubted
        if not imagined or label is None or not label.name.startswith("self."):
            return stopped
        attribute = label.name.removeprefix("self.").split(".")[0].split("[")[0]
        others = _setters(self.source.tree, start.function[0], attribute)
        reset_elsewhere = any(node not in machine.entered for node in others)
        return doubted if reset_elsewhere else stopped

    def _follow(self, start: _Start, policy: Policy) -> Machine | None:
        if self.left <= 0:
            self.shown.complete = False
            return None
        machine = Machine(policy, self.sources)
        before = machine.patience = min(machine.patience, self.left)
        try:
            if start.function:
                _enter(machine, lazy_module(machine, self.source), start.function)
            else:
                run_main(machine, self.source)
        except (OutOfPatienceError, RecursionError):
            self.shown.complete = False
        self.left -= before - max(machine.patience, 0)
        self.entered |= machine.entered
        self.shown.drawn_in |= set(machine.modules)
        return machine


def _stopped(machine: Machine) -> "list[Stopped]":
    if not machine.world.troubles:
        return []
    from gradsan.check.facts import stopped

    return [stopped(each, machine.world) for each in machine.world.troubles]


def _enter(machine: Machine, frame: Frame, names: tuple[str, ...]) -> None:
    """Call a function with unknown arguments; a method on a new object, twice, as whoever trains with it would."""
    value = name_of(machine, frame, names[0])
    if len(names) == 1 and isinstance(value, Function):
        with machine.within(frame):
            frame.returned = enter(machine, value, Call(value.node))  # type: ignore[arg-type]
        return
    if not isinstance(value, Class) or len(names) != 2:  # noqa: PLR2004 # a class and its method
        return
    method = value.members.get(names[1])
    if not isinstance(method, Function):
        return
    with machine.within(frame):
        _train_with(machine, value, method)


def _train_with(machine: Machine, cls: Class, method: Function) -> None:
    node = method.node
    call = Call(node)  # type: ignore[arg-type]
    instance = construct(machine, cls, call)
    if "staticmethod" in method.decorators:
        enter(machine, method, call)
        return
    run = LoopRun(machine.site(node), imagined=True)
    automatic = _is_automatic(instance, method)
    for number in (1, 2):
        with machine.iteration_of(run, number):
            result = enter(machine, method, call, instance)
            if automatic:
                loss = result.entries.get("loss", NONE) if isinstance(result, Mapping) else result
                if ops_of(loss):
                    run_pass(machine, "backward", (loss, None), {}, call.node)
        for name in instance.guessed:  # whoever calls again may have set them again
            instance.attributes.pop(name, None)
        instance.guessed.clear()


def _is_automatic(instance: Instance, method: Function) -> bool:
    """Whether a trainer back-propagates what the method returns."""
    if getattr(method.node, "name", "") != "training_step":
        return False
    manual = instance.attributes.get("automatic_optimization")
    if isinstance(manual, Const) and manual.value is False:
        return False
    return any(base.endswith(LIGHTNING_BASES) for base in foreign_bases(instance.cls))


def _kept(machine: Machine, start: _Start) -> frozenset[Op]:
    """What whoever called the function may still use: what it returned, and what the module's names hold."""
    if not start.function:
        return frozenset()
    returned = [frame.returned or NONE for frame in machine.modules.values()]
    return frozenset(op for value in returned for op in ops_of(value))


def _functions(tree: ast.Module) -> Iterator[tuple[tuple[str, ...], ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.name,), node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield (node.name, inner.name), inner


def _setters(tree: ast.Module, cls: str, attribute: str) -> Iterator[ast.AST]:
    """The methods of a class that set an attribute."""
    for names, node in _functions(tree):
        if names[0] == cls and attribute in _attributes_set(node):
            yield node


def _attributes_set(function: ast.AST) -> set[str]:
    attributes = (each for each in nodes(function, into_functions=False) if isinstance(each, ast.Attribute))
    return {each.attr for each in attributes if isinstance(each.ctx, ast.Store)}


def _has_pass(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function asks for a pass itself, is one that a trainer back-propagates, or one that is asked about."""
    called = calls(node)
    asks = any(isinstance(each.func, ast.Attribute) and asks_for_pass(each.func.attr) for each in called)
    return asks or node.name == "training_step" or REVEALING in map(called_name, called)
