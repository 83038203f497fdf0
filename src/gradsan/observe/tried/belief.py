"""What every belief is made of: the lines that really ran between the making of the graph and the failure."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gradsan.facts.culprit import shown_line
from gradsan.facts.incident import Edited, SecondPass
from gradsan.facts.live_evidence import Attempt, Tried
from gradsan.facts.location import Frame
from gradsan.observe.naming.calling import Matched
from gradsan.observe.naming.dataflow import doubt_of
from gradsan.observe.naming.spelling import is_called_like
from gradsan.observe.naming.stored import Stores
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.source.stores import spelled, text

_SEARCHED = 20_000  # executions, the latest
_TOO_DOUBTFUL = 3.0


@dataclass(frozen=True, slots=True)
class Ran:
    """A statement that ran since the graph was created."""

    at: Execution
    statement: ast.stmt

    @property
    def where(self) -> str:
        """Its place, in a sentence."""
        return place(self.at, self.statement.lineno)


@dataclass(frozen=True, slots=True)
class Case:
    """A failure that an old graph caused, with what ran since it was created."""

    incident: SecondPass | Edited
    culprit: str | None
    trace: Trace
    stores: Stores
    creators: tuple[Execution, ...]  # what was running when the old part was created, outermost first

    def since_created(self) -> Iterator[Ran]:
        """What ran since, the latest first; each statement once."""
        seen: set[ast.stmt] = set()
        first = self.creators[-1].index + 1 if self.creators else 0
        for execution in reversed(self.trace.executions[first:][-_SEARCHED:]):
            for statement in execution.statements:
                if statement not in seen:
                    seen.add(statement)
                    yield Ran(execution, statement)

    def since_freed(self) -> Iterator[Ran]:
        """What ran, and came to its end, between the pass that freed the old part and the one that failed."""
        if isinstance(self.incident, SecondPass):
            freed = self.incident.freeing.begin
            running = set(self.trace.executions[-1].stack) if self.trace.executions else set()
            yield from (ran for ran in self.since_created() if ran.at.number >= freed and ran.at not in running)

    def entered(self, call: ast.Call, at: Execution) -> Matched | None:
        """The function of the user's that a call, as it is written in a statement, has entered."""
        matches = map(self.stores.match, at.called)
        return next((each for each in matches if each is not None and each.node is call), None)

    def tried(self, what: Attempt, ran: Ran, name: str, sentence: str) -> Tried:
        """What was done at a line. A fix is built on it only where that line runs at the boundary.

        After the earlier pass has begun and before the old part enters the later forward: what is cut or computed
        there, no pass before it needs.
        """
        incident = self.incident
        enters = incident.enters
        if not isinstance(incident, SecondPass) or enters is None or enters.number is None:
            return Tried(sentence)
        is_in_time = incident.freeing.begin <= ran.at.number <= enters.number
        file, line = ran.at.call.code.file, ran.statement.lineno
        return Tried(sentence, what, file, line, name) if is_in_time else Tried(sentence)

    def concerns(self, node: ast.expr, at: Execution) -> bool:
        """Whether an expression means the culprit, or something else of the old graph's making."""
        return self.is_culprit(node, at) or self.is_old(node, at)

    def is_culprit(self, node: ast.expr, at: Execution) -> bool:
        """Whether an expression means the culprit: it has its name, and stands where that name means the same."""
        if not self.is_called_like_it(node):
            return False
        if spelled(node).startswith("self."):  # of which class?
            owner = at.call.code.function.rpartition(".")[0]
            return any(frame.function.rpartition(".")[0] == owner for frame in self._frames())
        return self.is_old(node, at) or any(frame.function == at.call.code.function for frame in self._frames())

    def is_called_like_it(self, node: ast.expr) -> bool:
        """Whether an expression is written like the culprit, whatever its object is called."""
        name = text(node)
        return name is not None and is_called_like(name, self.culprit or "")

    def _frames(self) -> Iterator[Frame]:
        """The calls in which the old part was created and in which it entered the later forward."""
        incident = self.incident
        for fact in (incident.made, incident.enters):
            yield from () if fact is None else fact.stack

    def is_old(self, node: ast.expr, at: Execution) -> bool:
        """Whether an expression's value was created where the old graph was created."""
        doubt = doubt_of(self.stores, self.creators, node, at)
        return doubt is not None and doubt <= _TOO_DOUBTFUL


def place(at: Execution, line: int) -> str:
    """A place in the source, in a sentence."""
    return shown_line(at.call.code.file, line)


def is_read_after(name: str, at: Execution) -> bool:
    """Whether a function has read a variable since one of its statements ran."""
    later = at.call.executions[at.position + 1 :]
    return any(isinstance(node, ast.Name) and node.id == name for each in later for node in each.loads)
