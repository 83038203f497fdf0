"""Follows a value back through the statements that ran: from where it entered the later forward to where it was made.

A best-first search over demands, "the value of this expression in that execution". Strong updates hold, because the
log tells which assignment ran last; what cannot be told (which object, which item) is followed at a cost.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, islice, pairwise
from typing import Literal

from gradsan.observe.naming.calling import is_named, match
from gradsan.observe.naming.selection import CUTTING, HOP, REARRANGING, inputs, last_name, sources
from gradsan.observe.naming.statements import MODULE, Path, Store, assigned, comprehended, loads, parameters, text
from gradsan.observe.naming.stored import Stored, Stores
from gradsan.observe.naming.trace import Call, Execution, Trace

_DEMANDS_AT_MOST = 20_000
_LONGEST_PATH = 5
_STORES_AT_MOST = 12
_ROUNDS_AT_MOST = 50_000  # executions looked through for the entry of a loop

# What each step costs: the doubt that the value went this way.
_DEAREST = 9.0
_PASSED_THROUGH = 0.5  # a library's call that made no op gave back, or holds, what it was given
_OBJECT = 1.0  # a whole object stands for something in it
_OTHER_OBJECT = 0.5  # an attribute of that name, written through another name
_OLDER = 0.3  # an attribute of that name that was written since, perhaps of another object
_UNMATCHED = 1.5  # which call of the line entered the function is not known
_OPERATED = 4.0  # an op was made of it, which should then have been the crossing one

Kind = Literal["local", "argument", "attribute", "closure", "global"]


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable through which the value went: what was stored, and the read that found it."""

    name: str
    kind: Kind
    written: Execution
    read: Execution
    by_object: bool  # a variable nearer the entering statement holds it, inside an object


@dataclass(frozen=True, slots=True)
class Flow:
    """The way a value took, as variables, those nearest the entering statement first."""

    bindings: tuple[Binding, ...]
    cost: float  # the doubt in it: below 2 every step was seen or is ordinary
    makers: tuple[Execution, ...]
    entering: tuple[Execution, ...]


def flow(trace: Trace, makers: tuple[Execution, ...], entering: tuple[Execution, ...]) -> Flow | None:
    """The cheapest way from the entering statement back to the one that made the op.

    Both are what was running then, outermost first.
    """
    if not makers or not entering:
        return None
    search = _Search(trace, makers)
    goal = search.run(entering[-1])
    return None if goal is None else Flow(tuple(goal.bindings()), goal.cost, makers, entering)


def behind(makers: tuple[Execution, ...], entering: tuple[Execution, ...]) -> Binding | None:
    """The object that one statement calls both times, where the first call made the op and the second reused it.

    What it keeps, and where, is its library's business.
    """
    here = entering[-1] if entering else None
    for maker, inner in pairwise(makers):
        if here is None or maker is here or not here.statements or maker.statements != here.statements:
            continue
        matched = match(inner.call, ())
        if matched is None:
            continue
        func = matched.node.func
        is_method = matched.scope.name != "forward" and isinstance(func, ast.Attribute)
        name = text(func.value if is_method and isinstance(func, ast.Attribute) else func)
        if name is not None and name != "self":
            return Binding(name, "attribute" if "." in name else "local", maker, here, by_object=False)
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Demand:
    """The value of `node`, or the part of it at `path`, in an execution."""

    node: ast.expr
    path: Path
    at: Execution
    cost: float = 0.0
    before: "_Demand | None" = None
    binding: Binding | None = None  # the variable through which one came here
    is_within: bool = False  # held inside an object that is no plain container
    is_last: bool = False  # the op was made by re-arranging this: its variable is the end of the way

    def bindings(self) -> list[Binding]:
        """The variables on the way here, from the entering statement on."""
        found: list[Binding] = []
        demand: _Demand | None = self
        while demand is not None:
            if demand.binding is not None:
                found.append(demand.binding)
            demand = demand.before
        return found[::-1]


