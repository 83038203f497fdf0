"""How a program went beyond its errors: what passes, steps, gradients and holders did over many steps, as plain facts.

A run fills them with what it counted, the checker with what every path through the source shows that comes to the
place. What only a run can count is None where nobody ran the program; a habit is then no matter of numbers.
"""

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal

from gradsan.facts.details import OpGraph, RunTimeline
from gradsan.facts.doubt import SURE
from gradsan.facts.incident import Stack

HolderKind = Literal["local", "argument", "attribute", "item", "closure", "global", "buffer", "optimizer"]
_SHOW_GROWTH = 3  # passes in a row that show that a graph grows, and is never cut
_MANY = 3  # graphs of as many steps
_LONG = 3  # steps that one graph is kept
_DENSE = 0.02  # graphs a step: once in fifty. Of what fills more slowly, less is seen, and more must be sure
_RISES = 3  # snapshots that have found more of them each
_PILED = 2  # cycles in which gradients piled up, before it is a habit
_IN_A_ROW = 16  # likewise, where it began late in a long run
_LATE = 2  # passes that came too late, before it is a habit
_STEPS_OF_LAST = 3  # that use the last of several passes, before it is a habit
_MANY_TIMES = 4  # as many as those that a step took after all
_WITHOUT = 3  # steps that a parameter went without a gradient, before it is a habit
# How an optimizer came to lack parameters. The model keeps layers in a plain list; it has what was computed from a
# parameter, or a tensor that is none; a part of it was replaced after the optimizer was created, or while it trained.
Forgetting = Literal["listed", "computed", "plain", "replaced", "exchanged"]
Cutting = Literal["detach", "data", "no-grad", "number", "numpy", "new-tensor", "checkpoint"]


@dataclass(frozen=True, slots=True)
class Walk:
    """One pass of a line that was looked at."""

    step: int  # from 1: the n-th pass of its line
    ops: int
    back: int  # over how many earlier passes of its line it reaches
    updates: int  # how often parameters were changed since the oldest op that it walks was made


@dataclass(frozen=True, slots=True)
class Carried:
    """What leads a pass into the graphs of earlier steps."""

    name: str | None
    holder: HolderKind | None
    certain: bool
    made: Stack
    enters: Stack


@dataclass(frozen=True, slots=True)
class Stale:
    """Ops that passes of a line walk again, though a parameter below them was changed in between."""

    carried: Carried  # what leads into them, where the newest was created, and where the present iteration builds on it
    creators: Stack = ()  # all lines that took part in creating them
    changed: Stack = ()  # the latest step that changed a parameter below them; empty: it was changed by hand
    updates: int = 0  # steps of that optimizer from their creation to the latest pass that walked them
    step: int = 0  # that pass, the n-th of its line
    passes: int = 0  # that were seen to walk what is old
    is_carried_on: bool = True  # the same calls had created something else since, in each of these passes
    is_asked_for: bool = False  # the passes were asked for what is old itself
    created_in_loop: bool = False  # by an earlier iteration of a loop that runs; otherwise before it
    trained_again: bool = False  # the term of the loss that builds on them trains all that is below them, too
    is_operand: bool = False  # they are multiplied as features and weights are


@dataclass(frozen=True, slots=True)
class Gave:
    """What became of the gradients that the passes of a line gave to parameters of optimizers."""

    step: Stack  # the step that came before a pass of which everything was cleared, unread, before the next step
    used: int = 0  # passes of which an optimizer's step used something
    wasted: int | None = None  # passes that came too late; None: each of them, as the source shows
    reaches_others: bool = False  # it also gives gradients to tensors that no optimizer owns: inputs, say
    may_be_read: bool = False  # the program has code that reads gradients
    # Steps before which gradients of several passes were cleared, all but the last; None: each, as the source shows.
    all_but_last: int | None = 0

    @property
    def is_of_last_alone(self) -> bool:
        """Whether each step uses the latest of several passes, and nobody else needs the others."""
        is_habit = self.all_but_last is None or self.all_but_last >= _STEPS_OF_LAST
        return is_habit and bool(self.step) and not (self.reaches_others or self.may_be_read)

    @property
    def is_in_vain(self) -> bool:
        """Whether no step is given what these passes leave, but for a few, and nobody else needs it."""
        is_habit = self.wasted is None or self.wasted >= max(_LATE, _MANY_TIMES * self.used)
        return is_habit and bool(self.step) and not (self.reaches_others or self.may_be_read)


