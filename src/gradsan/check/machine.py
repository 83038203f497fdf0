"""The machine that follows one path: the world, the call under way, the budget, and who handles what."""

import ast
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from gradsan.check.call_frames import Frame
from gradsan.check.choices import Choices, Policy
from gradsan.check.graph import Code, Cut, LoopRun, Site, latest
from gradsan.check.project import Project
from gradsan.check.tables import CALLEES, EXPRESSIONS, ITERABLES, OWNERS, RECEIVERS, STATEMENTS, TARGETS, WHOLES
from gradsan.check.values import NONE, Context, Value, ops_of
from gradsan.check.world import World
from gradsan.source.file import Source

Given = tuple[Value, ast.expr | None]  # a value, and the expression that it came from

NOWHERE = ast.Constant(None)  # the node of calls that no line of source makes
PATIENCE = 12_000  # expressions of one path


class OutOfPatienceError(Exception):
    """A path has become too long to be followed to its end."""


@dataclass(slots=True, eq=False)
class Watched:
    """A call that is followed only for some time if nothing of a graph happens in it."""

    until: int  # the patience that must be left
    given: Sequence[Value]  # what it was called with, and on
    since: int = field(default_factory=latest)

    def is_apart(self) -> bool:
        """Whether nothing has happened since to any graph, and it has none in its hands."""
        return latest() == self.since and not any(map(ops_of, self.given))


class GivenUpError(Exception):
    """A call is not worth following."""

    def __init__(self, call: Watched) -> None:
        super().__init__()
        self.call = call


class Call(NamedTuple):
    """What something is called with, where, and under which name of its receiver's."""

    node: ast.expr
    arguments: Sequence[Given] = ()
    keywords: dict[str, Given] = {}  # noqa: RUF012 # never changed
    name: str = ""

    @property
    def values(self) -> list[Value]:
        """What stands in positions."""
        return [value for value, _ in self.arguments]

    @property
    def first(self) -> Value:
        """The first of the arguments in positions; something, where there is none."""
        return self.at(0, Value())

    def at(self, position: int, default: Value) -> Value:
        """What stands in a position."""
        return self.arguments[position][0] if position < len(self.arguments) else default

    @property
    def given(self) -> list[Given]:
        """All arguments."""
        return [*self.arguments, *self.keywords.values()]

    @property
    def rest(self) -> "Call":
        """The same without the first argument."""
        return Call(self.node, self.arguments[1:], self.keywords, self.name)

    def keyword(self, name: str) -> Value | None:
        """What was given under a name."""
        return self.keywords[name][0] if name in self.keywords else None

    def named(self, *order: str) -> dict[str, Given]:
        """All arguments by their names; the order is that of the positions."""
        return dict(zip(order, self.arguments, strict=False)) | self.keywords

    def receiver(self, value: Value) -> Given:
        """What a method is called on, with its expression where there is one."""
        written = isinstance(self.node, ast.Call) and isinstance(self.node.func, ast.Attribute)
        return value, self.node.func.value if written else None  # type: ignore[attr-defined]

    def on(self, *receivers: Given) -> "Call":
        """The call of a function that takes the receiver as its first argument."""
        return Call(self.node, [*receivers, *self.arguments], self.keywords, self.name)

    def under(self, name: str) -> "Call":
        """The call under another name."""
        return Call(self.node, self.arguments, self.keywords, name)


@dataclass(slots=True, eq=False)
class _Instead(AbstractContextManager[None]):
    """Something has another value meanwhile. A class, as a generator takes three times as long."""

    owner: object
    name: str
    value: object

    def __enter__(self) -> None:
        """Keep what it was."""
        before = getattr(self.owner, self.name)
        setattr(self.owner, self.name, self.value)
        self.value = before

    def __exit__(self, *_: object) -> None:
        """It is what it was."""
        setattr(self.owner, self.name, self.value)


