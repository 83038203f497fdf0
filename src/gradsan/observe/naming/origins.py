"""Where a value can have come from: one rule for each kind of expression, each a list of steps back.

The log says which statements ran, so the last assignment before a reading is the one that counts. What a log of lines
cannot know (which object, which item) is a step with some doubt.
"""

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice, takewhile

from gradsan.knowledge.tensors import operation
from gradsan.observe.naming.calling import asks_for_pass
from gradsan.observe.naming.demands import Binding, Demand, Kind
from gradsan.observe.naming.selection import HOP
from gradsan.observe.naming.stored import Stored, Stores
from gradsan.observe.naming.trace import Call, Execution
from gradsan.observe.user_statements import parameters_in
from gradsan.source.keyed_attributes import COMPUTED
from gradsan.source.scopes import MODULE, Scope
from gradsan.source.stores import Store, assigned, comprehended, last_line, parameter_names, text
from gradsan.source.unpacking import Path

_STORES_AT_MOST = 12
_STORES_SEARCHED = 50_000  # for what is wanted
_ITERATIONS_AT_MOST = 50_000  # executions looked through for the entry of a loop
_YIELDS_AT_MOST = 4

# The doubt that the value took such a step.
PASSED_THROUGH = 0.5  # a library's call that created no op gave back, or holds, what it was given
OBJECT = 1.0  # a whole object stands for something in it
_UNMATCHED = 1.5  # which call of the line entered the function is not known
_OLDER = 0.3  # an attribute of that name was written again since, perhaps that of another object
_MAY_BE_IT = 1.0  # what is read by a name was stored by a key, or the other way round


@dataclass(frozen=True, slots=True)
class Step:
    """One step back: what to ask next, and in which execution.

    Without a `node`, the execution `at` may itself have created the value, and no expression in it says so: it edited
    it in place, or handed it to a hook.
    """

    node: ast.expr | None
    path: Path
    doubt: float
    at: Execution
    binding: Binding | None = None  # the variable through which the value came
    is_within: bool = False  # inside an object that is no plain container
    is_last: bool = False  # the next variable is the end of the path


