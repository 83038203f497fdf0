"""Modules of torch.nn: how they are made, what calling them does, and what they answer."""

import ast
from collections.abc import Sequence as Several
from dataclasses import replace

from gradsan.check.graph import LIKELY, SURE, Leaf
from gradsan.check.machine import Given
from gradsan.check.tensor_calls import TensorCalls
from gradsan.check.values import (
    Const,
    Instance,
    Layer,
    Mapping,
    Method,
    Sequence,
    Tensor,
    Value,
    leaves_of,
    ops_of,
)
from gradsan.knowledge.module_classes import RETURN_THE_MODULE, is_loss, module_class

_MOST_MODULES = 40


class LayerCalls(TensorCalls):
    """Layers."""

    def new_layer(self, kind: str, arguments: Several[Given], keywords: dict[str, Given]) -> Value:
        """`nn.Linear(…)`."""
        if kind == "Parameter":
            wanted = keywords.get("requires_grad")
            frozen = wanted is not None and isinstance(wanted[0], Const) and not wanted[0].value
            return Tensor(leaf=Leaf("?", "?", requires=not frozen))
        row = module_class(kind)
        if row.holds:
            return Layer(kind=kind, children=self._children(kind, arguments))
        if not row.parameters:
            return Layer(kind=kind)
        return Layer(kind=kind, leaf=Leaf(kind, kind))

    def _children(self, kind: str, arguments: Several[Given]) -> list[tuple[str, Value]]:
        values = [value for value, _ in arguments]
        first = values[0] if values else None
        match first:
            case Mapping():
                return [(str(key), each) for key, each in first.entries.items()]
            case Sequence() if kind != "Sequential" or len(values) == 1:
                return [(str(at), each) for at, each in enumerate(first.elements)]
        return [(str(at), each) for at, each in enumerate(values)]

    def call_layer(self, layer: Layer, given: Several[Given], node: ast.expr) -> Value:
        """The output of a layer, after its hooks have seen it."""
        value = self.as_compiled(layer, self._output(layer, given, node), node)
        if "<hooks>" not in layer.attributes:
            return value
        with self.within(replace(self.frame, receiver=Instance(running=True))):
            return self.after_forward(layer, given, value, node)

    def as_compiled(self, module: Value, value: Value, node: ast.expr) -> Value:
        """What a compiled module returns hangs on one op."""
        if "<compiled>" not in module.attributes or not isinstance(value, Tensor) or value.op is None:
            return value
        return self.result("compiled", [(value, None)], node, compiled=id(module))

    def after_forward(self, module: Value, given: Several[Given], value: Value, node: ast.expr) -> Value:
        """What hooks make of the output of a module."""
        hooks = module.attributes.get("<hooks>")
        for hook in hooks.elements if isinstance(hooks, Sequence) else ():
            inputs = Sequence(elements=[each for each, _ in given], kind="tuple")
            answer = self.call(hook, [(module, None), (inputs, None), (value, None)], {}, node)
            if ops_of(answer):
                value = answer
        return value

    def _output(self, layer: Layer, given: Several[Given], node: ast.expr) -> Value:
        if layer.assumed:
            return self.call_assumed(layer, given, node)
        if layer.kind == "Sequential":
            return self._chain(layer, given, node)
        row = module_class(layer.kind)
        if row.holds:
            return Value()
        leaf = layer.leaf
        entering = any(ops_of(value) or (isinstance(value, Tensor) and value.differentiable) for value, _ in given)
        # Loops are followed for two iterations: the state of the first is data, that of any later one has a graph.
        carried = row.carries and len(given) > 1 and bool(self.world.moment)
        keeps = row.saves_weight == "always" or (row.saves_weight == "with a graph" and (entering or carried))
        made = self.result(
            layer.kind,
            given,
            node,
            saves=row.saves,
            scalar=is_loss(layer.kind),
            leaves=() if leaf is None else (leaf,),
            storages=(leaf.storage,) if leaf is not None and keeps else (),
        )
        return _shaped(layer.kind, made)

    def _chain(self, layer: Layer, given: Several[Given], node: ast.expr) -> Value:
        if not layer.children:
            return given[0][0] if given else Value()
        value: Value = Value()
        current: Several[Given] = given
        for _, child in layer.children:
            value = self.call(child, current, {}, node)
            current = [(value, None)]
        return value

    def layer_attribute(self, layer: Layer, name: str, node: ast.expr) -> Value:
        """`layer.weight`, `model.head`."""
        for own, child in layer.children:
            if own == name:
                return child
        if name in ("weight", "bias") and layer.leaf is not None:
            return Tensor(leaf=layer.leaf)
        if name in ("module", "_orig_mod"):
            return layer
        known = layer.attributes.get(name)
        if known is not None:
            return known
        if layer.assumed and not name.startswith("_"):
            value = layer.attributes[name] = Value(label=f"{layer.label}.{name}", made=self.site(node))
            return value
        return Method(receiver=layer, name=name)

    def module_method(  # noqa: C901, PLR0912 # one question after the other
        self, module: Value, name: str, arguments: Several[Given], keywords: dict[str, Given]
    ) -> Value | None:
        """What every module answers; None: not that."""
        if name in RETURN_THE_MODULE:
            if name == "requires_grad_":
                wants = not arguments or not isinstance(arguments[0][0], Const) or bool(arguments[0][0].value)
                for leaf in leaves_of(module):
                    leaf.requires = wants
            if name in ("train", "eval"):
                _switch(module, Const(value=name == "train" and not _is_false(arguments)))
            return module
        if name in ("parameters", "named_parameters"):
            tensors: list[Value] = [Tensor(leaf=leaf) for leaf in leaves_of(module)]
            if name == "named_parameters":
                tensors = [Sequence(elements=[Value(), each], kind="tuple") for each in tensors]
            return Sequence(elements=tensors, exact=bool(tensors))
        if name == "zero_grad":
            self.world.clear(leaves_of(module))
            return Value()
        if name in ("register_buffer", "register_parameter", "add_module", "register_module"):
            return self._register(module, name, arguments, keywords)
        if name == "register_forward_hook" and arguments:
            hooks = module.attributes.setdefault("<hooks>", Sequence())
            if isinstance(hooks, Sequence):
                hooks.elements.append(arguments[0][0])
            return Value()
        if name in ("state_dict", "load_state_dict", "buffers", "named_buffers"):
            return Value()
        if name in ("children", "modules", "named_children", "named_modules"):
            found = _submodules(module) if "children" in name else [module, *_descendants(module)]
            if name.startswith("named_"):
                found = [Sequence(elements=[Value(), each], kind="tuple") for each in found]
            return Sequence(elements=found, exact=False)
        return None

    def _register(self, module: Value, name: str, arguments: Several[Given], keywords: dict[str, Given]) -> Value:
        given = [value for value, _ in arguments]
        value = (
            given[1]
            if len(given) > 1
            else next((keywords[key][0] for key in ("tensor", "module") if key in keywords), None)
        )
        if value is not None and given and isinstance(given[0], Const):
            if isinstance(module, Layer):
                module.children.append((str(given[0].value), value))
            else:
                module.attributes[str(given[0].value)] = value
                if name == "register_buffer":
                    value.attributes["<buffer>"] = value
        return Value()

    def layer_item(self, layer: Layer, key: object) -> Value:
        """`layers[0]`, `heads["age"]`."""
        for own, child in layer.children:
            if own == str(key):
                return child
        if isinstance(key, int) and -len(layer.children) <= key < len(layer.children):
            return layer.children[key][1]
        return layer.children[-1][1] if layer.children else Value()


def _is_false(arguments: Several[Given]) -> bool:
    return bool(arguments) and isinstance(arguments[0][0], Const) and not arguments[0][0].value


def _switch(module: Value, training: Const, depth: int = 8) -> None:
    """Between training and evaluation, down to the modules inside."""
    module.attributes["training"] = training
    if depth:
        for each in _submodules(module):
            _switch(each, training, depth - 1)


def _shaped(kind: str, made: Tensor) -> Value:
    both = Sequence(elements=[made, made], kind="tuple")
    match module_class(kind).output:
        case "pair":
            return both
        case "pair with a pair":
            return Sequence(elements=[made, both], kind="tuple")
    return made


def _descendants(module: Value) -> list[Value]:
    found: list[Value] = []
    waiting = _submodules(module)
    while waiting and len(found) < _MOST_MODULES:
        each = waiting.pop(0)
        if each not in found:
            found.append(each)
            waiting += _submodules(each)
    return found


def _submodules(module: Value) -> list[Value]:
    match module:
        case Layer():
            return [child for _, child in module.children]
        case Instance():
            return [each for each in module.attributes.values() if isinstance(each, Layer | Instance)]
    return []


__all__ = ["LIKELY", "SURE", "LayerCalls"]
