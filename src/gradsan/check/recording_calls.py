"""Calls that switch the recording of graphs off and on: `torch.no_grad()`, `torch.set_grad_enabled(False)`."""

import ast

from gradsan.check.machine import Call, Machine
from gradsan.check.tables import TORCH, entered
from gradsan.check.values import Context, Value, is_false


@entered(TORCH, "no_grad", "inference_mode", "enable_grad")
def switch(machine: Machine, call: Call) -> Value:
    """`torch.no_grad()`; `torch.inference_mode(False)` leaves the recording on."""
    last = call.name.rpartition(".")[2]
    return Context(enables=last == "enable_grad" or is_false(call.first), how=f"`torch.{last}()`")


@entered(TORCH, "set_grad_enabled")
def switch_as_asked(machine: Machine, call: Call) -> Value:
    """As a context or as a statement: both switch at once, and the context switches back."""
    match call:
        case Call(node=ast.Call(args=[test, *_]), arguments=[(value, _), *_]):
            enables = machine.choose(call.node, test) if value.truth is None else value.truth
            context = Context(enables=enables, how="`torch.set_grad_enabled(False)`")
            machine.switch_recording(context, call.node, lasts=True)
            return context
    return Context()


@entered(TORCH, "autocast")
def leave(machine: Machine, call: Call) -> Value:
    """A context that switches nothing."""
    return Context()
