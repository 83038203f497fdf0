"""Imports: names of other files, which are read only when somebody uses them, and then only as far as needed."""

import ast
from collections.abc import Iterator
from functools import lru_cache

from gradsan.check.frames import Frame
from gradsan.check.graph import Code
from gradsan.check.machine import Machine
from gradsan.check.tables import STATEMENTS, entered
from gradsan.check.values import Const, Imported, Library, Value
from gradsan.knowledge.libraries import NOT_FOLLOWED
from gradsan.source.disk import locate_import
from gradsan.source.file import Source

_LINES_FOR_AN_EXPRESSION = 4  # parsing four lines takes about as long as following an expression
_MOST_MODULES = 24  # files that one path may draw in


@entered(STATEMENTS, ast.Import)
def import_modules(machine: Machine, node: ast.Import) -> None:
    """`import torch.nn as nn`."""
    for each in node.names:
        name = each.name if each.asname else each.name.split(".")[0]
        machine.frame.names[each.asname or name] = Library(path=name, file=_file_of(machine.frame.source, name, 0))


@entered(STATEMENTS, ast.ImportFrom)
def import_names(machine: Machine, node: ast.ImportFrom) -> None:
    """`from torch import nn`: names of files of the user's are looked up when somebody uses them."""
    module, source = node.module or "", machine.frame.source
    for each in node.names:
        if each.name == "*":
            file = _file_of(source, module, node.level)
            machine.frame.stars += [] if file is None else [file]
        elif _is_library(module, node.level):
            machine.frame.names[each.asname or each.name] = Library(path=f"{module}.{each.name}")
        else:
            machine.frame.names[each.asname or each.name] = Imported(
                importer=source.path, module=module, level=node.level, name=each.name
            )


def _is_library(module: str, level: int) -> bool:
    return not level and module.split(".", maxsplit=1)[0] in NOT_FOLLOWED


def _file_of(source: Source, module: str, level: int) -> str | None:
    return None if _is_library(module, level) else locate_import(source.path, module, level)


def name_of(machine: Machine, frame: Frame, name: str) -> Value | None:
    """What a name stands for in a frame, which may have to be read first; None: there is no such name."""
    known = frame.names.get(name) or _bound_now(machine, frame, name) or _starred(machine, frame, name)
    if isinstance(known, Imported):
        known = frame.names[name] = _resolved(machine, known)
    return known


def name_in(machine: Machine, file: str, name: str) -> Value | None:
    """What a file of the user's has under a name: something it defines, or a file beside it."""
    frame = _imported(machine, file)
    return None if frame is None else name_of(machine, frame, name)


def _resolved(machine: Machine, imported: Imported) -> Value:
    path = locate_import(imported.importer, imported.module, imported.level)
    found = None if path is None or path == imported.importer else name_in(machine, path, imported.name)
    if found is not None:
        return found
    inner = f"{imported.module}.{imported.name}" if imported.module else imported.name
    return Library(path=inner, file=locate_import(imported.importer, inner, imported.level))


def _bound_now(machine: Machine, frame: Frame, name: str) -> Value | None:
    """Follow the statements that bind a name, as if they had run before everything else."""
    if name not in frame.pending:
        return None
    statements = frame.pending.pop(name)
    before = machine.world.moment, machine.world.recording
    machine.world.moment, machine.world.recording = (), True
    try:
        with machine.within(frame):
            machine.execute(statements)
    finally:
        machine.world.moment, machine.world.recording = before
    return frame.names.get(name)


def _starred(machine: Machine, frame: Frame, name: str) -> Value | None:
    """What a file has under a name of which all names were imported."""
    found = (name_in(machine, file, name) for file in frame.stars)
    return next((each for each in found if each is not None), None)


def _imported(machine: Machine, path: str) -> Frame | None:
    """The names of another file of the user's, none of them read yet."""
    if path in machine.modules:
        return machine.modules[path]
    source = machine.load(path) if len(machine.modules) < _MOST_MODULES else None
    if source is None:
        return None
    machine.patience -= len(source.lines) // _LINES_FOR_AN_EXPRESSION
    return lazy_module(machine, source)


def lazy_module(machine: Machine, source: Source) -> Frame:
    """A file of which nothing is followed until it is asked for."""
    frame = Frame(Code(source.path, "<module>"), source, pending=dict(_binders(source)))
    frame.names["__name__"] = frame.names["__file__"] = Const(value=source.path)
    starred = (_file_of(source, module, level) for module, level in _stars(source))
    frame.stars = [each for each in starred if each is not None]
    machine.modules[source.path] = frame
    return frame


@lru_cache(maxsize=512)
def _binders(source: Source) -> dict[str, tuple[ast.stmt, ...]]:
    """The statements at the top level of a file that bind each of its names."""
    found: dict[str, tuple[ast.stmt, ...]] = {}
    for statement in source.tree.body:
        for name in dict.fromkeys(_bound_by(statement)):
            found[name] = (*found.get(name, ()), statement)
    return found


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (each.asname or each.name.split(".")[0] for each in names)
        case ast.Assign(targets=targets):
            yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
        case ast.AnnAssign(target=ast.Name(name)) | ast.AugAssign(target=ast.Name(name)):
            yield name
        case ast.If() | ast.Try() | ast.With() | ast.For():
            if not _is_main_guard(statement):
                for each in ast.iter_child_nodes(statement):
                    if isinstance(each, ast.stmt):
                        yield from _bound_by(each)


def _is_main_guard(statement: ast.stmt) -> bool:
    match statement:
        case ast.If(test=ast.Compare(left=ast.Name("__name__"))):
            return True
    return False


@lru_cache(maxsize=512)
def _stars(source: Source) -> tuple[tuple[str, int], ...]:
    return tuple(
        (node.module or "", node.level)
        for node in source.tree.body
        if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names)
    )
