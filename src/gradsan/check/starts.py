"""Where paths begin: with a file as a program, and with its functions that this does not reach."""

from gradsan.check.function_calls import enter
from gradsan.check.graph import Op
from gradsan.check.imagined_training import train_with
from gradsan.check.imports import lazy_module, name_of
from gradsan.check.interpreter import run_main
from gradsan.check.leading_functions import Start
from gradsan.check.machine import Call, Machine
from gradsan.check.values import NONE, Class, Function, ops_of
from gradsan.source.file import Source

WHOLE_FILE: Start = ()


def follow(machine: Machine, source: Source, start: Start) -> None:
    """Follow one path from a start: a function is called with unknown arguments, a method as if it trained."""
    if start == WHOLE_FILE:
        run_main(machine, source)
        return
    frame = lazy_module(machine, source)
    value = name_of(machine, frame, start[0])
    with machine.within(frame):
        match start, value:
            case [_], Function():
                frame.returned = enter(machine, value, Call(value.node))  # type: ignore[arg-type]
            case [_, name], Class(members=members):
                method = members.get(name)
                if isinstance(method, Function):
                    train_with(machine, value, method)


def kept(machine: Machine, start: Start) -> frozenset[Op]:
    """What whoever called the function may still use: what it returned, and what the module's names hold."""
    returned = [frame.returned or NONE for frame in machine.modules.values()] if start else []
    return frozenset(op for value in returned for op in ops_of(value))
