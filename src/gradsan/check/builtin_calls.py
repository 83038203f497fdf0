"""Built-in functions and the standard library, as far as graphs pass through them: `sum(losses)`, `zip(xs, ys)`."""

from collections.abc import Callable
from typing import TypeGuard

from gradsan.check.copied_values import deep_copy, shallow_copy
from gradsan.check.holding import held
from gradsan.check.items import LONGEST_UNROLLED
from gradsan.check.kinds import is_a
from gradsan.check.machine import Call, Machine
from gradsan.check.new_ops import bare, cut, result
from gradsan.check.slots import attribute_name
from gradsan.check.tables import entered
from gradsan.check.unfollowed import unknown_call
from gradsan.check.values import (
    NONE,
    Class,
    Const,
    Context,
    Factory,
    Index,
    Instance,
    Layer,
    Library,
    Mapping,
    Partial,
    Sequence,
    Tensor,
    Value,
    entries_of,
    escape,
    is_exact,
    ops_of,
    whole_number,
)
from gradsan.knowledge.module_classes import module_class

REVEALING = "__revealed__"  # `__revealed__(state)` is worth what `state` is worth, and reports what that may be
_FOLLOWED = 2  # elements of what is not known in full
_LONGEST_DEQUE = 8
BUILTINS: dict[str, Callable[[Machine, Call], Value]] = {}


def builtin(machine: Machine, name: str, call: Call) -> Value | None:
    """The result of a built-in; None: nothing special is known of it."""
    handler = BUILTINS.get(name)
    return None if handler is None else handler(machine, call.under(name))


@entered(BUILTINS, "float", "int", "bool", "complex")
def _number(machine: Machine, call: Call) -> Value:
    value = call.first
    if isinstance(value, Const) and call.name in ("int", "float") and isinstance(value.value, int | float):
        return value
    if not isinstance(value, Tensor) and not ops_of(value):
        return Value()
    number = cut(machine, value, f"`{call.name}()`", call.node)
    number.plain = "number"
    return number


@entered(BUILTINS, "list", "tuple", "set", "frozenset", "sorted", "reversed", "iter")
def _collected(machine: Machine, call: Call) -> Sequence:
    kind = call.name if call.name in ("tuple", "set") else "list"
    elements = machine.elements(call.first, call.node) if call.arguments else []
    if call.name == "reversed":
        elements = elements[::-1]
    exact = not call.arguments or is_exact(call.first)
    return Sequence(elements=elements, exact=exact, kind=kind, born=machine.world.moment)


@entered(BUILTINS, REVEALING)
def _revealed(machine: Machine, call: Call) -> Value:
    """What `rereading` puts around an expression to learn what it may be."""
    machine.world.revealed.append(held(call.values[0]))
    return call.values[0]


@entered(BUILTINS, "dict", "OrderedDict")
def _dict(machine: Machine, call: Call) -> Value:
    created = Mapping(entries={key: value for key, (value, _) in call.keywords.items()}, born=machine.world.moment)
    created.entries = entries_of(call.first) | created.entries
    created.exact = not call.arguments or (isinstance(call.first, Mapping) and call.first.exact)
    return created


@entered(BUILTINS, "defaultdict")
def _defaultdict(machine: Machine, call: Call) -> Value:
    return Mapping(missing=call.first, born=machine.world.moment)


@entered(BUILTINS, "deque")
def _deque(machine: Machine, call: Call) -> Value:
    created = _collected(machine, Call(call.node, call.arguments[:1], name="list"))
    created.kind = "deque"
    longest = call.named("iterable", "maxlen").get("maxlen", (NONE, None))[0]
    if longest is not NONE:
        known = whole_number(longest)
        created.longest = _FOLLOWED if known is None else max(1, min(known, _LONGEST_DEQUE))
        created.attributes["maxlen"] = longest
    return created


@entered(BUILTINS, "range")
def _range(machine: Machine, call: Call) -> Value:
    bounds = [each for each in map(whole_number, call.values) if each is not None]
    if bounds and len(bounds) == len(call.arguments) and 0 not in bounds[2:]:
        numbers = range(*bounds)
        if len(numbers) <= _FOLLOWED:
            return Sequence(elements=[Const(value=each) for each in numbers])
        return Sequence(elements=_indices(bounds[0] if len(bounds) > 1 else 0), exact=False, length=len(numbers))
    from_zero = len(call.arguments) <= 1 or bounds[:1] == [0]
    return Sequence(elements=_indices(0) if from_zero else [Value(), Value()], exact=False)


