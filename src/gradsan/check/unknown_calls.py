"""Calls whose source is not known: they pass histories through and consume nothing."""

import ast
from collections.abc import Sequence as Several
from functools import lru_cache

from gradsan.check.definitions import dotted
from gradsan.check.graph import DOUBTFUL, LIKELY
from gradsan.check.layer_calls import LayerCalls
from gradsan.check.machine import Given
from gradsan.check.source import Source
from gradsan.check.values import Const, Instance, Layer, Mapping, Optimizer, Sequence, Tensor, Value, leaves_of, ops_of
from gradsan.knowledge.effects import accumulates, asks_for_pass, does
from gradsan.knowledge.hints import (
    CUTTING_WORDS,
    ENGINES,
    HARMLESS,
    LOSS_WORDS,
    MODULE_NAMES,
    NOT_OPTIMIZER_WORDS,
    OPTIMIZER_WORDS,
    PASS_RECEIVERS,
)
from gradsan.knowledge.module_classes import METHODS, PROOF, RETURN_THE_MODULE
from gradsan.knowledge.tensors import operation


class UnknownCalls(LayerCalls):
    """What cannot be followed."""

    def unknown_call(
        self,
        name: str,
        arguments: Several[Given],
        keywords: dict[str, Given],
        node: ast.expr,
        receiver: Given | None = None,
    ) -> Value:
        """The result of something unknown: it may carry whatever was put in."""
        given = [*([] if receiver is None else [receiver]), *arguments, *keywords.values()]
        last = name.rsplit(".", 1)[-1].lower()
        self._let_go(given, harmless=last in HARMLESS)
        if last in HARMLESS or not any(ops_of(value) for value, _ in given):
            return Value(made=self.site(node), opaque=True)
        if any(word in last for word in CUTTING_WORDS) or operation(last).cuts:
            first = next(value for value, _ in given if ops_of(value))
            return self.cut(first, f"`{name}`", node)
        is_loss = any(word in last for word in LOSS_WORDS)
        made = self.result(last, given, node, doubt=LIKELY if is_loss else DOUBTFUL, scalar=is_loss)
        return made if made.op is None else Value(op=made.op, made=made.made)

    def _let_go(self, given: Several[Given], *, harmless: bool) -> None:
        """What was handed to something unknown may be kept, changed or cleared there."""
        for value, _ in given:
            if isinstance(value, Optimizer):
                self.world.forget_gradients(self.world.owned(value))
            elif isinstance(value, Layer | Instance):
                self.world.forget_gradients(leaves_of(value))
            if not harmless:
                for op in ops_of(value):
                    op.escaped = True
                if isinstance(value, Sequence | Mapping):
                    value.exact = False

    def unknown_method(  # noqa: C901 # one question after the other
        self, value: Value, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """A method of something unknown."""
        receiver: Given = (
            value,
            node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None,
        )
        label = (value.label or "").rsplit(".", 1)[-1].lower()
        if asks_for_pass(name) and accumulates(name):
            return self._unknown_pass(receiver, label, arguments, keywords, node)
        if name in ("step", "zero_grad") and (_is_optimizer_name(label) or "<optimizer>" in value.attributes):
            return self.optimizer_method(self.as_optimizer(value), name, arguments, keywords, node)
        if name == "step" and any(word in label for word in ENGINES):
            return self._engine_step(node)
        if name == "zero_grad" and value.op is None:
            self.world.clear(leaves_of(self.as_layer(value)))
            self.world.clear([leaf for each in self.world.passes for leaf in each.reached if leaf.assumed])
            return Value()
        if name in METHODS and value.op is None and (name in PROOF or self.is_module_like(value)):
            answer = self.module_method(self.as_layer(value), name, arguments, keywords)
            if answer is not None:
                return value if isinstance(answer, Layer) else answer
        if does(name, "wraps"):
            values = [each for each, _ in arguments]
            return values[0] if len(values) == 1 else Sequence(elements=values, kind="tuple")
        row = operation(name)
        if name in RETURN_THE_MODULE or (row.rearranges and row.returns == "tensor"):
            return value
        if value.op is not None and row.cuts:
            return self.cut(value, f"`.{name}()`", node)
        if value.op is not None and row.graph == "describes":
            return Value()
        if value.op is None and self.is_module_like(value) and name in ("forward", "__call__"):
            return self.call_assumed(self.as_layer(value), [*arguments, *keywords.values()], node)
        if value.op is not None and value.op.doubt <= LIKELY and not row.is_assumed:
            made = self.function(name, [receiver, *arguments], keywords, node)
            return Value(op=made.op, made=made.made) if isinstance(made, Tensor) and made.op is not None else made
        return self.unknown_call(name, arguments, keywords, node, receiver)

    def _unknown_pass(
        self, receiver: Given, label: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """`loss.backward()`, or `accelerator.backward(loss)`."""
        if arguments and not isinstance(arguments[0][0], Const):
            handed = any(word in label for word in PASS_RECEIVERS) or ops_of(arguments[0][0])
            if handed and receiver[0].op is None:
                return self.backward(arguments[0], arguments[1:], keywords, node)
        if "loss" in keywords and receiver[0].op is None:
            return self.backward(keywords.pop("loss"), arguments, keywords, node)
        return self.backward(receiver, arguments, keywords, node)

    def _engine_step(self, node: ast.expr) -> Value:
        leaves = list({leaf for each in self.world.passes for leaf in each.reached})
        for leaf in leaves:
            self.world.update(leaf, self.site(node))
        self.world.clear(leaves)
        return Value()

    def call_value(self, value: Value, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        """Something unknown is called."""
        given = [*arguments, *keywords.values()]
        if value.op is None and self.is_module_like(value):
            return self.call_assumed(self.as_layer(value), given, node)
        receiver: Given | None = (value, None) if value.op is not None else None
        return self.unknown_call(value.label or "?", arguments, keywords, node, receiver)

    def is_module_like(self, value: Value) -> bool:
        """Whether its name, or what is asked of it elsewhere, says that it is a module."""
        if "<module>" in value.attributes:
            return True
        label = value.label
        if label is None or type(value) is not Value:
            return False
        last = label.rsplit(".", 1)[-1].lower()
        return last in MODULE_NAMES or label in _proven(self.frame.source)


@lru_cache(maxsize=256)
def _proven(source: Source) -> frozenset[str]:
    """The names in a file whose `.parameters()` is asked for somewhere."""
    return frozenset(
        dotted(node.func.value)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PROOF
    ) - {"self", ""}


def _is_optimizer_name(label: str) -> bool:
    return any(word in label for word in OPTIMIZER_WORDS) and not any(word in label for word in NOT_OPTIMIZER_WORDS)
