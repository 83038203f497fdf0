"""Where the output of a module loses its history on the way to the loss, followed through the lines that ran."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from gradsan.facts.course import Cutting
from gradsan.facts.incident import Stack
from gradsan.observe.ledger.spans import end_of, meets
from gradsan.observe.ledger.unreached import Ran
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.contexts import unrecorded
from gradsan.observe.naming.cuts import Cut, cut_at
from gradsan.observe.naming.selection import last_name
from gradsan.observe.naming.trace import Call, Execution, Trace
from gradsan.source.names import parameters
from gradsan.source.stores import loads, parts, stores, text

# Of several cuts in one statement, the first of these is reported.
_ORDER: tuple[Cutting, ...] = ("numpy", "detach", "data", "number", "new-tensor")


@dataclass(frozen=True, slots=True)
class FoundCut:
    """Where, how, and what was cut."""

    how: Cutting
    at: Stack
    name: str | None


def find_cut(ran: Ran, names: set[str], walked: Sequence[int], lines: Lines, since: int) -> FoundCut | None:
    """None where nothing cuts it, or what was cut does not lead to the loss. `names`: how the module may be called."""
    marks = () if ran.number is None else (ran.number,)
    trace = Trace(lines, since, None, marks)
    if ran.classes:
        own = _Own(ran.keys[0], ran.classes)
        if not own.is_read_by(trace):  # truly unused
            return None
        forward = _Forward(trace, walked, own)
        found = forward.follow(0)
        if found is not None or not forward.is_returned:  # what is done with the output is not done with it
            return found
    if ran.number is None:
        return _switched_off(ran, trace, walked)
    makers = trace.at.get(ran.number, ())
    return _Forward(trace, walked).run(makers[-1], names) if makers else None


def _switched_off(ran: Ran, trace: Trace, walked: Sequence[int]) -> FoundCut | None:
    if not ran.stack:
        return None
    inner = ran.stack[-1]
    at = trace.last_at(inner.file, inner.function, inner.line)
    switch = None if at is None else unrecorded(at)
    if at is None or switch is None:
        return None
    name = next((store.name for each in at.statements for store in stores(each) if store.name), None)
    forward = _Forward(trace, walked)
    forward.cut = FoundCut("no-grad", switch.at.frames(switch.line), name)
    forward.taint_results(at, is_cut=True)
    return forward.cut if forward.is_taken_by_callers(at) else forward.follow(at.index + 1)


@dataclass(slots=True)
class _Names:
    """What holds a value: variables of calls, and attributes whatever their object."""

    local: dict[Call, set[str]] = field(default_factory=lambda: defaultdict(set))
    attributes: set[str] = field(default_factory=set)

    def are_read(self, node: ast.AST, call: Call) -> bool:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and each.id in self.local[call]:
                return True
            if isinstance(each, ast.Attribute) and each.attr in self.attributes:
                return True
        return False


@dataclass(frozen=True, slots=True)
class _Own:
    """A parameter that methods of the user's own module read: `self.temperature`."""

    key: str
    classes: tuple[str, ...]

    def read_in(self, node: ast.AST, call: Call) -> str | None:
        """As it is written there. Another class may call something of its own the same."""
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and each.attr == self.key and isinstance(each.ctx, ast.Load):
                is_of_self = isinstance(each.value, ast.Name) and each.value.id == "self"
                if not is_of_self or call.code.function.rpartition(".")[0] in self.classes:
                    return text(each)
        return None

    def is_read_by(self, trace: Trace) -> bool:
        return any(
            self.read_in(part, each.call)
            for each in trace.executions
            for statement in each.statements
            for part in loads(statement)
        )


