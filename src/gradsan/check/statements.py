"""Statements: bindings, branches, what leads out, definitions. Loops, contexts and imports have files of their own."""

import ast

from gradsan.check import slots
from gradsan.check.choices import leads_out
from gradsan.check.definitions import class_frame, decorator_names, fields_of, is_plain
from gradsan.check.expressions import known_truth
from gradsan.check.gathering import note_dropped
from gradsan.check.machine import Machine
from gradsan.check.new_ops import edit
from gradsan.check.operators import arithmetic
from gradsan.check.tables import STATEMENTS, entered
from gradsan.check.values import (
    Class,
    Const,
    Function,
    Index,
    Library,
    Mapping,
    Sequence,
    Tensor,
    Value,
    is_exact,
    key_of,
)
from gradsan.knowledge.effects import does
from gradsan.source.names import dotted


@entered(STATEMENTS, ast.Expr)
def expression(machine: Machine, node: ast.Expr) -> None:
    """A value that nobody keeps."""
    note_dropped(machine, node, machine.evaluate(node.value))


@entered(STATEMENTS, ast.Assign)
def assign(machine: Machine, node: ast.Assign) -> None:
    """`a = b = value`."""
    value = machine.evaluate(node.value)
    for target in node.targets:
        machine.assign(target, value)


@entered(STATEMENTS, ast.AnnAssign)
def assign_annotated(machine: Machine, node: ast.AnnAssign) -> None:
    """`a: int = value`."""
    if node.value is not None:
        machine.assign(node.target, machine.evaluate(node.value))


@entered(STATEMENTS, ast.AugAssign)
def assign_augmented(machine: Machine, node: ast.AugAssign) -> None:
    """`a += value`: a list grows, a parameter or a tensor is changed in place, a name gets another value."""
    before = machine.evaluate(node.target)
    right = machine.evaluate(node.value)
    if isinstance(before, Sequence) and isinstance(node.op, ast.Add):
        before.take(machine.elements(right, node.value))
        before.exact &= is_exact(right)
        return
    if before.leaf is not None and before.op is None and not machine.world.recording:
        machine.world.update(before.leaf, machine.site(node), certain=machine.is_certain)
        return
    edit(machine, before, node)  # first: of what it changes itself, an op saves a copy
    value = arithmetic(machine, type(node.op), (before, node.target), (right, node.value), node)
    if isinstance(before, Const | Index) and isinstance(right, Const) and machine.world.moment:
        value = _counted(before, node.op)
    if isinstance(before, Tensor) and isinstance(value, Tensor):
        value.storage = before.storage
        value.leaf = None if value.op is not None else before.leaf
    machine.assign(node.target, value)


def _counted(before: Const | Index, operator: ast.operator) -> Value:
    """A counter in a loop: two iterations show that it is no longer 0, and nothing about the iterations to come."""
    was = before.position if isinstance(before, Index) else before.value
    if isinstance(operator, ast.Add) and isinstance(was, int) and was >= 0:
        return Index(position=was + 1)
    return Value()


@entered(STATEMENTS, ast.Return)
def return_(machine: Machine, node: ast.Return) -> str:
    """The result of the call under way."""
    machine.frame.returned = machine.optional(node.value)
    return "return"


@entered(STATEMENTS, ast.Raise)
def raise_(machine: Machine, node: ast.Raise) -> str:
    """The end of the path, or of a `try`."""
    return "raise"


@entered(STATEMENTS, ast.Break)
def break_(machine: Machine, node: ast.Break) -> str:
    """The end of a loop."""
    return "break"


@entered(STATEMENTS, ast.Continue)
def continue_(machine: Machine, node: ast.Continue) -> str:
    """The end of an iteration."""
    return "continue"


@entered(STATEMENTS, ast.Global, ast.Nonlocal)
def declare(machine: Machine, node: ast.Global | ast.Nonlocal) -> None:
    """Names that belong to a frame further out."""
    machine.frame.foreign.update(node.names)


@entered(STATEMENTS, ast.Delete)
def delete(machine: Machine, node: ast.Delete) -> None:
    """`del a, b.c, d[0]`."""
    for target in node.targets:
        match target:
            case ast.Name(name):
                machine.frame.names.pop(name, None)
            case ast.Attribute(value, name):
                machine.evaluate(value).attributes.pop(name, None)
            case ast.Subscript(value, index):
                _delete_item(machine, machine.evaluate(value), index)


