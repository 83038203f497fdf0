"""Follows a value back through the statements that ran: from where it entered the later forward to where it was made.

A best-first search over demands, "the value of this expression in that execution". Strong updates hold, because the
log tells which assignment ran last; what cannot be told (which object, which item) is followed at a cost.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import Literal

from gradsan.observe.calling import Matched, arguments_for, is_named, match
from gradsan.observe.statements import SOME_ITEM, Path, Store, calls, comprehended, loads, selector, text
from gradsan.observe.trace import Call, Execution, Trace

_DEMANDS_AT_MOST = 20_000
_DEAREST = 9.0
_LONGEST_PATH = 5
_STORES_AT_MOST = 12

# What each step costs: the doubt that the value went this way.
_HOP = 0.1
_PASSED_THROUGH = 0.5  # a library's call that made no op gave back, or holds, what it was given
_OBJECT = 1.0  # a whole object stands for something in it
_OTHER_OBJECT = 0.5  # an attribute of that name, written through another name
_UNMATCHED = 1.5  # which call of the line entered the function is not known
_OPERATED = 4.0  # an op was made of it, which should then have been the crossing one

_CUTTING = frozenset(
    "detach detach_ item tolist numpy data grad shape size dim numel ndim dtype device is_leaf requires_grad".split()
)
_NUMBERS = frozenset("float int bool len str repr isinstance print range type hasattr id format round max_memory".split())
_REARRANGING = frozenset(
    "view reshape view_as transpose permute squeeze unsqueeze expand expand_as flatten unflatten t T mT contiguous to"
    " cuda cpu float half double bfloat16 type chunk split unbind select narrow swapaxes movedim clone".split()
)
_CONTAINERS = frozenset("list tuple set frozenset dict deque iter next reversed sorted cast values copy deepcopy".split())


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable through which the value went: what was stored, and the read that found it."""

    name: str
    kind: Literal["local", "argument", "attribute", "closure", "global"]
    written: Execution
    read: Execution
    by_object: bool  # a variable nearer the entering statement holds it, inside an object


@dataclass(frozen=True, slots=True, eq=False)
class _Demand:
    """The value of `node`, or the part of it at `path`, in an execution."""

    node: ast.expr
    path: Path
    at: Execution
    cost: float
    before: "_Demand | None" = None
    binding: Binding | None = None
    is_within: bool = False  # held inside an object that is no plain container

    def bindings(self) -> list[Binding]:
        """The variables on the way here, from the entering statement on."""
        found, demand = [], self
        while demand is not None:
            if demand.binding is not None:
                found.append(demand.binding)
            demand = demand.before  # type: ignore[assignment] # mypy narrows to the first one's type
        return found[::-1]


@dataclass(frozen=True, slots=True)
class Flow:
    """The way a value took, as variables, those nearest the entering statement first."""

    bindings: tuple[Binding, ...]
    cost: float  # the doubt in it: below 2 every step was seen or is ordinary
    makers: tuple[Execution, ...]
    entering: tuple[Execution, ...]


def flow(trace: Trace, makers: tuple[Execution, ...], entering: tuple[Execution, ...]) -> Flow | None:
    """The cheapest way from the entering statement back to the one that made the op."""
    if not makers or not entering:
        return None
    return _Search(trace, makers).run(entering)


def behind(makers: tuple[Execution, ...], entering: tuple[Execution, ...]) -> Binding | None:
    """The object that one statement calls both times, where the first call made the op and the second reused it.

    What it keeps, and where, is its library's business.
    """
    for maker, inner in zip(makers, makers[1:], strict=False):
        here = entering[-1] if entering else None
        if here is None or maker is here or not here.statements or maker.statements != here.statements:
            continue
        matched = match(inner.call, ())
        if matched is None:
            continue
        func = matched.node.func
        node = func if inner.call.scope is not None and inner.call.scope.name == "forward" else getattr(func, "value", None)
        name = None if node is None else text(node)
        if name is not None and name != "self":
            return Binding(name, "attribute" if "." in name else "local", maker, here, by_object=False)
    return None


