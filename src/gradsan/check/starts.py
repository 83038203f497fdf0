"""Where paths begin: with a file as a program, and with its functions that this does not reach."""

import ast
from collections.abc import Iterator
from functools import lru_cache

from gradsan.check.builtin_calls import REVEALING
from gradsan.check.function_calls import enter
from gradsan.check.graph import Op
from gradsan.check.imagined_training import train_with
from gradsan.check.imports import lazy_module, name_of
from gradsan.check.interpreter import run_main
from gradsan.check.machine import Call, Machine
from gradsan.check.project import Project
from gradsan.check.values import NONE, Class, Function, ops_of
from gradsan.knowledge.effects import asks_for_pass
from gradsan.source.disk import locate_import
from gradsan.source.file import Source
from gradsan.source.imported import all_imported
from gradsan.source.names import called_name, calls
from gradsan.source.tree import Function as Definition

Start = tuple[str, ...]  # the names of a function, from the module inwards; empty: the file itself
WHOLE_FILE: Start = ()


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
    called = {start: _called(start, node) for start, node in all_of.items()}
    leading = {start for start, node in all_of.items() if has_pass(node)} | _imported_with_pass(source, project)
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


def follow(machine: Machine, source: Source, start: Start) -> None:
    """Follow one path from a start: a function is called with unknown arguments, a method as if it trained."""
    if start == WHOLE_FILE:
        run_main(machine, source)
        return
    frame = lazy_module(machine, source)
    value = name_of(machine, frame, start[0])
    with machine.within(frame):
        match start, value:
            case [_], Function():
                frame.returned = enter(machine, value, Call(value.node))  # type: ignore[arg-type]
            case [_, name], Class(members=members):
                method = members.get(name)
                if isinstance(method, Function):
                    train_with(machine, value, method)


def kept(machine: Machine, start: Start) -> frozenset[Op]:
    """What whoever called the function may still use: what it returned, and what the module's names hold."""
    returned = [frame.returned or NONE for frame in machine.modules.values()] if start else []
    return frozenset(op for value in returned for op in ops_of(value))