def _indices(first: int) -> list[Value]:
    return [Index(position=first + at, onwards=at == _FOLLOWED - 1) for at in range(_FOLLOWED)]


@entered(BUILTINS, "enumerate")
def _enumerate(machine: Machine, call: Call) -> Value:
    start = whole_number(call.named("iterable", "start").get("start", (Const(value=0), None))[0])
    elements = machine.elements(call.first, call.node)
    exact = _is_known(call.first) and len(elements) <= LONGEST_UNROLLED
    numbers = (_number_of(at, start, exact=exact) for at, _ in enumerate(elements))
    pairs: list[Value] = [Sequence(elements=list(each), kind="tuple") for each in zip(numbers, elements, strict=True)]
    return _like([call.first], pairs)


def _is_known(iterated: Value) -> bool:
    return is_exact(iterated) or _is_container(iterated)


def _is_container(value: Value) -> TypeGuard[Layer]:
    """Whether it is a container of modules, all of which are known."""
    return isinstance(value, Layer) and not value.assumed and module_class(value.kind).holds


def _number_of(at: int, start: int | None, *, exact: bool) -> Value:
    """The number of an iteration: itself, where all are followed; else one that is the first, or a later one."""
    if start is None:
        return Value()
    return Const(value=start + at) if exact else Index(position=start + at)


@entered(BUILTINS, "zip")
def _zip(machine: Machine, call: Call) -> Value:
    columns = [machine.elements(value, call.node) for value in call.values]
    exact = all(map(is_exact, call.values))
    longest = (min if exact else max)(map(len, columns), default=0)
    padded = [column + column[-1:] * (longest - len(column)) for column in columns if column]
    rows: list[Value] = [Sequence(elements=list(row), kind="tuple") for row in zip(*padded, strict=False)]
    return _like(call.values, rows)


def _like(iterated: list[Value], elements: list[Value]) -> Sequence:
    """A sequence that is gone through in step with others."""
    lazy = (each.created_for for each in iterated if isinstance(each, Sequence) and each.created_for)
    return Sequence(elements=elements, exact=all(map(is_exact, iterated)), created_for=next(lazy, []))


@entered(BUILTINS, "map")
def _map(machine: Machine, call: Call) -> Value:
    match call.values:
        case [function, iterable]:
            elements = machine.elements(iterable, call.node)
            results = [machine.call(function, Call(call.node, [(each, None)])) for each in elements]
            return Sequence(elements=results, exact=is_exact(iterable))
    return Value()


@entered(BUILTINS, "filter")
def _filter(machine: Machine, call: Call) -> Value:
    return call.at(1, Value())


@entered(BUILTINS, "chain")
def _chain(machine: Machine, call: Call) -> Value:
    elements = [each for value in call.values for each in machine.elements(value, call.node)]
    return Sequence(elements=elements, exact=all(map(is_exact, call.values)))


@entered(BUILTINS, "next")
def _next(machine: Machine, call: Call) -> Value:
    value = call.first
    if isinstance(value, Sequence) and value.elements:
        return value.elements[0]
    return Value(op=value.op, created=machine.site(call.node))


@entered(BUILTINS, "sum")
def _sum(machine: Machine, call: Call) -> Value:
    value = call.first
    if ops_of(value):
        scalar = isinstance(value, Sequence) and all(each.op is None or each.op.scalar for each in value.elements)
        return result(machine, "add", call.arguments[:1], call.node, linear=scalar, scalar=scalar)
    return bare(machine, [value], call.node)


@entered(BUILTINS, "min", "max", "abs", "round", "pow")
def _of_numbers(machine: Machine, call: Call) -> Value:
    """Of numbers, a number; of tensors, nobody knows which one."""
    if any(ops_of(each) for each in call.values):
        return unknown_call(machine, call.name, call)
    return bare(machine, call.values, call.node)


