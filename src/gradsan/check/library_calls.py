"""Calls of libraries by their dotted names: torch, its relatives, numpy, the standard library."""

import ast
from collections.abc import Sequence as Several
from functools import partial

from gradsan.check.builtin_calls import BuiltinCalls
from gradsan.check.graph import Leaf, tick
from gradsan.check.machine import Given
from gradsan.check.values import Const, Context, Distribution, Instance, Layer, Scaler, Sequence, Tensor, Value, ops_of
from gradsan.check.walking import reach
from gradsan.knowledge.effects import does, paths
from gradsan.knowledge.libraries import (
    CHECKPOINT_OPTIONS,
    NUMBER_LIBRARIES,
    OPTIMIZER_PACKAGES,
    STANDARD,
    TENSOR_LIBRARIES,
    WITHOUT_GRAPHS,
)
from gradsan.knowledge.tensors import operation


class LibraryCalls(BuiltinCalls):
    """What is known by name."""

    def call_library(self, path: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        """The result of calling a name of a library."""
        last = path.rsplit(".", 1)[-1]
        if path.startswith(STANDARD):
            known = self.builtin(last, arguments, keywords, node)
            if known is not None:
                return known
        if path.startswith("torch.") or path == "torch":
            return self._call_torch(path, last, arguments, keywords, node)
        if path.startswith(TENSOR_LIBRARIES):
            return self.function(last, arguments, keywords, node)
        if path.startswith(NUMBER_LIBRARIES):
            return self._numbers(path, arguments, node)
        if does(last, "optimizes") and arguments and path.startswith(OPTIMIZER_PACKAGES):
            return self.new_optimizer(arguments, keywords)
        if last == "GradScaler":
            return Scaler()
        if last in ("DistributedDataParallel", "DataParallel", "DDP") and arguments:
            return arguments[0][0]
        return self.unknown_call(path, arguments, keywords, node)

    def _call_torch(
        self, path: str, last: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        special = self._special(path, last, arguments, keywords, node)
        if special is not None:
            return special
        if path.startswith(WITHOUT_GRAPHS):
            return Value(made=self.site(node))
        if path.startswith("torch.optim."):
            return self.new_optimizer(arguments, keywords) if last[:1].isupper() else Value()
        if path.startswith("torch.distributions."):
            made = self.result(last, [*arguments, *keywords.values()], node, saves=True)
            return Distribution(op=made.op, made=made.made)
        if path.startswith(("torch.nn.functional.", "torch.nn.init.")):
            return self.function(last, arguments, keywords, node)
        if path.startswith("torch.nn.") and last[:1].isupper():
            return self.new_layer(last, arguments, keywords)
        if path.startswith(("torch.func.", "torch.vmap", "torch._", "torch.fx.", "torch.onnx.", "torch.export.")):
            return self.unknown_call(path, arguments, keywords, node)
        if last[:1].isupper():
            builds = operation(last).graph == "builds"
            call = partial(self.function, "tensor") if builds else partial(self.unknown_call, path)
            return call(arguments, keywords, node)
        return self.function(last, arguments, keywords, node)

    def _special(  # noqa: C901, PLR0912 # a table of what is not an ordinary function
        self, path: str, last: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value | None:
        first = arguments[0][0] if arguments else None
        if does(last, "stops recording"):
            enabled = isinstance(first, Const) and first.value is False
            return Context(enables=enabled, how=f"`torch.{last}()`")
        if does(last, "records"):
            return Context(enables=True, how=f"`torch.{last}()`")
        if does(last, "switches recording"):
            return self._set_recording(first, node)
        if path == "torch.autograd.grad":
            return self.gradient(arguments, keywords, node)
        if path == "torch.autograd.backward":
            roots = [arguments[0]] if arguments else [keywords["tensors"]] if "tensors" in keywords else []
            if roots:
                self.run_pass("backward", roots, keywords, node, inputs=None)
            return Value()
        if last == "checkpoint" and path.startswith("torch.utils.checkpoint") and first is not None:
            own = {key: each for key, each in keywords.items() if key not in CHECKPOINT_OPTIONS}
            reentrant = keywords.get("use_reentrant", (Value(), None))[0]
            if isinstance(reentrant, Const) and reentrant.value:
                return self._reentrant(first, arguments[1:], own, node)
            return self.call(first, arguments[1:], own, node)
        if path in paths("compiles"):
            return self._compiled(first)
        if path in paths("wraps") and first is not None:
            return first
        if last == "GradScaler":
            return Scaler()
        if last == "autocast":
            return Context()
        if path.startswith("torch.utils.data."):
            return self._data(last, arguments, keywords)
        if last in ("Parameter", "UninitializedParameter"):
            return self.new_layer("Parameter", arguments, keywords)
        if path.startswith("torch.nn.utils.rnn."):  # packed sequences, and pairs
            packed = self.function(last, arguments, keywords, node)
            if isinstance(packed, Tensor):
                packed.plain = "other"
            return packed
        return None

    def _reentrant(
        self, function: Value, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """A re-entrant checkpoint: its arguments are cut off inside; what gets in otherwise is not."""
        begin = tick()
        inside: list[Given] = [
            (Tensor(leaf=Leaf("?", "?")), each) if ops_of(value) else (value, each) for value, each in arguments
        ]
        inner = self.call(function, inside, keywords, node)
        own = [op for op in reach(ops_of(inner)) if op.number > begin]
        captured = {edge.op for op in own for edge in op.edges if edge.op.number < begin}
        leaves = tuple(dict.fromkeys(leaf for op in own for leaf in op.leaves if leaf.name != "?"))
        made = self.result("checkpoint", arguments, node, leaves=leaves)
        if made.op is None or not isinstance(inner, Tensor):
            return inner
        made.op.captured = tuple(captured)
        return made

    def _set_recording(self, wanted: Value | None, node: ast.expr) -> Value:
        """As a context or as a statement: both switch at once, and the context switches back."""
        if isinstance(wanted, Const):
            return Context(enables=bool(wanted.value), how="`torch.set_grad_enabled(False)`")
        test = node.args[0] if isinstance(node, ast.Call) and node.args else None
        if test is None:
            return Context()
        known = self.truth(wanted) if wanted is not None else None
        if known is None:
            known = self.choices.choose(
                node, test, unlikely=False, moment=self.world.moment, code=(self.frame.code, self.frame.depth)
            )
        return Context(enables=known, how="`torch.set_grad_enabled(False)`")

    def _compiled(self, first: Value | None) -> Value:
        if isinstance(first, Layer | Instance):
            first.attributes["<compiled>"] = Const(value=True)
        return Value() if first is None else first

    def _data(self, last: str, arguments: Several[Given], keywords: dict[str, Given]) -> Value:
        """Data sets of tensors hand out parts of them."""
        if last == "TensorDataset":
            row = Sequence(elements=[value for value, _ in arguments], kind="tuple")
            return Sequence(elements=[row, row], exact=False)
        given = arguments[0] if arguments else keywords.get("dataset")
        if last == "DataLoader" and given is not None and isinstance(given[0], Sequence):
            return Sequence(elements=given[0].elements[:2] * 2, exact=False)
        return Value()

    def _numbers(self, path: str, arguments: Several[Given], node: ast.expr) -> Value:
        """Numpy and its like hand back bare numbers."""
        for value, _ in arguments:
            if ops_of(value) or (isinstance(value, Tensor) and (value.cut or value.differentiable)):
                return self.cut(value, f"`{path}`", node)
            if isinstance(value, Sequence):
                inner = next((each for each in value.elements if isinstance(each, Tensor) and each.cut), None)
                if inner is not None:
                    return Tensor(cut=inner.cut, made=self.site(node))
        return Value(made=self.site(node))
