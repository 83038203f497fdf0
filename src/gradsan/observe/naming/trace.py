"""A stretch of the log as statements that ran: which call ran which, and what each of them called.

An *execution* is one run of one statement; a *call* one activation of a function of the user's.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from gradsan.facts.location import Frame
from gradsan.observe.log.frames import LINE_BITS, LINE_MASK
from gradsan.observe.log.lines import Event, Lines
from gradsan.observe.log.sites import Code, Site
from gradsan.observe.user_statements import statements_at
from gradsan.source.scopes import Scope, scope_of
from gradsan.source.stores import Store, calls, last_line, loads, stores

# Stretches of the log that are read: some 100,000 events, a third of a second.
_BLOCKS = 12

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


T = TypeVar("T")


class Call:
    """One activation of a function of the user's; a generator's spans all its awakenings."""

    __slots__ = ("_stores", "code", "executions", "parent", "scope")

    def __init__(
        self, code: Code, scope: Scope | None, parent: "Execution | None", after: "list[Execution] | None" = None
    ) -> None:
        self.code = code
        self.scope = scope
        self.parent = parent  # what called it, directly or through a library; a generator: what first asked it
        self.executions: list[Execution] = [] if after is None else after
        self._stores: dict[str, list[tuple[Execution, Store]]] | None = None

    @property
    def now(self) -> "Execution | None":
        """What it does at present, or did last."""
        return self.executions[-1] if self.executions else None

    def stores_to(self, name: str) -> "list[tuple[Execution, Store]]":
        """Everything stored to a variable of its own, in order. Asked only when the trace is complete."""
        if self._stores is None:
            self._stores = defaultdict(list)
            for execution in self.executions:
                for store in execution.stores():
                    if store.name is not None:
                        self._stores[store.name].append((execution, store))
        return self._stores.get(name, [])


class Execution:
    """One run of one statement (or of several that share a line)."""

    __slots__ = ("call", "called", "index", "line", "number", "position", "statements", "yielded")

    def __init__(self, index: int, number: int, call: Call, line: int, statements: tuple[ast.stmt, ...]) -> None:
        self.index = index  # in the order in which they began
        self.number = number  # the op counter when it began
        self.call = call
        self.position = len(call.executions)  # among those of its call
        self.line = line
        self.statements = statements
        self.called: Sequence[Call] = ()
        self.yielded: Sequence[Execution] = ()  # what generators gave to this one

    @property
    def outwards(self) -> "Iterator[Execution]":
        """It, and then what had called it, innermost first."""
        each: Execution | None = self
        while each is not None:
            yield each
            each = each.call.parent

    @property
    def stack(self) -> tuple["Execution", ...]:
        """It and what had called it, outermost first."""
        return tuple(self.outwards)[::-1]

    def frames(self, line: int | None = None) -> tuple[Frame, ...]:
        """The user's calls at that moment, outermost first; `line`: where in a statement of several lines."""
        lines = [each.line for each in self.stack]
        lines[-1] = line or self.line
        return tuple(
            Frame(each.call.code.file, line, each.call.code.function)
            for each, line in zip(self.stack, lines, strict=True)
        )

    def is_again(self, other: "Execution") -> bool:
        """Whether it ran the same statement of the same function."""
        return self.line == other.line and self.call.code == other.call.code

    @property
    def returned(self) -> list[ast.expr]:
        """What it gave back, as expressions."""
        return [each.value for each in self.statements if isinstance(each, ast.Return) and each.value is not None]

    @property
    def calls(self) -> list[ast.Call]:
        """The calls that are written in it."""
        return [call for statement in self.statements for call in calls(statement)]

    @property
    def loads(self) -> list[ast.expr]:
        """What it reads."""
        return [node for statement in self.statements for node in loads(statement)]

    @property
    def returns(self) -> bool:
        """Whether it ends its call."""
        return any(isinstance(each, ast.Return) for each in self.statements)

    def stores(self) -> list[Store]:
        """What it stored."""
        return [store for statement in self.statements for store in stores(statement)]


