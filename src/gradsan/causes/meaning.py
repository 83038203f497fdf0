"""What a fix means for the gradients: with what the steps of the fixed program are to be compared."""

from collections.abc import Mapping
from typing import Literal

from gradsan.report import FixKind

# kept: as with all graphs kept.
# cut: as if whatever leads into a freed graph were a constant.
# constant: the same from the start, also for the first pass that leads into it.
# term: as if a pass over a total were asked of what was added to it since the pass before.
# apart: as if each pass trained those optimizers alone that step after it.
# beside: as if what was computed from parameters that have all been trained since were a constant; else again.
# stored: as if all that the lines compute which computed something of that kind were a constant.
# held: as if a step that changes what the next pass needs were made after that pass.
# again: as if whatever was computed from parameters were computed again when they have changed.
# reread: the same, also for what only looks at it and trains nothing through it.
# begun: the same parameters are trained in every iteration.
# attached: as if the line that the diagnosis calls the cut did not cut.
# unfrozen: the same, where that line freezes parameters: who of them is to be trained, the program need not say.
# whole: as if a pass over a term were asked of the total that the diagnosis names.
# awaited: as if each step were made after the pass that it is for, and given all that came of it.
# late: the program as it is, for whoever has to know which steps came too early.
# copied: as if every saved value were a copy.
# created: as if gradients that are asked for were part of the graph.
# cleared: each step is given what came since the one before it.
# gathered: each step is given what all passes gave since the one before it, cleared in between or not.
# owned: as if the optimizer had what was put into its model below its creation, in the place of what it has, or into a
#     plain list.
# skipped: as if a pass into what an earlier one freed were not made, nor the steps before the next pass.
# same: as in the program as it is.
# aimed: as in the program, but for what a pass walked that was asked for the gradient of a leaf beside it; the program
#     does not say whether later passes train that.
# open: the program does not say, so that no fix is verified.
Meaning = Literal[
    "kept",
    "cut",
    "constant",
    "term",
    "apart",
    "beside",
    "held",
    "stored",
    "again",
    "reread",
    "begun",
    "attached",
    "unfrozen",
    "whole",
    "late",
    "awaited",
    "copied",
    "created",
    "cleared",
    "gathered",
    "owned",
    "skipped",
    "same",
    "aimed",
    "open",
]

OF_KINDS: Mapping[FixKind, Meaning] = {
    "recompute": "again",
    "combine-losses": "kept",
    "detach": "cut",
    "reset-state": "cut",
    "no-grad": "cut",
    "item": "cut",
    "move-into-loop": "again",
    "reorder": "open",
    "remove-backward": "cut",
    "retain-graph": "kept",
    "create-graph": "created",
    "remove-retain": "same",
    "zero-grad": "cleared",
    "clone": "copied",
    "re-attach": "attached",
    "unfreeze": "unfrozen",
    "setting": "kept",
    "advice": "open",
}

# The place of a diagnosis that the reference of a meaning goes by.
PLACES: Mapping[Meaning, Literal["cut", "made"]] = {"attached": "cut", "unfrozen": "cut", "whole": "made"}
