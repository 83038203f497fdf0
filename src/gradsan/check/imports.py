"""Imports: names of other files, which are read only when somebody uses them, and then only as far as needed."""

import ast
from collections.abc import Iterator
from functools import lru_cache

from gradsan.check.call_frames import Frame
from gradsan.check.graph import Code
from gradsan.check.machine import Machine
from gradsan.check.tables import STATEMENTS, entered
from gradsan.check.values import Const, Imported, Library, Value
from gradsan.knowledge.libraries import NOT_FOLLOWED
from gradsan.source.disk import locate_import
from gradsan.source.file import Source
from gradsan.source.imported import ALL, Import, imported
from gradsan.source.names import bound_inside, nodes
from gradsan.source.tree import SCOPES

_LINES_FOR_AN_EXPRESSION = 4  # parsing four lines takes about as long as following an expression
_MOST_MODULES = 24  # files that one path may draw in


@entered(STATEMENTS, ast.Import, ast.ImportFrom)
def import_names(machine: Machine, node: ast.Import | ast.ImportFrom) -> None:
    """`import torch`, `from torch import nn`."""
    source = machine.frame.source
    machine.frame.stars += _stars(source, node)
    machine.frame.names |= {each.name: _bound(source, each) for each in imported(node) if each.member != ALL}


def _bound(source: Source, what: Import) -> Value:
    """A name of a library, or of a file of the user's, which is looked up when somebody uses it."""
    if _is_library(what):
        return Library(path=what.path)
    if what.member:
        return Imported(importer=source.path, what=what)
    return Library(path=what.path, file=locate_import(source.path, what.module, what.level))


def _stars(source: Source, node: ast.AST) -> list[str]:
    """The files of the user's of which a statement imports all names."""
    whole = [each for each in imported(node) if each.member == ALL and not _is_library(each)]
    files = (locate_import(source.path, each.module, each.level) for each in whole)
    return [each for each in files if each is not None]


@lru_cache(maxsize=512)
def _all_stars(source: Source) -> tuple[str, ...]:
    return tuple(file for node in source.tree.body for file in _stars(source, node))


def _is_library(what: Import) -> bool:
    return not what.level and what.module.partition(".")[0] in NOT_FOLLOWED


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
    importer, what = imported.importer, imported.what
    path = locate_import(importer, what.module, what.level)
    found = None if path is None or path == importer else name_in(machine, path, what.member)
    return found or Library(path=what.path, file=locate_import(importer, what.path, what.level))


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
    source = machine.project.load(path) if len(machine.modules) < _MOST_MODULES else None
    if source is None:
        return None
    machine.patience -= len(source.lines) // _LINES_FOR_AN_EXPRESSION
    return lazy_module(machine, source)


def lazy_module(machine: Machine, source: Source) -> Frame:
    """A file of which nothing is followed until it is asked for."""
    frame = Frame(Code(source.path, "<module>"), source, pending=dict(_binders(source)))
    frame.names["__name__"] = frame.names["__file__"] = Const(value=source.path)
    frame.stars = list(_all_stars(source))
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
    """The names that a statement binds, and those of the objects whose attributes or items it sets."""
    if _is_main_guard(statement):
        return
    yield from bound_inside(statement)
    inside = () if isinstance(statement, SCOPES) else nodes(statement, into_functions=False)
    targets = (target for node in inside if isinstance(node, ast.Assign) for target in node.targets)
    yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))


def _is_main_guard(statement: ast.stmt) -> bool:
    match statement:
        case ast.If(test=ast.Compare(left=ast.Name("__name__"))):
            return True
    return False