class _Search:
    """Demands in the order of their cost, until one is what made the op."""

    def __init__(self, trace: Trace, makers: tuple[Execution, ...]) -> None:
        self._made_ops = trace.made_ops
        self._makers = makers
        self._stores = Stores(trace)
        self._order = count()
        self._queue: list[tuple[float, int, bool, _Demand]] = []
        self._seen: set[tuple[int, ast.expr, Path]] = set()

    def run(self, entering: Execution) -> _Demand | None:
        """The cheapest demand that is answered by the op itself."""
        for statement in entering.statements:
            for node in loads(statement):
                self._push(_Demand(node, (), entering))
        for _ in range(_DEMANDS_AT_MOST):
            if not self._queue:
                break
            _, _, is_goal, demand = heappop(self._queue)
            if is_goal:
                return demand
            key = (demand.at.index, demand.node, demand.path)
            if key not in self._seen:
                self._seen.add(key)
                self._resolve(demand)
        return None

    def _push(self, demand: _Demand) -> None:
        if demand.cost <= _DEAREST and len(demand.path) <= _LONGEST_PATH:
            heappush(self._queue, (demand.cost, next(self._order), False, demand))

    def _reach(self, demand: _Demand, cost: float, binding: Binding | None = None) -> None:
        goal = _Demand(demand.node, (), demand.at, demand.cost + cost, demand, binding)
        heappush(self._queue, (goal.cost, next(self._order), True, goal))

    def _follow(
        self,
        demand: _Demand,
        node: ast.expr | None,
        path: Path,
        cost: float,
        *,
        at: Execution | None = None,
        binding: Binding | None = None,
        is_within: bool = False,
        is_last: bool = False,
    ) -> None:
        if node is None:
            return
        if demand.is_last and binding is not None:
            self._reach(demand, cost, binding)
            return
        within, last = demand.is_within or is_within, demand.is_last or is_last
        self._push(_Demand(node, path, at or demand.at, demand.cost + cost, demand, binding, within, last))

    def _resolve(self, demand: _Demand) -> None:
        match demand.node:
            case ast.Name() as node:
                self._name(demand, node)
            case ast.Attribute() as node:
                self._attribute(demand, node)
            case ast.BinOp(left=left, right=right):
                self._operation(demand, [left, right])
            case ast.UnaryOp(operand=operand):
                self._operation(demand, [operand])
            case ast.Call() as node if self._entered(demand, node):
                return
            case _:
                found = sources(demand.node, demand.path)
                for part, path, cost in found or ():
                    self._follow(demand, part, path, cost)
                if found is None and isinstance(demand.node, ast.Call):
                    self._library(demand, demand.node)

    # Variables.

    def _name(self, demand: _Demand, node: ast.Name) -> None:
        at = demand.at
        for statement in at.statements:
            if node.id in comprehended(statement):
                iterated, path = comprehended(statement)[node.id]
                self._follow(demand, iterated, (*path, *demand.path), HOP)
                return
        scope = at.call.scope
        if scope is None:
            return
        if node.id not in scope.elsewhere:
            kind: Kind = "global" if scope.name == MODULE else "local"
            if self._stored(demand, node, self._stores.own(at.call, node.id, at), kind):
                return
            if scope.arguments is not None and node.id in parameters(scope.arguments):
                self._argument(demand, node, at.call)
                return
        self._outer(demand, node)

    def _outer(self, demand: _Demand, node: ast.Name) -> None:
        """A variable of a function around this one, or of a module."""
        scope = demand.at.call.scope
        outer = None if scope is None else scope.outer
        while outer is not None and outer.name != MODULE and node.id not in assigned(outer):
            outer = outer.outer
        kind: Kind = "global" if outer is None or outer.name == MODULE else "closure"
        if self._stored(demand, node, self._stores.shared(node.id, demand.at), kind) or outer is None:
            return
        for call in self._stores.calls_of(outer, demand.at):
            if self._stored(demand, node, self._stores.own(call, node.id, demand.at), kind):
                return
            if outer.arguments is not None and node.id in parameters(outer.arguments):
                self._argument(demand, node, call)
                return

    def _stored(self, demand: _Demand, node: ast.Name, stored: Stored, kind: Kind) -> bool:
        """Follow what was stored to a variable, newest first; whether some of it replaced the variable."""
        for execution, store in islice(reversed(stored), _STORES_AT_MOST):
            rest = _rest(store.path, demand.path)
            if rest is not None:
                cost = HOP if store.replaces or store.path else _PASSED_THROUGH
                if store.path and not demand.path and store.path[0][0] == "attr":
                    cost += _OBJECT
                self._through(demand, node, (execution, store), rest, kind, cost)
            if store.replaces and not store.path:
                return True
        return len(stored) > _STORES_AT_MOST

    def _through(
        self, demand: _Demand, node: ast.expr, stored: tuple[Execution, Store], rest: Path, kind: Kind, cost: float
    ) -> None:
        written, store = stored
        name = _called(node, demand, store)
        binding = None if name is None else Binding(name, kind, written, demand.at, demand.is_within)
        if store.in_place and written is self._makers[-1]:
            self._reach(demand, cost, binding)
        path = (*store.value_path, *rest)
        self._follow(demand, store.value, path, cost, at=written, binding=binding)
        entry = _entry(written)
        if entry is not written:  # a loop asks its iterator every round, but made it only once
            self._follow(demand, store.value, path, cost, at=entry, binding=binding)

    def _argument(self, demand: _Demand, node: ast.Name, call: Call) -> None:
        """A parameter: what the caller gave."""
        binding = Binding(node.id, "argument", call.executions[0], demand.at, demand.is_within)
        matched = self._stores.match(call)
        if matched is not None:
            for value, path in matched.given(node.id, demand.path):
                self._follow(demand, value, path, HOP, at=matched.at, binding=binding)
            return
        parent = call.parent
        if parent is None:
            return
        for statement in parent.statements:
            for value in loads(statement):
                self._follow(demand, value, (), _UNMATCHED, at=parent, binding=binding)
        earlier = parent.called[: parent.called.index(call)] if call in parent.called else []
        for sibling in earlier[-4:]:  # layers of a library's container: each is given what the last gave back
            self._returned(demand, sibling, (), _UNMATCHED, binding)

    def _attribute(self, demand: _Demand, node: ast.Attribute) -> None:
        if node.attr in CUTTING:
            return
        for call in demand.at.called:  # a property
            if call.scope is not None and call.scope.name == node.attr:
                self._returned(demand, call, demand.path, HOP)
        stored = self._stores.attribute(node.attr, demand.at)[-_STORES_AT_MOST:]
        matching = [(each, rest) for each in stored if (rest := _rest(each[1].attribute_path, demand.path)) is not None]
        for age, (each, rest) in enumerate(reversed(matching)):
            doubt = _OTHER_OBJECT if _is_another(node, demand.at, each) else 0.0
            self._through(demand, node, each, rest, "attribute", HOP + doubt + _OLDER * age)
        if isinstance(node.value, ast.Name) and not matching:  # a variable of another module
            self._stored(demand, ast.Name(id=node.attr), self._stores.shared(node.attr, demand.at), "global")
        if node.attr in {"T", "mT", "H"}:
            self._follow(demand, node.value, demand.path, HOP)
        elif text(node.value) != "self":
            self._follow(demand, node.value, (("attr", node.attr), *demand.path), HOP)

    # Values.

    def _entered(self, demand: _Demand, node: ast.Call) -> bool:
        """A call of a function of the user's: what it gave back. Of a class: that, and what it was given."""
        at = demand.at
        entered = [call for call in at.called if (found := self._stores.match(call)) and found.node is node]
        for call in entered:
            self._returned(demand, call, demand.path, HOP)
        if entered:
            return not all(call.scope is not None and call.scope.name == "__init__" for call in entered)
        # One that made the op when it was called before, and was not entered this time: a cache has it.
        name = text(node.func)
        for maker in self._makers:
            scope = maker.call.scope
            if scope is not None and name is not None and is_named(node, scope) and maker.index < at.index:
                binding = Binding(name, "attribute" if "." in name else "global", maker, at, demand.is_within)
                self._returned(demand, maker.call, demand.path, _OBJECT, binding)
                return True
        return False

    def _library(self, demand: _Demand, node: ast.Call) -> None:
        name, is_maker = last_name(node), demand.at is self._makers[-1]
        if isinstance(node.func, ast.Attribute) and name in REARRANGING:
            if is_maker:
                self._reach(demand, _PASSED_THROUGH)
            self._follow(demand, node.func.value, (), HOP * 2, is_last=is_maker)
        elif name[:1].isupper():
            self._object(demand, node)
        else:
            self._operation(demand, inputs(node))

    def _object(self, demand: _Demand, node: ast.Call) -> None:
        """A new object of some class: it holds what it was given."""
        if demand.at is self._makers[-1]:
            self._reach(demand, _OBJECT)
        path = demand.path
        wanted = next((each.value for each in node.keywords if path and each.arg == path[0][1]), None)
        if wanted is not None:
            self._follow(demand, wanted, path[1:], HOP)
            return
        for each in inputs(node):
            self._follow(demand, each, path[1:], _PASSED_THROUGH, is_within=not path)

    def _operation(self, demand: _Demand, given: Sequence[ast.expr]) -> None:
        """An op, or a call into a library. Where no op was made, what comes out is what went in."""
        at, makers = demand.at, self._makers
        if at is makers[-1]:
            self._reach(demand, 0.0)
            return
        inner = makers[makers.index(at) + 1].call if at in makers else None
        if inner is not None and inner in at.called:
            matched = self._stores.match(inner)
            if matched is None or any(part is matched.node for part in ast.walk(demand.node)):
                self._reach(demand, _OBJECT)
        for each in given:
            if at in self._made_ops:
                self._follow(demand, each, (), _OPERATED)
                continue
            self._follow(demand, each, demand.path, _PASSED_THROUGH, is_within=True)
            if demand.path:
                self._follow(demand, each, (), _PASSED_THROUGH, is_within=True)

    def _returned(self, demand: _Demand, call: Call, path: Path, cost: float, binding: Binding | None = None) -> None:
        """What a call of the user's gave back."""
        if call.scope is not None and call.scope.is_generator:
            for execution in _yielded(demand.at, call):
                for value in _given_back(execution, ast.Yield):
                    self._follow(demand, value, path[1:], cost, at=execution, binding=binding)
                for value in _given_back(execution, ast.YieldFrom):
                    self._follow(demand, value, path, cost, at=execution, binding=binding)
        elif call.now is not None:
            for statement in call.now.statements:
                if isinstance(statement, ast.Return):
                    self._follow(demand, statement.value, path, cost, at=call.now, binding=binding)


