"""The path of a value from the statement that created its op to the one where it entered the later forward."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from gradsan.knowledge.tensors import operation
from gradsan.observe.naming.calling import is_named
from gradsan.observe.naming.demands import Binding, Demand
from gradsan.observe.naming.following import Follower
from gradsan.observe.naming.operands import operands
from gradsan.observe.naming.origins import OBJECT, PASSED_THROUGH, Step
from gradsan.observe.naming.selection import HOP, inputs
from gradsan.observe.naming.stored import Stores
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.source.names import called_name
from gradsan.source.stores import calls, loads, text

_NO_OPERAND = 0.6  # the statement reads it, but the op seems to be computed from something else
_PART_READ = 0.5  # the statement reads an attribute of it


@dataclass(frozen=True, slots=True)
class Flow:
    """The path that a value took, as variables, those nearest the entering statement first."""

    bindings: tuple[Binding, ...]
    creators: tuple[Execution, ...]
    entering: tuple[Execution, ...]


def flow(
    trace: Trace, creators: tuple[Execution, ...], entering: tuple[Execution, ...], enters: str | None = None
) -> Flow | None:
    """The least doubtful path from the entering statement back to the one that created the op.

    Both are what was running then, outermost first. `enters`: PyTorch's name of the op that it entered with.
    """
    search = _Search(Stores(trace), creators)
    goal = search.run(entering[-1], enters)
    return None if goal is None else Flow(tuple(goal.bindings()), creators, entering)


def doubt_of(stores: Stores, creators: tuple[Execution, ...], node: ast.expr, at: Execution) -> float | None:
    """How doubtful it is that an expression's value is what the last of `creators` gave; None: no path leads there."""
    goal = _Search(stores, creators).find([Demand(node, (), at)]) if creators else None
    return None if goal is None else goal.cost


class _Search(Follower):
    """Until the op itself is found."""

    def __init__(self, stores: Stores, creators: tuple[Execution, ...]) -> None:
        super().__init__(stores, wanted=creators)
        self._creators = creators

    def run(self, entering: Execution, op: str | None) -> Demand | None:
        """The least doubtful demand that is answered by the op itself."""
        demands = []
        for statement in entering.statements:
            read = [*loads(statement), *self._gave_back(statement, entering)]
            inputs_of_op = [] if op is None else operands(statement, op, read)
            for node in read:
                doubt = _NO_OPERAND if inputs_of_op and node not in inputs_of_op else 0.0
                if any(isinstance(each, ast.Attribute) and each.value is node for each in read):
                    doubt += _PART_READ
                demands.append(Demand(node, (), entering, doubt))
        return self.find(demands)

    def _gave_back(self, statement: ast.stmt, entering: Execution) -> list[ast.Call]:
        """The calls of functions of the user's: what those gave back that ran, or that ran before, is read too."""
        matched = [self._stores.match(call) for call in entering.called]
        entered = [each.node for each in matched if each is not None]
        before = [each.call.scope for each in self._creators if each.call.scope is not None]
        return [each for each in calls(statement) if each in entered or any(is_named(each, scope) for scope in before)]

    def find(self, demands: Iterable[Demand]) -> Demand | None:
        """The same, for demands of the caller's own."""
        return self._search(demands)

    def _resolve(self, demand: Demand) -> None:
        if isinstance(demand.node, ast.Subscript) and demand.at is self._creators[-1]:
            self._reach(demand, PASSED_THROUGH)  # to take an item of a tensor creates an op
        super()._resolve(demand)

    def _created(self, demand: Demand, step: Step) -> None:
        if step.at is self._creators[-1]:
            self._reach(demand, step.doubt, step.binding)

    def _not_entered(self, demand: Demand, node: ast.Call) -> bool:
        """One that created the op when it was called before, and was not entered this time: a cache has it."""
        name, at = text(node.func), demand.at
        for creator in self._creators:
            scope = creator.call.scope
            if scope is not None and name is not None and is_named(node, scope) and creator.index < at.index:
                binding = Binding(name, "attribute" if "." in name else "global", creator, at, demand.is_within)
                self._take(demand, self._origins.returned(demand, creator.call, demand.path, OBJECT, binding))
                return True
        return False

    def _library(self, demand: Demand, node: ast.Call) -> None:
        name, is_creator = called_name(node), demand.at is self._creators[-1]
        if isinstance(node.func, ast.Attribute) and operation(name).rearranges:
            self._follow(demand, node.func.value, (), HOP * 2, is_last=is_creator)
        elif name[:1].isupper():
            self._object(demand, node)
        else:
            self._operation(demand, inputs(node))

    def _object(self, demand: Demand, node: ast.Call) -> None:
        """A new object of some class: it holds what it was given."""
        if demand.at is self._creators[-1]:
            self._reach(demand, OBJECT)
        for each in inputs(node):
            self._follow(demand, each, demand.path[1:], PASSED_THROUGH, is_within=not demand.path)

    def _operation(self, demand: Demand, given: Iterable[ast.expr]) -> None:
        """Where no op was created, what comes out is what went in."""
        at, creators = demand.at, self._creators
        if at is creators[-1]:
            self._reach(demand, 0.0)
            return
        inner = creators[creators.index(at) + 1].call if at in creators else None
        if inner is not None and inner in at.called:
            matched = self._stores.match(inner)
            if matched is None or any(part is matched.node for part in ast.walk(demand.node)):
                self._reach(demand, OBJECT)
        for each in () if at in self._created_ops else given:
            self._follow(demand, each, demand.path, PASSED_THROUGH, is_within=True)
