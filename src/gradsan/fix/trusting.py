"""Which fixes may be written without having been proved by a run."""

from gradsan.report import Diagnosis, Fix, FixKind

# What the user means is not in the source: a pass to delete, a state to forget, a cut to undo.
_GUESSES: frozenset[FixKind] = frozenset({"remove-backward", "reset-state", "re-attach"})
_GUESSES_IN: frozenset[tuple[str, FixKind]] = frozenset(
    {
        ("GS105", "item"),
        ("GS110", "reorder"),
        ("GS109", "recompute"),
        ("GS304", "combine-losses"),
        ("GS308", "move-into-loop"),  # values may be meant to stay as they are, or not to
        ("GS308", "recompute"),
        ("GS308", "detach"),
    }
)


def is_sure(diagnosis: Diagnosis, fix: Fix) -> bool:
    """Whether the story is certain, the fix is what it asks for first, and nothing that is trained is cut off."""
    if diagnosis.confidence != "certain" or fix.effects.parameters_cut_off:
        return False
    if fix.kind in _GUESSES or (diagnosis.code, fix.kind) in _GUESSES_IN:
        return False
    return fix.kind == diagnosis.fixes[0].kind or fix.safety == "same-gradients"