class _Forward:
    """Follows an output, or a parameter, and then what was cut from it, until a pass takes something built on that."""

    def __init__(self, trace: Trace, walked: Sequence[int], own: _Own | None = None) -> None:
        self._trace = trace
        self._walked = walked
        self._own = own
        self._whole = _Names()
        self._bare = _Names()  # what was cut
        self.cut: FoundCut | None = None
        self.is_returned = False  # whole, to whoever called for it

    def run(self, maker: Execution, names: set[str]) -> FoundCut | None:
        at: Execution | None = maker
        while at is not None:
            found = self._cut_around_call(at, names)
            if found is not None:
                self.cut = found
                self.taint_results(at, is_cut=True)
                break
            self.taint_results(at, is_cut=False)
            if not any(isinstance(each, ast.Return) for each in at.statements):
                break
            names, at = {at.call.code.function.rpartition(".")[2]}, at.call.parent
        return self.follow(maker.index + 1)

    def follow(self, start: int) -> FoundCut | None:
        for execution in self._trace.executions[start:]:
            self._enter(execution)
            for statement in execution.statements:
                if self._reads(self._bare, statement, execution.call):
                    if self._is_taken(execution):
                        return self.cut
                    self.taint_results(execution, is_cut=True)
                elif self._reads(self._whole, statement, execution.call) or self._own_read(statement, execution):
                    found = self._cut_of_name(statement, execution) or self._switched_off(statement, execution)
                    if found is not None:
                        self.cut = found
                        if self._is_taken(execution):
                            return found
                    self.taint_results(execution, is_cut=found is not None)
        return None

    def taint_results(self, execution: Execution, *, is_cut: bool) -> None:
        """What a statement stores or returns now holds the value."""
        names = self._bare if is_cut else self._whole
        for statement in execution.statements:
            for store in stores(statement):
                if store.attribute is not None:
                    names.attributes.add(store.attribute)
                elif store.name is not None:
                    names.local[execution.call].add(store.name)
            parent = execution.call.parent
            if isinstance(statement, ast.Return) and parent is not None:
                self.is_returned |= not is_cut
                self.taint_results(parent, is_cut=is_cut)

    def is_taken_by_callers(self, execution: Execution) -> bool:
        """Whether what a function returns goes into the loss in the line that called it, or in one around that."""
        at: Execution | None = execution
        while at is not None and any(isinstance(each, ast.Return) for each in at.statements):
            at = at.call.parent
            if at is not None and self._is_taken(at):
                return True
        return False

    def _enter(self, execution: Execution) -> None:
        """A function that was given the value knows it by its own names."""
        call, parent = execution.call, execution.call.parent
        if execution.position or parent is None or call.scope is None or call.scope.arguments is None:
            return
        own = [each for each in parameters(call.scope.arguments) if each not in {"self", "cls"}]
        for names in (self._whole, self._bare):
            if any(self._reads(names, each, parent.call) for each in parent.statements):
                names.local[call].update(own)

    def _reads(self, names: _Names, statement: ast.stmt, call: Call) -> bool:
        return any(names.are_read(each, call) for each in loads(statement))

    def _own_read(self, statement: ast.stmt, execution: Execution) -> str | None:
        read = (self._own.read_in(each, execution.call) for each in loads(statement)) if self._own else ()
        return next((each for each in read if each), None)

    def _switched_off(self, statement: ast.stmt, execution: Execution) -> FoundCut | None:
        """A parameter that is read where nothing is recorded."""
        read = self._own_read(statement, execution)
        switch = unrecorded(execution) if read else None
        return None if switch is None else FoundCut("no-grad", switch.at.frames(switch.line), read)

    def _is_taken(self, execution: Execution) -> bool:
        stop = end_of(execution, self._trace)
        return meets(self._walked, execution.number, stop)

    def _cut_around_call(self, execution: Execution, names: set[str]) -> FoundCut | None:
        """`code = self.encoder(x).detach()`."""
        for statement in execution.statements:
            own = [call for call in _calls(statement) if last_name(call) in names]
            for cut in _cuts(statement):
                inside = [each for given in cut.given for each in ast.walk(given) if isinstance(each, ast.Call)]
                if any(each in own for each in inside) or (not own and inside):
                    return self._found(statement, cut, execution)
        return None

    def _cut_of_name(self, statement: ast.stmt, execution: Execution) -> FoundCut | None:
        """`feat = h.data`."""
        for cut in _cuts(statement):
            if any(self._whole.are_read(given, execution.call) for given in cut.given):
                return self._found(statement, cut, execution)
            read = (self._own.read_in(given, execution.call) for given in cut.given) if self._own else ()
            found = self._found(statement, cut, execution)
            if found is not None and (name := next((each for each in read if each), None)):
                return replace(found, name=name)
        return None

    def _found(self, statement: ast.stmt, cut: Cut, execution: Execution) -> FoundCut | None:
        found = {each.how for each in _cuts(statement)}
        how = next((each for each in _ORDER if each in found), None)
        if how is None:
            return None
        given = next((each.id for one in _cuts(statement) for each in one.given if isinstance(each, ast.Name)), None)
        stored = next((store.name for store in stores(statement) if store.name), None)
        return FoundCut(how, execution.frames(cut.line), given or stored)


def _cuts(statement: ast.stmt) -> Iterator[Cut]:
    found = (cut_at(node) for node in parts(statement) if isinstance(node, ast.expr))
    return (each for each in found if each is not None and each.how is not None)


def _calls(statement: ast.stmt) -> list[ast.Call]:
    return [node for node in parts(statement) if isinstance(node, ast.Call)]
