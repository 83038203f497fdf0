"""Fixes that build on what the user has tried: the line that does not help is changed into one that does."""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gradsan.facts.live_evidence import Tried
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.revealing import held_below
from gradsan.fix.writing.detaching import detaching
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import is_only_given, method
from gradsan.report import FixKind
from gradsan.source.file import expression
from gradsan.source.names import assigns
from gradsan.source.tree import For, Statement, Tree, is_simple, same, same_as


@dataclass(frozen=True, slots=True)
class Built:
    """A change of the user's own lines, and the names that it treats."""

    draft: Draft
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Line:
    """The line of an attempt, in the file as it is."""

    program: Program
    tree: Tree
    statement: Statement
    attempt: Tried

    def text(self, node: ast.AST) -> str:
        """As the file has it."""
        return self.tree.text(node)


def built_on(kind: FixKind, program: Program) -> Iterator[Built]:
    """The fixes of a kind that all attempts of that kind amount to; none if they leave out its subject."""
    for building in (_BUILDING, _BUILDING | _IN_PLACE):
        yield from _built(kind, program, building)


def _built(kind: FixKind, program: Program, table: Mapping[str, "_Building"]) -> Iterator[Built]:
    whole, names = Draft(), set[str]()
    for line, building in _lines(kind, program, table):
        draft = Draft()
        treated = building(line, draft)
        joined = whole.joined(draft) if treated else whole
        if joined is None:
            return
        whole, names = joined, names | treated
    if _treats(program, names):
        yield Built(whole, frozenset(names))


def _lines(kind: FixKind, program: Program, table: Mapping[str, "_Building"]) -> Iterator[tuple[_Line, "_Change"]]:
    """The lines of the attempts on which a kind of fix can be built, each with how."""
    for attempt in program.live.tried:
        of_kind, building = table.get(attempt.what or "", (None, _taken_back))
        place = program.place_at(attempt.file, attempt.line, "")
        if of_kind == kind and place is not None:
            yield _Line(program, place.tree, place.statement, attempt), building


def _treats(program: Program, names: set[str]) -> bool:
    """Whether what the explanation is about is among them: itself, its other half, or what it was put together of."""
    name = program.name
    parts = {each.name for each in program.live.tried if each.what in ("part-detached", "half-detached")}
    return name is not None and bool({name, name.partition("[")[0], *parts} & names)


def _assigned(line: _Line, draft: Draft) -> set[str]:
    """`h.detach()`, or `h.detach` without its brackets: `h = h.detach()`."""
    if not isinstance(line.statement, ast.Expr) or _is_anothers(line):
        return set()
    written = line.text(line.statement)
    if line.attempt.name == _called_on(written):
        written = f"{line.attempt.name}.detach()"
    elif not written.startswith("["):  # of what is in a list, a new list is made
        return set()
    _write(line, draft, f"{line.attempt.name} = {written}")
    return {line.attempt.name}


def _called_on(written: str) -> str:
    return written.removesuffix("()").rpartition(".")[0]


def _other_half(line: _Line, draft: Draft) -> set[str]:
    """`h = h.detach()`, and `c` is left: cut in the same statement, or in one of its own below it."""
    name = line.attempt.name
    match line.statement:
        case ast.Assign(targets=[_], value=ast.Tuple(elts=elements)) if assigns(line.statement, name):
            return _all_detached(line, elements, draft)
    held = held_below(line.program, line.tree, line.statement, name)
    statements = detaching(name, held, line.tree.source)
    if not statements or _is_anothers(line):
        return set()
    draft.insert_after(line.tree, line.statement, *statements)
    return {line.attempt.name}


def _other_part(line: _Line, draft: Draft) -> set[str]:
    """`state = (h.detach(), c)`: both are cut."""
    match line.statement:
        case ast.Assign(value=ast.Tuple(elts=elements) | ast.List(elts=elements)):
            return _all_detached(line, elements, draft)
    return set()


def _all_detached(line: _Line, elements: list[ast.expr], draft: Draft) -> set[str]:
    """The name, cut wherever it is one of these."""
    left = [each for each in elements if same_as(each, line.attempt.name)]
    for each in left:
        draft.replace(line.tree, each, method(line.text(each), "detach"))
    return {line.attempt.name} if left else set()


