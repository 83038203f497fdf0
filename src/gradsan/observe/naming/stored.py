"""Finds, in a trace, what was stored to a variable, an attribute or a global, and by which call."""

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from gradsan.observe.naming.calling import Matched, asks_for_pass, match
from gradsan.observe.naming.trace import Call, Execution, Trace
from gradsan.observe.user_statements import parameters_in
from gradsan.source.keyed_attributes import COMPUTED
from gradsan.source.scopes import Scope
from gradsan.source.stores import Store, assigned

_HANDED_AT_MOST = 20_000  # executions of one call that are looked through for what it hands out

Stored = list[tuple[Execution, Store]]  # in the order of the executions


class Stores:
    """An index of everything that a trace stored."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.created_ops = trace.created_ops
        self._attributes: dict[str, Stored] = defaultdict(list)
        self._shared: dict[str, Stored] = defaultdict(list)
        self._calls: dict[Scope, list[Call]] = defaultdict(list)
        self._matches: dict[Call, Matched | None] = {}
        self._handed: dict[Call, dict[str, list[tuple[Call, str]]]] = {}
        self._own: dict[tuple[Call, str, bool], Stored] = {}
        for execution in trace.executions:
            scope = execution.call.scope
            if scope is not None and not execution.position:
                self._calls[scope].append(execution.call)
            for store in execution.stores():
                if store.attribute is not None:
                    self._attributes[store.attribute].append((execution, store))
                if store.name is not None and scope is not None and store.name not in assigned(scope):
                    self._shared[store.name].append((execution, store))

    def attribute(self, name: str, before: Execution) -> Stored:
        """What was stored to attributes of that name, or of one that may be it, whatever the object."""
        if name == COMPUTED:
            found = [each for stored in self._attributes.values() for each in stored]
        else:
            found = [*self._attributes.get(name, ()), *self._attributes.get(COMPUTED, ())]
        return _until(sorted(found, key=lambda each: each[0].index), before)

    def shared(self, name: str, before: Execution) -> Stored:
        """What functions of the same file stored to a variable that is not theirs."""
        found, file = _until(self._shared.get(name, []), before), before.call.code.file
        return [each for each in found if each[0].call.code.file == file]

    def own(self, call: Call, name: str, before: Execution) -> Stored:
        """What a call stored to a variable of its own, and what functions it was handed to put into it."""
        return _until(self._into(call, name, is_handed=False), before)

    def _into(self, call: Call, name: str, *, is_handed: bool) -> Stored:
        found = self._own.get((call, name, is_handed))
        if found is None:
            found = list(call.stores_to(name))
            for callee, parameter in self._handed_to(call).get(name, []):
                inner = callee.stores_to(parameter) if is_handed else self._into(callee, parameter, is_handed=True)
                found.extend((execution, store) for execution, store in inner if store.path or store.in_place)
            found.sort(key=lambda each: each[0].index)
            self._own[(call, name, is_handed)] = found
        return found

    def calls_of(self, scope: Scope, before: Execution) -> list[Call]:
        """The calls of a function that a variable of its may belong to: the callers, and the latest before."""
        callers = [each.call for each in before.outwards if each.call.scope is scope]
        calls = self._calls.get(scope, [])
        index = bisect_left(calls, before.index, key=lambda call: call.executions[0].index)
        return list(dict.fromkeys((*callers, *calls[max(index - 1, 0) : index])))

    def calls_like(self, call: Call) -> list[Call]:
        """The earlier calls of the same function that no pass had asked for."""
        calls = [] if call.scope is None else self._calls.get(call.scope, [])
        index = bisect_left(calls, call.executions[0].index, key=lambda each: each.executions[0].index)
        return [each for each in calls[:index] if each.parent and not any(map(asks_for_pass, each.parent.statements))]

    def match(self, call: Call) -> Matched | None:
        """The call in the source that entered this one."""
        if call not in self._matches:
            self._matches[call] = match(call, self._trace.executions)
        return self._matches[call]

    def _handed_to(self, call: Call) -> dict[str, list[tuple[Call, str]]]:
        """By variable: the calls that it was handed to, and what it is called there."""
        known = self._handed.get(call)
        if known is None:
            known = self._handed[call] = defaultdict(list)
            callees = (each for execution in call.executions[-_HANDED_AT_MOST:] for each in execution.called)
            for callee in callees:
                for parameter, variable in self._variables_given(callee):
                    known[variable].append((callee, parameter))
        return known

    def _variables_given(self, callee: Call) -> Iterator[tuple[str, str]]:
        """The parameters of a call that were given variables, each with the variable."""
        matched = self.match(callee)
        if matched is None:
            return
        for parameter in parameters_in(matched.scope):
            for value, path in matched.given(parameter, ()):
                if isinstance(value, ast.Name) and not path and parameter != "self":
                    yield parameter, value.id


def _until(stored: Stored, before: Execution) -> Stored:
    return stored[: bisect_left(stored, before.index, key=lambda each: each[0].index)]
