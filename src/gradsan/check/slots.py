"""Which slot of a container an index means, also where the index itself is not known."""

import ast
from functools import lru_cache

from gradsan.check.machine import Given, Machine
from gradsan.check.values import Sequence, Tensor, Value, key_of


def index(machine: Machine, node: ast.expr) -> Value:
    """The value of an index, which means a slot."""
    return slotted(machine, (machine.evaluate(node), node))


def slotted(machine: Machine, given: Given) -> Value:
    """A key. One that is not known means what the same words mean in the same iteration of this function's loops.

    So what is written under it goes where the last such write went, and not beside it.
    """
    value, node = given
    if value.slot is None and node is not None and _is_unknown(value):
        value.slot = ("slot", _text(node), _iteration(machine))
    return value


def attribute_name(machine: Machine, given: Given) -> str | None:
    """The name of an attribute that is given as a value; of one that is not known, the words that compute it."""
    match key_of(slotted(machine, given)):
        case str(name):
            return name
        case ("slot", words, iteration):
            return f"{{{words}}}{iteration}"
    return None


def _is_unknown(value: Value) -> bool:
    if isinstance(value, Sequence):
        return value.kind == "tuple" and any(map(_is_unknown, value.elements))
    return key_of(value) is value and type(value) in (Value, Tensor)


def _iteration(machine: Machine) -> int:
    """The iteration of the innermost loop that is written in the function under way; 0: there is none."""
    own = [number for run, number in machine.world.moment if run.header.code == machine.frame.code]
    return own[-1] if own else 0


@lru_cache(maxsize=4096)
def _text(node: ast.expr) -> str:
    return ast.unparse(node)
