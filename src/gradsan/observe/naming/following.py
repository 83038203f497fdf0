"""Follows a value back through the statements that ran: variables, attributes, parameters, what calls gave back.

Demands are met in the order of their cost. Strong updates hold, because the log tells which assignment ran last; what
cannot be told (which object, which item) is followed at a cost. Where to stop, and what an op is to the question, is
for a subclass to say.
"""

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import count, islice, takewhile

from gradsan.observe.naming.calling import asks_for_pass
from gradsan.observe.naming.demands import Binding, Demand, Kind
from gradsan.observe.naming.selection import CUTTING, HOP, inputs, sources
from gradsan.observe.naming.stored import Stored, Stores
from gradsan.observe.naming.trace import Call, Execution
from gradsan.source.names import parameters
from gradsan.source.scopes import MODULE
from gradsan.source.stores import Path, Store, assigned, comprehended, loads, text

_DEMANDS_AT_MOST = 20_000
_LONGEST_PATH = 5
_STORES_AT_MOST = 12
_STORES_LOOKED_AT = 50_000  # for what is wanted
_ROUNDS_AT_MOST = 50_000  # executions looked through for the entry of a loop

# What each step costs: the doubt that the value went this way.
DEAREST = 9.0
PASSED_THROUGH = 0.5  # a library's call that made no op gave back, or holds, what it was given
OBJECT = 1.0  # a whole object stands for something in it
_OTHER_OBJECT = 0.5  # an attribute of that name, written through another name
_OLDER = 0.3  # an attribute of that name that was written since, perhaps of another object
_REWRITTEN = 0.5  # an item of it that the same line wrote again since, perhaps under another key
UNMATCHED = 1.5  # which call of the line entered the function is not known


