"""What two runs gave to their optimizers, compared."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

_CLOSE = 1e-4  # relative; sums are added up in another order

Steps = Sequence[Mapping[str, Any]]  # what each optimizer was given, step after step


def same_gradients(ours: Steps, reference: Steps) -> bool:
    """Whether every optimizer was given the same, at every step."""
    if len(ours) != len(reference):
        return False
    return all(_alike(one, other) for one, other in zip(ours, reference, strict=True))


def cut_off(steps: Steps, before: Steps) -> list[str]:
    """Parameters that were given gradients before, and none in any step now."""
    had, have, asked = _trained(before), _trained(steps), {step["optimizer"] for step in steps}
    return [f"parameter {n} of optimizer {o}" for o, n in sorted(had - have) if o in asked]


def _trained(steps: Steps) -> set[tuple[int, int]]:
    return {
        (step["optimizer"], number)
        for step in steps
        for number, gradient in enumerate(step["gradients"])
        if gradient is not None
    }


def _alike(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    if ours["optimizer"] != theirs["optimizer"] or len(ours["gradients"]) != len(theirs["gradients"]):
        return False
    # Some gradients are zero but for rounding, as that of a bias before a normalisation: the largest is the measure.
    scale = max((abs(each) for one in theirs["gradients"] if one is not None for each in one), default=0.0)
    pairs = zip(ours["gradients"], theirs["gradients"], strict=True)
    return all(_close(one, other, scale) for one, other in pairs)


def _close(one: Sequence[float] | None, other: Sequence[float] | None, scale: float) -> bool:
    if one is None or other is None:
        return one is other
    return all(math.isclose(a, b, rel_tol=_CLOSE, abs_tol=_CLOSE * scale) for a, b in zip(one, other, strict=True))