class _Search:
    def __init__(self, trace: Trace, makers: tuple[Execution, ...]) -> None:
        self._trace = trace
        self._makers = makers
        self._order = count()
        self._queue: list[tuple[float, int, _Demand | None, _Demand]] = []
        self._seen: set[tuple[int, int, Path]] = set()
        self._goal: _Demand | None = None
        self._attributes: dict[str, list[tuple[Execution, Store]]] = defaultdict(list)
        self._shared: dict[tuple[str, str], list[tuple[Execution, Store]]] = defaultdict(list)
        self._matches: dict[Call, Matched | None] = {}
        self._given: dict[Call, dict[str, list[tuple[Call, str]]]] = {}
        for execution in trace.executions:
            scope = execution.call.scope
            for store in execution.stores():
                if store.attribute is not None:
                    self._attributes[store.attribute].append((execution, store))
                if store.name is not None and scope is not None and store.name in scope.elsewhere:
                    self._shared[(scope.file, store.name)].append((execution, store))

    def run(self, entering: tuple[Execution, ...]) -> Flow | None:
        at = entering[-1]
        for statement in at.statements:
            for node in loads(statement):
                self._push(_Demand(node, (), at, 0.0))
        for _ in range(_DEMANDS_AT_MOST):
            if not self._queue:
                break
            cost, _, goal, demand = heappop(self._queue)
            if goal is not None:
                return Flow(tuple(goal.bindings()), cost, self._makers, entering)
            self._resolve(demand)
        return None

    def _push(self, demand: _Demand) -> None:
        key = (demand.at.index, id(demand.node), demand.path)
        if demand.cost <= _DEAREST and len(demand.path) <= _LONGEST_PATH and key not in self._seen:
            heappush(self._queue, (demand.cost, next(self._order), None, demand))

    def _reach(self, demand: _Demand, cost: float) -> None:
        heappush(self._queue, (demand.cost + cost, next(self._order), demand, demand))

    def _follow(
        self,
        demand: _Demand,
        node: ast.expr | None,
        path: Path,
        cost: float,
        *,
        at: Execution | None = None,
        binding: Binding | None = None,
        is_within: bool | None = None,
    ) -> None:
        if node is not None:
            within = demand.is_within if is_within is None else is_within
            self._push(_Demand(node, path, at or demand.at, demand.cost + cost, demand, binding, within))

    def _resolve(self, demand: _Demand) -> None:
        key = (demand.at.index, id(demand.node), demand.path)
        if key in self._seen:
            return
        self._seen.add(key)
        path = demand.path
        match demand.node:
            case ast.Name():
                self._name(demand, demand.node)
            case ast.Attribute():
                self._attribute(demand, demand.node)
            case ast.Subscript(value=value) as node:
                self._follow(demand, value, (selector(node), *path), _HOP)
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                self._elements(demand, elements)
            case ast.Dict(keys=keys, values=values):
                self._entries(demand, keys, values)
            case ast.Call() as node:
                self._call(demand, node)
            case ast.ListComp(elt=value) | ast.SetComp(elt=value) | ast.GeneratorExp(elt=value):
                self._follow(demand, value, path[1:], _HOP)
            case ast.DictComp(value=value):
                self._follow(demand, value, path[1:], _HOP)
            case ast.IfExp(body=body, orelse=other):
                self._follow(demand, body, path, _HOP)
                self._follow(demand, other, path, _HOP)
            case ast.BoolOp(values=values):
                for value in values:
                    self._follow(demand, value, path, _HOP)
            case ast.Starred(value=value) | ast.Await(value=value) | ast.NamedExpr(value=value):
                self._follow(demand, value, path, 0.0)
            case ast.BinOp(left=left, right=right):
                self._opaque(demand, [left, right])
            case ast.UnaryOp(operand=operand):
                self._opaque(demand, [operand])

    # Variables.

    def _name(self, demand: _Demand, node: ast.Name) -> None:
        for statement in demand.at.statements:
            if node.id in comprehended(statement):
                iterated, path = comprehended(statement)[node.id]
                self._follow(demand, iterated, (*path, *demand.path), _HOP)
                return
        call, before = demand.at.call, demand.at
        scope = call.scope
        kind = "global" if scope is None or scope.name == "<module>" else "local"
        if scope is not None and node.id in scope.elsewhere:
            kind = "global"
        elif self._stored(demand, node, self._stores_in(call, node.id), kind):
            return
        elif scope is not None and scope.arguments is not None and node.id in arguments_for(scope.arguments):
            self._argument(demand, node)
            return
        self._outer(demand, node, before)

    def _outer(self, demand: _Demand, node: ast.Name, before: Execution) -> None:
        """A variable of a function around this one, or of the module."""
        scope = before.call.scope
        if scope is None:
            return
        if self._stored(demand, node, self._shared.get((scope.file, node.id), []), "global"):
            return
        outer = scope.outer
        while outer is not None:
            kind = "global" if outer.name == "<module>" else "closure"
            for call in self._calls_of(outer, before):
                if self._stored(demand, node, self._stores_in(call, node.id), kind):
                    return
                if outer.arguments is not None and node.id in arguments_for(outer.arguments) and call.executions:
                    self._argument(demand, node, call)
                    return
            outer = outer.outer

    def _calls_of(self, scope: object, before: Execution) -> list[Call]:
        """The latest calls of a function that began before an execution."""
        found: dict[Call, None] = {}
        execution: Execution | None = before
        while execution is not None:  # the callers first
            if execution.call.scope is scope:
                found[execution.call] = None
            execution = execution.call.parent
        for each in reversed(self._trace.executions[: before.index]):
            if each.call.scope is scope:
                found[each.call] = None
                break
        return list(found)

    def _stored(
        self, demand: _Demand, node: ast.Name, stored: list[tuple[Execution, Store]], kind: str
    ) -> bool:
        """Follow what was stored to a variable, newest first; whether some of it replaced the variable."""
        looked_at = 0
        for execution, store in reversed(stored):
            if execution.index >= demand.at.index:
                continue
            looked_at += 1
            rest = _rest(store.path, demand.path)
            if rest is not None:
                cost = _HOP if store.replaces or store.path else _PASSED_THROUGH
                if store.path and not demand.path and store.path[0][0] == "attr":
                    cost += _OBJECT
                self._through(demand, node, execution, store, rest, kind, cost)
            if store.replaces and not store.path:
                return True
            if looked_at > _STORES_AT_MOST:
                return True
        return False

    def _stores_in(self, call: Call, name: str, depth: int = 0) -> list[tuple[Execution, Store]]:
        """What a call stored to a variable, and what functions that it was handed to put into it."""
        found = list(call.stores_to(name))
        for callee, parameter in self._handed(call).get(name, []):
            inner = callee.stores_to(parameter) if depth else self._stores_in(callee, parameter, depth + 1)
            found.extend((execution, store) for execution, store in inner if store.path or store.in_place)
        return sorted(found, key=lambda each: each[0].index)

    def _handed(self, call: Call) -> dict[str, list[tuple[Call, str]]]:
        """By variable: the calls that it was handed to, and what it is called there."""
        known = self._given.get(call)
        if known is None:
            known = self._given[call] = defaultdict(list)
            for callee in (each for execution in call.executions for each in execution.called):
                matched = self._match(callee)
                if matched is None or matched.scope.arguments is None:
                    continue
                for parameter in arguments_for(matched.scope.arguments):
                    for value, path in matched.given(parameter, ()):
                        if isinstance(value, ast.Name) and not path and parameter != "self":
                            known[value.id].append((callee, parameter))
        return known

    def _through(
        self,
        demand: _Demand,
        node: ast.expr,
        written: Execution,
        store: Store,
        rest: Path,
        kind: str,
        cost: float,
    ) -> None:
        name = _called(node, demand, store)
        binding = None
        if name is not None:
            binding = Binding(name, kind, written, demand.at, demand.is_within)
        if store.in_place and written is self._makers[-1]:
            goal = _Demand(node, (), written, demand.cost + cost, demand, binding, demand.is_within)
            self._reach(goal, 0.0)
        self._follow(demand, store.value, (*store.value_path, *rest), cost, at=written, binding=binding)

    def _argument(self, demand: _Demand, node: ast.Name, call: Call | None = None) -> None:
        """A parameter: what the caller gave."""
        call = call or demand.at.call
        matched = self._match(call)
        first = call.executions[0]
        binding = Binding(node.id, "argument", first, demand.at, demand.is_within)
        if matched is not None:
            for value, path in matched.given(node.id, demand.path):
                self._follow(demand, value, path, _HOP, at=matched.at, binding=binding)
            return
        if call.parent is None:
            return
        for statement in call.parent.statements:
            for each in calls(statement):
                for value in (*each.args, *(keyword.value for keyword in each.keywords)):
                    self._follow(demand, value, (), _UNMATCHED, at=call.parent, binding=binding)
        earlier = call.parent.called[: call.parent.called.index(call)] if call in call.parent.called else []
        for sibling in earlier[-4:]:
            self._returned(demand, sibling, (), _UNMATCHED, binding)

    def _match(self, call: Call) -> Matched | None:
        if call not in self._matches:
            self._matches[call] = match(call, self._trace.executions)
        return self._matches[call]

    def _attribute(self, demand: _Demand, node: ast.Attribute) -> None:
        if node.attr in _CUTTING:
            return
        for call in demand.at.called:  # a property
            if call.scope is not None and call.scope.name == node.attr:
                self._returned(demand, call, demand.path, _HOP, None)
        looked_at = 0
        mine = text(node.value)
        scope = demand.at.call.scope
        for execution, store in reversed(self._attributes.get(node.attr, [])):
            if execution.index >= demand.at.index or looked_at > _STORES_AT_MOST:
                continue
            rest = _rest(store.attribute_path, demand.path)
            if rest is None:
                continue
            cost = _HOP + 0.3 * looked_at
            theirs = text(store.target.value) if isinstance(store.target, ast.Attribute) else None
            owner = None if execution.call.scope is None else execution.call.scope.owner
            if mine == theirs == "self" and scope is not None and scope.owner != owner:
                cost += _OTHER_OBJECT
            elif mine != theirs and execution.call is demand.at.call:
                cost += _OTHER_OBJECT
            looked_at += 1
            self._through(demand, node, execution, store, rest, "attribute", cost)
        if node.attr in {"T", "mT", "H"}:
            self._follow(demand, node.value, demand.path, _HOP)
        elif text(node.value) != "self":
            self._follow(demand, node.value, (("attr", node.attr), *demand.path), _HOP)

    # Values.

    def _elements(self, demand: _Demand, elements: list[ast.expr]) -> None:
        path = demand.path
        key = path[0][1] if path else None
        has_star = any(isinstance(each, ast.Starred) for each in elements)
        if isinstance(key, int) and not has_star and -len(elements) <= key < len(elements):
            self._follow(demand, elements[key], path[1:], _HOP)
            return
        for each in elements:
            self._follow(demand, each, path if isinstance(each, ast.Starred) else path[1:], _HOP * 2)

    def _entries(self, demand: _Demand, keys: list[ast.expr | None], values: list[ast.expr]) -> None:
        wanted = demand.path[0][1] if demand.path else None
        for key, value in zip(keys, values, strict=True):
            if key is None:
                self._follow(demand, value, demand.path, _HOP)
            elif wanted is None or not isinstance(key, ast.Constant) or key.value == wanted:
                self._follow(demand, value, demand.path[1:], _HOP)

    def _call(self, demand: _Demand, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        is_method = isinstance(node.func, ast.Attribute)
        if (is_method and name in _CUTTING) or (not is_method and name in _NUMBERS):
            return
        entered = [call for call in demand.at.called if self._is_call(call, node)]
        if entered:
            for call in entered:
                self._returned(demand, call, demand.path, _HOP, None)
            if any(call.scope is not None and call.scope.name != "__init__" for call in entered):
                return
        elif self._cached(demand, node):
            return
        inputs = [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(node.func, ast.Attribute):
            inputs.insert(0, node.func.value)
        elif isinstance(node.func, ast.Name):
            inputs.append(node.func)  # an object that is called
        if not self._container(demand, node, name, inputs):
            self._opaque(demand, inputs)

    def _cached(self, demand: _Demand, node: ast.Call) -> bool:
        """A function that made the op when it was called before, and was not entered this time: a cache has it."""
        for maker in self._makers:
            scope, name = maker.call.scope, text(node.func)
            if scope is None or name is None or not is_named(node, scope) or maker.index > demand.at.index:
                continue
            binding = Binding(name, "attribute" if "." in name else "global", maker, demand.at, demand.is_within)
            self._returned(
                demand, maker.call, demand.path, _OBJECT, binding
            )
            return True
        return False

    def _is_call(self, call: Call, node: ast.Call) -> bool:
        matched = self._match(call)
        return matched is not None and matched.node is node

    def _container(self, demand: _Demand, node: ast.Call, name: str, inputs: list[ast.expr]) -> bool:
        """Calls whose result is known to hold, or to be, one of the inputs."""
        path = demand.path
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        position = path[1][1] if len(path) > 1 else None
        match name, node.args:
            case "zip", args if isinstance(position, int) and position < len(args):
                self._follow(demand, args[position], (SOME_ITEM, *path[2:]), _HOP)
            case "zip", args:
                for each in args:
                    self._follow(demand, each, (SOME_ITEM, *path[2:]), _HOP)
            case "enumerate", [first, *_]:
                if position != 0:
                    self._follow(demand, first, (SOME_ITEM, *path[2:]), _HOP)
            case "items", [] if receiver is not None:
                if position != 0:
                    self._follow(demand, receiver, (SOME_ITEM, *path[2:]), _HOP)
            case ("get" | "pop" | "setdefault"), [ast.Constant(value=str() | int() as key), *_] if receiver is not None:
                self._follow(demand, receiver, (("item", key), *path), _HOP)
            case ("get" | "pop" | "popleft" | "get_nowait" | "popitem"), _ if receiver is not None:
                self._follow(demand, receiver, (SOME_ITEM, *path), _HOP)
            case "getattr", [value, ast.Constant(value=str() as key), *_]:
                self._follow(demand, ast.Attribute(value=value, attr=key), path, _HOP)
            case "next", [first, *_]:
                self._follow(demand, first, (SOME_ITEM, *path), _HOP)
            case _ if name in _CONTAINERS:
                for each in inputs:
                    self._follow(demand, each, path, _HOP)
            case _ if name in _REARRANGING and receiver is not None:
                if demand.at is self._makers[-1]:
                    self._reach(demand, _HOP)
                self._follow(demand, receiver, (), _HOP * 2)
            case _ if name[:1].isupper():
                self._made_object(demand, node, inputs)
            case _:
                return False
        return True

    def _made_object(self, demand: _Demand, node: ast.Call, inputs: list[ast.expr]) -> None:
        """A class of anyone's: it holds what it was given."""
        if demand.at is self._makers[-1]:
            self._reach(demand, _OBJECT)
        path = demand.path
        if path:
            wanted = next((keyword.value for keyword in node.keywords if keyword.arg == path[0][1]), None)
            if wanted is not None:
                self._follow(demand, wanted, path[1:], _HOP)
                return
        for each in inputs:
            self._follow(demand, each, path[1:], _PASSED_THROUGH, is_within=not path)

    def _opaque(self, demand: _Demand, inputs: list[ast.expr]) -> None:
        """An op, or a call into a library."""
        at, makers = demand.at, self._makers
        if at is makers[-1]:
            self._reach(demand, 0.0)
            return
        if at in makers and any(call is makers[makers.index(at) + 1].call for call in at.called):
            called = makers[makers.index(at) + 1].call
            matched = self._match(called)
            if matched is None or any(part is matched.node for part in ast.walk(demand.node)):
                self._reach(demand, _OBJECT)
        has_ops = at in self._trace.made_ops
        for each in inputs:
            self._follow(
                demand,
                each,
                () if has_ops else demand.path,
                _OPERATED if has_ops else _PASSED_THROUGH,
                is_within=demand.is_within or not has_ops,
            )
            if not has_ops and demand.path:
                self._follow(demand, each, (), _PASSED_THROUGH, is_within=True)

    def _returned(self, demand: _Demand, call: Call, path: Path, cost: float, binding: Binding | None) -> None:
        """What a call of the user's gave back."""
        if call.scope is not None and call.scope.is_generator:
            for execution in self._yielded(demand.at, call):
                for value in _given_back(execution, ast.Yield):
                    self._follow(demand, value, path[1:], cost, at=execution, binding=binding)
                for value in _given_back(execution, ast.YieldFrom):
                    self._follow(demand, value, path, cost, at=execution, binding=binding)
            return
        if call.now is not None:
            for statement in call.now.statements:
                if isinstance(statement, ast.Return):
                    self._follow(demand, statement.value, path, cost, at=call.now, binding=binding)

    def _yielded(self, at: Execution, generator: Call) -> list[Execution]:
        mine = [each for each in at.yielded if each.call is generator]
        earlier = [each for each in generator.executions if each.index < at.index]
        return mine[-4:] or earlier[-8:]


def _given_back(execution: Execution, kind: type[ast.Yield] | type[ast.YieldFrom]) -> Iterator[ast.expr]:
    for statement in execution.statements:
        for node in ast.walk(statement):
            if isinstance(node, kind) and node.value is not None:
                yield node.value


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
    if name is not None and demand.path and demand.path[0][0] == "item" and store.path:
        key = demand.path[0][1]
        if key is not None and isinstance(demand.before and demand.before.node, ast.Subscript):
            return f'{name}["{key}"]' if isinstance(key, str) else f"{name}[{key}]"
    return name
