"""Functions of ours that stand between frames of the program's, and are found by nobody who looks at those.

What walks frames (`sys._getframe`, `f_back`, `inspect.stack`, tracebacks, the `stacklevel` of warnings) steps over a
function that has not begun yet: one whose RESUME is still to come. A function that has none has never begun.

On 3.11 it says to profilers that it returns, all the same; for each return they take a call off their list. So it
begins there, directly before.
"""

import sys
from collections.abc import Callable
from opcode import opmap
from types import CodeType
from typing import ParamSpec, TypeVar

from gradsan.observe.log.bytecode import Instruction, assemble, disassemble

P = ParamSpec("P")
T = TypeVar("T")

_RESUME, _NOP = opmap["RESUME"], opmap["NOP"]


def hidden(function: Callable[P, T]) -> Callable[P, T]:
    """The function, whose frame nobody sees. To `sys._getframe()` in it, its caller is the one that asks."""
    code = function.__code__
    units = bytearray(code.co_code)
    begins = 2 * units[::2].index(_RESUME)
    units[begins : begins + 2] = (_NOP, 0)
    function.__code__ = _begun_late(code.replace(co_code=bytes(units)))
    return function


def _begun_late(code: CodeType) -> CodeType:
    """As it returns, and there alone: where exceptions leave, handlers may stand before what is to be hidden."""
    if hasattr(sys, "monitoring"):
        return code
    instructions = disassemble(code)
    last = max(place for place, each in enumerate(instructions) if each.name == "RETURN_VALUE")
    instructions.insert(
        last, Instruction("RESUME", position=instructions[last].position, guard=instructions[last].guard)
    )
    return assemble(code, instructions, code.co_consts, code.co_stacksize)