@entered(BUILTINS, "len")
def _len(machine: Machine, call: Call) -> Value:
    """A number, where the iterations to come cannot make it another one."""
    value = call.first
    if _is_container(value):
        return Const(value=len(value.children))
    if not isinstance(value, Sequence | Mapping) or not value.exact:
        return Value()
    count = len(value.elements if isinstance(value, Sequence) else value.entries)
    is_settled = isinstance(value, Sequence) and value.born == machine.world.moment
    return Const(value=count) if is_settled or not count else Value()


@entered(BUILTINS, "isinstance")
def _isinstance(machine: Machine, call: Call) -> Value:
    match call.values:
        case [value, Sequence(elements=kinds)]:
            outcomes = [is_a(value, each) for each in kinds]
        case [value, kind]:
            outcomes = [is_a(value, kind)]
        case _:
            return Value()
    if True in outcomes:
        return Const(value=True)
    return Value() if None in outcomes else Const(value=False)


@entered(BUILTINS, "type")
def _type(machine: Machine, call: Call) -> Value:
    match call.first:
        case Instance(cls=cls):
            return cls
        case Sequence(kind="tuple" | "set" as kind):
            return Library(path=f"builtins.{kind}")
        case Sequence():
            return Library(path="builtins.list")
        case Mapping():
            return Library(path="builtins.dict")
        case Tensor():
            return Library(path="torch.Tensor")
    return Value()


@entered(BUILTINS, "getattr")
def _getattr(machine: Machine, call: Call) -> Value:
    name = attribute_name(machine, call.arguments[1]) if len(call.arguments) > 1 else None
    match call.values:
        case [Instance() as owner, Const(), default] if name is not None and not _has(owner, name):
            return default
        case [owner, Const(), *_] if name is not None:
            return machine.attribute(owner, name, call.node)
        case [owner, *_] if name in owner.attributes:
            return owner.attributes[name]
    return Value()


@entered(BUILTINS, "hasattr")
def _hasattr(machine: Machine, call: Call) -> Value:
    match call.values:
        case [Instance() as owner, Const(value=str() as name)] if _has(owner, name):
            return Const(value=True)
    return Value()


@entered(BUILTINS, "setattr")
def _setattr(machine: Machine, call: Call) -> Value:
    name = attribute_name(machine, call.arguments[1]) if len(call.arguments) > 1 else None
    match call.values:
        case [owner, _, value] if name is not None:
            owner.attributes[name] = value
            escape(value)
    return NONE


@entered(BUILTINS, "vars")
def _vars(machine: Machine, call: Call) -> Value:
    return machine.attribute(call.first, "__dict__", call.node) if call.arguments else Value()


def _has(owner: Instance, name: str) -> bool:
    return name in owner.attributes or owner.cls.member(name) is not None


@entered(BUILTINS, "partial")
def _partial(machine: Machine, call: Call) -> Value:
    if not call.arguments:
        return Value()
    function, *given = call.values
    named = {key: value for key, (value, _) in call.keywords.items()}
    return Partial(function=function, arguments=given, keywords=named)


@entered(BUILTINS, "namedtuple")
def _namedtuple(machine: Machine, call: Call) -> Value:
    fields: list[str] = []
    match call.values:
        case [_, Sequence(elements=elements), *_]:
            fields = [str(each.value) for each in elements if isinstance(each, Const)]
        case [_, Const(value=str() as text), *_]:
            fields = text.replace(",", " ").split()
    return Class(fields=tuple(fields), plain=True, bases=(Library(path="typing.NamedTuple"),))


@entered(BUILTINS, "deepcopy")
def _deepcopy(machine: Machine, call: Call) -> Value:
    return deep_copy(call.first, {})


@entered(BUILTINS, "replace")
def _replace(machine: Machine, call: Call) -> Value:
    value = shallow_copy(call.first)
    value.attributes |= {key: each for key, (each, _) in call.keywords.items()}
    return value


@entered(BUILTINS, "field")
def _field(machine: Machine, call: Call) -> Value:
    factory = call.keyword("default_factory")
    default = call.keyword("default")
    return default or (Value() if factory is None else Factory(function=factory))


@entered(BUILTINS, "nullcontext")
def _nullcontext(machine: Machine, call: Call) -> Value:
    return Context(given=call.first)


@entered(BUILTINS, "super")
def _super(machine: Machine, call: Call) -> Value:
    return Library(path="builtins.super")


@entered(BUILTINS, "print")
def _print(machine: Machine, call: Call) -> Value:
    return NONE
