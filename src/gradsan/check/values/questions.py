"""What a value leads to: parts, ops, parameters, names."""

from collections.abc import Iterable, Iterator

from gradsan.check.graph import Leaf, Op
from gradsan.check.values.basic import Const, Tensor, Value
from gradsan.check.values.containers import Mapping, Sequence
from gradsan.check.values.objects import Instance

_MOST_PARTS = 300
_WITH_OPS_INSIDE = (Sequence, Mapping, Instance)  # written out where it is asked, it would be made each time


def parts(value: Value, depth: int = 6) -> Iterator[Value]:
    """The value and what it contains, each once; of something very large, the first few hundred."""
    if not value.contents:  # as mostly
        yield value
        return
    seen = {id(value)}
    waiting = [(value, depth)]
    while waiting and len(seen) < _MOST_PARTS:
        current, left = waiting.pop()
        yield current
        for each in reversed([*current.contents]) if left > 0 else ():
            if id(each) not in seen:
                seen.add(id(each))
                waiting.append((each, left - (2 if isinstance(current, Instance) else 1)))


def ops_of(value: Value) -> list[Op]:
    """The ops that a value leads to, each once."""
    if value.op is not None:
        return [value.op]
    if isinstance(value, _WITH_OPS_INSIDE):
        return list(dict.fromkeys(each.op for each in parts(value) if each.op is not None))
    return []


def escape(value: Value) -> None:
    """Something that outlives the statement holds it, and with it what it was computed from."""
    waiting = ops_of(value)
    while waiting:
        op = waiting.pop()
        if not op.escaped:
            op.escaped = True
            waiting += [edge.op for edge in op.edges]


def has_graph(value: Value) -> bool:
    """Whether what is built on it has a graph."""
    return value.differentiable if isinstance(value, Tensor) else bool(ops_of(value))


def is_scalar(value: Value) -> bool:
    """Whether it is one number as far as is known: a loss, a Python number, or something without a graph."""
    return not has_graph(value) if value.op is None else value.op.scalar


def is_true(value: Value | None) -> bool:
    """Whether it is known to count as true."""
    return isinstance(value, Const) and bool(value.value)


def is_false(value: Value | None) -> bool:
    """Whether it is known to count as false."""
    return isinstance(value, Const) and not value.value


def leaves_of(value: Value, seen: set[int] | None = None) -> list[Leaf]:
    """All parameters in a value: a tensor, a module, a list of either."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return []
    seen.add(id(value))
    own = [] if value.leaf is None else [value.leaf]
    return own + [leaf for each in value.registered for leaf in leaves_of(each, seen)]


def last_name(value: Value) -> str:
    """The last of the names that lead to it, in lower case."""
    return (value.label or "").rpartition(".")[2].lower()


def is_called(value: Value, words: Iterable[str]) -> bool:
    """Whether one of the words is in the last name that leads to it."""
    name = last_name(value)
    return any(word in name for word in words)
