"""Passes, steps and clearings: what the calls that move gradients do."""

import ast
from collections.abc import Sequence as Several

from gradsan.check.graph import LIKELY, UNKNOWN, Leaf, LoopRun, Op, Pass
from gradsan.check.labels import label_of
from gradsan.check.machine import Given, Machine
from gradsan.check.troubles import NoHistory
from gradsan.check.values import Const, Function, Layer, Optimizer, Sequence, Tensor, Value, leaves_of, ops_of

_ARGUMENTS = ("gradient", "retain_graph", "create_graph", "inputs")  # of `Tensor.backward`


class Passes(Machine):
    """`backward`, `autograd.grad`, `step`, `zero_grad`."""

    def backward(self, root: Given, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        """`loss.backward(...)`."""
        named = dict(zip(_ARGUMENTS, arguments, strict=False)) | keywords
        inputs = named.get("inputs")
        self.run_pass("backward", [root], named, node, inputs=None if inputs is None else inputs[0])
        return Const(value=None)

    def gradient(self, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        """`torch.autograd.grad(outputs, inputs, …)`: the gradients, with a history if `create_graph` is set."""
        order = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph")
        named = dict(zip(order, arguments, strict=False)) | keywords
        outputs, inputs = named.get("outputs"), named.get("inputs")
        if outputs is None or inputs is None:
            return Value()
        self.run_pass("grad", [outputs], named, node, inputs=inputs[0])
        targets = self.elements(inputs[0], node) if isinstance(inputs[0], Sequence) else [inputs[0]]
        differentiable = _flag(named, "create_graph") is not False
        results: list[Value] = [
            self.result("grad", [outputs, (each, None)], node) if differentiable else Tensor(data=True)
            for each in targets
        ]
        return Sequence(elements=results, exact=not isinstance(inputs[0], Sequence) or inputs[0].exact, kind="tuple")

    def run_pass(
        self,
        kind: str,
        roots: list[Given],
        named: dict[str, Given],
        node: ast.expr,
        *,
        inputs: Value | None,
    ) -> None:
        """One pass from these roots."""
        ops = [op for value, _ in roots for op in self._roots(value, node)]
        asked = Pass(
            "grad" if kind == "grad" else "backward",
            tuple(ops),
            self.site(node),
            self.world.moment,
            retains=_flag(named, "retain_graph", "create_graph") is not False,
            keeps=_flag(named, "retain_graph") is True and _flag(named, "create_graph") is False,
            in_forward=self.frame.is_in_forward(),
            guarded=self.frame.assumed > 0,
        )
        asked.label = self._name_of(roots[0], ops)
        if not ops:
            self._refuse(asked, roots[0])
            return
        targets, known = self._targets(inputs)
        self.world.walk(asked, targets, doubtful=not known)

    def _roots(self, value: Value, node: ast.expr) -> list[Op]:
        ops = ops_of(value)
        if ops or isinstance(value, Tensor | Const | Sequence):
            return ops
        # That it has a history is shown by the call: nobody back-propagates a plain number.
        value.op = self.world.made(
            Op(
                UNKNOWN,
                value.made or self.site(node),
                self.world.moment,
                scalar=True,
                doubt=LIKELY,
                guarded=self.frame.assumed > 0,
            )
        )
        return [value.op]

    def _refuse(self, asked: Pass, root: Given) -> None:
        value = root[0]
        if isinstance(value, Tensor) and value.cut is not None and value.leaf is None:
            self.world.troubles.append(NoHistory(asked, value.cut, value.cut.name or asked.label))

    def _targets(self, inputs: Value | None) -> tuple[set[Op | Leaf] | None, bool]:
        """The ops and leaves that a pass is to reach, and whether they are known."""
        if inputs is None:
            return None, True
        found: set[Op | Leaf] = {*ops_of(inputs), *leaves_of(inputs)}
        return (found, True) if found else (None, False)

    def _name_of(self, root: Given, ops: list[Op]) -> str | None:
        label = label_of(root[1], self.frame, ops[0]) if root[1] is not None and ops else None
        return label.name if label is not None else root[0].label

    def optimizer_method(
        self, optimizer: Optimizer, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """`step`, `zero_grad` and the rest of an optimizer."""
        if name == "zero_grad":
            self.world.clear(self.world.owned(optimizer))
        elif name == "step":
            closure = next((each for each, _ in [*arguments, *keywords.values()] if isinstance(each, Function)), None)
            result = Value()
            if closure is not None:
                run = LoopRun(self.site(node), imagined=True)
                for number in (1, 2):
                    with self.round_of(run, number):
                        result = self.call(closure, (), {}, node)
                        self.world.step(optimizer, self.site(node), certain=not self.frame.assumed)
                return result
            self.world.step(optimizer, self.site(node), certain=not self.frame.assumed)
        elif name == "add_param_group":
            optimizer.owned += [leaf for value, _ in arguments for leaf in leaves_of(value)]
            optimizer.complete = False
        return Value(made=self.site(node))

    def new_optimizer(self, arguments: Several[Given], keywords: dict[str, Given]) -> Optimizer:
        """An optimizer over what it was given."""
        params = arguments[0][0] if arguments else keywords["params"][0] if "params" in keywords else Value()
        owned = list(dict.fromkeys(leaves_of(params)))
        made = Optimizer(owned=owned, complete=bool(owned) and _is_known(params))
        self.world.optimizers.append(made)
        return made

    def as_optimizer(self, value: Value) -> Optimizer:
        """Something unknown that behaves as an optimizer does."""
        known = value.attributes.get("<optimizer>")
        if not isinstance(known, Optimizer):
            known = Optimizer(name=value.label or "optimizer", complete=False)
            value.attributes["<optimizer>"] = known
            self.world.optimizers.append(known)
        return known

    def as_layer(self, value: Value) -> Layer:
        """Something unknown that behaves as a module does."""
        known = value.attributes.get("<module>")
        if not isinstance(known, Layer):
            name = value.label or "module"
            known = Layer(kind="?", leaf=Leaf(name, name, assumed=True), label=name, assumed=True)
            value.attributes["<module>"] = known
        return known

    def call_assumed(self, layer: Layer, given: Several[Given], node: ast.expr) -> Value:
        """The output of a module whose source is not known."""
        leaf = layer.leaf
        made = self.result(
            layer.label or "module",
            given,
            node,
            leaves=() if leaf is None else (leaf,),
            storages=() if leaf is None else (leaf.storage,),
            doubt=LIKELY,
        )
        return Value(op=made.op, made=made.made) if made.op is not None else made


def _flag(named: dict[str, Given], *names: str) -> bool | None:
    """Whether one of the arguments is true; None: it cannot be known."""
    outcome: bool | None = False
    for name in names:
        if name in named:
            value = named[name][0]
            known = bool(value.value) if isinstance(value, Const) else None
            outcome = True if known or outcome else None if known is None or outcome is None else False
    return outcome


def _is_known(value: Value) -> bool:
    match value:
        case Sequence(elements=elements):
            return all(map(_is_known, elements))
        case Tensor() | Layer() | Const():
            return not (isinstance(value, Layer) and value.assumed)
    return type(value) is not Value