@dataclass(frozen=True, slots=True)
class PassLine:
    """All passes that one line asked for."""

    stack: Stack  # of its last pass
    kind: Literal["backward", "grad"]
    loss: str | None  # what it back-propagates, as written
    is_direct: bool = True  # the user's line itself asked, and not a library on its behalf
    asks_to_retain: bool = True  # it says `retain_graph` or `create_graph` itself, whoever asks
    passes: int | None = None
    retained: int = 0  # how many of them kept the graph
    differentiable: int = 0  # how many of them were asked to make a graph of the gradients
    followed: int = 0  # retained passes that were looked at, with the pass that came after
    walked_again: int = 0  # those of them of which a later pass walked something
    saved_bytes: int | None = None  # about what one graph saved
    seconds: float = 0.0  # on average from one of its passes to the next; how long a kept graph lasts at least
    walks: tuple[Walk, ...] = ()
    is_grown: bool | None = None  # each walks what the one before walked, as the source shows; None: the walks tell
    carried: Carried | None = None
    gave: Gave | None = None
    stale: tuple[Stale, ...] = ()
    doubt: int = SURE

    @property
    def loss_holder(self) -> HolderKind:
        """What the loss is, as far as its name says."""
        return "attribute" if self.loss and "." in self.loss else "local"

    @property
    def grows(self) -> bool:
        """Whether every pass walks what the passes before it walked, on and on, though parameters changed."""
        if self.is_grown is not None:
            return self.is_grown
        last = self.walks[-_SHOW_GROWTH:]
        if len(last) < _SHOW_GROWTH or any(each.updates < each.back or each.back < 1 for each in last):
            return False
        begins = {each.step - each.back for each in last}  # the first step that is still walked
        return len(begins) == 1 and all(one.ops < two.ops for one, two in pairwise(last))


@dataclass(frozen=True, slots=True)
class OptimizerLine:
    """The steps of one optimizer, and what was done with its gradients from one to the next."""

    stack: Stack  # of its last step
    name: str | None  # as written where it steps
    adding: Stack  # a pass that added to gradients which the step before had used already
    steps: int | None = None
    cycles: int | None = None  # from a step to the next, as far as they were followed and gradients arrived
    piled: int | None = None  # those in which it was so; None: in each, as the source shows
    foreign: Stack = ()  # a pass of another optimizer's loss that left gradients here, which its steps then took too
    own: Stack = ()  # the pass of its own loss that came after it
    mixed: int | None = 0  # in how many cycles; None: in each, as the source shows
    in_a_row: int = 0  # the longest run of late in which gradients of every parameter that was followed piled up
    doubt: int = SURE

    @property
    def piles_usually(self) -> bool:
        """Whether gradients pile up in most cycles."""
        return self.piled is None or 2 * self.piled > (self.cycles or 0)

    @property
    def piles(self) -> bool:
        """Whether that is a habit: of most steps, or of many in a row."""
        if self.piled is None:
            return True
        return self.piled >= _PILED and (self.piles_usually or self.in_a_row >= _IN_A_ROW)


@dataclass(frozen=True, slots=True)
class Count:
    """How many graphs a holder had at a moment."""

    step: int  # in steps of the optimizer that owns their parameters
    graphs: int
    oldest: int  # the step in which the oldest of them was made


