"""The call as an expression: what is called, and what with. Who handles it, its kind decides (`*_calls.py`)."""

import ast

from gradsan.check import checkpoint_calls, container_calls, library_calls, object_calls, recording_calls
from gradsan.check.function_calls import enter
from gradsan.check.holding import OF_TENSORS, lacks
from gradsan.check.inherited_calls import call_super
from gradsan.check.machine import Call, Given, Machine
from gradsan.check.tables import CALLEES, EXPRESSIONS, RECEIVERS, entered
from gradsan.check.troubles import Misfit
from gradsan.check.values import Function, Library, Mapping, Method, Partial, Value, is_exact, ops_of

# With those that they load, they follow calls of every kind.
KINDS = (checkpoint_calls, container_calls, library_calls, object_calls, recording_calls)


@entered(EXPRESSIONS, ast.Call)
def call_expression(machine: Machine, node: ast.Call) -> Value:
    """`callee(…)`, `receiver.name(…)`."""
    if isinstance(node.func, ast.Attribute):
        receiver = machine.evaluate(node.func.value)
        call = Call(node, _arguments(machine, node.args), _keywords(machine, node.keywords), node.func.attr)
        return _method(machine, receiver, call)
    callee = machine.evaluate(node.func)
    return machine.call(callee, Call(node, _arguments(machine, node.args), _keywords(machine, node.keywords)))


def _arguments(machine: Machine, nodes: list[ast.expr]) -> list[Given]:
    arguments: list[Given] = []
    for each in nodes:
        value = machine.evaluate(each)
        if isinstance(each, ast.Starred):
            arguments += [(one, each.value) for one in _unpacked(machine, value, each)]
        else:
            arguments.append((value, each))
    return arguments


def _unpacked(machine: Machine, value: Value, node: ast.expr) -> list[Value]:
    return machine.elements(value, node) if is_exact(value) or value.op is None else [value]


def _keywords(machine: Machine, nodes: list[ast.keyword]) -> dict[str, Given]:
    keywords: dict[str, Given] = {}
    for keyword in nodes:
        value = machine.evaluate(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = (value, keyword.value)
        elif isinstance(value, Mapping):
            keywords |= {key: (each, keyword.value) for key, each in value.entries.items() if isinstance(key, str)}
        elif ops_of(value):
            keywords["**"] = (value, keyword.value)
    return keywords


def _method(machine: Machine, receiver: Value, call: Call) -> Value:
    if call.name in OF_TENSORS:
        _note_misfit(machine, receiver, call)
    return machine.call_method(receiver, call)


def _note_misfit(machine: Machine, receiver: Value, call: Call) -> None:
    """Note that what a method of tensors is called on has no such method, or may have none."""
    lacking, node = lacks(receiver, call.name), call.node
    if lacking is not False and isinstance(node, ast.Call):
        misfit = Misfit(machine.frame.code.file, node.lineno, ast.unparse(node.func), bool(lacking))
        machine.world.misfits.add(misfit)


@entered(CALLEES, Method)
def call_bound(machine: Machine, method: Method, call: Call) -> Value:
    """A method that was taken from its object before."""
    if isinstance(method.function, Function):
        return enter(machine, method.function, call, method.receiver)
    return _method(machine, method.receiver, call.under(method.name))


@entered(CALLEES, Partial)
def call_partial(machine: Machine, partial: Partial, call: Call) -> Value:
    """`functools.partial(function, …)(…)`."""
    named: dict[str, Given] = {key: (each, None) for key, each in partial.keywords.items()}
    bound: list[Given] = [(each, None) for each in partial.arguments]
    return machine.call(partial.function, call.on(*bound)._replace(keywords=named | call.keywords))


@entered(RECEIVERS, Library)
def library_method(machine: Machine, library: Library, call: Call) -> Value:
    """`torch.name(…)`, `super().name(…)`."""
    if library.path == "builtins.super":
        return call_super(machine, call)
    return machine.call(machine.attribute(library, call.name, call.node), call)
