"""The graph that a program would build: ops, what they build on, and where and in which iteration they were created."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from gradsan.facts import doubt as doubts
from gradsan.report import Holder

# How sure it is that an op is there, and that it leads where its edges say.
SURE, LIKELY, DOUBTFUL = doubts.SURE, doubts.LIKELY, doubts.DOUBTFUL

UNKNOWN = "unknown"  # the name of an op of which only a pass shows that it is there


class _Clock:
    now = 0


def tick() -> int:
    """A number that rises with everything that happens to graphs: it parts before from after."""
    _Clock.now += 1
    return _Clock.now


def latest() -> int:
    """The number of what happened last."""
    return _Clock.now


@dataclass(frozen=True, slots=True)
class Code:
    """A body of source that runs: a module or a function."""

    file: str
    function: str


@dataclass(slots=True, eq=False)  # not frozen, which takes three times as long: nothing is made as often
class Site:
    """A place in source, and the place that called it."""

    node: ast.AST
    code: Code
    caller: "Site | None" = None

    @property
    def path(self) -> tuple[ast.AST, ...]:
        """The nodes of this place and of the calls that led here."""
        return tuple(site.node for site in self.outwards())

    def outwards(self) -> Iterator["Site"]:
        """This place, the call that led here, and so on to the outermost."""
        site: Site | None = self
        while site is not None:
            yield site
            site = site.caller


@dataclass(slots=True, eq=False)
class LoopRun:
    """One run of a loop, from its first iteration to its last."""

    header: Site
    imagined: bool = False  # nobody wrote it: a library calls again and again
    is_short: bool = False  # it is known to have a few iterations


# The iterations that are under way, outermost first.
Moment = tuple[tuple[LoopRun, int], ...]


@dataclass(frozen=True, slots=True)
class Change:
    """Other values in a tensor, for certain."""

    number: int  # when
    site: Site


@dataclass(slots=True, eq=False)
class Storage:
    """The memory of a tensor: every edit in place gives it a new version."""

    version: int = 0
    edited: Site | None = None
    by: str | None = None  # the optimizer whose step edited it
    changes: list[Change] = field(default_factory=list)  # of a leaf

    def edit(self, site: Site, by: str | None = None) -> None:
        """Other values are written into it."""
        self.version += 1
        self.edited, self.by = site, by


@dataclass(frozen=True, slots=True)
class Label:
    """The name through which an op was reached."""

    name: str
    holder: Holder


def label_for(name: str | None) -> Label | None:
    """The label of a name of which nothing else is known."""
    return Label(name, "attribute" if "." in name else "local") if name else None


@dataclass(slots=True, eq=False)
class Leaf:
    """Parameters of one layer, or one tensor that requires a gradient."""

    name: str
    module: str  # the outermost module it belongs to, for programs without optimizers
    requires: bool = True
    frozen: "Cut | None" = None  # where it was, on no assumption
    made_of: "Cut | None" = None  # a value that had lost its graph, of which it was made
    assumed: bool = False  # nothing shows that it exists but the name of what was called
    registers: bool = True  # where it is an attribute of a module; False: a tensor that is no `nn.Parameter`
    origin: tuple[object, ...] = ()  # by which calls it was created, in which iterations: the same on every path
    storage: Storage = field(default_factory=Storage)
    given: list["Contribution"] = field(default_factory=list)  # gradients since they were last cleared
    reached: bool = False  # some pass has led here
    gradient_read: bool = False
    trained_parts: set[str] = field(default_factory=set)  # of a layer's parameters, where they are known by name
    number: int = field(default_factory=tick)

    @property
    def gradients(self) -> "list[Contribution]":
        """Those that are there still, as far as the program is seen."""
        return [each for each in self.given if each.is_there]

    def require_part(self, name: str, *, wanted: bool) -> bool:
        """One of a layer's parameters is frozen or thawed; whether any of them is still to receive a gradient."""
        if wanted:
            self.trained_parts.add(name)
        else:
            self.trained_parts.discard(name)
        return bool(self.trained_parts)

    def use_gradients(self, site: Site | None = None) -> None:
        """A step takes its gradients, or somebody who cannot be seen."""
        for each in self.given:
            each.source.used = True
            each.stepped = site or each.stepped


@dataclass(frozen=True, slots=True)
class Edge:
    """What an op builds on, and the name it took it from where that name had held it for longer."""

    op: "Op"
    label: Label | None = None


# How an op forms its value: by adding and scaling losses, or otherwise.
Form = Literal["linear", "other"]


@dataclass(frozen=True, slots=True)
class InnerPass:
    """The passes that the backward of a custom Function runs over a graph that it kept: the first, the freeing one."""

    first: Site
    freeing: Site