def _delete_item(machine: Machine, container: Value, index: ast.expr) -> None:
    match container:
        case Sequence(elements=elements):
            del elements[: None if isinstance(index, ast.Slice) else 1]
        case Mapping(entries=entries):
            entries.pop(key_of(slots.index(machine, index)), None)


@entered(STATEMENTS, ast.If)
def if_(machine: Machine, node: ast.If) -> str | None:
    """The branch that is known to be taken, or the one that the policy says."""
    known = known_truth(machine, node.test)
    world = machine.world
    world.noted.append(world.stored_under.setdefault(id(node), set()))
    try:
        if known is not None:
            return machine.execute(node.body if known else node.orelse)
        unlikely = leads_out(node.body) and not leads_out(node.orelse)
        taken = machine.choose(node, node.test, unlikely=unlikely)
        world.assumptions.append((node, machine.frame.code, world.moment))
        return _assuming(machine, node.body if taken else node.orelse)
    finally:
        world.noted.pop()


def _assuming(machine: Machine, body: list[ast.stmt]) -> str | None:
    """Follow a branch that is taken on an assumption."""
    frame = machine.frame
    frame.assumed += 1
    try:
        return machine.execute(body)
    finally:
        frame.assumed -= 1


@entered(STATEMENTS, ast.Try, ast.TryStar)
def try_(machine: Machine, node: ast.Try) -> str | None:
    """What is tried, without an error; with one, on a path that turns."""
    fallback = next((each.body for each in node.handlers if not leads_out(each.body)), None)
    if fallback is not None and machine.choices.raises_now(machine.world.moment):
        machine.world.assumptions.append((node, machine.frame.code, machine.world.moment))
        ended = _assuming(machine, fallback)
    else:
        ended = machine.execute(node.body) or machine.execute(node.orelse)
    return machine.execute(node.finalbody) or ended


@entered(STATEMENTS, ast.Match)
def match_(machine: Machine, node: ast.Match) -> str | None:
    """The first case stands for all."""
    machine.evaluate(node.subject)
    return _assuming(machine, node.cases[0].body)


@entered(STATEMENTS, ast.FunctionDef, ast.AsyncFunctionDef)
def define_function(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """A function, with the defaults that its arguments have now."""
    decorators = decorator_names(node)
    function = Function(node=node, source=machine.frame.source, outer=machine.frame, decorators=decorators)
    function.defaults = {name: machine.evaluate(default) for name, default in _defaults(node.args)}
    if any(_remembers(machine, each) for each in node.decorator_list):
        function.remembered = {}
    machine.frame.names[node.name] = function


def _remembers(machine: Machine, decorator: ast.expr) -> bool:
    """Whether it gives the very results back: a method of some object may keep copies without a graph, on disk."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    is_method = isinstance(called, ast.Attribute) and not isinstance(machine.evaluate(called.value), Library)
    return does(dotted(called), "caches") and not is_method


def _defaults(arguments: ast.arguments) -> list[tuple[str, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    found = [(each.arg, default) for each, default in zip(with_default, arguments.defaults, strict=True)][::-1]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return found + [(each.arg, default) for each, default in named if default is not None]


@entered(STATEMENTS, ast.ClassDef)
def define_class(machine: Machine, node: ast.ClassDef) -> None:
    """A class, with what its body binds."""
    bases = tuple(_base(machine, each) for each in node.bases)
    created = Class(node=node, source=machine.frame.source, bases=bases, label=node.name)
    inner = class_frame(machine.frame, node)
    with machine.within(inner):
        machine.execute(node.body)
    created.members = inner.names
    for each in created.members.values():
        if isinstance(each, Function) and each.outer is inner:
            each.owner, each.outer = created, machine.frame
    created.fields = fields_of(created)
    created.plain = is_plain(created)
    machine.frame.names[node.name] = created


def _base(machine: Machine, node: ast.expr) -> Value:
    value = machine.evaluate(node)
    if type(value) is Value and value.label is None:
        value.label = ast.unparse(node)
    return value
