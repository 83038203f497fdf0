"""Functions of ours that stand between frames of the program's, and are found by nobody who looks at those.

What walks frames (`sys._getframe`, `f_back`, `inspect.stack`, tracebacks, the `stacklevel` of warnings) steps over a
function that has not begun yet: one whose RESUME is still to come. A function that has none has never begun.

On 3.11 it says to profilers that it returns, all the same; for each return they take a call off their list. So it
begins there, directly before.
"""

import sys
from collections.abc import Callable
from functools import cache
from opcode import opmap
from types import CodeType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_RESUME, _NOP = opmap["RESUME"], opmap["NOP"]


def hidden(function: Callable[P, T]) -> Callable[P, T]:
    """The function, whose frame nobody sees but itself."""
    function.__code__ = _never_begun(function.__code__)
    return function


@cache
def _never_begun(code: CodeType) -> CodeType:
    units = bytearray(code.co_code)
    begins = 2 * units[::2].index(_RESUME)
    units[begins : begins + 2] = (_NOP, 0)
    return _begun_late(code.replace(co_code=bytes(units)))


def _begun_late(code: CodeType) -> CodeType:
    """As it returns, and there alone: where exceptions leave, handlers may stand before what is to be hidden."""
    if hasattr(sys, "monitoring"):
        return code
    from gradsan.observe.log.bytecode import Instruction, assemble, disassemble

    instructions = disassemble(code)
    last = max(place for place, each in enumerate(instructions) if each.name == "RETURN_VALUE")
    instructions.insert(
        last, Instruction("RESUME", position=instructions[last].position, guard=instructions[last].guard)
    )
    return assemble(code, instructions, code.co_consts, code.co_stacksize)
