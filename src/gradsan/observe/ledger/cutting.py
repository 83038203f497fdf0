"""Where the output of a module loses its graph on its path to the loss, followed through the lines that ran."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise, takewhile

from gradsan.observe.ledger.cut_statements import (
    FoundCut,
    calls_in,
    cuts_in,
    found_at,
    hands_on,
    is_compared_at,
    is_target,
)
from gradsan.observe.ledger.module_runs import Ran
from gradsan.observe.ledger.spans import end_of, meets
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.contexts import checkpoints, unrecorded
from gradsan.observe.naming.spelling import last_part
from gradsan.observe.naming.trace import Call, Execution, Trace
from gradsan.observe.user_statements import parameters_in
from gradsan.source.names import called_name
from gradsan.source.stores import Store, loads, parts, text


def find_cut(ran: Ran, names: set[str], walked: Sequence[int], lines: Lines, since: int) -> FoundCut | None:
    """None where nothing cuts it, or what was cut does not lead to the loss. `names`: how the module may be called."""
    marks = () if ran.number is None else (ran.number,)
    trace = Trace(lines, since, None, marks)
    if ran.classes or ran.is_bare:
        own = _Own(ran.keys[0], ran.classes, is_variable=ran.is_bare)
        if not own.is_read_by(trace):  # truly unused
            return None
        forward = _Forward(trace, walked, own)
        found = forward.follow(0)
        if found is not None or not forward.is_returned:  # what is done with the output is not done with it
            return found
    if ran.number is None:
        return _switched_off(ran, trace, walked)
    creators = trace.at.get(ran.number, ())
    return _Forward(trace, walked).run(creators[-1], names) if creators else None


def is_chosen(cut: FoundCut, ran: Ran, lines: Lines, before: int) -> bool:
    """Whether what was trained is cut off by what the program does now, and did not do `before` an op.

    Else the very line that runs the module has recorded its graph then, and something has switched that off.
    """
    at = ran.stack[-1] if ran.stack else None
    if cut.how != "no-grad" or at is None or is_compared_at(cut.at[-1]):
        return True
    return not any(start < before for start, _ in lines.created_by(at.file, at.line))


def _switched_off(ran: Ran, trace: Trace, walked: Sequence[int]) -> FoundCut | None:
    at = trace.last_at(ran.stack[-1]) if ran.stack else None
    switch = None if at is None else unrecorded(at, is_known=True)
    if switch is None:  # a re-entrant checkpoint records nothing if nothing that it is given needs a gradient
        at = None if at is None else next((each for each in at.outwards if checkpoints(each)), None)
    if at is None:
        return None
    name = next((store.name for store in at.stores() if store.name), None)
    forward = _Forward(trace, walked)
    if switch is None:
        forward.cut = FoundCut("checkpoint", at.frames(), name)
    else:
        forward.cut = FoundCut("no-grad", switch.at.frames(switch.line), name)
    forward.taint_results(at, is_cut=True)
    return forward.cut if forward.is_taken_by_callers(at) else forward.follow(at.index + 1)


@dataclass(slots=True)
class _Names:
    """What holds a value, and what cut it: variables of calls, and attributes whatever their object."""

    local: dict[Call, dict[str, FoundCut | None]] = field(default_factory=lambda: defaultdict(dict))
    attributes: dict[str, FoundCut | None] = field(default_factory=dict)

    def hold(self, store: Store, call: Call, cut: FoundCut | None) -> None:
        """From now on, what was stored there holds it."""
        if store.attribute is not None:
            self.attributes[store.attribute] = cut
        elif store.name is not None:
            self.local[call][store.name] = cut

    def read_in(self, nodes: Iterable[ast.expr], call: Call) -> list[FoundCut | None]:
        """What cut those of them that these expressions read; none: they read none."""
        read = [_read_in(each) for each in nodes]
        local = [cut for name, cut in self.local[call].items() if any(name in names for names, _ in read)]
        return local + [cut for name, cut in self.attributes.items() if any(name in own for _, own in read)]


@lru_cache(maxsize=4096)
def _read_in(node: ast.expr) -> tuple[frozenset[str], frozenset[str]]:
    """The variables and the attributes in an expression."""
    parts = list(ast.walk(node))
    names = (each.id for each in parts if isinstance(each, ast.Name))
    return frozenset(names), frozenset(each.attr for each in parts if isinstance(each, ast.Attribute))


@dataclass(frozen=True, slots=True)
class _Own:
    """A parameter that methods of the user's own module read: `self.temperature`."""

    key: str
    classes: tuple[str, ...]
    is_variable: bool = False

    def read_in(self, nodes: Iterable[ast.expr], call: Call) -> str | None:
        """As it is written there. Another class may call something of its own the same."""
        is_own = call.code.function.rpartition(".")[0] in self.classes
        for each in (part for node in nodes for part in ast.walk(node)):
            match each:
                case ast.Name(id=self.key) if self.is_variable:
                    return self.key
                case ast.Attribute(value=ast.Name(id="self"), attr=self.key, ctx=ast.Load()) if not is_own:
                    continue
                case ast.Attribute(attr=self.key, ctx=ast.Load()):
                    return text(each)
        return None

    def is_edited_by(self, execution: Execution) -> bool:
        """Whether a statement changes it in place and gives its value to nothing: `self.scale.clamp_(max=4)`."""
        targets = [store.target for store in execution.stores()]
        return bool(targets) and all(self.read_in([each], execution.call) for each in targets)

    def is_read_by(self, trace: Trace) -> bool:
        """Whether any statement reads it."""
        return any(self.read_in(each.loads, each.call) for each in trace.executions)


