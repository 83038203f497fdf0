"""A pass that PyTorch stops, and everything that is known about it, as plain facts for the causes to read.

A run fills them from the graph and the log of the failing process, the checker from the path that leads to the pass.
What only a run can measure is None where nobody ran the program.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gradsan.facts.doubt import LIKELY, SURE
from gradsan.facts.location import Frame

Stack = tuple[Frame, ...]  # the user's calls, outermost first
LONGEST_PATH = 40  # ops; of a longer path both ends are kept

# When something was made, against the iterations of a loop: before its first, in an earlier one, in the present one.
When = Literal["before", "earlier", "now", "unknown"]


@dataclass(frozen=True, slots=True)
class OpFact:
    """One op of the graph that the failing pass walked."""

    name: str  # PyTorch's, "MulBackward0"
    number: int | None  # creation number; None: it has none that can be compared
    stack: Stack = ()  # empty: not known
    consumed: bool = False  # an earlier pass had freed it
    step: int | None = None  # from 1: as many passes of the failing line as there were before it was created, and one
    module: str | None = None  # the dotted name of the module whose parameter it uses


@dataclass(frozen=True, slots=True)
class GraphPath:
    """The path from the root of a pass to an op, both ends included."""

    ops: tuple[OpFact, ...] = ()
    left_out: int = 0  # between the two halves of `ops`


@dataclass(frozen=True, slots=True)
class PassFact:
    """One pass, seen or failing."""

    kind: Literal["backward", "grad"]
    retains: bool
    stack: Stack
    step: int  # from 1: the n-th pass that this line asked for
    begin: int  # the op counter when it began
    order: int | None = None  # from 0: the n-th pass of the process
    nested: bool = False  # it ran inside another pass: a hook, a checkpoint, a Function that back-propagates
    in_forward: bool = False  # it ran inside a module's forward, and not the whole step did
    seen: bool = True  # False: what it walked was inferred from passes like it, or not known


@dataclass(frozen=True, slots=True)
class Repetition:
    """The innermost loop in which the two passes fall into different iterations."""

    header: Frame  # the line of the `for` or `while`, or the line that calls again and again
    now: int  # the present iteration, from 1
    freed: int | None  # the iteration of the earlier pass; 0: before the first; None: not known
    made: When
    creator_runs: int  # in how many of the known iterations the making line ran
    creator_ran_now: bool  # whether it ran in the present iteration
    created_in_outer_iteration: bool  # there is a loop around this one, and its present iteration created it
    creator_ran_since: bool = False  # it made something else later on, and that is not what was used
    memo: str | None = (
        None  # the container for which it was made, because that had nothing under a key; it has it still
    )

    @property
    def skipped(self) -> bool:
        """Whether the making line runs iteration after iteration, and did not in the present one."""
        return self.made == "earlier" and self.creator_runs > 1 and not self.creator_ran_now


@dataclass(frozen=True, slots=True)
class Owners:
    """Whose parameters the failing pass reaches: by optimizer, or by root module where there is no optimizer."""

    fresh: frozenset[str]  # those outside the freed part
    freed: frozenset[str]  # those inside it
    by_optimizer: bool
    reached: frozenset[str] = frozenset()  # those that the earlier pass reached
    served: frozenset[str] = frozenset()  # whom the earlier pass was for: see `whom_for`
    discarded: frozenset[str] = frozenset()  # those that have cleared, unused, what the earlier pass gave them
    one_line: bool = False  # asked for both passes
    is_teaching: bool = False  # the networks meet in the loss alone: what one gives, the other is to learn

    @property
    def apart(self) -> bool:
        """Whether nobody who owns something fresh owns something freed, or networks of several owners teach each other.

        Where all that the later pass reaches was freed, the earlier pass was for those whom it served. Where one
        line asks for both, the later pass is for them too: a generator's pass leads through its discriminator. And
        where the owners of what was freed threw away what the earlier pass gave them, it was for others.
        """
        served = self.served if self.by_optimizer else frozenset()
        if self.is_teaching or (served and self.freed and self.freed <= self.discarded):
            return True
        if not served and self._have_heads_of_their_own:
            return False
        theirs = served if self.one_line and served else self.fresh or served
        return bool(theirs and self.freed) and not theirs & self.freed

    @property
    def _have_heads_of_their_own(self) -> bool:
        """Whether each loss trains what the other does not, above what they share: that is a trunk, trained by both."""
        earlier, later = self.reached - self.freed, self.fresh - self.freed
        return bool(earlier and later) and not earlier & later


def whom_for(stepped: frozenset[str], reached: frozenset[str], discarded: frozenset[str]) -> frozenset[str]:
    """The optimizers that a pass was for: those that stepped right after it.

    Where none did, those that kept what it gave them while others threw it away. Where all threw it away, each loss's
    gradients are wanted apart, and nobody can tell.
    """
    return stepped or (reached - discarded if discarded else frozenset())


# How the failing root relates to the root of the pass that freed it.
Kinship = Literal["same", "total", "none"]  # total: a sum in which a loss of an earlier pass is a term


@dataclass(frozen=True, slots=True)
class SecondPass:
    """A pass came upon ops that an earlier pass had freed."""

    failing: PassFact
    freeing: PassFact
    path: GraphPath  # from the root to the op that raised
    made: OpFact  # where the path leads out of the later forward
    enters: OpFact | None  # the op of the later forward that builds on it; None: the root itself is old
    kinship: Kinship
    repetition: Repetition | None
    updated_between: bool  # parameters were changed between the two passes
    cleared_between: bool  # gradients that the earlier pass gave were cleared since
    owners: Owners
    consumed: frozenset[int]  # creation numbers of the freed ops that the failing pass needs
    consumed_bytes: int | None  # about what they had saved; None: nobody measured it, nor counted the ops
    compiled: bool = False  # the freed op is one that `torch.compile` made
    checkpointed: bool = False  # an activation checkpoint ran one of the two passes
    own_backward: bool = False  # a custom Function ran it in its own backward
    trained_again: bool = False  # the term of the loss that builds on the freed part trains all that is behind it, too
    is_term: bool = False  # the loss is a sum, and what is old is one of its terms, or all of one
    carries_more: bool = False  # more than terms of the loss leads to what is old
    is_target: bool = False  # what is old is what a loss function compares with: `mse_loss(value, old)`
    is_average: bool = False  # it is added to something new, and all behind it is trained without that sum, too
    is_operand: bool = False  # what is old is multiplied as features and weights are: it is a part of the network
    shaped_by: str | None = None  # a Function with a backward of its own, which leads to nothing but what is old
    additions: int = 1  # for a total: how often something new was added to it since the pass that freed its old terms
    doubt: int = SURE

    @property
    def freed_inside(self) -> bool:
        """Whether the pass that freed it began while the failing one ran: a hook asked for it."""
        first, second = self.failing.order, self.freeing.order
        return first is not None and second is not None and first < second

    @property
    def trains_inside(self) -> bool:
        """Whether a forward back-propagated for an optimizer of its own, which has nothing of what was freed."""
        served, freed = self.owners.served, self.owners.freed
        is_own = self.owners.by_optimizer and bool(served and freed) and not served & freed
        return is_own and self.freeing.kind == "backward" and self.freeing.in_forward and not self.freed_inside

    @property
    def doubtful(self) -> int:
        """How doubtful the facts themselves are: where it was created, and which pass freed it."""
        loop = self.repetition
        is_placed = bool(self.made.stack) and (loop is None or loop.made != "unknown")
        return max(self.doubt, SURE if is_placed and self.freeing.seen else LIKELY)


@dataclass(frozen=True, slots=True)
class SavedValue:
    """What PyTorch says about a value that is not what it was when it was saved."""

    kind: str  # "torch.FloatTensor"
    shape: tuple[int, ...]
    op: str | None  # the kind of op that it comes from now, "Sigmoid"; None: it has no history
    version: int  # how often it has been edited
    expected: int  # how often when it was saved


@dataclass(frozen=True, slots=True)
class Suspect:
    """An op that may have saved the value."""

    saver: OpFact
    source: OpFact | None = None  # the op whose result it saved; None: the value had no history
    edit: OpFact | None = None  # the op that the edit made, where the graph has it
    takers: tuple[OpFact, ...] = ()  # ops of the same size that were made of that result: an edit may be among them
    is_leafs: bool = False  # it saved a parameter that was edited as often as PyTorch says, or a layer's statistics
    is_trained: bool = False  # that parameter is an optimizer's


@dataclass(frozen=True, slots=True)
class Edited:
    """A pass needed a value that had been changed in place since an op saved it."""

    failing: PassFact
    saver: OpFact | None  # the op that saved it; None: not known
    by_optimizer: bool  # an optimizer's step changed it
    optimizer: str | None
    changed: Stack  # where it was changed; empty: not known
    when: When  # when it was saved, against the iterations of the loop that is running
    path: GraphPath
    made: OpFact | None  # the first op on the way that is older than the change, or else the saver
    enters: OpFact | None  # the op that builds on it
    value: SavedValue | None = None
    suspects: tuple[Suspect, ...] = ()  # the likeliest first, where the saver itself is not known
    proved: bool = False  # that it was changed there: seen, not only likely
    retained: Stack = ()  # the earlier pass that walked the saving op and kept its graph; empty: there was none
    layer: tuple[str, str] | None = None  # the layer of a library's container that made the edit: name and class
    joined: bool = False  # the pass trains a network of another optimizer's, and not through what was changed
    trained_apart: bool = False  # what is old is trained again by this pass, and is no term of its loss
    again: bool = True  # it trains something apart from what was created before the change
    shaped_by: str | None = None  # a Function with a backward of its own, which leads to nothing but what is old
    doubt: int = SURE

    @property
    def doubtful(self) -> int:
        """How doubtful it is that it was changed there."""
        return max(self.doubt, SURE if self.proved else LIKELY)


# What cut, in a clause, where a checkpoint was given nothing that it could be trained through.
REENTRANT = "a re-entrant checkpoint, none of whose inputs requires a gradient,"


@dataclass(frozen=True, slots=True)
class WithoutHistory:
    """A pass was asked for on a tensor that no graph leads to."""

    failing: PassFact
    cut: Stack = ()  # where it lost its history; empty: not known
    by: str | None = None  # what cut it, in a clause: "`.detach()`", "a comparison"
    proved: bool = False  # that what was cut there had a history
    optimizer: str | None = None  # that was given, where it was cut, tensors which require no gradient
    doubt: int = SURE

    @property
    def doubtful(self) -> int:
        """How doubtful it is that it was cut there; that it has no history, PyTorch says itself."""
        return max(self.doubt, SURE if self.proved or not self.cut else LIKELY)


@dataclass(frozen=True, slots=True)
class Donated:
    """A pass asked a compiled op to keep its graph, whose buffers it had been compiled to give away."""

    failing: PassFact
    doubt: int = SURE

    @property
    def doubtful(self) -> int:
        """How doubtful it is that the op was compiled so."""
        return self.doubt


@dataclass(frozen=True, slots=True)
class ReadAfterFree:
    """No pass failed: a program read the saved values of an op that a pass had freed."""

    failing: PassFact  # stands for the reading line
    freeing: PassFact | None
    proved: bool = False  # the op was looked at, and this pass is the one that freed it
    doubt: int = SURE

    @property
    def doubtful(self) -> int:
        """How doubtful it is which pass freed it."""
        return max(self.doubt, SURE if self.proved else LIKELY)


Incident = SecondPass | Edited | WithoutHistory | Donated | ReadAfterFree
Evidence = Mapping[str, int | float | str]