@dataclass(frozen=True, slots=True)
class Holding:
    """A name that holds graphs from earlier steps, which no pass walks any more."""

    name: str
    holder: HolderKind
    fed: Stack  # the line that puts them there; empty: not found
    made: Stack  # the line that created the newest of them
    counts: tuple[Count, ...] = ()  # one for each snapshot, in order; none: the source shows that each step adds one
    ops: int | None = None  # about, of all that it held when it held most
    saved_bytes: int | None = None  # about what they had saved, freed or not
    is_bounded: bool = False  # it can hold so many and no more
    collects: bool = True  # the feeding line adds to what is there
    is_guarded: bool = False  # the feeding line replaces what is there only if that is beaten: the best so far, say
    is_trimmed: bool = True  # some line takes out or replaces something in it, for all that is known
    retained_by: tuple[Stack, ...] = ()  # lines that asked for passes which walked what it holds, and kept it
    of_numbers: bool = True  # each tensor in it has one element
    doubt: int = SURE

    @property
    def most(self) -> Count | None:
        """When it held most; None: nobody counted."""
        return max(self.counts, key=lambda each: each.graphs, default=None)

    @property
    def is_growing(self) -> bool:
        """Whether it holds graphs of all the time since it began to, and ever more of them."""
        most = self.most
        if most is None:
            return self.collects
        if self.is_bounded or most.graphs < _MANY:
            return False
        if most.graphs < _DENSE * (most.step - most.oldest):
            rises = {each.graphs for each in self.counts if each.oldest == most.oldest}
            return self.collects and not self.is_trimmed and len(rises) >= _RISES
        if len(self.counts) == 1:
            return self.collects
        grew = any(one.oldest == two.oldest and one.graphs < two.graphs for one, two in pairwise(self.counts))
        return grew and not self._slides(most.graphs)

    def _slides(self, most: int) -> bool:
        """Whether it is a window: it fills up once, and is never less full after that, but with newer graphs.

        What an epoch empties is less full in between, and may be as full as before whenever somebody counts.
        """
        slack = max(1, most // 10)  # one may be in the making
        peaks = accumulate((each.graphs for each in self.counts), max)
        never_falls = all(each.graphs >= peak - slack for each, peak in zip(self.counts, peaks, strict=True))
        full = [each for each in self.counts if each.graphs >= most - slack]
        return never_falls and full[0].oldest != full[-1].oldest

    @property
    def is_for_good(self) -> bool:
        """Whether it has kept one graph over many steps, and is made to."""
        return self.is_guarded and not self.is_bounded and any(each.step - each.oldest >= _LONG for each in self.counts)


@dataclass(frozen=True, slots=True)
class Hoard:
    """Graphs of many runs of one forward that a name held at once, all made since the last pass; none took them."""

    name: str
    holder: HolderKind
    function: str | None  # whose name it is; None: not known
    fed: Stack  # the line that puts them there; empty: not found
    made: Stack  # the line that created the newest of them
    graphs: int | None = None
    ops: int | None = None  # about, of all of them
    saved_bytes: int | None = None  # about what they had saved
    of_numbers: bool = True  # each tensor in it has one element
    doubt: int = SURE


@dataclass(frozen=True, slots=True)
class DroppedLoss:
    """Losses that a line made in a loop and no pass took, though passes outside that loop take others of the line."""

    made: Stack
    name: str | None
    passes: int | None = None  # passes that were looked at
    preceded: int | None = None  # of them: losses had been dropped since the pass before
    runs: int | None = None  # how often the line ran for these passes
    dropped: int | None = None  # of them: no pass took what it made; None: all but the last, as the source shows
    takes_last: bool = True  # a pass takes what the last run made, always
    is_chosen: bool = False  # the program compares or keeps the losses: it chooses among them
    taken: Stack = ()  # such a pass
    is_of_one_step: bool | None = None  # the loop works on what one step gives it, and on no batches of its own
    doubt: int = SURE

    @property
    def is_habit(self) -> bool:
        """Whether losses are dropped before most passes, and by no choice."""
        is_usual = self.dropped is None or bool(self.dropped and 2 * (self.preceded or 0) > (self.passes or 0))
        return is_usual and self.takes_last and not self.is_chosen


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A loss of a step's forward that no pass takes, beside one that a pass takes."""

    made: Stack
    name: str
    seen: int  # how many steps it was looked for, and found left out
    is_read: bool  # the program reads it at all
    is_used: bool  # something else is done with it than noting its value
    alone: tuple[str, ...]  # parameters of optimizers that only this loss reaches
    sibling: Stack  # the pass of the other loss
    holder: HolderKind = "local"
    called: str = ""  # what the line that created it calls it
    is_total: bool = False  # the loss of the pass is a term of it, and another of its terms is taken by no pass
    is_weighted: bool = False  # it is multiplied by what is called a weight, and no pass takes what is weighted


@dataclass(frozen=True, slots=True)
class CutOff:
    """Parameters of an optimizer that no pass ever reached, though their module ran in the forward."""

    parameters: tuple[str, ...]  # by name; none: those of the module that are meant have none in the source
    module: str
    steps: int | None  # of the optimizer, while they went without; None: all, as the source shows
    how: str  # a `Cutting`, or the call as it is written
    cut: Stack
    name: str | None  # the tensor that was cut
    is_term: bool = False  # other terms of the loss reach them all the same: it is this term that trains nothing
    is_drawn: bool = False  # the same of a value that was drawn: what is computed from it trains only what comes after
    is_late: bool = False  # they were reached at first
    is_earlier: bool = False  # no iteration makes the cut for itself: what was cut once is used again
    doubt: int = SURE

    @property
    def is_habit(self) -> bool:
        """Whether it is so step after step."""
        return self.steps is None or self.steps >= _WITHOUT


@dataclass(frozen=True, slots=True)
class Slot:
    """An attribute in which one parameter, or one layer, has taken the place of another."""

    name: str  # as it is written where that is done
    also: tuple[str, ...] = ()  # others that the same function gives something new
    owner: str | None = None  # the class whose method that is
    objects: int = 1  # that have it
    replaced: Stack = ()
    is_parameter: bool = False  # an `nn.Parameter` is put there, and no layer


@dataclass(frozen=True, slots=True)
class Unowned:
    """Parameters that get gradients and that no optimizer has, though the program shows that one was to have them."""

    parameters: tuple[str, ...]
    how: Forgetting
    kept_in: str | None = None  # an attribute of the model, for the first three
    step: Stack = ()  # of that optimizer
    steps: int | None = 0  # in which they were seen to stay as they are; None: in all, as the source shows
    slot: Slot | None = None  # for the last two, where it is known
    created: Stack = ()  # where the optimizer was, for those

    @property
    def is_habit(self) -> bool:
        """Whether it is so step after step."""
        return self.steps is None or self.steps >= _WITHOUT


@dataclass(frozen=True, slots=True)
class ConstantTerm:
    """A term of a loss that is made of gradients without a graph, though these depend on what the loss trains."""

    name: str | None  # of the gradients
    asked: Stack  # the call that gave them
    enters: Stack  # where the term is added
    used: Stack  # a pass that went by
    holder: HolderKind = "local"
    passes: int | None = None  # that were seen to go by; None: all, as the source shows
    doubt: int = SURE


@dataclass(frozen=True, slots=True)
class Course:
    """A run, or the paths through a source, in facts and numbers."""

    passes: int = 0
    steps: int = 0
    ops: int = 0  # about: walked by all passes together
    peak_saved_bytes: int = 0  # about: the most that was seen alive at once, when passes began
    retained_bytes: int = 0  # about: kept by passes that retained
    lines: tuple[PassLine, ...] = ()
    optimizers: tuple[OptimizerLine, ...] = ()
    holdings: tuple[Holding, ...] = ()
    hoards: tuple[Hoard, ...] = ()
    dropped: tuple[DroppedLoss, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    cut_off: tuple[CutOff, ...] = ()
    constant_terms: tuple[ConstantTerm, ...] = ()
    unowned: tuple[Unowned, ...] = ()
    timeline: RunTimeline | None = None  # what a page shows, where that is recorded
    graph: OpGraph | None = None