def _container(line: _Line, draft: Draft) -> set[str]:
    """`for h in states: h = h.detach()`: the list itself gets the detached ones, in place of that loop."""
    loop = next(iter(line.tree.loops(line.statement)), None)
    name = line.program.name
    if not isinstance(loop, For) or loop.orelse or loop.body != [line.statement]:
        return set()
    if name is None or not same_as(loop.iter, name) or _is_anothers(line):
        return set()
    held = held_below(line.program, line.tree, loop, name)
    statements = detaching(name, held, line.tree.source)
    if len(statements) != 1:
        return set()
    draft.rewrite(line.tree, loop, statements[0])
    return {line.attempt.name}


def _taken_back(line: _Line, draft: Draft) -> set[str]:
    """`last = h.detach()`, which nobody uses: `h = h.detach()`."""
    if _is_anothers(line):
        return set()
    _write(line, draft, f"{line.attempt.name} = {line.attempt.name}.detach()")
    return {line.attempt.name}


def _used(line: _Line, draft: Draft) -> set[str]:
    """A forward that was run again gets the name that the old one has, by which the loss reads it."""
    again = _call(line.statement)
    alike = [each for each in line.program.known(line.program.diagnosis.made) if _is_same_forward(each, line)]
    if again is None or not alike:
        return set()
    together = alike[0].targets
    _write(line, draft, f"{', '.join(together)} = {line.text(again)}")
    return set(together)


def _is_same_forward(place: Place, line: _Line) -> bool:
    """Whether another statement of the function makes the same call, and gives its result that name."""
    first, again = _call(place.statement), _call(line.statement)
    if first is None or again is None or place.scope is not line.tree.scope(line.statement):
        return False
    return same(first.func, again.func) and line.attempt.name in place.targets and place.statement is not line.statement


def _call(statement: Statement) -> ast.Call | None:
    """The call that a statement assigns or drops the result of."""
    match statement:
        case ast.Assign(targets=[_], value=ast.Call() as call) | ast.Expr(value=ast.Call() as call):
            return call
    return None


def _new_one(line: _Line, draft: Draft) -> set[str]:
    """`buffer.zero_()`: a new buffer, filled in the same manner."""
    name = line.attempt.name
    filled = _filling(line, name)
    if filled is None or _is_anothers(line) or expression(name) is None:
        return set()
    _write(line, draft, f"{name} = {filled}")
    return {line.attempt.name}


def _detached_first(line: _Line, draft: Draft) -> set[str]:
    """`buffer.detach_().zero_()`: the same tensor, cut off before it is filled."""
    match line.statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))) if same_as(owner, line.attempt.name):
            draft.replace(line.tree, owner, method(line.text(owner), "detach_"))
            return {line.attempt.name}
    return set()


def _filling(line: _Line, name: str) -> str | None:
    """A new tensor of the same size, with what a statement fills the old one with."""
    zeros = f"{name}.new_zeros({name}.shape)"
    match line.statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="zero_"), args=[], keywords=[])):
            return zeros
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=filling)) as call):
            arguments = ", ".join(map(line.text, (*call.args, *call.keywords)))
            return f"{name}.new_empty({name}.shape).{filling}({arguments})"
        case ast.AugAssign():  # times zero
            return zeros
        case ast.Assign(targets=[_], value=ast.Constant(value=int() | float() as number) as written):
            return zeros if number == 0 else f"{name}.new_full({name}.shape, {line.text(written)})"
    return None


def _is_anothers(line: _Line) -> bool:
    """Whether the function has the name from its caller: given a value here, nobody else would know."""
    return is_only_given(line.tree.scope(line.statement), line.attempt.name.partition("[")[0])


def _write(line: _Line, draft: Draft, code: str) -> None:
    """Write another statement in the place of the line's own, which keeps its comments."""
    if is_simple(line.statement):
        draft.replace(line.tree, line.statement, code)


_Change = Callable[[_Line, Draft], set[str]]  # the names that it treats; none: it is not applied
_Building = tuple[FixKind, _Change]
_BUILDING: dict[str, _Building] = {
    "dropped-detach": ("detach", _assigned),
    "half-detached": ("detach", _other_half),
    "part-detached": ("detach", _other_part),
    "loop-variable": ("detach", _container),
    "detached-copy": ("detach", _taken_back),
    "unused-forward": ("recompute", _used),
    "emptied": ("reset-state", _new_one),
}
# Where the name cannot be given another value there: it is a function's argument, or a global that it only reads.
_IN_PLACE: dict[str, _Building] = {"emptied": ("reset-state", _detached_first)}
