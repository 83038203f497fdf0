"""What two runs gave to their optimizers, compared."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

_CLOSE = 1e-4  # relative; sums are added up in another order
# Of the largest gradient so far. Some are zero but for rounding, as a bias before a normalisation; and what earlier
# steps were rounded by stays in the parameters, however small the gradients have become.
_ROUNDING = 1e-5

Steps = Sequence[Mapping[str, Any]]  # what each optimizer was given, step after step
Names = Mapping[int, Sequence[str]]  # of the parameters of each optimizer


@dataclass(frozen=True, slots=True)
class Difference:
    """The first step at which two runs part."""

    step: int  # from 1
    what: str  # in words
    after_other_draws: bool = False  # by then, the two had drawn other random numbers
    after_rounding: bool = False  # an earlier step was given the same but for the last digits


def difference(ours: Steps, theirs: Steps, names: Names) -> Difference | None:
    """Where two runs part; None: every optimizer was given the same, at every step that both made."""
    largest: dict[int, float] = {}  # by optimizer
    rounded = False
    for number, (one, other) in enumerate(zip(ours, theirs, strict=False), start=1):
        if one["last"] and other["last"]:
            return _end_apart(number, one, other)
        if one["optimizer"] != other["optimizer"] or len(one["gradients"]) != len(other["gradients"]):
            return Difference(number, "another optimizer steps")
        given = max((abs(each[0]) for each in other["gradients"] if each is not None), default=0.0)
        largest[one["optimizer"]] = max(given, largest.get(one["optimizer"], 0.0))
        if (what := _apart(one, other, names, largest[one["optimizer"]])) is not None:
            return Difference(number, what, one["random"] != other["random"], rounded)
        rounded = rounded or one["gradients"] != other["gradients"]
    return None


def _end_apart(number: int, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Difference | None:
    """Whether a leaf of ours ends as none of theirs does. What ours leads to no more is left out."""
    largest = max((max(map(abs, one)) for one in theirs["gradients"]), default=0.0)
    for leaf in ours["gradients"]:
        if not any(_close(leaf, other, largest) for other in theirs["gradients"]):
            return Difference(
                number, "a tensor ends with another value or gradient", ours["random"] != theirs["random"]
            )
    return None


def in_any_order(steps: Steps) -> Steps:
    """With the gradients of each step sorted, where two runs need not have the same order, nor what is given none.

    Nor need an optimizer be the same one: it is known by its parameters.
    """
    return [{**step, "optimizer": 0, "gradients": sorted(filter(None, step["gradients"]))} for step in steps]


def completed(steps: Steps) -> Steps:
    """The steps of optimizers, without the note of a program's end that stands for one that has none."""
    return [each for each in steps if not each["last"]]


def sound(steps: Steps) -> Steps:
    """The steps before the first that was given gradients of values computed from older parameters."""
    return list(takewhile(lambda each: not each["stale"], steps))


def cut_off(steps: Steps, before: Steps, names: Names) -> list[str]:
    """Parameters that were given gradients before, and none in any step now."""
    had, have, asked = _trained(completed(before)), _trained(steps), {step["optimizer"] for step in steps}
    return [_name(names, optimizer, place) for optimizer, place in sorted(had - have) if optimizer in asked]


def newly_trained(steps: Steps, before: Steps, names: Names) -> list[str]:
    """Parameters that are given gradients, and were given none before."""
    new = _trained(completed(steps)) - _trained(completed(before))
    return [_name(names, optimizer, place) for optimizer, place in sorted(new)]


def trained_once(steps: Steps, begun: Steps, names: Names) -> list[str]:
    """Parameters that the first step of their optimizer trains, and no later one does.

    `begun`: the steps of the program before the fix, where it came so far; they say what the first one trains.
    """
    first = {step["optimizer"]: number for number, step in reversed(list(enumerate(steps)))}
    later = _trained([step for number, step in enumerate(steps) if number != first[step["optimizer"]]])
    again = {optimizer for optimizer, _ in later}
    opening = {**_first_of_each(steps), **_first_of_each(begun)}
    had = _trained(opening.values())
    return [_name(names, optimizer, place) for optimizer, place in sorted(had - later) if optimizer in again]


def starves(steps: Steps) -> bool:
    """Whether a step is given nothing at all: what was cut off is all that there was to train."""
    return any(not _trained([step]) for step in completed(steps))


def _first_of_each(steps: Steps) -> dict[int, Mapping[str, Any]]:
    return {step["optimizer"]: step for step in reversed(steps)}


def _trained(steps: Any) -> set[tuple[int, int]]:  # noqa: ANN401 # steps, in any collection
    return {
        (step["optimizer"], place)
        for step in steps
        for place, gradient in enumerate(step["gradients"])
        if gradient is not None and any(gradient)
    }


def _apart(ours: Mapping[str, Any], theirs: Mapping[str, Any], names: Names, largest: float) -> str | None:
    """The parameter whose gradients differ most, in words; None: none does."""
    pairs = enumerate(zip(ours["gradients"], theirs["gradients"], strict=True))
    apart = [(place, one, other) for place, (one, other) in pairs if not _close(one, other, largest)]
    if not apart:
        return None
    place, one, other = max(apart, key=lambda each: abs(_size(each[1]) - _size(each[2])))
    name = _name(names, ours["optimizer"], place)
    return f"`{name}` is given {_amount(_size(one), _size(other))}"


def _amount(ours: float, theirs: float) -> str:
    if ours == 0.0:
        return "no gradient"
    if theirs == 0.0:
        return "a gradient, where it is to be given none"
    if math.isclose(ours, theirs, rel_tol=_CLOSE):
        return "another gradient of the same size"
    return f"{ours / theirs:.3g} times the gradient that is meant"


def _close(one: Sequence[float] | None, other: Sequence[float] | None, largest: float) -> bool:
    """None is as good as zero: what is cut off in a reference run is given zeros."""
    ours, theirs = one or (0.0, 0.0), other or (0.0, 0.0)
    return all(_same_number(a, b, largest) for a, b in zip(ours, theirs, strict=True))


def _same_number(one: float, other: float, largest: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_ROUNDING * largest)


def _size(gradient: Sequence[float] | None) -> float:
    return 0.0 if gradient is None else abs(gradient[0])


def _name(names: Names, optimizer: int, place: int) -> str:
    known = names.get(optimizer, ())
    return known[place] if place < len(known) else f"parameter {place}"
