"""The functions of a file that ask for a pass, and those that lead to one: by calls in this file, or of another's."""

import ast
from collections.abc import Iterator
from functools import lru_cache

from gradsan.check.builtin_calls import REVEALING
from gradsan.check.project import Project
from gradsan.knowledge.effects import asks_for_pass
from gradsan.source.disk import locate_import
from gradsan.source.file import Source
from gradsan.source.imported import all_imported
from gradsan.source.names import called_name, calls
from gradsan.source.tree import Function as Definition

Start = tuple[str, ...]  # the names of a function, from the module inwards; empty: the file itself


def definitions(tree: ast.Module) -> Iterator[tuple[Start, Definition]]:
    """The functions of a file, and the methods of its classes."""
    for node in tree.body:
        if isinstance(node, Definition):
            yield (node.name,), node
        elif isinstance(node, ast.ClassDef):
            yield from (((node.name, inner.name), inner) for inner in node.body if isinstance(inner, Definition))


def has_pass(node: Definition) -> bool:
    """Whether a function asks for a pass itself, is one that a trainer back-propagates, or one that is asked about."""
    called = _calls(node)
    asks = any(isinstance(each.func, ast.Attribute) and asks_for_pass(each.func.attr) for each in called)
    return asks or node.name == "training_step" or REVEALING in map(called_name, called)


@lru_cache(maxsize=256)
def _calls(node: Definition) -> tuple[ast.Call, ...]:
    """The calls in a function: they are asked for again and again while a file is read."""
    return tuple(calls(node))


def callers(source: Source, project: Project) -> list[tuple[Start, Definition]]:
    """The functions that lead to one with a pass: by calls within the file or a class, or of a function of another."""
    all_of = dict(definitions(source.tree))
    leading = {start for start, node in all_of.items() if has_pass(node)} | _imported_with_pass(source, project)
    called = {start: _called(start, node) for start, node in all_of.items()} if leading else {}
    found: list[Start] = []
    while fresh := [start for start, others in called.items() if start not in leading and others & leading]:
        found += fresh
        leading.update(fresh)
    return [(start, all_of[start]) for start in reversed(found)]


def _imported_with_pass(source: Source, project: Project) -> set[Start]:
    """What this file calls functions of others that ask for a pass: `update`, `helpers.update`."""
    asking = set(project.sifting.called_for_a_pass(source.path, source.content))
    found: set[Start] = set()
    for each in all_imported(source.tree) if asking else ():
        file = locate_import(source.path, each.module, each.level)
        if each.member:
            found |= {(each.name,)} if (file, each.member) in asking else set()
            file = locate_import(source.path, each.path, each.level)
        found |= {(each.name, name) for where, name in asking if where == file}
    return found


def _called(start: Start, node: Definition) -> set[Start]:
    """The functions that a function calls by their names, and the methods that a method calls on its own object."""
    found: set[Start] = set()
    for each in _calls(node):
        match each.func:
            case ast.Name(name):
                found.add((name,))
            case ast.Attribute(ast.Name("self"), name):
                found.add((*start[:-1], name))
            case ast.Attribute(ast.Name(owner), name):
                found.add((owner, name))
    return found
