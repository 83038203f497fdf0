"""Calls that ask for a backward pass: `loss.backward()`, `autograd.grad(…)`."""

import ast
from collections.abc import Mapping as Names

from gradsan.check.graph import LIKELY, UNKNOWN, Cut, Edge, Leaf, Op, Pass, leaves_in
from gradsan.check.labels import label_of
from gradsan.check.machine import Call, Given, Machine
from gradsan.check.new_ops import result
from gradsan.check.tables import TORCH, entered
from gradsan.check.troubles import NoGraph
from gradsan.check.values import NONE, Const, Sequence, Tensor, Value, is_called, is_false, is_true, leaves_of, ops_of
from gradsan.check.walking import reach
from gradsan.knowledge.effects import accumulates, asks_for_pass
from gradsan.knowledge.hints import PASS_RECEIVERS

_OF_BACKWARD = ("gradient", "retain_graph", "create_graph", "inputs")
_OF_GRAD = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph")
_UNRECORDED = "`autograd.grad` without `create_graph=True`"


def backward(machine: Machine, root: Given, call: Call) -> Value:
    """`loss.backward(...)`."""
    named = call.named(*_OF_BACKWARD)
    run_pass(machine, "backward", root, named, call.node)
    return NONE


def asks_for_a_pass(machine: Machine, value: Value, call: Call) -> Value | None:
    """`backward` asks for a pass: over the loss that it is given (`engine.backward(loss)`), or that it is called on."""
    if not asks_for_pass(call.name) or not accumulates(call.name):
        return None
    if value.op is None and "loss" in call.keywords:
        others = {key: each for key, each in call.keywords.items() if key != "loss"}
        return backward(machine, call.keywords["loss"], call._replace(keywords=others))
    if value.op is None and call.arguments and _is_loss(value, call.first):
        return backward(machine, call.arguments[0], call.rest)
    return backward(machine, call.receiver(value), call)


def _is_loss(receiver: Value, first: Value) -> bool:
    if isinstance(first, Const):
        return False
    return is_called(receiver, PASS_RECEIVERS) or bool(ops_of(first))


@entered(TORCH, "torch.autograd.backward")
def backward_of_several(machine: Machine, call: Call) -> Value:
    """`torch.autograd.backward(tensors, …)`."""
    named = call.named("tensors", "grad_tensors", "retain_graph", "create_graph")
    if "tensors" in named:
        run_pass(machine, "backward", named["tensors"], named, call.node)
    return Value()


@entered(TORCH, "torch.autograd.grad")
def gradient(machine: Machine, call: Call) -> Value:
    """`torch.autograd.grad(outputs, inputs, …)`: the gradients, with a graph if `create_graph` is set."""
    named = call.named(*_OF_GRAD)
    if "outputs" not in named or "inputs" not in named:
        return Value()
    outputs, inputs = named["outputs"], named["inputs"][0]
    asked = run_pass(machine, "grad", outputs, named, call.node)
    several = isinstance(inputs, Sequence)
    targets = machine.elements(inputs, call.node) if several else [inputs]
    results: list[Value] = [Tensor(cut=Cut(asked.site, _UNRECORDED, gave=asked)) for _ in targets]
    if _flag(named, "create_graph") is not False:
        results = [result(machine, "grad", [outputs, (each, None)], call.node) for each in targets]
    return Sequence(elements=results, exact=not isinstance(inputs, Sequence) or inputs.exact, kind="tuple")


# The first is what torch before 0.3 called the second: whoever wrote it wants the graph to stay.
_RETAINING = ("retain_variables", "retain_graph", "create_graph")


def run_pass(machine: Machine, kind: str, root: Given, named: Names[str, Given], node: ast.expr) -> Pass:
    """One pass from what was given as the root, with the options that were named."""
    ops = _roots(machine, root[0], node)
    asked = Pass(
        "grad" if kind == "grad" else "backward",
        tuple(ops),
        machine.site(node),
        machine.world.moment,
        retains=_flag(named, *_RETAINING) is not False,
        keeps=_flag(named, "retain_graph") is True and _flag(named, "create_graph") is False,
        in_forward=machine.frame.is_in_forward(),
        guarded=machine.frame.assumed > 0,
        label=_name_of(machine, root, ops),
    )
    if not ops:
        _refuse(machine, asked, root[0])
        return asked
    inputs = named.get("inputs")
    targets = None if inputs is None else _targets(ops, inputs[0])
    asked.is_open = targets is not None and not targets
    machine.world.walk(asked, targets or None, doubtful=asked.is_open)
    return asked


def _roots(machine: Machine, value: Value, node: ast.expr) -> list[Op]:
    ops = ops_of(value)
    if isinstance(value, Tensor) and value.op is None and value.leaf is not None and value.leaf.made_of is not None:
        return [machine.world.note(Op("leaf", machine.site(node), machine.world.moment, (), (value.leaf,)))]
    if ops or (isinstance(value, Tensor | Const | Sequence) and not value.opaque):
        return ops
    op = _proven(machine, value, node)
    op.scalar = True
    return [op]


def _proven(machine: Machine, value: Value, node: ast.expr) -> Op:
    """That it has a graph is shown by the call: nobody back-propagates a plain number.

    So has what it was made of in this iteration; what was there before is data.
    """
    if value.op is None:
        now = machine.world.moment
        fresh = [each for each in value.basis if each.since is not None and each.since[: len(now)] == now]
        below = [_proven(machine, each, node) for each in fresh]
        value.op = machine.world.note(
            Op(
                UNKNOWN,
                value.created or machine.site(node),
                machine.world.moment,
                tuple(map(Edge, dict.fromkeys(below))),
                () if below else (machine.world.unseen_of(node),),
                doubt=LIKELY,
                guarded=machine.frame.assumed > 0,
                escaped=not value.opaque,  # who has handed it in may have further use for it
            )
        )
        machine.world.shows(value)
    return value.op


def _refuse(machine: Machine, asked: Pass, root: Value) -> None:
    """What lost its graph cannot be back-propagated; but what a gradient was joined with may have one."""
    if not isinstance(root, Tensor) or root.cut is None or root.leaf is not None:
        return
    is_gradient = root.cut.gave is not None
    if not is_gradient or (machine.closed and not root.cut.mixed):
        machine.world.troubles.append(NoGraph(asked, root.cut, root.cut.name or asked.label))


def _targets(roots: list[Op], inputs: Value) -> set[Op | Leaf]:
    """The ops and leaves that a pass is to reach; none, where they are not known, or the path to them is not seen."""
    found = reach(roots)
    reached: set[Op | Leaf] = {*found, *leaves_in(found)}
    return reached.intersection([*ops_of(inputs), *leaves_of(inputs)])


def _name_of(machine: Machine, root: Given, ops: list[Op]) -> str | None:
    value, expression = root
    label = label_of(expression, machine.frame, ops[0]) if expression is not None and ops else None
    return value.label if label is None else label.name


def _flag(named: Names[str, Given], *names: str) -> bool | None:
    """Whether one of the arguments is true; None: it cannot be known."""
    values = [named[name][0] for name in names if name in named]
    if any(map(is_true, values)):
        return True
    return False if all(map(is_false, values)) else None
