"""The places of a diagnosis, in the order of time, each with what it means."""

from collections.abc import Iterator
from itertools import zip_longest

from gradsan.causes import cause
from gradsan.causes.cause import Role
from gradsan.facts.location import Frame, Location, line_of
from gradsan.report import Diagnosis

_MAIN: tuple[Role, ...] = ("used", "held", "cut", "made", "changed")


NOWHERE = Location("unknown", 1)  # for formats that must name a place


def explanation_places(diagnosis: Diagnosis) -> Iterator[tuple[Role, Location, str]]:
    """Each place with its role, and the role's words with the step."""
    roles, names_steps = cause(diagnosis.code).roles, _names_steps(diagnosis)
    for role, location in _in_time(diagnosis):
        step = f", in step {location.step}" if names_steps and location.step is not None else ""
        yield role, location, roles[role].format(call=_call(location)) + step + _called_from(role, diagnosis)


def _called_from(role: Role, diagnosis: Diagnosis) -> str:
    """Where both passes are the same line: the outermost frame in which the calls that led there differ.

    Not in a notebook: a frame's line is one among all cells, which nobody sees.
    """
    freed, used = diagnosis.freed, diagnosis.used
    if role not in ("freed", "used") or freed is None or used is None or not is_one_line(diagnosis):
        return ""
    pairs = zip_longest(freed.stack, used.stack)
    frame = next((ours if role == "freed" else theirs for ours, theirs in pairs if ours != theirs), None)
    is_joined = frame is not None and frame.file.endswith(".ipynb")
    return "" if frame is None or is_joined else f", called from {frame.file}:{frame.line}"


def _call(location: Location) -> str:
    """What the line calls; a wrapper, `autograd.grad` and a step of a trainer are calls."""
    return "backward()" if "backward" in (location.source or "backward") else "call"


def _in_time(diagnosis: Diagnosis) -> Iterator[tuple[Role, Location]]:
    """In the order of roles; but what was used before it was freed or changed, in the same step, comes first."""
    is_early = _is_used_early(diagnosis)
    for role, location in _locations(diagnosis):
        if is_early and role in ("freed", "changed") and diagnosis.enters is not None:
            yield "enters", diagnosis.enters
        if not (is_early and role == "enters"):
            yield role, location


def _is_used_early(diagnosis: Diagnosis) -> bool:
    """Whether it was created, used, and then freed or changed by lines that stand in that order.

    Where no steps are known, two passes of one line are two iterations.
    """
    made, enters, then = diagnosis.made, diagnosis.enters, diagnosis.freed or diagnosis.changed
    if made is None or enters is None or then is None:
        return False
    if not (_stands_before(made, enters) and _stands_before(enters, then)):
        return False
    return enters.step == then.step if enters.step is not None else not is_one_line(diagnosis)


def _stands_before(one: Location, other: Location) -> bool:
    """Whether one function leads to both, or contains them, and comes to the first on an earlier line."""
    if one.cell != other.cell:
        return False
    apart = ((ours, theirs) for ours, theirs in zip(_frames(one), _frames(other), strict=False) if ours != theirs)
    ours, theirs = next(apart, (None, None))
    if ours is None or theirs is None:
        return False
    return (ours.file, ours.function) == (theirs.file, theirs.function) and ours.line < theirs.line


def _frames(place: Location) -> tuple[Frame, ...]:
    return place.stack or (Frame(place.file, place.line, place.function or ""),)


def is_one_line(diagnosis: Diagnosis) -> bool:
    """Whether the pass that freed and the one that failed are asked for by the same line, if there are two."""
    freed, used = diagnosis.freed, diagnosis.used
    return freed is None or used is None or line_of(freed) == line_of(used)


def _names_steps(diagnosis: Diagnosis) -> bool:
    """Steps are counted for each line that asks for passes: beside one another, those of two lines would confuse.

    And where all is in the first, there is nothing to distinguish.
    """
    return is_one_line(diagnosis) and any(place.step not in (None, 1) for _, place in _locations(diagnosis))


def _locations(diagnosis: Diagnosis) -> Iterator[tuple[Role, Location]]:
    for role in cause(diagnosis.code).roles:
        location: Location | None = getattr(diagnosis, role)
        if location is not None:
            yield role, location


def main_role(diagnosis: Diagnosis) -> Role | None:
    """The role of the place that an editor should jump to; None: no line of the user's is known."""
    return next((role for role in _MAIN if getattr(diagnosis, role) is not None), None)


def main_place(diagnosis: Diagnosis) -> Location:
    """The place that an editor should jump to."""
    role = main_role(diagnosis)
    place: Location = NOWHERE if role is None else getattr(diagnosis, role)
    return place


def written(location: Location) -> str:
    """`file:line:column`."""
    return line_of(location) + ("" if location.column is None else f":{location.column}")
