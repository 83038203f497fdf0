"""Where a tensor lost its graph: the source is followed back from the failing pass to the call that cut it off."""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gradsan.facts.incident import REENTRANT
from gradsan.knowledge.effects import does
from gradsan.observe.naming.calling import is_library
from gradsan.observe.naming.contexts import Unrecorded, switches, unrecorded
from gradsan.observe.naming.cuts import GRADIENT, Cut, cut_at
from gradsan.observe.naming.demands import Binding, Demand
from gradsan.observe.naming.following import Follower
from gradsan.observe.naming.selection import HOP, inputs
from gradsan.observe.naming.stored import Stores
from gradsan.observe.naming.trace import Execution
from gradsan.source.names import called_name

_UNRECORDED = 0.5  # what ran under `no_grad` may have been meant to
_UNPROVED = 5.0  # it cuts, but whether there was something to cut is not known


@dataclass(frozen=True, slots=True)
class Lost:
    """A call that cut, and the first variable that has no graph because of it."""

    at: Execution
    line: int
    written: str
    binding: Binding | None
    is_proved: bool  # what was cut had a graph
    graph_of: Execution | None = None  # created that graph, where that is known


def lost(stores: Stores, node: ast.expr, at: Execution) -> tuple[Lost | None, frozenset[Execution]]:
    """The nearest place at which the value of an expression was cut off from everything that has a graph.

    Beside it, the calls of modules on the path that recorded no op: their parameters need no gradient.
    """
    search = _Cutting(stores)
    return search.run(node, at), frozenset(search.idle)


def gradients_behind(stores: Stores, node: ast.expr, at: Execution) -> Lost | None:
    """The gradients without a graph that an expression is made of, where nothing in it has a graph."""
    return None if _HadGraph(stores).had([node], at) else _Gradients(stores, at).run(node)


def switched_off_behind(stores: Stores, node: ast.expr, at: Execution) -> Lost | None:
    """What switched recording off in a function that was called, and given the graph that an expression lacks."""
    return _SwitchedOff(stores, at).run(node)


class _Cutting(Follower):
    """Until something with a graph is given to something that drops it."""

    def __init__(self, stores: Stores) -> None:
        super().__init__(stores)
        self.idle: set[Execution] = set()  # called an object that recorded nothing: a module without parameters
        self._cuts: dict[Demand, tuple[Cut | Unrecorded, bool]] = {}  # with whether it is proved

    def run(self, node: ast.expr, at: Execution) -> Lost | None:
        goal = self._search([Demand(node, (), at)])
        if goal is None or goal.before is None:
            return None
        cut, is_proved = self._cuts[goal.before]
        bindings = goal.bindings()
        where = cut.at if isinstance(cut, Unrecorded) else goal.before.at
        return Lost(where, cut.line, cut.written, bindings[-1] if bindings else None, is_proved)

    def _resolve(self, demand: Demand) -> None:
        cut = cut_at(demand.node)
        if isinstance(demand.node, ast.Call) and demand.at not in self._created_ops:
            wrapped = _Wrapping(self._stores).of(demand.node, demand.at)
            if wrapped is not None:
                self._cut(demand, wrapped, _UNRECORDED, is_proved=True)
        if isinstance(demand.node, ast.Call) and does(called_name(demand.node), "checkpoints"):
            recorded_nothing = Cut(demand.node, (), REENTRANT, demand.node.lineno, "checkpoint")
            self._cut(demand, recorded_nothing, _UNPROVED, is_proved=False)
        if cut is None:
            super()._resolve(demand)
            return
        if _HadGraph(self._stores).had(cut.given, demand.at):
            self._cut(demand, cut, 0.0, is_proved=True)
        elif cut.hands_over:
            self._cut(demand, cut, _UNPROVED, is_proved=False)
        for each in cut.given:
            self._follow(demand, each, (), HOP)

    def _operation(self, demand: Demand, given: Iterable[ast.expr]) -> None:
        given, off = list(given), unrecorded(demand.at)
        if off is not None:
            self._cut_if_trained(demand, off, given)
        super()._operation(demand, given)

    def _cut_if_trained(self, demand: Demand, off: Unrecorded, given: Sequence[ast.expr]) -> None:
        """What was computed from data alone has lost nothing: a target that is drawn under `no_grad`."""
        calls_a_module = isinstance(demand.node, ast.Call) and not is_library(demand.node)
        is_proved = calls_a_module or _HadGraph(self._stores).had(given, demand.at)
        self._cut(demand, off, _UNRECORDED if is_proved else _UNPROVED, is_proved=is_proved)

    def _library(self, demand: Demand, node: ast.Call) -> None:
        if demand.at not in self._created_ops and not is_library(node) and not called_name(node)[:1].isupper():
            self.idle.add(demand.at)
        self._operation(demand, inputs(node))

    def _cut(self, demand: Demand, cut: Cut | Unrecorded, doubt: float, *, is_proved: bool) -> None:
        self._cuts[demand] = cut, is_proved
        self._reach(demand, doubt)