_NO_PARAMETER = _Own("", ())


class _Forward:
    """Follows an output, or a parameter, and then what was cut from it, until a pass takes something built on that."""

    def __init__(self, trace: Trace, walked: Sequence[int], own: _Own = _NO_PARAMETER) -> None:
        self._trace = trace
        self._walked = walked
        self._own = own
        self._whole = _Names()
        self._bare = _Names()  # what was cut
        self._handed: set[Execution] = set()  # statements that give what one call returned to another one
        self.cut: FoundCut | None = None
        self.is_returned = False  # whole, to whoever called for it

    def run(self, creator: Execution, names: set[str]) -> FoundCut | None:
        for at in creator.outwards:
            found = self._cut_around_call(at, names)
            self.cut = found or self.cut
            self.taint_results(at, is_cut=found is not None)
            self._handed |= {at} if hands_on(at, names) else set()
            if found is not None or not at.returns:
                break
            names = {last_part(at.call.code.function)}
        return self.follow(creator.index + 1)

    def follow(self, start: int) -> FoundCut | None:
        """The first cut of which a pass takes what came of it; of a target only where there is no other."""
        target: FoundCut | None = None
        for execution in self._trace.executions[start:]:
            self._enter(execution)
            for statement in execution.statements:
                is_cut = self._is_cut(statement, execution)
                if is_cut and (self._is_taken(execution) or self.is_taken_by_callers(execution)):
                    if not is_target(statement):
                        return self.cut
                    target = target or self.cut
                elif is_cut is not None:
                    self.taint_results(execution, is_cut=is_cut)
        return target

    def _is_cut(self, statement: ast.stmt, execution: Execution) -> bool | None:
        """Whether what a statement computes is cut off; None: it reads nothing that is followed."""
        read, call = loads(statement), execution.call
        if bare := self._bare.read_in(read, call):
            self.cut = bare[0]
            return True
        is_own = self._own.read_in(read, call) is not None
        if not is_own and not self._whole.read_in(read, call):
            return None
        if is_own and self._own.is_edited_by(execution):
            return None
        found = self._cut_of_name(statement, execution) or self._switched_off(statement, execution)
        self.cut = found or self.cut
        return found is not None

    def taint_results(self, execution: Execution, *, is_cut: bool) -> None:
        """What a statement stores or returns now holds the value."""
        names, parent = self._bare if is_cut else self._whole, execution.call.parent
        for store in execution.stores():
            names.hold(store, execution.call, self.cut if is_cut else None)
        if execution.returns and parent is not None:
            self.is_returned |= not is_cut
            self.taint_results(parent, is_cut=is_cut)

    def is_taken_by_callers(self, execution: Execution) -> bool:
        """Whether what a function returns goes into the loss in the line that called it, or in one around that.

        What such a line computed before the call is not made of it.
        """
        returned = takewhile(lambda pair: pair[0].returns, pairwise(execution.outwards))
        ends = (end_of(caller, self._trace) for _, caller in returned)
        return any(meets(self._walked, execution.number, end) for end in ends)

    def _enter(self, execution: Execution) -> None:
        """A function that was given the value knows it by its own names."""
        call, parent = execution.call, execution.call.parent
        if execution.position or parent is None:
            return
        own = set(parameters_in(call.scope)) - {"self", "cls"}
        for names in (self._whole, self._bare):
            if read := names.read_in(parent.loads, parent.call):
                names.local[call] |= dict.fromkeys(own, read[0])
        if self._own.read_in(parent.loads, parent.call) or parent in self._handed:
            self._whole.local[call] |= dict.fromkeys(own)

    def _switched_off(self, statement: ast.stmt, execution: Execution) -> FoundCut | None:
        """A parameter, or what a function was given of it, that is read where nothing is recorded."""
        switch = unrecorded(execution) if self._own.key else None
        if switch is None:
            return None
        read = self._own.read_in(loads(statement), execution.call)
        return FoundCut("no-grad", switch.at.frames(switch.line), read or self._own.key)

    def _is_taken(self, execution: Execution) -> bool:
        stop = end_of(execution, self._trace)
        return meets(self._walked, execution.number, stop)

    def _cut_around_call(self, execution: Execution, names: set[str]) -> FoundCut | None:
        """`code = self.encoder(x).detach()`."""
        for statement in execution.statements:
            own = [call for call in calls_in(parts(statement)) if called_name(call) in names]
            for cut in cuts_in(statement):
                inside = [each for given in cut.given for each in calls_in(ast.walk(given))]
                if any(each in own for each in inside) or (inside and not own):
                    return found_at(statement, cut, execution)
        return None

    def _cut_of_name(self, statement: ast.stmt, execution: Execution) -> FoundCut | None:
        """`feat = h.data`."""
        for cut in cuts_in(statement):
            own = self._own.read_in(cut.given, execution.call)
            if own:
                return replace(found_at(statement, cut, execution), name=own)
            if self._whole.read_in(cut.given, execution.call):
                return found_at(statement, cut, execution)
        return None
