"""Fixes that build on what the user has tried: the line that does not help is changed into one that does."""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import is_only_given, method
from gradsan.report import FixKind
from gradsan.source.file import expression
from gradsan.source.tree import is_simple, same_as


@dataclass(frozen=True, slots=True)
class Built:
    """A change of the user's own lines, and the names that it treats."""

    draft: Draft
    names: frozenset[str]


def built_on(kind: FixKind, program: Program) -> Iterator[Built]:
    """The fixes of a kind that all attempts of that kind amount to; none if they leave out its subject."""
    for table in (_CHANGES, _CHANGES | _IN_PLACE):
        drafts = list(_drafts(kind, program, table))
        whole = Draft().with_one_of_each([draft] for _, draft in drafts)
        names = frozenset(name for name, _ in drafts)
        is_treated = program.name is not None and bool({program.name, program.name.partition("[")[0]} & names)
        if whole is not None and is_treated:
            yield Built(whole, names)


def _drafts(kind: FixKind, program: Program, table: "Mapping[str, _Change]") -> Iterator[tuple[str, Draft]]:
    """What each attempt on which a kind of fix can be built is changed into, and the name that this treats."""
    for attempt in program.live.tried:
        of_kind, change = table.get(attempt.what or "", (None, None))
        place = program.place_at(attempt.file, attempt.line, "")
        draft = change(place, attempt.name) if change is not None and of_kind == kind and place is not None else None
        if draft:
            yield attempt.name, draft


def _assigned(place: Place, name: str) -> Draft:
    """`h.detach()`, or `h.detach` without its brackets: `h = h.detach()`; of what is in a list, a new list is made."""
    written = place.text(place.statement)
    if written.removesuffix("()").rpartition(".")[0] == name:
        written = f"{name}.detach()"
    elif not written.startswith("["):
        return Draft()
    return _as_assignment(place, name, written) if isinstance(place.statement, ast.Expr) else Draft()


def _new_one(place: Place, name: str) -> Draft:
    """`buffer.zero_()`: a new buffer, filled in the same manner."""
    filled = _filling(place, name)
    return Draft() if filled is None or expression(name) is None else _as_assignment(place, name, filled)


def _detached_first(place: Place, name: str) -> Draft:
    """`buffer.detach_().zero_()`: the same tensor, cut off before it is filled."""
    match place.statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))) if same_as(owner, name):
            return Draft().replace(place.tree, owner, method(place.text(owner), "detach_"))
    return Draft()


def _filling(place: Place, name: str) -> str | None:
    """A new tensor of the same size, with what a statement fills the old one with."""
    zeros = f"{name}.new_zeros({name}.shape)"
    match place.statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="zero_"), args=[], keywords=[])) | ast.AugAssign():
            return zeros  # or times zero
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=filling)) as call):
            arguments = ", ".join(map(place.text, (*call.args, *call.keywords)))
            return f"{name}.new_empty({name}.shape).{filling}({arguments})"
        case ast.Assign(targets=[_], value=ast.Constant(value=int() | float() as number) as written):
            return zeros if number == 0 else f"{name}.new_full({name}.shape, {place.text(written)})"
    return None


def _as_assignment(place: Place, name: str, value: str) -> Draft:
    """In the place of the line's own statement, whose comments stay; not where only the caller would know the name."""
    is_anothers = is_only_given(place.scope, name.partition("[")[0])
    can_be_written = is_simple(place.statement) and not is_anothers
    return Draft().replace(place.tree, place.statement, f"{name} = {value}") if can_be_written else Draft()


_Change = tuple[FixKind, Callable[[Place, str], Draft]]
_CHANGES: dict[str, _Change] = {"dropped-detach": ("detach", _assigned), "emptied": ("reset-state", _new_one)}
# Where the name cannot be given another value there: it is a function's argument, or a global that it only reads.
_IN_PLACE: dict[str, _Change] = {"emptied": ("reset-state", _detached_first)}
