"""Methods of lists, deques, tuples and dicts: what is held, and what a loop gathers."""

import ast
from collections.abc import Callable
from itertools import chain

from gradsan.check.gathering import gather
from gradsan.check.graph import Label
from gradsan.check.machine import Call, Machine
from gradsan.check.slots import slotted
from gradsan.check.tables import RECEIVERS, entered
from gradsan.check.unfollowed import unknown_call
from gradsan.check.values import (
    NONE,
    Mapping,
    Sequence,
    Value,
    constant_of,
    entries_of,
    escape,
    is_exact,
    key_of,
    whole_number,
)

SEQUENCES: dict[str, Callable[[Machine, Sequence, Call], Value]] = {}
MAPPINGS: dict[str, Callable[[Machine, Mapping, Call], Value]] = {}


@entered(RECEIVERS, Sequence)
def sequence_method(machine: Machine, value: Sequence, call: Call) -> Value:
    """`list.append` and its like."""
    handler = SEQUENCES.get(call.name)
    if handler is None:
        return unknown_call(machine, call.name, call.on((value, None)))
    return handler(machine, value, call)


@entered(RECEIVERS, Mapping)
def mapping_method(machine: Machine, value: Mapping, call: Call) -> Value:
    """`dict.get` and its like."""
    handler = MAPPINGS.get(call.name)
    if handler is None:
        return unknown_call(machine, call.name, call.on((value, None)))
    return handler(machine, value, call)


@entered(SEQUENCES, "append", "add", "appendleft", "put")
def _append(machine: Machine, value: Sequence, call: Call) -> Value:
    element = call.first
    value.elements.append(element)
    escape(element)
    if value.longest is None:
        _note(machine, value, element, call.node)
    elif len(value.elements) > value.longest:
        value.elements.pop(0)
    return NONE


def _note(machine: Machine, value: Sequence, element: Value, node: ast.expr) -> None:
    """Note that a list is fed which still holds what an earlier iteration put there."""
    if isinstance(node, ast.Call):
        holder = getattr(node.func, "value", node)
        label = Label(ast.unparse(holder), "attribute" if isinstance(holder, ast.Attribute) else "local")
        gather(machine, value, label, element, machine.site(node))


@entered(SEQUENCES, "extend", "update")
def _extend(machine: Machine, value: Sequence, call: Call) -> Value:
    value.take(chain.from_iterable(machine.elements(each, call.node) for each in call.values))
    value.exact = False
    return NONE


@entered(SEQUENCES, "insert")
def _insert(machine: Machine, value: Sequence, call: Call) -> Value:
    value.elements[:0] = call.values[1:2]
    return NONE


@entered(SEQUENCES, "clear")
def _clear(machine: Machine, value: Sequence, call: Call) -> Value:
    value.elements.clear()
    value.exact = True
    return NONE


@entered(SEQUENCES, "pop", "popleft")
def _pop(machine: Machine, value: Sequence, call: Call) -> Value:
    first = call.name == "popleft" or whole_number(call.first) == 0
    return value.elements.pop(0 if first else -1) if value.elements else Value()


@entered(SEQUENCES, "copy")
def _copy(machine: Machine, value: Sequence, call: Call) -> Value:
    return Sequence(elements=list(value.elements), exact=value.exact, kind=value.kind)


@entered(SEQUENCES, "remove")
def _remove(machine: Machine, value: Sequence, call: Call) -> Value:
    del value.elements[:1]
    return NONE


@entered(SEQUENCES, "index", "count")
def _number(machine: Machine, value: Sequence, call: Call) -> Value:
    return Value()


@entered(MAPPINGS, "items")
def _items(machine: Machine, value: Mapping, call: Call) -> Value:
    pairs: list[Value] = [
        Sequence(elements=[constant_of(key), each], kind="tuple") for key, each in value.entries.items()
    ]
    return Sequence(elements=pairs, exact=value.exact)


@entered(MAPPINGS, "values")
def _values(machine: Machine, value: Mapping, call: Call) -> Value:
    return Sequence(elements=list(value.entries.values()), exact=value.exact)


@entered(MAPPINGS, "keys")
def _keys(machine: Machine, value: Mapping, call: Call) -> Value:
    return Sequence(elements=[constant_of(key) for key in value.entries], exact=value.exact)


@entered(MAPPINGS, "update")
def _update(machine: Machine, value: Mapping, call: Call) -> Value:
    for one in call.values:
        value.entries |= entries_of(one)
        value.exact &= is_exact(one)
    value.entries |= {key: each for key, (each, _) in call.keywords.items()}
    return NONE


@entered(MAPPINGS, "clear")
def _clear_mapping(machine: Machine, value: Mapping, call: Call) -> Value:
    value.entries.clear()
    value.exact = True
    return NONE


@entered(MAPPINGS, "copy")
def _copy_mapping(machine: Machine, value: Mapping, call: Call) -> Value:
    return Mapping(entries=dict(value.entries), exact=value.exact, born=machine.world.moment)


@entered(MAPPINGS, "get")
def _get(machine: Machine, value: Mapping, call: Call) -> Value:
    return value.entry(_key(machine, call)) or _default(value, call)


@entered(MAPPINGS, "setdefault")
def _setdefault(machine: Machine, value: Mapping, call: Call) -> Value:
    key = _key(machine, call)
    found = value.entry(key)
    if found is None:
        found = value.entries[key_of(key)] = call.at(1, NONE)
    return found


@entered(MAPPINGS, "pop")
def _pop_mapping(machine: Machine, value: Mapping, call: Call) -> Value:
    key = _key(machine, call)
    found = value.entry(key)
    value.entries.pop(key_of(key), None)
    return found or _default(value, call)


def _key(machine: Machine, call: Call) -> Value:
    return slotted(machine, call.arguments[0]) if call.arguments else Value()


def _default(value: Mapping, call: Call) -> Value:
    return call.at(1, NONE) if value.exact else Value()
