"""The call as an expression: what is called, and what with. Who handles it, its kind decides (`*_calls.py`)."""

import ast

from gradsan.check import container_calls, library_calls, object_calls, unknown_calls
from gradsan.check.function_calls import enter
from gradsan.check.holding import OF_TENSORS, lacks
from gradsan.check.machine import Call, Given, Machine
from gradsan.check.object_calls import call_super
from gradsan.check.tables import CALLEES, EXPRESSIONS, RECEIVERS, entered
from gradsan.check.troubles import Misfit
from gradsan.check.values import Function, Library, Method, Partial, Value, entries_of

# With those that they load, they follow calls of every kind.
KINDS = (container_calls, library_calls, object_calls, unknown_calls)


@entered(EXPRESSIONS, ast.Call)
def call_expression(machine: Machine, node: ast.Call) -> Value:
    """`callee(…)`, `receiver.name(…)`."""
    if isinstance(node.func, ast.Attribute):
        receiver = machine.evaluate(node.func.value)
        call = Call(node, _arguments(machine, node.args), _keywords(machine, node.keywords), node.func.attr)
        if call.name in OF_TENSORS:
            _note_misfit(machine, receiver, call.name, node)
        return machine.call_method(receiver, call)
    callee = machine.evaluate(node.func)
    return machine.call(callee, Call(node, _arguments(machine, node.args), _keywords(machine, node.keywords)))


def _arguments(machine: Machine, nodes: list[ast.expr]) -> list[Given]:
    arguments: list[Given] = []
    for each in nodes:
        value = machine.evaluate(each)
        if isinstance(each, ast.Starred):
            arguments += [(one, each.value) for one in machine.elements(value, each)]
        else:
            arguments.append((value, each))
    return arguments


def _keywords(machine: Machine, nodes: list[ast.keyword]) -> dict[str, Given]:
    keywords: dict[str, Given] = {}
    for keyword in nodes:
        value = machine.evaluate(keyword.value)
        named = entries_of(value) if keyword.arg is None else {keyword.arg: value}
        keywords |= {key: (each, keyword.value) for key, each in named.items() if isinstance(key, str)}
    return keywords


def _note_misfit(machine: Machine, receiver: Value, name: str, node: ast.Call) -> None:
    """Note that what a method of tensors is called on has no such method, or may have none."""
    lacking = lacks(receiver, name)
    if lacking is not False:
        misfit = Misfit(machine.frame.code.file, node.lineno, ast.unparse(node.func), bool(lacking))
        machine.world.misfits.add(misfit)


@entered(CALLEES, Method)
def call_bound(machine: Machine, method: Method, call: Call) -> Value:
    """A method that was taken from its object before."""
    if isinstance(method.function, Function):
        return enter(machine, method.function, call, method.receiver)
    return machine.call_method(method.receiver, call._replace(name=method.name))


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
