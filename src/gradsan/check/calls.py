"""Calls: of everything, by what it is."""

import ast
from collections.abc import Sequence as Several

from gradsan.check.attributes import Attributes
from gradsan.check.holding import OF_TENSORS, lacks
from gradsan.check.machine import Given
from gradsan.check.troubles import Misfit
from gradsan.check.values import (
    NONE,
    Class,
    Const,
    Distribution,
    Function,
    Instance,
    Layer,
    Library,
    Mapping,
    Method,
    Optimizer,
    Partial,
    Scaler,
    Sequence,
    Tensor,
    Value,
    ops_of,
)


class Calls(Attributes):
    """Who is called, and what with."""

    def _eval_Call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            receiver = self.evaluate(node.func.value)
            arguments, keywords = self._arguments(node)
            return self.call_method(receiver, node.func.attr, arguments, keywords, node)
        function = self.evaluate(node.func)
        arguments, keywords = self._arguments(node)
        return self.call(function, arguments, keywords, node)

    def _arguments(self, node: ast.Call) -> tuple[list[Given], dict[str, Given]]:
        arguments: list[Given] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                inner = self.evaluate(each.value)
                known = isinstance(inner, Sequence) and inner.exact
                arguments += [
                    (one, each.value) for one in (self.elements(inner, each) if known or inner.op is None else [inner])
                ]
            else:
                arguments.append((self.evaluate(each), each))
        keywords: dict[str, Given] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = (value, keyword.value)
            elif isinstance(value, Mapping):
                keywords |= {key: (each, keyword.value) for key, each in value.entries.items() if isinstance(key, str)}
            elif ops_of(value):
                keywords["**"] = (value, keyword.value)
        return arguments, keywords

    def call(self, function: Value, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        """The result of a call."""
        match function:
            case Function():
                return self.enter(function, arguments, keywords, node)
            case Method():
                if isinstance(function.function, Function):
                    return self.enter(function.function, arguments, keywords, node, function.receiver)
                return self.call_method(function.receiver, function.name, arguments, keywords, node)
            case Partial():
                bound = [(each, None) for each in function.arguments]
                named = {key: (each, None) for key, each in function.keywords.items()}
                return self.call(function.function, [*bound, *arguments], {**named, **keywords}, node)
            case Class():
                return self.construct(function, arguments, keywords, node)
            case Instance():
                return self.call_instance(function, arguments, keywords, node)
            case Layer():
                return self.call_layer(function, [*arguments, *keywords.values()], node)
            case Library():
                return self.call_library(function.path, arguments, keywords, node)
        return self.call_value(function, arguments, keywords, node)

    def call_method(  # noqa: C901, PLR0912 # one branch for each kind of receiver
        self, receiver: Value, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """`receiver.name(...)`."""
        if name in OF_TENSORS:
            self._note_misfit(receiver, name, node)
        match receiver:
            case Library(path="builtins.super"):
                return self.call_super(name, arguments, keywords, node)
            case Library():
                return self.call(self.attribute(receiver, name, node), arguments, keywords, node)
            case Instance():
                return self.instance_method(receiver, name, arguments, keywords, node)
            case Class():
                return self.class_method(receiver, name, arguments, keywords, node)
            case Layer():
                return self._layer_method(receiver, name, arguments, keywords, node)
            case Optimizer():
                return self.optimizer_method(receiver, name, arguments, keywords, node)
            case Scaler():
                return self._scaler_method(name, arguments, keywords, node)
            case Tensor():
                return self.tensor_method(receiver, name, arguments, keywords, node)
            case Sequence():
                return self.sequence_method(receiver, name, arguments, keywords, node)
            case Mapping():
                return self.mapping_method(receiver, name, arguments, keywords, node)
            case Distribution():
                return self._distribution_method(receiver, name, arguments, keywords, node)
            case Const():
                return Value(made=self.site(node))
            case Function() if name == "cache_clear":
                receiver.remembered = {} if receiver.remembered is not None else None
                return NONE
        stored = receiver.attributes.get(name)
        if stored is not None:
            return self.call(stored, arguments, keywords, node)
        return self.unknown_method(receiver, name, arguments, keywords, node)

    def _note_misfit(self, receiver: Value, name: str, node: ast.expr) -> None:
        """Note that what a method of tensors is called on has no such method, or may have none."""
        lacking = lacks(receiver, name)
        if lacking is not False and isinstance(node, ast.Call):
            self.world.misfits.add(Misfit(self.frame.code.file, node.lineno, ast.unparse(node.func), bool(lacking)))

    def _layer_method(
        self, layer: Layer, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        if name in ("forward", "__call__"):
            return self.call_layer(layer, [*arguments, *keywords.values()], node)
        answer = self.module_method(layer, name, arguments, keywords)
        if answer is not None:
            return answer
        match name:
            case "append" | "insert" if arguments:
                layer.children.append((str(len(layer.children)), arguments[-1][0]))
                return layer
            case "extend" if arguments:
                for each in self.elements(arguments[0][0], node):
                    layer.children.append((str(len(layer.children)), each))
                return layer
            case "items":
                pairs: list[Value] = [
                    Sequence(elements=[Const(value=key), each], kind="tuple") for key, each in layer.children
                ]
                return Sequence(elements=pairs)
            case "values":
                return Sequence(elements=[each for _, each in layer.children])
            case "keys":
                return Sequence(elements=[Const(value=key) for key, _ in layer.children])
        return self.unknown_call(name, arguments, keywords, node)

    def _scaler_method(self, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        if name == "scale" and arguments:
            scalar = arguments[0][0].op is None or arguments[0][0].op.scalar
            if not ops_of(arguments[0][0]):
                return arguments[0][0]
            return self.result("mul", arguments[:1], node, form="linear" if scalar else "other", scalar=scalar)
        if name == "step" and arguments:
            optimizer = arguments[0][0]
            if not isinstance(optimizer, Optimizer):
                optimizer = self.as_optimizer(optimizer)
            return self.optimizer_method(optimizer, "step", arguments[1:], keywords, node)
        return Value()

    def _distribution_method(
        self, receiver: Value, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        if name == "sample":
            return self.cut(Tensor(op=receiver.op), "`.sample()`", node)
        return self.function(name, [(receiver, None), *arguments], keywords, node)
