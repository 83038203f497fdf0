"""What a cause asks for, as values: which fix, about what, in which places, and when it is the first choice.

A cause decides this from facts. Whoever makes the edit finds the place in the source, and never asks for a code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gradsan.report import FixKind

# What an edit is about.
Target = Literal[
    "name",  # what the diagnosis names: a tensor, a state, a holder, a loss
    "later pass",
    "earlier pass",
    "step",  # an optimizer's, or an edit in place
    "reading",  # of saved values
    "optimizer",
    "cut",
    "use_reentrant",
    "donated_buffer",
    "cache",  # the option that switches it on
    "layers",  # that a model keeps in a plain list
    "nothing",  # that could be written down
]

# Where the edit goes. A remedy names its places in the order in which they are tried.
Where = Literal[
    "creation",  # the statement that creates it, before the loop
    "record",  # the statement that draws what is part of it
    "use",  # the statement of the later forward that builds on it
    "single use",  # the same, where a step reads it there alone, and once
    "use in the loop",  # the same, where it was created before the loop
    "boundary",  # below the pass, where a step is over; or above a loop that reads it, in a function that a step calls
    "kept",  # the statement that puts it into its holder
    "total",  # the statement that adds to a total, together with the pass that is asked of it
    "hand-over",  # where the call that created and freed it returns
    "earlier loss",  # what uses it above the earlier pass
    "inner loss",  # what the function that asks for the earlier pass reads for that alone
    "later loss",  # what uses it between the two passes
    "target",  # what a loss function is to compare with, where the later loss is computed
    "predicted",  # what each of two losses compares with a prediction of it
    "put away",  # the statement that computes what a container is given, and nothing else is done with
    "average",  # the statement that averages it with its old value, where it is a constant elsewhere
    "measuring",  # around the function or the loop that only measures
    "iteration",  # the top of what runs once for every pass
    "collection",  # lists that are filled for one pass, below its step
    "memo",  # the container that has what it was filled with in earlier steps, below the pass
    "store",  # what still holds losses of an earlier iteration
    "block",  # the block in which both passes stand
    "pass of a term",  # the pass that is asked of a term of a sum, where it was to be asked of that sum
    "losses",  # the loop that asks for a pass over each of its losses
    "loop",  # the loop that computes the terms
    "cache",  # what answers without computing
    "attribute",  # what keeps it on an object
    "item",  # where a dataset takes an item of it
    "handed on",  # the statement that gives it to the next iteration, below the step
    "lines after the step",  # below the step that changed the parameters: all that leads to the loss
    "buffer",  # what a loop writes into, allocated before it
    "context",  # a caching context around the loop
    "update",  # clearing, pass and step, below the loop that computes the losses
    "change",  # the statement that edits it in place
    "saving",  # the statement that saves it for backward
    "cut",  # the statement or the block that cuts the graph
    "new part",  # what is put into a model above the statement that freezes all of it
    "copy",  # a shallow copy of a model, above the statement that freezes it
    "optimized part",  # below that statement: what an optimizer is given of the model
    "rest of the block",  # the end of the block that freezes a model below the pass which trains it
    "optimizer",  # above the statement that creates one, for what it is given
    "guard",  # the branch that computes it
    "later pass",
    "later step",  # the last step below that pass, for which it is asked
    "earlier pass",
    "clearing",  # the statement that clears gradients between a pass and its step
    "between passes",  # the statement that clears gradients between passes for one step, below that step
    "replacement",  # the statement that puts a new parameter in the place of one that an optimizer has
    "below the replacement",  # the same, or a call that leads to it, beside an optimizer
    "below the model",  # the last statement beside the optimizer's creation that may change its model
    "own pass",  # of the loss that an optimizer steps for
    "program",  # where it begins, or wherever the setting is written
]

# What only the source shows about which fix is meant.
Sign = Literal[
    "it can be written",
    "a gradient enters the loss",  # what the earlier call returned is used on the path to the later pass
    "no gradient enters the loss",
    "the step takes both gradients",  # it follows the later pass, too, and nothing is cleared in between
    "the gradient is of a leaf beside it",  # which the earlier pass is asked for, and which it is not computed from
    "the program resets it elsewhere",  # or others beside it: it was forgotten, and means nothing to the next iteration
    "it is filled for one pass",  # with others that go along, and never emptied
    "several terms are added",  # in a loop of their own, below which the total is back-propagated
    "it is renewed on schedule",  # a guard that counts lets it be computed in every so many iterations
    "the loop takes batches",  # of its own, and is no part of one step
    "it was drawn along",  # what was done is part of it: computed again, something else would have been done
    "it is built of its own items",  # a memo whose function calls itself: what is kept is shared within a step
]

# What the recorded graph shows against a fix.
Loss = Literal[
    "nothing is left to train",  # by the later pass
    "a parameter is lost",  # of an optimizer that the later pass is for
]


@dataclass(frozen=True, slots=True)
class Remedy:
    """One fix of a cause, with all that making the edit, ranking it and trusting it depends on."""

    kind: FixKind
    target: Target = "name"
    where: tuple[Where, ...] = ()  # in the order in which they are tried; none: it cannot be written down
    unless: Loss | None = None  # it comes last where a replay of the graph shows this
    first_if: Sign | None = None  # it comes first where the source shows this
    instead_of: FixKind | None = None  # it comes before this one where no edit of that kind can be written
    only_if_shown: bool = False  # what ran does not ask for it: it is a fix where the source shows the sign
    trusted: bool = True  # certain, it may be written without a run that proves it: it cannot be meant otherwise
    drops_retain: bool = False  # a retained graph led here, which nobody needs after the edit: the argument goes, too
    cuts_later_pass: bool = True  # what it cuts off, the failing pass loses; False: the earlier one may lose it instead
    by_assignment: bool = False  # a plain assignment keeps it, too
    with_siblings: bool = True  # names that are assigned together are one state; False: not where it is created above
    guards_gradients: bool = False  # no step may move past a pass whose gradients it is not to be given anyway


def table(*remedies: Remedy) -> Mapping[FixKind, Remedy]:
    """Remedies by their kinds."""
    return {each.kind: each for each in remedies}


USUAL: Mapping[FixKind, Remedy] = table(
    Remedy("recompute", where=("attribute", "use")),
    Remedy("combine-losses", where=("block", "losses")),
    Remedy("detach", where=("use",)),
    Remedy("reset-state", where=("boundary",), trusted=False),
    Remedy("no-grad", where=("creation",)),
    Remedy("item", where=("kept",)),
    Remedy("move-into-loop", where=("creation",)),
    Remedy("reorder", target="step", where=("later pass",)),
    Remedy("remove-backward", target="later pass", where=("later pass",), trusted=False),
    Remedy("retain-graph", target="earlier pass", where=("earlier pass",)),
    Remedy("create-graph", target="earlier pass", where=("earlier pass",)),
    Remedy("remove-retain", target="later pass", where=("later pass",)),
    Remedy("zero-grad", target="optimizer", where=("later pass",)),
    Remedy("clone", where=("change", "saving")),
    Remedy("re-attach", target="cut", where=("cut",), trusted=False),
    Remedy(
        "unfreeze",
        target="cut",
        where=("new part", "copy", "optimized part", "rest of the block", "optimizer"),
        trusted=False,
    ),
    Remedy("setting", target="nothing"),
    Remedy("advice", target="nothing"),
)