def _entry(header: Execution) -> Execution:
    """The execution in which a loop was entered, for one that began a later round; any other is itself."""
    loop = header.statements[-1] if header.statements else None
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return header
    first, last = header, loop.end_lineno or loop.lineno
    for position in range(header.position - 1, max(header.position - _ROUNDS_AT_MOST, -1), -1):
        each = header.call.executions[position]
        if not loop.lineno <= each.line <= last:
            break
        if each.statements == header.statements:
            first = each
    return first


def _yielded(at: Execution, generator: Call) -> list[Execution]:
    mine = [each for each in at.yielded if each.call is generator]
    return mine[-4:] or [each for each in generator.executions if each.index < at.index][-8:]


def _given_back(execution: Execution, kind: type[ast.Yield] | type[ast.YieldFrom]) -> Iterator[ast.expr]:
    for statement in execution.statements:
        for node in ast.walk(statement):
            if isinstance(node, kind) and node.value is not None:
                yield node.value


def _is_another(node: ast.Attribute, at: Execution, stored: tuple[Execution, Store]) -> bool:
    """Whether an attribute of the same name seems to be another object's."""
    execution, store = stored
    mine = text(node.value)
    theirs = text(store.target.value) if isinstance(store.target, ast.Attribute) else None
    if mine == theirs == "self":
        scope, other = at.call.scope, execution.call.scope
        return (scope and scope.owner) != (other and other.owner)
    return mine != theirs and execution.call is at.call


def _rest(stored: Path, wanted: Path) -> Path | None:
    """What is still to be selected after a store to `stored` when `wanted` is asked; `None`: it is another part."""
    for (kind, key), (wanted_kind, wanted_key) in zip(stored, wanted, strict=False):
        if kind != wanted_kind:
            return None
        if key is not None and wanted_key is not None and key != wanted_key and not _may_be_same(key, wanted_key):
            return None
    return wanted[len(stored) :]


def _may_be_same(key: str | int, wanted: str | int) -> bool:
    return isinstance(key, int) and isinstance(wanted, int) and (key < 0) != (wanted < 0)


def _called(node: ast.expr, demand: _Demand, store: Store) -> str | None:
    """The name of a binding: as it is read, with the constant item that was asked; else as it was stored."""
    name = text(node)
    if name is None or (isinstance(node, ast.Attribute) and text(node.value) is None):
        name = text(store.target)
    is_item = demand.before is not None and isinstance(demand.before.node, ast.Subscript)
    if name is not None and is_item and store.path and demand.path[0][0] == "item":
        key = demand.path[0][1]
        if key is not None:
            return f'{name}["{key}"]' if isinstance(key, str) else f"{name}[{key}]"
    return name