class _OfTerm(Follower):
    """From a term of a loss that has no graph."""

    def __init__(self, stores: Stores, start: Execution) -> None:
        super().__init__(stores)
        self._start = start

    def _has_graph(self, demand: Demand) -> bool:
        creates_ops = demand.at in self._created_ops and demand.at is not self._start
        return creates_ops and not any(map(_computes_several, demand.at.statements))


class _Gradients(_OfTerm):
    """Until a call that gave gradients without a graph. Where something else cuts on the path, that is meant."""

    def run(self, node: ast.expr) -> Lost | None:
        goal = self._search([Demand(node, (), self._start)])
        if goal is None or goal.before is None:
            return None
        bindings = goal.bindings()
        return Lost(goal.at, goal.node.lineno, GRADIENT, bindings[-1] if bindings else None, is_proved=True)

    def _resolve(self, demand: Demand) -> None:
        cut = cut_at(demand.node)
        if cut is None:
            super()._resolve(demand)
        elif cut.written == GRADIENT:
            self._reach(demand, 0.0)

    def _operation(self, demand: Demand, given: Iterable[ast.expr]) -> None:
        if not self._has_graph(demand) and unrecorded(demand.at) is None:
            super()._operation(demand, given)


class _SwitchedOff(_OfTerm):
    """Until an operation of a function that records nothing, on something with a graph.

    Where the function that asks says so itself, or something else cuts, that is meant.
    """

    def __init__(self, stores: Stores, start: Execution) -> None:
        super().__init__(stores, start)
        self._graph_of: dict[Demand, Execution] = {}

    def run(self, node: ast.expr) -> Lost | None:
        goal = self._search([Demand(node, (), self._start)])
        off = None if goal is None else unrecorded(goal.at)
        if goal is None or goal.before is None or off is None:
            return None
        name, graph_of = next(iter(goal.bindings()), None), self._graph_of[goal.before]
        return Lost(off.at, off.line, off.written, name, is_proved=True, graph_of=graph_of)

    def _resolve(self, demand: Demand) -> None:
        if cut_at(demand.node) is None:
            super()._resolve(demand)

    def _operation(self, demand: Demand, given: Iterable[ast.expr]) -> None:
        given, off = list(given), unrecorded(demand.at)
        if off is not None and off.at.call is self._start.call:
            return
        had = None if off is None else _HadGraph(self._stores, by_leaves=False).creation_of(given, demand.at)
        if had is not None:
            self._graph_of[demand] = had.at
            self._reach(demand, 0.0)
        if not self._has_graph(demand):
            super()._operation(demand, given)


def _computes_several(statement: ast.stmt) -> bool:
    """Whether it computes values side by side, so that an op of it need not belong to each: `return {"a": …, "b": …}`.

    Whoever asks has followed one of them to here, which has no graph.
    """
    match getattr(statement, "value", None):
        case ast.Dict() | ast.Tuple() | ast.List():
            return True
        case ast.Call() as call:
            return called_name(call) == "dict" or called_name(call)[:1].isupper()
    return False


class _Wrapping(Follower):
    """Until what is called turns out to be wrapped, as in `torch.no_grad()(model)`: nothing inside it is recorded."""

    def of(self, call: ast.Call, at: Execution) -> Unrecorded | None:
        """What wraps it."""
        goal = None if is_library(call) else self._search([Demand(call.func, (), at)])
        if goal is None or goal.before is None or not isinstance(goal.node, ast.Call):
            return None
        return Unrecorded(ast.unparse(goal.node.func), goal.before.at, goal.node.lineno)

    def _resolve(self, demand: Demand) -> None:
        match demand.node:
            case ast.Call(func=func):
                if switches(func):
                    self._reach(demand, 0.0)
            case ast.Name() | ast.Attribute():
                super()._resolve(demand)

    def _operation(self, demand: Demand, given: Iterable[ast.expr]) -> None:
        """What is called is not computed."""


class _HadGraph(Follower):
    """Until an op is found that was recorded, or a parameter, unless these do not count: then the value had a graph."""

    def __init__(self, stores: Stores, *, by_leaves: bool = True) -> None:
        super().__init__(stores)
        self._by_leaves = by_leaves

    def had(self, nodes: Iterable[ast.expr], at: Execution) -> bool:
        """Whether one of these had one."""
        return self.creation_of(nodes, at) is not None

    def creation_of(self, nodes: Iterable[ast.expr], at: Execution) -> Demand | None:
        """What created it."""
        return self._search(Demand(node, (), at) for node in nodes)

    def _resolve(self, demand: Demand) -> None:
        if cut_at(demand.node) is None:
            super()._resolve(demand)

    def _library(self, demand: Demand, node: ast.Call) -> None:
        is_leaf = any(each.arg == "requires_grad" for each in node.keywords)
        is_leaf = is_leaf or called_name(node) in {"Parameter", "requires_grad_"}
        if (is_leaf and self._by_leaves) or (demand.at in self._created_ops and not is_library(node)):
            self._reach(demand, 0.0)
        else:
            self._operation(demand, inputs(node))