@dataclass(slots=True, eq=False)
class Op:
    """One operation, or the whole call of a layer."""

    name: str
    site: Site
    moment: Moment
    edges: tuple[Edge, ...] = ()
    leaves: tuple[Leaf, ...] = ()
    saves: bool = True  # a second pass over it raises
    saved: tuple[tuple[Storage, int], ...] = ()  # what it saved, in the version it had
    form: Form = "other"
    scalar: bool = False  # one number, as a loss is
    called: str | None = None  # the first name that its result was given
    doubt: int = SURE
    is_part: bool = False  # one of the outputs of something unknown, which may have little in common with another
    guarded: bool = False  # created in a branch that was only assumed to be taken
    compiled: object = None  # the function that `torch.compile` turned into one op
    inner: "InnerPass | None" = None  # a pass that its own backward runs
    captured: tuple["Op", ...] = ()  # what the inner pass of a re-entrant checkpoint walks into
    freed: "Pass | None" = None
    freed_doubt: int = SURE
    healed: bool = False  # reported already: the rest of the program is read as if it were fixed
    walked: list["Pass"] = field(default_factory=list)
    users: list["Op"] = field(default_factory=list)  # what builds on it
    may_be_read: bool = False  # somebody reads what nobody was seen to write, and it may be this
    escaped: bool = False  # something that outlives the statement holds it
    number: int = field(default_factory=tick)

    @property
    def is_used(self) -> bool:
        """Whether anything was, or may have been, done with it."""
        return bool(self.users) or self.may_be_read

    @property
    def is_edited(self) -> bool:
        """Whether a value that it saved was changed in place since."""
        return any(storage.version != version for storage, version in self.saved)


@dataclass(slots=True, eq=False)
class Pass:
    """One backward pass, or one `autograd.grad`."""

    kind: Literal["backward", "grad"]
    roots: tuple[Op, ...]
    site: Site
    moment: Moment
    retains: bool
    keeps: bool = False  # `retain_graph=True` stands there, for no other purpose
    is_open: bool = False  # it is to reach what no path is seen to lead to: there is more of its graph
    number: int = field(default_factory=tick)
    in_forward: bool = False
    guarded: bool = False
    label: str | None = None  # the loss, as the program calls it
    reached: tuple[Leaf, ...] = ()
    ops: tuple[Op, ...] = ()
    used: bool = False  # a step has used a gradient that it gave
    wasted: bool = False  # a gradient that it gave was cleared unread
    missed: Site | None = None  # the step that was to use its gradients, and found none

    @property
    def leads_on(self) -> bool:
        """Whether it was asked for gradients that have a graph themselves, for another pass to walk."""
        return self.kind == "grad" and self.retains and not self.keeps

    @property
    def is_assumed(self) -> bool:
        """Whether nothing but an assumption shows what it trains, or some of what it walks."""
        return not self.reached or any(leaf.assumed for leaf in self.reached) or any(op.doubt for op in self.ops)


class Answer(Protocol):
    """What a call has returned that was not followed."""

    @property
    def op(self) -> Op | None:
        """Its op, once it is known to have a graph."""


@dataclass(slots=True, eq=False)
class Contribution:
    """A gradient that a pass gave to a leaf."""

    source: Pass
    stepped: Site | None = None  # the step that has used it
    questioned: "list[Answer]" = field(default_factory=list)  # by calls that had the parameter in their hands

    @property
    def is_there(self) -> bool:
        """Whether nobody can have cleared it: a call whose result is back-propagated has computed it, and no more."""
        return all(each.op is not None and each.op.walked for each in self.questioned)


@dataclass(slots=True, eq=False)
class Cut:
    """Where a value lost its graph."""

    site: Site
    how: str  # `.detach()`, `torch.no_grad()`
    ops: tuple[Op, ...] = ()  # what it was cut off from
    leaves: tuple[Leaf, ...] = ()
    name: str | None = None  # the first name that the result was given
    gave: Pass | None = None  # the pass that gave it: a gradient, of which nobody asked for a graph
    mixed: bool = False  # since then it was joined with something that may have a graph
    lasts: bool = False  # a state lost it that stays until somebody ends it: recording is off, a parameter frozen


def leaves_in(ops: Iterable[Op]) -> set[Leaf]:
    """The parameters that some ops hand gradients to themselves."""
    return {leaf for op in ops for leaf in op.leaves}


def redate(op: Op, moment: Moment) -> None:
    """Say that it was created at another moment: a generator makes what it yields when it is asked for it."""
    op.moment = moment
    op.saved = tuple((storage, storage.version) for storage, _ in op.saved)
