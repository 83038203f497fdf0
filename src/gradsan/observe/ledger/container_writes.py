"""The line that puts graphs into a holder, read from the user's source."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gradsan.facts.location import Frame
from gradsan.knowledge.effects import does
from gradsan.knowledge.tensors import operation
from gradsan.source.disk import tree_as_run
from gradsan.source.names import called_name, given
from gradsan.source.scopes import scope_of
from gradsan.source.stores import Store, assigned, calls, loads, stores, text

_SUBSCRIPT = re.compile(r"\[[^]]*\]")
_SOME_CLOSURE = "<a function within another>"


@dataclass(frozen=True, slots=True)
class Feed:
    """A statement that stores into a holder."""

    place: Frame
    name: str  # the holder as it is written there
    collects: bool  # it adds to what is there, and does not replace it
    is_direct: bool  # the name is the holder's own variable there, and is not only handed to a function
    is_guarded: bool  # only where a comparison with what is there says so


@dataclass(frozen=True, slots=True)
class Placed:
    """A statement, and where it stands."""

    statement: ast.stmt
    function: str  # qualified, as a code object has it
    tests: tuple[ast.expr, ...]  # of the `if`s around it
    block: tuple[int, int]  # where the first of the statements begins that stand under one another


def feed_of(name: str, function: str, created: Frame | None, files: Iterable[str]) -> Feed | None:
    """What feeds a holder of that name. `created` is the line that created the newest tensor in it.

    A function may call the holder so because it was given it, `train(losses)`, or have a variable of that name for
    something else: its lines count only where the holder's own variable is fed by none.
    """
    files = list(files)
    found = [feed for file in files for feed in _feeds(name, function, file)]
    if not found:  # a function that was created elsewhere has it, and is a variable here
        found = [feed for file in files for feed in _feeds(name, _SOME_CLOSURE, file)]
    own = [
        each
        for each in found
        if created is not None and (each.place.file, each.place.line) == (created.file, created.line)
    ]
    ranked = sorted(own or found, key=lambda each: (not each.collects, not each.is_direct, not each.is_guarded))
    return ranked[0] if ranked else None


def _feeds(name: str, function: str, file: str) -> Iterator[Feed]:
    plain = _SUBSCRIPT.sub("", name)
    attribute, is_attribute = plain.rpartition(".")[2], "." in plain
    root = plain.partition(".")[0]
    for placed in placed_in(file):
        for store in stores(placed.statement):
            if is_attribute:
                fits = store.attribute == attribute
            else:
                fits = store.name == root and store.attribute is None and _sees(placed.function, function)
            if fits and _brings_something(store):
                written = text(store.target) or name
                yield Feed(
                    Frame(file, placed.statement.lineno, placed.function),
                    written,
                    collects=not store.replaces or _builds_on_itself(placed, written, file),
                    is_direct=is_attribute or _is_direct(placed, store, function, file),
                    is_guarded=_is_guarded(placed, written),
                )


def _sees(function: str, holding: str) -> bool:
    """Whether code of one function means the variable of another: its own, or that of a function around it."""
    if holding == _SOME_CLOSURE:
        return ".<locals>." in function
    return holding in {"<module>", function} or function.startswith(f"{holding}.<locals>.")


def _is_direct(placed: Placed, store: Store, holding: str, file: str) -> bool:
    """Not so in a function with such a variable of its own, nor where the holder comes back from a call it went to."""
    scope = scope_of(file, placed.function, placed.statement.lineno)
    while scope is not None and scope.name != holding.rpartition(".")[2]:
        if store.name in assigned(scope):
            return False
        scope = scope.outer
    handed = (text(each) for call in calls(placed.statement) for each in given(call))
    return not (store.replaces and store.name in handed)


def _brings_something(store: Store) -> bool:
    match store.value:
        case None | ast.Constant() | ast.Lambda():
            return False
        case ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Tuple(elts=[]):
            return False
        case ast.Call() as call:
            name = called_name(call)
            if does(name, "collects"):  # put into another container, it brings what it was given
                return not store.replaces and bool(call.args)
            return operation(name).graph not in ("creates", "builds")
    return True


def _builds_on_itself(placed: Placed, written: str, file: str) -> bool:
    """Whether what a statement replaces is in what it puts there: `total = total + loss`.

    Also through another variable, as a state that is handed on: `before = state`, `out, state = cell(x, before)`. But
    not where that was created again just before: `out = net(x)`, `out = out.flatten()`.
    """
    around = [each for each in placed_in(file) if each.function == placed.function and each is not placed]
    if _reads(placed.statement, written):
        above = [
            each for each in around if each.block == placed.block and each.statement.lineno < placed.statement.lineno
        ]
        return not any(_replaces(each.statement, written) for each in above)
    match placed.statement:
        case ast.Assign(value=ast.Name() | ast.Attribute()):
            return False  # another name for the same thing
    read = {name for each in loads(placed.statement) if (name := text(each))}
    return any(
        _reads(each.statement, written) and any(_replaces(each.statement, name) for name in read) for each in around
    )


def _reads(statement: ast.stmt, written: str) -> bool:
    return any(text(each) == written for each in loads(statement))


def _replaces(statement: ast.stmt, written: str) -> bool:
    """Whether it puts something there that has nothing of it."""
    into = any(store.replaces and text(store.target) == written for store in stores(statement))
    return into and not _reads(statement, written)


def _is_guarded(placed: Placed, written: str) -> bool:
    """`if loss < best: best = loss`, or `best = min(best, loss)`."""
    compared = (node for test in placed.tests for node in ast.walk(test) if isinstance(node, ast.expr))
    if any(text(each) == written for each in compared):
        return True
    chooses = any(called_name(each) in {"min", "max"} for each in calls(placed.statement))
    return chooses and _reads(placed.statement, written)


@lru_cache(maxsize=64)
def placed_in(file: str) -> tuple[Placed, ...]:
    """Every statement of a file."""
    tree = tree_as_run(file)
    if tree is None:
        return ()
    return tuple(_placed(tree.body, "", ()))


def _placed(body: Sequence[ast.stmt], prefix: str, tests: tuple[ast.expr, ...]) -> Iterator[Placed]:
    for statement in body:
        function = prefix.removesuffix(".<locals>.").removesuffix(".") or "<module>"
        yield Placed(statement, function, tests, (body[0].lineno, body[0].col_offset))
        match statement:
            case ast.FunctionDef(name=name, body=inner) | ast.AsyncFunctionDef(name=name, body=inner):
                yield from _placed(inner, f"{prefix}{name}.<locals>.", ())
            case ast.ClassDef(name=name, body=inner):
                yield from _placed(inner, f"{prefix}{name}.", ())
            case ast.If(test=test, body=inner, orelse=other):
                yield from _placed(inner, prefix, (*tests, test))
                yield from _placed(other, prefix, (*tests, test))
            case _:
                for block in ("body", "orelse", "finalbody"):
                    yield from _placed(getattr(statement, block, []), prefix, tests)
                for handler in getattr(statement, "handlers", []):
                    yield from _placed(handler.body, prefix, tests)
                for case in getattr(statement, "cases", []):
                    yield from _placed(case.body, prefix, tests)
