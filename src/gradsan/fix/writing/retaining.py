"""A pass without `retain_graph=True`: by itself, or together with an edit after which nobody needs the old graph."""

from gradsan.fix.reading.asking_calls import pass_call
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.source.arguments import without_argument
from gradsan.source.names import argument


def stop_retaining(program: Program, draft: Draft, *, but: Place | None = None) -> bool:
    """Take the argument out of the innermost call on the path to the pass that has it, if there is one; `but` stays."""
    asking = [each for each in reversed(program.places(program.diagnosis.used)) if each != but]
    return any(_taken_out(place, draft) for place in asking)


def without_retaining(program: Program, draft: Draft) -> Draft:
    """The same edit, with the argument taken out as well where it kept the graph that the edit does without."""
    if program.remedy.drops_retain:
        stop_retaining(program, draft)
    return draft


def _taken_out(place: Place | None, draft: Draft) -> bool:
    call = None if place is None else pass_call(place.statement)
    if place is None or call is None or argument(call, "retain_graph") is None:
        return False
    draft.replace(place.tree, call, without_argument(place.tree.text(call), "retain_graph"))
    return True