class Follower(ABC):
    """Demands in the order of their cost, until one is the goal."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._made_ops = stores.made_ops
        self._order = count()
        self._queue: list[tuple[float, int, bool, Demand]] = []
        self._seen: set[tuple[int, ast.expr, Path]] = set()

    @abstractmethod
    def _operation(self, demand: Demand, given: Iterable[ast.expr]) -> None:
        """An op, or a call into a library, whose inputs are `given`."""

    def _in_place(  # noqa: B027 # most searches need not know
        self, demand: Demand, written: Execution, cost: float, binding: Binding | None
    ) -> None:
        """The demanded value was edited in place there, and may come from that."""

    def _handed_in(  # noqa: B027 # as above
        self, demand: Demand, parent: Execution, binding: Binding
    ) -> None:
        """A library, called by `parent`, gave the demanded value to a function of the user's: a hook, say."""

    def _is_wanted(self, execution: Execution) -> bool:  # noqa: ARG002 # for subclasses
        """Whether what was stored there is to be followed, however much was stored since: a list grows long."""
        return False

    def _not_entered(self, demand: Demand, node: ast.Call) -> bool:  # noqa: ARG002 # for subclasses
        """Whether a call that entered no function of the user's was answered."""
        return False

    def _search(self, demands: Iterable[Demand]) -> Demand | None:
        """The cheapest goal that these lead to."""
        for demand in demands:
            self._push(demand)
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

    def _push(self, demand: Demand) -> None:
        if demand.cost <= DEAREST and len(demand.path) <= _LONGEST_PATH:
            heappush(self._queue, (demand.cost, next(self._order), False, demand))

    def _reach(self, demand: Demand, cost: float, binding: Binding | None = None) -> None:
        goal = Demand(demand.node, (), demand.at, demand.cost + cost, demand, binding)
        heappush(self._queue, (goal.cost, next(self._order), True, goal))

    def _follow(
        self,
        demand: Demand,
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
        self._push(Demand(node, path, at or demand.at, demand.cost + cost, demand, binding, within, last))

    def _resolve(self, demand: Demand) -> None:
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

    def _library(self, demand: Demand, node: ast.Call) -> None:
        self._operation(demand, inputs(node))

    def _name(self, demand: Demand, node: ast.Name) -> None:
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

    def _outer(self, demand: Demand, node: ast.Name) -> None:
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

    def _newest(self, stored: Stored) -> list[tuple[Execution, Store]]:
        """What is followed of all that was stored: the newest first, then whatever older is wanted."""
        newest = list(islice(reversed(stored), _STORES_LOOKED_AT))
        return newest[:_STORES_AT_MOST] + [each for each in newest[_STORES_AT_MOST:] if self._is_wanted(each[0])]

    def _stored(self, demand: Demand, node: ast.Name, stored: Stored, kind: Kind) -> bool:
        """Follow what was stored to a variable, newest first; whether some of it replaced the variable."""
        for execution, store in self._newest(stored):
            rest = _rest(store.path, demand.path)
            if rest is not None:
                cost = HOP if store.replaces or store.path else PASSED_THROUGH
                if store.path and not demand.path and store.path[0][0] == "attr":
                    cost += OBJECT
                self._through(demand, node, (execution, store), rest, kind, cost)
            if store.replaces and not store.path:
                return True
        return len(stored) > _STORES_AT_MOST

    def _through(
        self, demand: Demand, node: ast.expr, stored: tuple[Execution, Store], rest: Path, kind: Kind, cost: float
    ) -> None:
        written, store = stored
        name = _called(node, demand, store)
        if isinstance(node, ast.Name) and (attributes := _attributes(store.path)) and _begins(demand.path, attributes):
            name, kind = ".".join((node.id, *attributes)), "attribute"
        binding = None if name is None else Binding(name, kind, written, demand.at, demand.is_within)
        if store.in_place:
            self._in_place(demand, written, cost, binding)
        path = (*store.value_path, *rest)
        self._follow(demand, store.value, path, cost, at=written, binding=binding)
        entry = _entry(written)
        if entry is not written:  # a loop asks its iterator every round, but made it only once
            self._follow(demand, store.value, path, cost, at=entry, binding=binding)

    def _argument(self, demand: Demand, node: ast.Name, call: Call) -> None:
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
        if any(map(asks_for_pass, parent.statements)):  # a checkpoint runs its forward once more, in the pass
            self._given_before(demand, node, call, binding)
            return
        self._handed_in(demand, parent, binding)
        for statement in parent.statements:
            for value in loads(statement):
                self._follow(demand, value, (), UNMATCHED, at=parent, binding=binding)
        earlier = parent.called[: parent.called.index(call)] if call in parent.called else []
        for sibling in earlier[-4:]:  # layers of a library's container: each is given what the last gave back
            self._returned(demand, sibling, (), UNMATCHED, binding)

    def _given_before(self, demand: Demand, node: ast.Name, call: Call, binding: Binding) -> None:
        """What a function was given when it last ran before this call of it."""
        before = [each for each in self._stores.calls_like(call) if each.parent is not None]
        for each in before[-1:]:
            first = each.executions[0]
            self._follow(demand, node, demand.path, HOP, at=first, binding=binding)

    def _attribute(self, demand: Demand, node: ast.Attribute) -> None:
        if node.attr in CUTTING:
            return
        for call in demand.at.called:  # a property
            if call.scope is not None and call.scope.name == node.attr:
                self._returned(demand, call, demand.path, HOP)
        stored = self._newest(self._stores.attribute(node.attr, demand.at))
        matching = [(each, rest) for each in stored if (rest := _rest(each[1].attribute_path, demand.path)) is not None]
        written: set[ast.expr] = set()
        for age, (each, rest) in enumerate(matching):
            doubt = _OTHER_OBJECT if _is_another(node, demand.at, each) else 0.0
            if isinstance(each[1].target, ast.Subscript) and each[1].target in written:
                doubt += _REWRITTEN
            written.add(each[1].target)
            doubt += 0.0 if self._is_wanted(each[0]) else _OLDER * age
            self._through(demand, node, each, rest, "attribute", HOP + doubt)
        if isinstance(node.value, ast.Name) and not matching:  # a variable of another module
            self._stored(demand, ast.Name(id=node.attr), self._stores.shared(node.attr, demand.at), "global")
        if node.attr in {"T", "mT", "H"}:
            self._follow(demand, node.value, demand.path, HOP)
        elif text(node.value) != "self":
            self._follow(demand, node.value, (("attr", node.attr), *demand.path), HOP)

    def _entered(self, demand: Demand, node: ast.Call) -> bool:
        """A call of a function of the user's: what it gave back. Of a class: that, and what it was given."""
        at = demand.at
        entered = [call for call in at.called if (found := self._stores.match(call)) and found.node is node]
        for call in entered:
            self._returned(demand, call, demand.path, HOP)
        if entered:
            return not all(call.scope is not None and call.scope.name == "__init__" for call in entered)
        return self._not_entered(demand, node)

    def _returned(self, demand: Demand, call: Call, path: Path, cost: float, binding: Binding | None = None) -> None:
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


def _attributes(path: Path) -> list[str]:
    """The attributes at the beginning of a way."""
    return [str(key) for _, key in takewhile(lambda step: step[0] == "attr", path)]


def _begins(path: Path, attributes: list[str]) -> bool:
    return path[: len(attributes)] == tuple(("attr", each) for each in attributes)


def _called(node: ast.expr, demand: Demand, store: Store) -> str | None:
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
