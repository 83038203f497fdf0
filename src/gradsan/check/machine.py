"""What all parts of the reader share: the world, the present call, and how ops come about."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from gradsan.check.choices import Choices, Policy
from gradsan.check.frames import Frame
from gradsan.check.graph import SURE, Code, Cut, Edge, Form, Label, Leaf, LoopRun, Op, Site, Storage
from gradsan.check.labels import label_of
from gradsan.check.values import Tensor, Value, leaves_of, ops_of, parts
from gradsan.check.world import World
from gradsan.knowledge.tensors import operation
from gradsan.source.file import Source

Given = tuple[Value, ast.expr | None]  # a value, and the expression that it came from

DEEPEST = 24  # calls within calls that are followed
PATIENCE = 12_000  # expressions of one path


class OutOfPatienceError(Exception):
    """A path has become too long to be followed to its end."""


@dataclass(eq=False)
class Machine:
    """The state of one path; the parts of the reader derive from it."""

    policy: Policy = field(default_factory=Policy)
    world: World = field(default_factory=World)
    modules: dict[str, Frame] = field(default_factory=dict)  # by file
    entered: set[int] = field(default_factory=set)  # functions that were followed, by the id of their node
    patience: int = PATIENCE

    def __post_init__(self) -> None:
        self.choices = Choices(self.policy)
        self.frame = Frame(Code("?", "?"), Source("?", ""))

    # The parts of the reader call one another through these.

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def execute(self, body: Sequence[ast.stmt]) -> str | None:
        """Follow statements; the answer is how they ended: `break`, `continue`, `return`, or None."""
        raise NotImplementedError

    def call(self, function: Value, arguments: Sequence[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        """The result of a call."""
        raise NotImplementedError

    def attribute(self, value: Value, name: str, node: ast.expr) -> Value:
        """What an object has under a name."""
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Value, made_by: ast.expr | None = None) -> None:
        """Bind a name, an attribute, an item, or several of them."""
        raise NotImplementedError

    def elements(self, value: Value, node: ast.expr) -> list[Value]:
        """What iterating gives: all elements where they are known, two where not."""
        raise NotImplementedError

    def part(self, value: Value, key: object, node: ast.expr) -> Value:
        """A part of something that is one op: of a tensor, or of what a call returned."""
        raise NotImplementedError

    def truth(self, value: Value) -> bool | None:
        """Whether a value counts as true; None: not known."""
        raise NotImplementedError

    def name(self, frame: Frame, name: str) -> Value | None:
        """What a name stands for in a frame."""
        raise NotImplementedError

    def name_in(self, file: str, name: str) -> Value | None:
        """What a file of the user's has under a name."""
        raise NotImplementedError

    # How ops come about.

    def site(self, node: ast.AST) -> Site:
        """This place, under the calls that are under way."""
        return Site(node, self.frame.code, self.frame.called)

    def result(  # noqa: PLR0913 # one for each property of an op
        self,
        name: str,
        given: Iterable[Given],
        node: ast.AST,
        *,
        saves: bool | None = None,
        form: Form = "other",
        scalar: bool = False,
        doubt: int = SURE,
        leaves: tuple[Leaf, ...] = (),
        storages: tuple[Storage, ...] = (),
        compiled: object = None,
    ) -> Tensor:
        """The tensor that an operation makes of others: with a history if one of them has one."""
        given = tuple(given)
        edges: dict[Op, Edge] = {}
        own = [leaf for leaf in leaves if leaf.requires]
        cut: Cut | None = None
        for value, expression in given:
            for op in ops_of(value):
                edges.setdefault(op, Edge(op, self._label(expression, op)))
            if isinstance(value, Tensor):
                cut = cut or value.cut
                if value.leaf is not None and value.leaf.requires and value.op is None:
                    own.append(value.leaf)
            elif value.op is None:
                own += [leaf for each in _inside(value) if (leaf := each.leaf) is not None and leaf.requires]
        if not edges and not own:
            opaque = any(each.opaque for value, _ in given for each in parts(value, 3))
            return Tensor(cut=None if opaque else cut, made=self.site(node), opaque=opaque)
        if not self.world.recording:
            silencer = self.world.silencer
            lost = Cut(self.site(node), "" if silencer is None else silencer.how, tuple(edges), tuple(own))
            self.world.cuts.append(lost)
            return Tensor(cut=lost, made=self.site(node))
        op = Op(
            name,
            self.site(node),
            self.world.moment,
            tuple(edges.values()),
            tuple(dict.fromkeys(own)),
            saves=operation(name).saves if saves is None else saves,
            saved=tuple((each, each.version) for each in storages),
            form=form,
            scalar=scalar,
            doubt=doubt,
            guarded=self.frame.assumed > 0,
            compiled=compiled,
        )
        self.world.made(op)
        if cut is not None:
            self.world.cut_into.append((cut, op))
        return Tensor(op=op, made=op.site)

    def cut(self, value: Value, how: str, node: ast.AST) -> Tensor:
        """The same values without their history."""
        cut = value.cut if isinstance(value, Tensor) else None
        ops, leaves = tuple(ops_of(value)), tuple(leaves_of(value)) if isinstance(value, Tensor) else ()
        if ops or leaves:
            cut = Cut(self.site(node), how, ops, leaves)
            self.world.cuts.append(cut)
        return Tensor(cut=cut, made=self.site(node))

    def _label(self, expression: ast.expr | None, op: Op) -> Label | None:
        """The name that an op came from, where it was made at another moment: only then somebody will ask."""
        if expression is None or (op.freed is None and op.moment == self.world.moment):
            return None
        return label_of(expression, self.frame, op)

    @contextmanager
    def round_of(self, run: LoopRun, number: int) -> Iterator[None]:
        """A round of a loop is under way."""
        before = self.world.moment
        self.world.moment = (*before, (run, number))
        try:
            yield
        finally:
            self.world.moment = before

    @contextmanager
    def within(self, frame: Frame) -> Iterator[None]:
        """A call is under way."""
        before = self.frame
        self.frame = frame
        try:
            yield
        finally:
            self.frame = before


def _inside(value: Value) -> list[Tensor]:
    from gradsan.check.values import Instance, parts

    if isinstance(value, Instance):
        return []
    return [each for each in parts(value, 3) if isinstance(each, Tensor) and each.op is None]
