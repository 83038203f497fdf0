"""What each kind of fix asks for, as a sentence: what to write, and where, with the names of the program."""

from collections.abc import Mapping

from gradsan.causes.cause import Cause, Role
from gradsan.facts.location import Location, line_of
from gradsan.report import FixKind

# `{it}`: the name that the explanation is about; `{earlier}`, `{later}`: the two calls, `{last}`: the later one, or the
# last of those that one line makes; `{changed}`, `{cut}`: lines.
_TITLES: Mapping[FixKind, str] = {
    "recompute": "compute {it} again before {later}",
    "combine-losses": "add the losses, and call backward() once, on the sum",
    "detach": "detach {it}: its values stay, its graph is dropped",
    "reset-state": "give {it} its first value again at the start of each step",
    "no-grad": "compute {it} under `torch.no_grad()`: its values stay, and it gets no graph",
    "item": "keep the number, not the tensor: write `.item()` where {it} is stored",
    "move-into-loop": "compute {it} inside the loop, again in every iteration",
    "reorder": "move {changed} below {last}",
    "remove-backward": "remove {later}: the gradients are already there",
    "retain-graph": "pass `retain_graph=True` to {retaining}",
    "create-graph": "pass `create_graph=True` to {earlier}",
    "remove-retain": "remove `{option}` from {later}: the gradients stay the same",
    "zero-grad": "call `{name}.zero_grad()` in every step, before backward()",
    "clone": "do not change {it} in place: create a new tensor, or change a copy (`.clone()`)",
    "unfreeze": "let what should learn require gradients (`requires_grad=True`), and only that",
    "re-attach": "remove or replace what cuts the graph: {cut}",
    "setting": "change the option that keeps {it}",
    "advice": "decide what is meant here: `gradsan explain {code}` shows the choices",
}
_LONGEST = 48  # letters of source within a sentence


def title_of(kind: FixKind, cause: type[Cause], name: str | None, places: Mapping[Role, Location | None]) -> str:
    """What to do, in the words of a cause."""
    freed, used = places.get("freed"), places.get("used")
    earlier = _line(freed or places.get("cut"), "the call", "the earlier backward()")
    return cause.titles.get(kind, _TITLES[kind]).format(
        it=f"`{name}`" if name else "the tensor",
        name=name or "optimizer",
        earlier=earlier,
        later=_line(used, "the call", "the later backward()"),
        retaining="every backward() except the last" if _is_one_line(freed, used) else earlier,
        last=_last(used, places.get("changed")),
        changed=_line(places.get("changed"), "the line", "the optimizer's `step()`"),
        cut=_line(places.get("cut"), "the line", "the line that creates it"),
        option=_option(used),
        code=cause.code,
    )


def _line(place: Location | None, what: str, otherwise: str) -> str:
    """A line as the reader finds it: by what it says, where that is short, and by its number."""
    if place is None:
        return otherwise
    source = place.source or ""
    is_short = source and len(source) <= _LONGEST and "`" not in source
    return f"`{source}` ({line_of(place)})" if is_short else f"{what} at {line_of(place)}"


def _last(used: Location | None, changed: Location | None) -> str:
    """The call below which a line is to stand that stands below it already, in a loop: that of the last iteration."""
    text = _line(used, "the call", "the later backward()")
    if used is None or changed is None or used.stack[:-1] != changed.stack[:-1]:
        return text
    is_below = used.file == changed.file and used.function == changed.function and used.line < changed.line
    return f"the last {text.removeprefix('the ')}" if is_below else text


def _is_one_line(freed: Location | None, used: Location | None) -> bool:
    return freed is not None and used is not None and line_of(freed) == line_of(used)


def _option(used: Location | None) -> str:
    """The argument that keeps the graph, as the line has it."""
    source = "" if used is None else used.source or ""
    return "create_graph=True" if "create_graph" in source and "retain_graph" not in source else "retain_graph=True"
