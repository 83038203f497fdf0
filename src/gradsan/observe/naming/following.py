"""Follows a value back through the statements that ran, from variable to variable and call to call.

A search for the cheapest path: a *demand* asks where (a part of) the value of an expression came from, in one run of
its statement; `origins.py` answers with steps, each with its doubt; the demand with the least doubt is asked next. What
the search is for, and what an operation is to it, a subclass says.
"""

import ast
from collections.abc import Collection, Iterable
from heapq import heappop, heappush
from itertools import count

from gradsan.observe.naming.demands import Binding, Demand
from gradsan.observe.naming.origins import Origins, Step
from gradsan.observe.naming.selection import HOP, inputs, sources
from gradsan.observe.naming.stored import Stores
from gradsan.observe.naming.trace import Execution
from gradsan.source.keyed_attributes import as_attribute
from gradsan.source.unpacking import Path

_OPERATED = 0.2  # one op further back
_DEMANDS_AT_MOST = 20_000
_LONGEST_PATH = 5
_MOST_DOUBT = 9.0


class Follower:
    """Demands in the order of their doubt, until one is the goal."""

    def __init__(self, stores: Stores, wanted: Collection[Execution] = ()) -> None:
        self._stores = stores
        self._created_ops = stores.created_ops
        self._origins = Origins(stores, wanted)
        self._order = count()
        self._queue: list[tuple[float, int, bool, Demand]] = []
        self._seen: set[tuple[int, ast.expr, Path]] = set()

    # What a subclass says.

    def _operation(self, demand: Demand, given: Iterable[ast.expr]) -> None:
        """An op, or a call into a library, whose inputs are `given`: ask for those."""
        for each in given:
            self._follow(demand, each, (), _OPERATED)

    def _library(self, demand: Demand, node: ast.Call) -> None:
        """A call that entered no function of the user's."""
        self._operation(demand, inputs(node))

    def _created(self, demand: Demand, step: Step) -> None:
        """The execution of a step without a node may have created the demanded value itself."""

    def _not_entered(self, demand: Demand, node: ast.Call) -> bool:  # noqa: ARG002 # for subclasses
        """Whether a call that entered no function of the user's was answered."""
        return False

    # The search.

    def _search(self, demands: Iterable[Demand]) -> Demand | None:
        """The goal with the least doubt that these lead to."""
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

    def _resolve(self, demand: Demand) -> None:
        """Ask where a value came from, by the kind of its expression."""
        match as_attribute(demand.node) or demand.node:
            case ast.Name() as node:
                self._take(demand, self._origins.of_name(demand, node))
            case ast.Attribute() as node:
                self._take(demand, self._origins.of_attribute(demand, node))
            case ast.BinOp(left=left, right=right):
                self._operation(demand, [left, right])
            case ast.UnaryOp(operand=operand):
                self._operation(demand, [operand])
            case ast.Call() as node:
                self._call(demand, node)
            case node:
                self._parts(demand, node)

    def _call(self, demand: Demand, node: ast.Call) -> None:
        """What a function of the user's gave back; else what a library's call made of what it was given."""
        entered = self._origins.entered(demand.at, node)
        for call in entered:
            self._take(demand, self._origins.returned(demand, call, demand.path, HOP))
        if not entered and not self._not_entered(demand, node) and not self._parts(demand, node):
            self._library(demand, node)

    def _parts(self, demand: Demand, node: ast.expr) -> bool:
        """Follow the parts of an expression that its value comes from; False: the expression alone cannot know."""
        found = sources(node, demand.path)
        for part, path, doubt in found or ():
            self._follow(demand, part, path, doubt)
        return found is not None

    def _take(self, demand: Demand, steps: Iterable[Step]) -> None:
        for step in steps:
            if step.node is None:
                self._created(demand, step)
            elif demand.is_last and step.binding is not None:
                self._reach(demand, step.doubt, step.binding)
            else:
                within, last = demand.is_within or step.is_within, demand.is_last or step.is_last
                cost = demand.cost + step.doubt
                self._push(Demand(step.node, step.path, step.at, cost, demand, step.binding, within, last))

    def _follow(
        self,
        demand: Demand,
        node: ast.expr,
        path: Path,
        doubt: float,
        *,
        is_within: bool = False,
        is_last: bool = False,
    ) -> None:
        """Ask for another expression of the same execution."""
        self._take(demand, [Step(node, path, doubt, demand.at, None, is_within, is_last)])

    def _push(self, demand: Demand) -> None:
        if demand.cost <= _MOST_DOUBT and len(demand.path) <= _LONGEST_PATH:
            heappush(self._queue, (demand.cost, next(self._order), False, demand))

    def _reach(self, demand: Demand, doubt: float, binding: Binding | None = None) -> None:
        goal = Demand(demand.node, (), demand.at, demand.cost + doubt, demand, binding)
        heappush(self._queue, (goal.cost, next(self._order), True, goal))
