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
from gradsan.source.file_statements import statements_in
from gradsan.source.names import called_name, last_name, says_true
from gradsan.source.stores import called_line, calls, spelled
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
        yield from (InPlace(seen_through(each), called_line(call), is_plain=True) for each in _edited_by(call, file))


def _edited_by(call: ast.Call, file: str) -> Iterator[ast.expr]:
    name, keywords = called_name(call), {each.arg: each.value for each in call.keywords}
    receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    is_library = any(spelled(each).split(".")[0] in ALIASES | {"init"} for each in receiver)
    if counts_as_edit(name):
        yield from receiver if receiver and not is_library else call.args[:1]
    if does(name, "edits"):
        yield from receiver
    if "out" in keywords:
        yield keywords["out"]
    if _calls_layer(call, file) or (says_true(keywords.get("inplace")) and not name[:1].isupper()):
        yield from call.args[:1]


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
    assigned = (each for each in statements_in(file) if isinstance(each, ast.Assign))
    created = (each for each in assigned if _is_created_in_place(each.value))
    return frozenset(last_name(target) for each in created for target in each.targets) - {""}


def _is_created_in_place(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Call) and _edits_what_it_is_given(each) for each in ast.walk(node))


def _edits_what_it_is_given(call: ast.Call) -> bool:
    """Whether a call creates a layer that works in place."""
    name, keywords = called_name(call), {each.arg: each.value for each in call.keywords}
    first = call.args[:1] if module_class(name).in_place_first else []
    return name[:1].isupper() and any(map(says_true, (*first, keywords.get("inplace"))))
