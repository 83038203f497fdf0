"""The functions of a file that ask for a pass, and those that lead to one: by calls in this file, or of another's."""

import ast
from collections.abc import Iterator

from gradsan.check.builtin_calls import REVEALING
from gradsan.check.project import Project
from gradsan.knowledge.effects import asks_for_pass
from gradsan.source.disk import locate_import
from gradsan.source.file import Source
from gradsan.source.imported import Import, all_imported
from gradsan.source.names import called_name, own_nodes
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
    called = [*_calls(node)]
    asks = any(isinstance(each.func, ast.Attribute) and asks_for_pass(each.func.attr) for each in called)
    return asks or node.name == "training_step" or REVEALING in map(called_name, called)


def _calls(node: Definition) -> Iterator[ast.Call]:
    """The calls in a function."""
    return (each for each in own_nodes(node) if isinstance(each, ast.Call))


def callers(source: Source, project: Project) -> list[tuple[Start, Definition]]:
    """The functions that lead to one with a pass: by calls within the file or a class, or of a function of another."""
    all_of = dict(definitions(source.tree))
    leading = {start for start, node in all_of.items() if has_pass(node)} | _imported_with_pass(source, project)
    leading |= _inherited_with_pass(source, project)
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


def _inherited_with_pass(source: Source, project: Project) -> set[Start]:
    """The methods that ask for a pass and that classes of this file have from a base class, here or in another file."""
    imports = {each.name: each for each in all_imported(source.tree) if each.member}
    asking: dict[str, set[str]] = {}
    for node in source.tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        own = [each for each in node.body if isinstance(each, Definition)]
        inherited: set[str] = set()
        for base in (each.id for each in node.bases if isinstance(each, ast.Name)):
            inherited |= asking[base] if base in asking else _asking_in(imports.get(base), source, project)
        inherited -= {each.name for each in own}
        asking[node.name] = inherited | {each.name for each in own if has_pass(each)}
    return {(name, method) for name, methods in asking.items() for method in methods}


def _asking_in(base: Import | None, source: Source, project: Project) -> set[str]:
    """The methods of an imported class that ask for a pass."""
    file = None if base is None else locate_import(source.path, base.module, base.level)
    other = None if file is None else project.load(file)
    if base is None or other is None:
        return set()
    return {start[-1] for start, node in definitions(other.tree) if start[:-1] == (base.member,) and has_pass(node)}


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
