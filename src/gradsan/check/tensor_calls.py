"""Methods and attributes of tensors, and functions of torch: which cut, which save, which edit."""

import ast
from collections.abc import Sequence as Several

from gradsan.check.graph import Leaf, Storage
from gradsan.check.machine import Given
from gradsan.check.passes import Passes
from gradsan.check.troubles import ReadFreed
from gradsan.check.values import (
    Const,
    Library,
    Method,
    Plain,
    Sequence,
    Tensor,
    Value,
    leaves_of,
    memory,
    ops_of,
    parts,
)
from gradsan.knowledge.hints import LOSS_WORDS
from gradsan.knowledge.operation import Operation
from gradsan.knowledge.tensors import WHOLE_TYPES, edits, operation

_LENGTHS = {"pair": 2, "triple": 3}
_PLAIN: dict[str, Plain] = {"number": "number", "object": "other"}


class TensorCalls(Passes):
    """What torch does to histories."""

    def tensor_attribute(self, value: Tensor, name: str, node: ast.expr) -> Value:
        """`tensor.name`, not called."""
        if name == "grad":
            for leaf in leaves_of(value):
                leaf.gradient_read = True
                for each in leaf.given:
                    each.source.used = True
            return Tensor(data=True, attributes={"<of>": value})
        if name == "data":
            return Tensor(cut=self.cut(value, "`.data`", node).cut, attributes={"<of>": value}, made=self.site(node))
        if name == "grad_fn":
            return Value(attributes={"<of>": value})
        if name == "requires_grad":
            return Const(value=True) if value.differentiable else Value()
        row = operation(name)
        if row.graph == "describes":
            return Value()
        if row.attribute and row.rearranges:
            return value
        return Method(receiver=value, name=name)

    def tensor_method(
        self, value: Tensor, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """`tensor.name(...)`."""
        own: Given = (
            value,
            node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None,
        )
        if name == "backward":
            return self.backward(own, arguments, keywords, node)
        if name == "requires_grad_":
            return self._require(value, arguments)
        if name == "detach_":
            value.op, value.cut = None, self.cut(value, "`.detach_()`", node).cut
            return value
        if name in ("retain_grad", "register_hook"):
            return value
        row = operation(name)
        if row.graph == "describes" or (name == "type" and not arguments):
            return Value()
        if row.graph in ("creates", "builds"):
            return self._fresh(keywords, node)
        if row.cuts or (name in ("to", "type") and any(_is_whole(each) for each, _ in arguments)):
            bare = self.cut(value, f"`.{name}()`", node)
            bare.plain = _PLAIN.get(row.returns)
            return bare
        if edits(name):
            return self._in_place(value, name, arguments, keywords, node)
        return self.function(name, [own, *arguments], keywords, node)

    def function(self, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        """What a function of torch makes of its arguments."""
        given = [*arguments, *(each for key, each in keywords.items() if key not in ("out", "generator"))]
        row = operation(name)
        if row.graph in ("creates", "builds"):
            return self._fresh_function(row, given, keywords, node)
        if row.cuts or row.graph == "describes":
            source = next((value for value, _ in given if ops_of(value) or isinstance(value, Tensor)), None)
            return Tensor() if source is None else self.cut(source, f"`{name}`", node)
        scalar, linear = self._shape(name, arguments, keywords)
        storages = _saved(row, [value for value, _ in arguments])
        made = self.result(name, given, node, form="linear" if linear else "other", scalar=scalar, storages=storages)
        if row.views and arguments and isinstance(arguments[0][0], Tensor):
            made.storage = memory(arguments[0][0]) or made.storage
        if row.saves_result and made.op is not None:
            made.op.saved = (*made.op.saved, (made.storage, made.storage.version))
        if row.returns in _LENGTHS:
            return Sequence(elements=[made] * _LENGTHS[row.returns], kind="tuple")
        if row.returns == "tensors":
            return Sequence(elements=[_copied(made), _copied(made)], exact=False, kind="tuple")
        if row.returns == "pair for a dimension" and (len(arguments) > 1 or "dim" in keywords):
            other = arguments[1][0] if len(arguments) > 1 else None
            if other is None or isinstance(other, Const):
                return Sequence(elements=[made, Tensor(data=True)], kind="tuple")
        return made

    def _shape(self, name: str, arguments: Several[Given], keywords: dict[str, Given]) -> tuple[bool, bool]:
        """Whether the result is one number, and whether it only adds up and scales."""
        row = operation(name)
        inputs = [value for value, _ in arguments]
        scalars = bool(inputs) and all(_all_scalar(each) for each in inputs)
        whole = len(arguments) <= row.reduces and "dim" not in keywords and "axis" not in keywords
        if row.linear is not None:
            return whole or scalars, scalars
        named_loss = any(word in name for word in LOSS_WORDS)
        reduced = keywords.get("reduction")
        kept = reduced is not None and isinstance(reduced[0], Const) and reduced[0].value == "none"
        return ((named_loss or whole) and not kept) or scalars, False

    def _fresh_function(
        self, row: Operation, given: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        made = self._fresh(keywords, node)
        if row.graph != "builds" or not given:
            return made
        source = given[0][0]
        if row.memory == "itself if possible" and isinstance(source, Tensor):
            return source
        found = [each for each in parts(source, 3) if isinstance(each, Tensor) and (each.cut or each.differentiable)]
        if found and made.leaf is None:
            return self.cut(found[0], f"`torch.{row.name}`", node)
        if isinstance(source, Value) and source.op is not None and made.leaf is None:
            return self.cut(source, f"`torch.{row.name}`", node)
        return made

    def _fresh(self, keywords: dict[str, Given], node: ast.expr) -> Tensor:
        wanted = keywords.get("requires_grad")
        wants = wanted is not None and isinstance(wanted[0], Const) and bool(wanted[0].value)
        return Tensor(leaf=Leaf("?", "?") if wants else None, data=True, made=self.site(node))

    def _require(self, value: Tensor, arguments: Several[Given]) -> Value:
        wants = not arguments or not isinstance(arguments[0][0], Const) or bool(arguments[0][0].value)
        if value.leaf is not None:
            value.leaf.requires = wants
        elif wants and value.op is None:
            value.leaf, value.cut = Leaf(value.label or "?", value.label or "?"), None
        return value

    def _in_place(
        self, value: Tensor, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """`tensor.zero_()` and the like: it clears a gradient, changes a parameter, or edits a tensor."""
        of = value.attributes.get("<of>")
        if isinstance(of, Tensor) and of.leaf is not None:
            if value.cut is not None or name not in ("zero_", "detach_"):
                self.world.update(of.leaf, self.site(node), counted=False, certain=not self.frame.assumed)
            elif name == "zero_":
                self.world.clear([of.leaf])
            return value
        if value.leaf is not None and value.op is None:
            self.world.update(value.leaf, self.site(node), certain=not self.frame.assumed)
            return value
        storage = memory(value)
        if storage is not None:
            storage.version += 1
            storage.edited, storage.by = self.site(node), None
        made = self.function(name.removesuffix("_"), [(value, None), *arguments], keywords, node)
        if isinstance(made, Tensor) and made.op is not None:
            value.op, value.cut = made.op, None
        return value

    def read_saved(self, value: Value, node: ast.expr) -> Value:
        """`out.grad_fn.saved_tensors`."""
        op = value.op
        if op is not None and op.freed is not None and op.saves and not op.freed_doubt:
            self.world.troubles.append(ReadFreed(self.site(node), op, self.world.moment, value.label))
        return Value()


def _saved(row: Operation, inputs: Several[Value]) -> tuple[Storage, ...]:
    """What an operation keeps of several inputs, where another one has a graph."""
    tensors = [each for each in inputs if isinstance(each, Tensor)]
    kept = [each for place, each in enumerate(tensors) if place in row.factors or place in row.inputs]
    wanted = [each for each in kept if any(other is not each and other.differentiable for other in tensors)]
    return tuple(storage for each in wanted if (storage := memory(each)) is not None)


def _is_whole(value: Value) -> bool:
    """Whether it is a type of numbers that have no gradients: `torch.long`."""
    return isinstance(value, Library) and value.path.rpartition(".")[2] in WHOLE_TYPES


def _all_scalar(value: Value) -> bool:
    if isinstance(value, Sequence):
        return bool(value.elements) and all(map(_all_scalar, value.elements))
    if value.op is not None:
        return value.op.scalar
    return not (isinstance(value, Tensor) and value.differentiable)


def _copied(value: Tensor) -> Tensor:
    return Tensor(op=value.op, cut=value.cut, storage=value.storage, made=value.made)
