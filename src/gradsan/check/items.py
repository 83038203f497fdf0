"""`container[index]`, and comprehensions, which fill containers."""

import ast
from collections.abc import Iterator

from gradsan.check import slots
from gradsan.check.expressions import known_truth
from gradsan.check.graph import LoopRun
from gradsan.check.machine import NOWHERE, Call, Machine
from gradsan.check.tables import EXPRESSIONS, entered
from gradsan.check.values import Const, Mapping, Sequence, Value, is_exact, key_of, length_of, ops_of, whole_number

LONGEST_UNROLLED = 4  # elements of a known list that are gone through one by one
_Known = tuple[bool, int | None]  # whether all elements are known; how many there are, if that is
_KINDS: dict[type[ast.expr], str] = {ast.ListComp: "list", ast.SetComp: "set", ast.GeneratorExp: "generator"}


@entered(EXPRESSIONS, ast.Subscript)
def subscript(machine: Machine, node: ast.Subscript) -> Value:
    """What stands in a container at an index, or a part of a tensor."""
    owner, index = machine.evaluate(node.value), node.slice
    match owner, index:
        case Sequence(), ast.Slice():
            return _slice(machine, owner, index)
        case Sequence(), _:
            return _element(machine, owner, index)
        case Mapping(), _:
            return _entry(machine, owner, slots.index(machine, index))
        case _, ast.Slice():
            return owner
    return machine.part(owner, key_of(slots.index(machine, index)), node)


def _element(machine: Machine, value: Sequence, index: ast.expr) -> Value:
    position = value.position(machine.evaluate(index))
    return [Value(), *value.elements][-1] if position is None else value.elements[position]


def _slice(machine: Machine, value: Sequence, index: ast.Slice) -> Value:
    bounds = [machine.optional(each) for each in (index.lower, index.upper, index.step)]
    known = [whole_number(each) for each in bounds if isinstance(each, Const)]
    exact = value.exact and len(known) == len(bounds)
    cut_out = slice(*known) if exact and known[2] != 0 else slice(None)
    return Sequence(elements=value.elements[cut_out], exact=exact, kind=value.kind)


def _entry(machine: Machine, value: Mapping, key: Value) -> Value:
    if key_of(key) not in value.entries and value.missing is not None:
        value.entries[key_of(key)] = machine.call(value.missing, Call(NOWHERE))
    return value.entry(key) or _any_of(value)


def _any_of(value: Mapping) -> Value:
    """What stands under a key that nobody was seen to write: it may be any of what is there."""
    for op in ops_of(value):
        op.may_be_read = True
    return Value()


@entered(EXPRESSIONS, ast.DictComp)
def mapping_comprehension(machine: Machine, node: ast.DictComp) -> Value:
    """`{key: value for …}`."""
    created = Mapping(born=machine.world.moment)
    for exact, _ in _iterations(machine, node, node.generators):
        created.exact &= exact
        created.entries[key_of(machine.evaluate(node.key))] = machine.evaluate(node.value)
    return created


@entered(EXPRESSIONS, ast.ListComp, ast.SetComp, ast.GeneratorExp)
def comprehension(machine: Machine, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    """`[element for …]`."""
    created = Sequence(kind=_KINDS[type(node)], born=machine.world.moment)
    for exact, created.length in _iterations(machine, node, node.generators):
        created.exact &= exact
        created.elements.append(machine.evaluate(node.elt))
    return created


def _iterations(machine: Machine, node: ast.expr, generators: list[ast.comprehension]) -> Iterator[_Known]:
    """The iterations of a comprehension, each with what is known of all. Its names are its own."""
    names = machine.frame.names
    bound = {each.id for one in generators for each in ast.walk(one.target) if isinstance(each, ast.Name)}
    before = {name: names[name] for name in bound if name in names}
    try:
        yield from _nested(machine, node, generators)
    finally:
        for name in bound:
            names.pop(name, None)
        names.update(before)


def _nested(machine: Machine, node: ast.expr, generators: list[ast.comprehension]) -> Iterator[_Known]:
    first, *rest = generators
    iterated = machine.evaluate(first.iter)
    elements = machine.elements(iterated, first.iter)
    exact = is_exact(iterated) and len(elements) <= LONGEST_UNROLLED
    length = None if rest or first.ifs else length_of(iterated)
    run = LoopRun(machine.site(node))
    for number, element in enumerate(elements[:LONGEST_UNROLLED], 1):
        with machine.iteration_of(run, number):
            machine.assign(first.target, element)
            outcomes = [known_truth(machine, each) for each in first.ifs]
            if False in outcomes:
                continue
            inner = _nested(machine, node, rest) if rest else iter([(True, length)])
            yield from ((exact and None not in outcomes and each, length) for each, _ in inner)