class Trace:
    """The statements that ran from one op to another, with the stacks at some ops in between.

    `marks` are creation numbers; `at` has, for each, the executions that were live when that op was created, outermost
    first.
    """

    def __init__(self, lines: Lines, start: int, stop: int | None, marks: tuple[int, ...]) -> None:
        self.at: dict[int, tuple[Execution, ...]] = {}
        self.executions: list[Execution] = []
        self.created_ops: set[Execution] = set()  # during which the op counter rose
        self._stack: list[Call] = []
        self._asleep: dict[int, Call] = {}
        self._typed: list[Execution] = []  # at a prompt: one module, which grows
        self._scopes: dict[Code, Scope | None] = {}
        self._by_kind: tuple[Callable[[Code, int, int], object], ...] = (  # in the order of `Kind`
            lambda code, _line, _token: self._enter(code),
            lambda code, _line, _token: self._leave(code),
            self._suspend,
            self._resume,
            self._throw,
            self._line,
        )
        self._marks = sorted(marks)
        self._number = 0
        for stretch in lines.replay(start, stop, blocks=_BLOCKS):
            if self.executions and stretch.is_next:
                self._reach(stretch.number)
            else:
                self._number = stretch.number
                self._marks = [mark for mark in self._marks if mark >= stretch.number]
            self._settle(stretch.stack)
            for event in stretch.events:
                self._reach(event[1])
                if stop is not None and event[1] > stop:
                    return
                self._feed(event)
        while self._marks:
            self._note(self._marks.pop(0))

    def last_at(self, place: Frame) -> Execution | None:
        """The latest run of the statement at a line of a function."""
        last = statements_at(place)[-1:]
        runs = (each for each in reversed(self.executions) if each.statements[-1:] == last)
        return next(runs, None) if last else None

    def handed_back(self, asking: Execution) -> tuple[ast.expr, Execution] | None:
        """Where a library asks for a pass: what a function of the user's that it had called returned last."""
        called = (each for each in reversed(self.executions) if each.call.parent is asking)
        return next(((value, each) for each in called for value in each.returned), None)

    def live(self) -> tuple[Execution, ...]:
        """What is running where the trace has come to, outermost first."""
        calls = (call for call in self._stack if call.scope is not None and not call.scope.is_transparent)
        return tuple(call.now for call in calls if call.now is not None)

    def _reach(self, number: int) -> None:
        if number > self._number:
            self.created_ops.update(self.live())
            self._number = number
            while self._marks and self._marks[0] < number:
                self._note(self._marks.pop(0))

    def _note(self, mark: int) -> None:
        self.at[mark] = self.live()

    def _settle(self, stack: tuple[Site, ...]) -> None:
        """Take over the stack that a stretch of the log began with: keep what agrees."""
        agreed = 0
        for _, code, line in stack:
            if agreed < len(self._stack) and self._stack[agreed].code is code:
                now = self._stack[agreed].now
                if now is None or now.line != line:
                    self._run(self._stack[agreed], line)
            else:
                del self._stack[agreed:]
                self._run(self._enter(code), line)
            agreed += 1
        del self._stack[agreed:]

    def _feed(self, event: Event) -> None:
        (kind, code, line), _, token = event
        self._by_kind[kind](code, line, token)

    def _line(self, code: Code, line: int, _: int) -> None:
        self._run(self._top(code), line)

    def _suspend(self, code: Code, _: int, token: int) -> None:
        for left in self._leave(code):
            self._asleep[token >> LINE_BITS] = left
            self._hand_over(left)

    def _throw(self, code: Code, line: int, token: int) -> None:
        if not self._stack or self._stack[-1].code is not code:
            self._resume(code, line, token)

    def _top(self, code: Code) -> Call:
        """The innermost call of a function, all within it left."""
        place = self._place(code)
        if place is None:
            return self._enter(code)
        del self._stack[place + 1 :]
        return self._stack[place]

    def _place(self, code: Code) -> int | None:
        places = reversed(range(len(self._stack)))
        return next((each for each in places if self._stack[each].code is code), None)

    def _enter(self, code: Code) -> Call:
        if code not in self._scopes:
            self._scopes[code] = scope_of(code.file, code.function, code.first)
        parent = self._asking()
        call = Call(code, self._scopes[code], parent, None if code.cell is None else self._typed)
        if parent is not None:
            parent.called = _with(parent.called, call)
        self._stack.append(call)
        return call

    def _asking(self) -> Execution | None:
        """The statement that calls. A comprehension belongs to the statement around it."""
        for call in reversed(self._stack):
            if call.scope is None or not call.scope.is_transparent:
                return call.now
        return None

    def _leave(self, code: Code) -> list[Call]:
        """The innermost call of a function, which has ended, if it is known."""
        place = self._place(code)
        left = [] if place is None else self._stack[place : place + 1]
        del self._stack[len(self._stack) if place is None else place :]
        return left

    def _resume(self, code: Code, _: int, token: int) -> None:
        call = self._asleep.pop(token >> LINE_BITS, None)
        if call is None or call.code is not code:
            self._run(self._enter(code), token & LINE_MASK)
            return
        asking = self._asking()
        if asking is not None and call not in asking.called[-4:]:
            asking.called = _with(asking.called, call)
        self._stack.append(call)
        now = call.now
        if now is not None:
            self._begin(call, now.line, now.statements)

    def _hand_over(self, generator: Call) -> None:
        asking = self._asking()
        if asking is not None and generator.now is not None:
            asking.yielded = _with(asking.yielded, generator.now)

    def _run(self, call: Call, line: int) -> None:
        if call.scope is None or call.scope.is_transparent:
            if not call.executions:
                self._begin(call, line, ())
            return
        statements = call.scope.by_line.get(line, ())
        now = call.now
        if now is not None and statements and now.statements and now.statements[-1] is statements[-1]:
            last = statements[-1]
            # A statement of several lines comes back to its first; a loop's header begins again.
            if not isinstance(last, _LOOPS) and last.lineno != last_line(last):
                return
        self._begin(call, line, statements)

    def _begin(self, call: Call, line: int, statements: tuple[ast.stmt, ...]) -> None:
        execution = Execution(len(self.executions), self._number, call, line, statements)
        self.executions.append(execution)
        call.executions.append(execution)


def _with(items: Sequence[T], item: T) -> Sequence[T]:
    """One more. Most executions have none, and a list for each would be half of a trace's memory."""
    if isinstance(items, list):
        items.append(item)
        return items
    return [item]
