"""CPython 3.11 code objects as lists of instructions, and back.

Only 3.11: from 3.12 on the interpreter reports lines itself and nothing has to be rewritten. So one fixed format is
known here: jumps relative and in both directions, inline caches, tables of exceptions and of positions.
"""

import opcode
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType

Position = tuple[int | None, int | None, int | None, int | None]  # line, end line, column, end column
NOWHERE: Position = (None, None, None, None)

_EXTENDED_ARG = opcode.EXTENDED_ARG
_JUMPS = frozenset(opcode.hasjrel)
_BACKWARD = frozenset(code for code in _JUMPS if "BACKWARD" in opcode.opname[code])
_CACHES: tuple[int, ...] = tuple(getattr(opcode, "_inline_cache_entries", ()))

# Kinds of entry in the table of positions.
_NO_COLUMNS, _FULL, _NO_POSITION = 13, 14, 15


@dataclass(eq=False, slots=True)
class Guard:
    """Where an exception goes."""

    handler: "Instruction"
    depth: int  # of the stack, when the handler begins
    lasti: bool  # whether the offset of what raised is put on the stack


@dataclass(eq=False, slots=True)
class Instruction:
    """One instruction; jumps lead to instructions, not to offsets, so others can be put between."""

    name: str
    arg: int = 0
    target: "Instruction | None" = None
    position: Position = NOWHERE
    guard: Guard | None = None
    opcode: int = field(init=False)

    def __post_init__(self) -> None:
        self.opcode = opcode.opmap[self.name]

    @property
    def line(self) -> int | None:
        """Its source line."""
        return self.position[0]

    @property
    def jumps_back(self) -> bool:
        """Whether it jumps, if it does, to what stands before it."""
        return self.opcode in _BACKWARD

    @property
    def units(self) -> int:
        """How many code units it takes: prefixes for a large argument, itself, its caches."""
        return max(1, (self.arg.bit_length() + 7) // 8) + _CACHES[self.opcode]


def disassemble(code: CodeType) -> list[Instruction]:
    """The instructions of a code object, without prefixes and caches."""
    raw, positions = code.co_code, list(code.co_positions())
    instructions: list[Instruction] = []
    at: dict[int, Instruction] = {}  # by unit, of the prefixes too
    ends: list[int] = []
    unit = arg = 0
    begun: int | None = None
    while unit < len(raw) // 2:
        op, arg = raw[2 * unit], arg << 8 | raw[2 * unit + 1]
        begun = unit if begun is None else begun
        if op != _EXTENDED_ARG:
            instruction = Instruction(opcode.opname[op], arg, position=positions[unit])
            at[begun] = instruction
            instructions.append(instruction)
            unit += _CACHES[op]
            ends.append(unit + 1)
            arg, begun = 0, None
        unit += 1
    for instruction, end in zip(instructions, ends, strict=True):
        if instruction.opcode in _JUMPS:
            instruction.target = at[end - instruction.arg if instruction.jumps_back else end + instruction.arg]
    for start, stop, handler, depth, lasti in _parse_guards(code.co_exceptiontable):
        guard = Guard(at[handler], depth, lasti)
        for unit in range(start, stop):
            if unit in at:
                at[unit].guard = guard
    return instructions


def assemble(code: CodeType, instructions: list[Instruction], consts: tuple[object, ...], stack: int) -> CodeType:
    """`code` with other instructions and constants, and room for `stack` values."""
    offsets = _settle(instructions)
    units = bytearray()
    for instruction in instructions:
        for shift in (24, 16, 8):
            if instruction.arg >> shift:
                units += bytes((_EXTENDED_ARG, instruction.arg >> shift & 0xFF))
        units += bytes((instruction.opcode, instruction.arg & 0xFF))
        units += bytes(2 * _CACHES[instruction.opcode])
    return code.replace(
        co_code=bytes(units),
        co_consts=consts,
        co_stacksize=stack,
        co_linetable=b"".join(_position_entries(instructions, code.co_firstlineno)),
        co_exceptiontable=b"".join(_guard_entries(instructions, offsets)),
    )


def _settle(instructions: list[Instruction]) -> dict[Instruction, int]:
    """Give jumps their distances; a longer distance can need a prefix, which makes others longer."""
    while True:
        offsets: dict[Instruction, int] = {}
        unit = 0
        for instruction in instructions:
            offsets[instruction] = unit
            unit += instruction.units
        changed = False
        for instruction in instructions:
            if instruction.target is not None:
                end = offsets[instruction] + instruction.units
                distance = abs(offsets[instruction.target] - end)
                changed |= distance != instruction.arg
                instruction.arg = distance
        if not changed:
            return offsets


def _parse_guards(table: bytes) -> Iterator[tuple[int, int, int, int, bool]]:
    values = iter(table)
    for first in values:
        start = _varint(first & 0x7F, values)
        length, handler, depth = (_varint(next(values), values) for _ in range(3))
        yield start, start + length, handler, depth >> 1, bool(depth & 1)


def _varint(byte: int, rest: Iterator[int]) -> int:
    value = byte & 0x3F
    while byte & 0x40:
        byte = next(rest)
        value = value << 6 | byte & 0x3F
    return value


def _guard_entries(instructions: list[Instruction], offsets: dict[Instruction, int]) -> Iterator[bytes]:
    run: list[Instruction] = []
    for instruction in [*instructions, None]:
        if run and (instruction is None or not _same_guard(run[0].guard, instruction.guard)):
            guard = run[0].guard
            if guard is not None:
                start = offsets[run[0]]
                length = offsets[run[-1]] + run[-1].units - start
                entry = bytearray()
                for value in (start, length, offsets[guard.handler], guard.depth << 1 | guard.lasti):
                    entry += _big_endian(value)
                entry[0] |= 0x80
                yield bytes(entry)
            run = []
        if instruction is not None:
            run.append(instruction)


def _same_guard(one: Guard | None, other: Guard | None) -> bool:
    if one is None or other is None:
        return one is other
    return (one.handler, one.depth, one.lasti) == (other.handler, other.depth, other.lasti)


def _big_endian(value: int) -> bytes:
    chunks = [value & 0x3F]
    while value := value >> 6:
        chunks.append(value & 0x3F | 0x40)
    return bytes(reversed(chunks))


def _position_entries(instructions: list[Instruction], line: int) -> Iterator[bytes]:
    for instruction in instructions:
        units = instruction.units
        while units > 0:
            length = min(units, 8)
            units -= length
            entry, line = _position_entry(instruction.position, line, length)
            yield entry


def _position_entry(position: Position, before: int, length: int) -> tuple[bytes, int]:
    line, end_line, column, end_column = position
    if line is None:
        return bytes((0x80 | _NO_POSITION << 3 | length - 1,)), before
    if end_line is None or column is None or end_column is None:
        return bytes((0x80 | _NO_COLUMNS << 3 | length - 1,)) + _signed(line - before), line
    values = (end_line - line, column + 1, end_column + 1)
    head = bytes((0x80 | _FULL << 3 | length - 1,))
    return head + _signed(line - before) + b"".join(map(_little_endian, values)), line


def _little_endian(value: int) -> bytes:
    chunks = bytearray()
    while value >> 6:
        chunks.append(value & 0x3F | 0x40)
        value >>= 6
    chunks.append(value)
    return bytes(chunks)


def _signed(value: int) -> bytes:
    return _little_endian(-value << 1 | 1 if value < 0 else value << 1)