class Origins:
    """The rules, over everything that a trace stored. `wanted`: executions whose stores are never too old."""

    def __init__(self, stores: Stores, wanted: Collection[Execution] = ()) -> None:
        self._stores = stores
        self._wanted = wanted

    def of_name(self, demand: Demand, node: ast.Name) -> Iterator[Step]:
        """A variable of a comprehension, of this call, or of a function around it."""
        at, scope, name = demand.at, demand.at.call.scope, node.id
        for statement in [each for each in at.statements if name in comprehended(each)]:
            iterated, path = comprehended(statement)[name]
            yield Step(iterated, (*path, *demand.path), HOP, at)
            return
        if scope is None:
            return
        if name not in scope.elsewhere:
            steps, is_all = self._variable(demand, node, at.call, "global" if scope.name == MODULE else "local")
            yield from steps
            if is_all:
                return
        yield from self._of_outer_name(demand, node, scope.outer)

    def _of_outer_name(self, demand: Demand, node: ast.Name, outer: Scope | None) -> Iterator[Step]:
        """A variable of a function around this one, or of a module: whoever stored to it last, then its owner."""
        while outer is not None and outer.name != MODULE and node.id not in assigned(outer):
            outer = outer.outer
        kind: Kind = "global" if outer is None or outer.name == MODULE else "closure"
        steps, is_all = self._stored(demand, node, self._stores.shared(node.id, demand.at), kind)
        yield from steps
        for call in () if is_all or outer is None else self._stores.calls_of(outer, demand.at):
            steps, is_all = self._variable(demand, node, call, kind)
            yield from steps
            if is_all:
                return

    def _variable(self, demand: Demand, node: ast.Name, call: Call, kind: Kind) -> tuple[list[Step], bool]:
        """The steps through a variable of a call, stored or given by the caller; and whether there are no others."""
        steps, is_all = self._stored(demand, node, self._stores.own(call, node.id, demand.at), kind)
        if not is_all and node.id in parameters_in(call.scope):
            return [*steps, *self._of_parameter(demand, node, call)], True
        return steps, is_all

    def _stored(self, demand: Demand, node: ast.Name, stored: Stored, kind: Kind) -> tuple[list[Step], bool]:
        """The steps through what was stored, newest first, up to what replaced it; and whether there are no others."""
        steps: list[Step] = []
        for execution, store in self._newest(stored):
            attributes = _attributes(store.path)
            is_other = demand.path[: len(attributes)] != store.path[: len(attributes)]
            is_whole = not attributes or (is_other and COMPUTED not in attributes)  # a table of a module's is no object
            name, kept_as = (node.id, kind) if is_whole else (".".join((node.id, *attributes)), "attribute")
            steps += self._through(demand, name, (execution, store), store.path, kept_as, HOP)
            if store.replaces and not store.path:
                return steps, True
        return steps, False

    def _newest(self, stored: Stored) -> Stored:
        """What is followed of all that was stored: the newest first, then whatever older is wanted, or of other calls.

        What a loop puts away item by item may be more than that, and all of it of one call.
        """
        newest = list(islice(reversed(stored), _STORES_SEARCHED))
        followed, older = newest[:_STORES_AT_MOST], newest[_STORES_AT_MOST:]
        last_of_call: dict[Call, Execution] = {}
        for execution, _ in newest:
            last_of_call.setdefault(execution.call, execution)
        others = set(islice(last_of_call.values(), _STORES_AT_MOST))
        return followed + [each for each in older if each[0] in self._wanted or each[0] in others]

    def _through(
        self, demand: Demand, name: str | None, stored: tuple[Execution, Store], to: Path, kind: Kind, doubt: float
    ) -> Iterator[Step]:
        """To the value that was stored, through the variable that it was stored to, if that is the part asked for."""
        written, store = stored
        rest = _rest(to, demand.path)
        if rest is None:
            return
        binding = None if name is None else Binding(name, kind, written, demand.at, demand.is_within)
        if store.in_place:
            yield Step(None, (), doubt, written, binding)
        if store.value is not None:
            path = (*store.value_path, *rest)
            for at in dict.fromkeys((written, _entry(written))):  # a loop evaluates what it goes over only once
                yield Step(store.value, path, doubt, at, binding)

    def _of_parameter(self, demand: Demand, node: ast.Name, call: Call) -> Iterator[Step]:
        """What the caller gave; where a library called, what the user's statement behind it reads."""
        binding = Binding(node.id, "argument", call.executions[0], demand.at, demand.is_within)
        matched, parent = self._stores.match(call), call.parent
        if matched is not None:
            for value, path in matched.given(node.id, demand.path):
                yield Step(value, path, HOP, matched.at, binding)
        elif parent is not None and any(map(asks_for_pass, parent.statements)):
            # A checkpoint runs its forward once more, in the pass: it was given what it was given before.
            for before in self._stores.calls_like(call)[-1:]:
                yield Step(node, demand.path, HOP, before.executions[0], binding)
        elif parent is not None:  # a library called it, with what it had created, or with what it was given
            yield Step(None, (), _UNMATCHED, parent, binding)
            for value in parent.loads:
                yield Step(value, (), _UNMATCHED, parent, binding)

    def of_attribute(self, demand: Demand, node: ast.Attribute) -> Iterator[Step]:
        """What a property gave back, and what was stored to an attribute of that name, of whatever object."""
        row = operation(node.attr)
        if node.attr == "grad" or (row.attribute and row.graph in ("drops", "describes")):
            return
        for call in demand.at.called:
            if call.scope is not None and call.scope.name == node.attr:
                yield from self.returned(demand, call, demand.path, HOP)
        stored = self._newest(self._stores.attribute(node.attr, demand.at))
        if any(each.func is node for each in demand.at.calls):  # what is called is none of the tensors
            stored = [each for each in stored if each[1].attribute == node.attr]
        matching = [each for each in stored if _rest(each[1].attribute_path, demand.path) is not None]
        for age, each in enumerate(matching):
            doubt = HOP + _OLDER * min(age, _STORES_AT_MOST)
            if (node.attr == COMPUTED) != (each[1].attribute == COMPUTED):
                # Of the attributes that a line reads, a parameter is less often replaced than a state.
                doubt += _MAY_BE_IT * (1 + (node.attr in parameter_names(each[0].call.code.file)))
            name = text(_named_by(node, each[1]))
            yield from self._through(demand, name, each, each[1].attribute_path, "attribute", doubt)
        if row.attribute and row.rearranges:
            yield Step(node.value, demand.path, HOP, demand.at)
        elif text(node.value) != "self":
            yield Step(node.value, (("attr", node.attr), *demand.path), HOP, demand.at)

    def entered(self, at: Execution, node: ast.Call) -> list[Call]:
        """The functions of the user's that a call in the source entered."""
        return [call for call in at.called if (found := self._stores.match(call)) and found.node is node]

    def returned(
        self, demand: Demand, call: Call, path: Path, doubt: float, binding: Binding | None = None
    ) -> Iterator[Step]:
        """What a call of the user's gave back; of a generator, what it yielded to this statement."""
        if call.scope is not None and call.scope.is_generator:
            for execution in [each for each in demand.at.yielded if each.call is call][-_YIELDS_AT_MOST:]:
                for value in _yielded(execution):
                    yield Step(value, path[1:], doubt, execution, binding)
        elif call.now is not None:
            for value in call.now.returned:
                yield Step(value, path, doubt, call.now, binding)


def _named_by(node: ast.Attribute, store: Store) -> ast.Attribute:
    """An attribute that is read by a computed name, under the name by which it was stored."""
    if node.attr != COMPUTED or store.attribute is None:
        return node
    return ast.Attribute(value=node.value, attr=store.attribute)


def _entry(header: Execution) -> Execution:
    """The execution in which a loop was entered, for one that began a later iteration; any other is itself."""
    loop = header.statements[-1] if header.statements else None
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return header
    first, last = header, last_line(loop)
    for position in range(header.position - 1, max(header.position - _ITERATIONS_AT_MOST, -1), -1):
        each = header.call.executions[position]
        if not loop.lineno <= each.line <= last:
            break
        if each.statements == header.statements:
            first = each
    return first


def _yielded(execution: Execution) -> list[ast.expr]:
    nodes = (node for statement in execution.statements for node in ast.walk(statement))
    return [node.value for node in nodes if isinstance(node, ast.Yield) and node.value is not None]


def _rest(stored: Path, wanted: Path) -> Path | None:
    """What is still to be selected after a store to `stored` when `wanted` is asked; `None`: it is another part."""
    for (kind, key), (wanted_kind, wanted_key) in zip(stored, wanted, strict=False):
        is_same = None in (key, wanted_key) or key == wanted_key
        if kind != wanted_kind or not is_same:
            return None
    return wanted[len(stored) :]


def _attributes(path: Path) -> list[str]:
    """The attributes at the beginning of a path."""
    return [str(key) for _, key in takewhile(lambda step: step[0] == "attr", path)]
