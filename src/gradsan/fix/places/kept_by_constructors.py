"""What a constructor computed and kept, computed where it is read: as a whole, or item by item of a dataset."""

import ast
from collections.abc import Iterator

from gradsan.causes.computed_once import CONSTRUCTORS
from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import bracketed
from gradsan.source.changes import Changes
from gradsan.source.names import assigned_names, called_name, calls, loaded, loaded_names, parameters
from gradsan.source.tree import Function

_TAKES_AN_ITEM = "__getitem__"


def where_it_is_read(program: Program, name: str) -> Iterator[Draft]:
    """What a constructor derived from parameters, wherever it is read: if that needs nothing but the object itself."""
    reader = next((each for each in program.known(program.diagnosis.enters) if loaded(each.statement, name)), None)
    if reader is None or not name.startswith("self."):
        return
    constructing = [each for each in program.known(program.diagnosis.made) if each.function.endswith(CONSTRUCTORS)]
    for place in constructing:
        value = place.value_of(name)
        if value is not None and not loaded_names(value) & _locals(place):
            reading = dict.fromkeys(_read_by_others(place, reader, name), bracketed(place.text(value)))
            yield Draft().replace_each(reader.tree, reading)


def _read_by_others(constructing: Place, reader: Place, name: str) -> list[ast.expr]:
    """Where the methods of the class read an attribute; where the reader is none of them, it alone."""
    known = [] if constructing.cls is None else loaded(constructing.cls, name)
    own = loaded(reader.statement, name)
    if not all(each in known for each in own):
        return own
    return [each for each in known if each not in loaded(constructing.scope, name)]


def _locals(place: Place) -> set[str]:
    """The names that only the function knows."""
    function = place.scope
    given = parameters(function.args) if isinstance(function, Function) else ()
    return (assigned_names(function) | {*given}) - {"self"}


def where_an_item_is_taken(program: Program, name: str) -> Iterator[Draft]:
    """`self.x = net(data)` keeps both, and `self.x[i]` becomes `self.net(self.x[i].unsqueeze(0)).squeeze(0)`.

    Then every iteration over the data has a graph of its own. A network works on batches: an item is a batch of one.
    """
    for place in program.known(program.diagnosis.made):
        value = place.value_of(name) if place.function.endswith(CONSTRUCTORS) else None
        if value is None or not isinstance(place.scope, Function):
            continue
        given = loaded_names(value) & {*parameters(place.scope.args)} - {"self"}
        networks = given & {called_name(each) for each in calls(value)}
        taken = _taken(place, name)
        if networks and taken and len(given - networks) == 1:
            (data,) = given - networks
            yield _applied_later(place, name, (value, data), networks, taken)


def _taken(place: Place, name: str) -> list[ast.Subscript]:
    """Where items of it are taken; none where something else is done with it than to take or to count them."""
    read = [place.tree.parent(each) for each in loaded(place.tree.module, name)]
    items = only(ast.Subscript, read)
    counts = [each for each in only(ast.Call, read) if called_name(each) == "len"]
    scopes = [place.tree.scope(each) for each in items]
    is_by_item = all(getattr(each, "name", "") == _TAKES_AN_ITEM for each in scopes)
    return items if is_by_item and len(items) + len(counts) == len(read) else []


def _applied_later(
    place: Place, name: str, computed: tuple[ast.expr, str], networks: set[str], taken: list[ast.Subscript]
) -> Draft:
    """`computed`: the expression, and the name of the data in it."""
    (value, data), draft, tree = computed, Draft(), place.tree
    draft.replace(tree, place.statement, f"{name} = {data}")
    draft.insert_after(tree, place.statement, *(f"self.{each} = {each}" for each in sorted(networks)))
    for item in taken:
        changes = Changes()
        for each in loaded(value, data):
            changes.replaced[each] = f"{place.text(item)}.unsqueeze(0)"
        for network in networks:
            changes.replaced |= dict.fromkeys(loaded(value, network), f"self.{network}")
        draft.replace(tree, item, f"{changes.new_part(tree, value)}.squeeze(0)")
    return draft
