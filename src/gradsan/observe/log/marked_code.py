"""Puts marks into CPython 3.11 code objects, where the interpreter would report a line if it could be asked to.

A mark is a constant that is subscripted: no name is looked up, so none is added to any namespace. It leaves the stack
as it found it, stands under the same exception handlers as what it precedes, and has the position of what it precedes.
Jumps within one line step over it. An exception on its way out of a function passes a handler that marks the exit
and raises on with the offset restored, which leaves tracebacks as they are.
"""

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from types import CodeType

from gradsan.observe.log.bytecode import NOWHERE, Guard, Instruction, Position, assemble, disassemble
from gradsan.observe.log.marks import Entered, Left, Mark, Reached, Slept, Woken
from gradsan.observe.log.sites import Code, Kind, Sites

# What does not fall through to the next.
_ENDS = frozenset(
    {"RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
)
# What must directly follow the instruction before it.
_ATTACHED = frozenset({"CALL", "RESUME"})
_SLEEPERS = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
_MARK_ROOM = 2  # on the stack, for a mark and what it is subscripted with
_EXIT_ROOM = 2  # below these, where an exception leaves: the offset and the exception


def rewritten(code: CodeType, sites: Sites, note: Callable[[CodeType, CodeType], None]) -> CodeType:
    """A code object that does the same and marks its lines, entries and exits; so do those within it.

    Each pair of plain and marked code is told to `note`. A comprehension on one line stays plain: it runs within
    that line, as it does from 3.12 on, where it is no function any more.
    """
    consts = tuple(rewritten(each, sites, note) if isinstance(each, CodeType) else each for each in code.co_consts)
    if code.co_name in _COMPREHENSIONS and len({line for _, _, line in code.co_lines() if line is not None}) <= 1:
        return code if consts == code.co_consts else code.replace(co_consts=consts)
    entry = sites.add(code)
    if entry is None:
        return code
    marked = _Marker(code, entry, consts).marked()
    sites.replace(code, marked)
    note(code, marked)
    return marked


class _Marker:
    """The work on one code object."""

    def __init__(self, code: CodeType, entry: Code, consts: tuple[object, ...]) -> None:
        self._code = code
        self._entry = entry
        self._plain = disassemble(code)
        self._sleeps = bool(code.co_flags & _SLEEPERS)
        self._consts = list(consts)
        self._const_index: dict[object, int] = {}
        self._idle_sends: dict[Instruction, Instruction] = {}  # with the one that each repeats
        self._unwind = Guard(Instruction("NOP"), depth=0, lasti=True)

    def marked(self) -> CodeType:
        """The code with its marks."""
        leads, bodies = self._leads(), {}
        begun, before = False, self._plain[0]
        for instruction in self._plain:
            if begun and instruction.guard is None:
                instruction.guard = self._unwind
            begun = begun or (instruction.name == "RESUME" and instruction.arg == 0)
            bodies[instruction] = self._body(instruction, before)
            before = instruction
        self._enter_at_line(leads, bodies)
        self._redirect(leads, bodies)
        for idle, send in self._idle_sends.items():
            idle.target = send.target
        result: list[Instruction] = []
        for instruction in self._plain:
            lead = leads.get(instruction)
            if lead is not None:
                if lead[0].name == "JUMP_FORWARD":
                    lead[0].target = bodies[instruction][0]
                for each in lead:
                    each.guard = instruction.guard
                result += lead
            result += bodies[instruction]
        result += self._exit()
        room = max(self._code.co_stacksize, _EXIT_ROOM) + _MARK_ROOM
        return assemble(self._code, result, tuple(self._consts), room)

    def _body(self, instruction: Instruction, before: Instruction) -> list[Instruction]:
        """An instruction with the marks that always go with it."""
        name = instruction.name
        if name == "RESUME" and instruction.arg == 0:
            return [instruction, *self._mark(Reached, Kind.ENTER, position=NOWHERE, guard=self._unwind)]
        if name == "RESUME":
            return [instruction, *self._beside(Woken, Kind.RESUME, instruction)]
        if name == "RETURN_VALUE":
            return [*self._beside(Left, Kind.LEAVE, instruction), instruction]
        if name == "YIELD_VALUE":
            between = self._idle_send(before, instruction) if before.name == "SEND" else []
            return [*self._beside(Slept, Kind.SUSPEND, instruction), *between, instruction]
        if name == "PUSH_EXC_INFO" and self._sleeps:
            return [instruction, *self._beside(Woken, Kind.THROWN, instruction)]
        return [instruction]

    def _enter_at_line(
        self, leads: dict[Instruction, list[Instruction]], bodies: dict[Instruction, list[Instruction]]
    ) -> None:
        """Let one mark do for a function's entry and its first line, where nothing else comes to that line's mark."""
        for entry, first in pairwise(self._plain):
            if entry.name == "RESUME" and entry.arg == 0:
                if first in leads and not self._sources()[first]:
                    del leads[first]
                    lines = (Kind.ENTER, Kind.LINE + (first.line or 0) - self._entry.first)
                    bodies[entry] = [
                        entry,
                        *self._mark(Entered, *lines, position=_line_only(first), guard=self._unwind),
                    ]
                return

    def _idle_send(self, send: Instruction, instruction: Instruction) -> list[Instruction]:
        """A SEND that is stepped over. `generator.throw` reads the one directly before a delegating yield."""
        idle = Instruction("SEND", position=instruction.position, guard=instruction.guard)
        self._idle_sends[idle] = send
        step = Instruction("JUMP_FORWARD", target=instruction, position=instruction.position, guard=instruction.guard)
        return [step, idle]

    def _leads(self) -> dict[Instruction, list[Instruction]]:
        """For each instruction that can begin a line, the line's mark; behind a jump where it need not."""
        sources = self._sources()
        handlers = {each.guard.handler for each in self._plain if each.guard is not None}
        leads: dict[Instruction, list[Instruction]] = {}
        line: int | None = None  # of what falls through to here
        falls, begun = False, False
        before = ""
        for instruction in self._plain:
            here = instruction.line
            jumped = [each for each in sources[instruction] if self._is_new_line(each, instruction)]
            is_handler = instruction in handlers or instruction.name == "PUSH_EXC_INFO"
            may_mark = begun and here is not None and not is_handler and instruction.name not in _ATTACHED
            if may_mark and before not in {"KW_NAMES", "PRECALL"}:
                mark = self._line_mark(instruction)
                if falls and here == line:
                    if jumped:
                        leads[instruction] = [Instruction("JUMP_FORWARD", position=instruction.position), *mark]
                elif falls or jumped:
                    leads[instruction] = mark
            falls = instruction.name not in _ENDS
            line = None if is_handler else here if here is not None or not falls else line
            if instruction.name == "RESUME" and instruction.arg == 0:
                begun, line = True, None
            before = instruction.name
        return leads

    def _sources(self) -> dict[Instruction, list[Instruction]]:
        sources: dict[Instruction, list[Instruction]] = defaultdict(list)
        for instruction in self._plain:
            if instruction.target is not None:
                sources[instruction.target].append(instruction)
        return sources

    @staticmethod
    def _is_new_line(source: Instruction, target: Instruction) -> bool:
        # Waiting for what is awaited jumps back within its line; the interpreter does not report that either.
        if source.name == "JUMP_BACKWARD_NO_INTERRUPT":
            return False
        return source.jumps_back or source.line != target.line

    def _redirect(
        self, leads: dict[Instruction, list[Instruction]], bodies: dict[Instruction, list[Instruction]]
    ) -> None:
        """Let jumps lead to the marks of what they led to."""
        for instruction in self._plain:
            target = instruction.target
            if target is None:
                continue
            lead = leads.get(target)
            if lead is not None and self._is_new_line(instruction, target):
                instruction.target = lead[1] if lead[0].name == "JUMP_FORWARD" else lead[0]
            else:
                instruction.target = bodies[target][0]

    def _exit(self) -> list[Instruction]:
        """Where an exception leaves the function."""
        handler = self._unwind.handler
        thrown = self._mark(Woken, Kind.THROWN, position=NOWHERE, guard=None) if self._sleeps else []
        left = self._mark(Left, Kind.LEAVE, position=NOWHERE, guard=None)
        return [handler, *thrown, *left, Instruction("RERAISE", 1)]

    def _beside(self, kind: type[Mark], offset: int, instruction: Instruction) -> list[Instruction]:
        return self._mark(kind, offset, position=_line_only(instruction), guard=instruction.guard)

    def _line_mark(self, instruction: Instruction) -> list[Instruction]:
        offset = Kind.LINE + (instruction.line or 0) - self._entry.first
        return self._mark(Reached, offset, position=_line_only(instruction), guard=None)

    def _mark(self, kind: type[Mark], *offsets: int, position: Position, guard: Guard | None) -> list[Instruction]:
        sites = [self._entry.start + offset for offset in offsets]
        steps = (
            ("LOAD_CONST", self._const((kind, offsets), lambda: kind(*sites))),
            ("LOAD_CONST", self._const(0, lambda: 0)),
            ("BINARY_SUBSCR", 0),
            ("POP_TOP", 0),
        )
        return [Instruction(name, arg, position=position, guard=guard) for name, arg in steps]

    def _const(self, key: object, create: Callable[[], object]) -> int:
        """The index of a constant of ours; the code's own keep theirs, which other readers of code rely on."""
        index = self._const_index.get(key)
        if index is None:
            index = self._const_index[key] = len(self._consts)
            self._consts.append(create())
        return index


def _line_only(instruction: Instruction) -> Position:
    return (instruction.line, None, None, None)