@dataclass(eq=False)
class Machine:
    """The state of one path, which leads every question to its handler."""

    policy: Policy = field(default_factory=Policy)
    project: Project = field(default_factory=Project)
    world: World = field(default_factory=World)
    modules: dict[str, Frame] = field(default_factory=dict)  # by file
    entered: set[ast.AST] = field(default_factory=set)  # the nodes of functions that were followed
    closed: bool = False  # the path is a whole program: what its functions are given is seen
    patience: int = PATIENCE
    alert: int = 0  # the patience below which it is asked whether to go on
    watched: list[Watched] = field(default_factory=list)  # calls under way of which that is asked, outermost first

    def __post_init__(self) -> None:
        self.choices = Choices(self.policy)
        self.frame = Frame(Code("?", "?"), Source("?", ""))

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        self.patience -= 1
        if self.patience < self.alert:
            self._ask_whether_to_go_on()
        handler = EXPRESSIONS.get(type(node))
        return Value(created=self.site(node)) if handler is None else handler(self, node)

    def _ask_whether_to_go_on(self) -> None:
        """No, where the path has become too long, or where nothing of a graph happens in a call."""
        if self.patience < 0:
            raise OutOfPatienceError
        for each in self.watched:
            if self.patience < each.until and each.is_apart():
                raise GivenUpError(each)
        self.watched = [each for each in self.watched if self.patience >= each.until]
        self.alert = max((each.until for each in self.watched), default=0)

    @contextmanager
    def watching(self, call: Watched) -> Iterator[None]:
        """A call is under way that is given up where nothing of a graph happens in it."""
        before, alert = self.watched, self.alert
        self.watched, self.alert = [*before, call], max(alert, call.until)
        try:
            yield
        finally:
            self.watched, self.alert = before, alert

    def optional(self, node: ast.expr | None) -> Value:
        """The value of an expression that may be left out; None, where it is."""
        return NONE if node is None else self.evaluate(node)

    def execute(self, body: Sequence[ast.stmt]) -> str | None:
        """Follow statements; the answer is how they ended: `break`, `continue`, `return`, `raise`, or None."""
        for statement in body:
            handler = STATEMENTS.get(type(statement))
            ended = None if handler is None else handler(self, statement)
            if ended is not None:
                return ended
        return None

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a name, an attribute, an item, or several of them."""
        TARGETS[type(target)](self, target, value)

    def call(self, callee: Value, call: Call) -> Value:
        """The result of `callee(…)`."""
        return (CALLEES.get(type(callee)) or CALLEES[Value])(self, callee, call)

    def call_method(self, receiver: Value, call: Call) -> Value:
        """The result of `receiver.name(…)`."""
        return (RECEIVERS.get(type(receiver)) or RECEIVERS[Value])(self, receiver, call)

    def attribute(self, owner: Value, name: str, node: ast.expr) -> Value:
        """What an object has under a name."""
        return (OWNERS.get(type(owner)) or OWNERS[Value])(self, owner, name, node)

    def part(self, whole: Value, key: object, node: ast.expr) -> Value:
        """A part of something that is one op: of a tensor, or of what a call returned."""
        return (WHOLES.get(type(whole)) or WHOLES[Value])(self, whole, key, node)

    def elements(self, iterable: Value, node: ast.expr) -> list[Value]:
        """What iterating gives: all elements where they are known, two where not."""
        return (ITERABLES.get(type(iterable)) or ITERABLES[Value])(self, iterable, node)

    def site(self, node: ast.AST) -> Site:
        """This place, under the calls that are under way."""
        return Site(node, self.frame.code, self.frame.called)

    def origin(self, node: ast.AST) -> tuple[object, ...]:
        """What tells a thing that is created here from all others, on whichever path."""
        calls = (each.node for each in self.site(node).outwards())
        return (*calls, *(number for _, number in self.world.moment))

    def choose(self, node: ast.AST, test: ast.expr, *, unlikely: bool = False) -> bool:
        """Which branch to take where a condition is not known; `unlikely`: it leads out of the ordinary."""
        code = (self.frame.code, self.frame.depth)
        return self.choices.choose(node, test, unlikely=unlikely, moment=self.world.moment, code=code)

    @property
    def is_certain(self) -> bool:
        """Whether no branch was taken on an assumption to get here."""
        return not self.frame.assumed

    def iteration_of(self, run: LoopRun, number: int) -> AbstractContextManager[None]:
        """An iteration of a loop is under way."""
        return _Instead(self.world, "moment", (*self.world.moment, (run, number)))

    def within(self, frame: Frame) -> AbstractContextManager[None]:
        """A call is under way."""
        return _Instead(self, "frame", frame)

    def switch_recording(self, context: Context, node: ast.expr, *, lasts: bool = False) -> None:
        """From now on, graphs are recorded, or are not; `lasts`: no block ends it."""
        if context.enables is None:
            return
        self.world.recording = context.enables
        self.world.silencer = None if context.enables else Cut(self.site(node), context.how, lasts=lasts)

    @contextmanager
    def recording_restored(self) -> Iterator[None]:
        """Whether graphs are recorded is afterwards what it was."""
        before = self.world.recording, self.world.silencer
        try:
            yield
        finally:
            self.world.recording, self.world.silencer = before
