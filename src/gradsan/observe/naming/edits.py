"""The in-place edits of tensors that a statement writes, read from its source."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from gradsan.knowledge.effects import does
from gradsan.knowledge.libraries import ALIASES
from gradsan.knowledge.module_classes import module_class
from gradsan.knowledge.tensors import edits as counts_as_edit
from gradsan.knowledge.tensors import operation
from gradsan.observe.naming.selection import last_name
from gradsan.source.statements import statements_in
from gradsan.source.stores import calls, text
from gradsan.source.unpacking import unpacked


@dataclass(frozen=True, slots=True)
class InPlace:
    """One edit."""

    target: ast.expr  # what is edited, as it is written
    line: int
    is_plain: bool  # it can be nothing but the edit of a tensor; `n += 1` may be a number's


@lru_cache(maxsize=4096)
def edits(statement: ast.stmt, file: str) -> tuple[InPlace, ...]:
    """What a statement of that file edits in place, in no order. Edits through `.data` are not counted by PyTorch."""
    return tuple(each for each in _edits(statement, file) if not _is_uncounted(each.target))


def _edits(statement: ast.stmt, file: str) -> Iterator[InPlace]:
    match statement:
        case ast.AugAssign(target=target):
            yield InPlace(target, statement.lineno, is_plain=False)
        case ast.Assign(targets=targets):
            for part in (part for each in targets for part, _ in unpacked(each, ())):
                if isinstance(part, ast.Subscript):
                    yield InPlace(seen_through(part.value), part.lineno, is_plain=False)
    for call in calls(statement):
        yield from (InPlace(seen_through(each), _line(call), is_plain=True) for each in _edited_by(call, file))


def _edited_by(call: ast.Call, file: str) -> Iterator[ast.expr]:
    name = last_name(call)
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    is_function = receiver is None or (text(receiver) or "").split(".")[0] in ALIASES | {"init"}
    if counts_as_edit(name):
        if not is_function and receiver is not None:
            yield receiver
        elif call.args:
            yield call.args[0]
    if does(name, "edits") and receiver is not None:
        yield receiver
    for keyword in call.keywords:
        if keyword.arg == "out":
            yield keyword.value
        elif keyword.arg == "inplace" and _is_true(keyword.value) and not name[:1].isupper() and call.args:
            yield call.args[0]
    if call.args and _calls_layer(call, file):
        yield call.args[0]


def seen_through(node: ast.expr) -> ast.expr:
    """The tensor behind views of it, which share its values, and behind edits of it, which return it."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if not operation(node.func.attr).shares and not counts_as_edit(node.func.attr):
            break
        node = node.func.value
    return node


def _is_uncounted(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr in {"data", "grad"} for each in ast.walk(node))


def _calls_layer(call: ast.Call, file: str) -> bool:
    """Whether it calls a layer that the file makes with `inplace=True`."""
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in _layers(file)
    return _is_created_in_place(call.func)


@lru_cache(maxsize=64)
def _layers(file: str) -> frozenset[str]:
    found: set[str] = set()
    for statement in statements_in(file):
        if isinstance(statement, ast.Assign) and _is_created_in_place(statement.value):
            for target in statement.targets:
                match target:
                    case ast.Attribute(attr=name) | ast.Name(id=name):
                        found.add(name)
    return frozenset(found)


def _is_created_in_place(node: ast.expr) -> bool:
    return any(
        isinstance(each, ast.Call)
        and last_name(each)[:1].isupper()
        and (
            any(keyword.arg == "inplace" and _is_true(keyword.value) for keyword in each.keywords)
            or (module_class(last_name(each)).in_place_first and any(map(_is_true, each.args[:1])))
        )
        for each in ast.walk(node)
    )


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _line(call: ast.Call) -> int:
    """Where the called name stands: a chain of calls over several lines begins at its first."""
    return (call.func.end_lineno or call.lineno) if isinstance(call.func, ast.Attribute) else call.lineno
