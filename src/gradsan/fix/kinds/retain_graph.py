"""Keep the graph for the later pass: `retain_graph=True` on the earlier one, and never on the last."""

import ast
from collections.abc import Iterator

from gradsan.fix.kinds import Places
from gradsan.fix.reading.asking_calls import asking_call
from gradsan.fix.reading.program import Place, Program, frames
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.retaining import stop_retaining
from gradsan.source.arguments import with_argument
from gradsan.source.names import argument, nodes
from gradsan.source.tree import COMPREHENSIONS


def _retaining(program: Program) -> Iterator[Draft]:
    """On the call that freed it; where one line asks for all passes, on all but the last if they can be counted."""
    freed, used = program.diagnosis.freed, program.diagnosis.used
    asking = asking_call(program.places(freed))
    if freed is None or used is None or asking is None:
        return
    place, call = asking
    if argument(call, "retain_graph") is not None or argument(call, "create_graph") is not None:
        return
    index = frames(freed).index(place.frame)
    if frames(freed)[index] == frames(used)[min(index, len(frames(used)) - 1)]:
        yield _but_the_last(place, call)
    draft = Draft().replace(place.tree, call, with_argument(place.text(call), "retain_graph", "True"))
    if frames(freed) != frames(used):  # where it stands now, it keeps a graph that nobody needs any more
        stop_retaining(program, draft, but=place)
    yield draft


def _but_the_last(place: Place, call: ast.Call) -> Draft:
    """One line asks for all passes, over the items of something that can be counted: the last one frees."""
    match place.loops[:1]:
        # Anything but a name may be used up by counting it.
        case [ast.For(target=ast.Name(id=name) as target, iter=ast.Name() | ast.Attribute() as listed)]:
            losses = place.text(listed)
            codes: dict[ast.AST, str] = {
                target: f"number, {name}",
                listed: f"enumerate({losses}, start=1)",
                call: with_argument(place.text(call), "retain_graph", f"number < len({losses})"),
            }
            return Draft() if _is_in_comprehension(place, call) else Draft().replace_each(place.tree, codes)
    return Draft()


def _is_in_comprehension(place: Place, call: ast.Call) -> bool:
    """Whether a comprehension of the statement asks for the passes, and not the loop around it."""
    return any(call in nodes(each) for each in nodes(place.statement) if isinstance(each, COMPREHENSIONS))


PLACES: Places = {"earlier pass": _retaining}
