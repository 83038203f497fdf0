"""An attribute that a constructor derives from parameters, computed where it is read instead."""

import ast
from collections.abc import Iterator

from gradsan.causes.computed_once import CONSTRUCTORS
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import bracketed
from gradsan.source.names import assigned_names, loaded, loaded_names, parameters
from gradsan.source.tree import Function


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
