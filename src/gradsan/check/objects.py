"""Objects of the user's classes: how they are made, called, and what their methods do."""

import ast
from collections.abc import Sequence as Several

from gradsan.check.definitions import inner_pass
from gradsan.check.entering import Entering
from gradsan.check.graph import LIKELY
from gradsan.check.holding import is_named_tuple
from gradsan.check.machine import Given
from gradsan.check.values import (
    NONE,
    Class,
    Function,
    Instance,
    Method,
    Optimizer,
    Partial,
    Sequence,
    Value,
    foreign_bases,
    is_module,
    member,
    ops_of,
)


class Objects(Entering):
    """Classes and their instances."""

    def construct(self, cls: Class, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        """A new object of a class of the user's."""
        made = Instance(cls=cls, made=self.site(node))
        if cls.plain:
            self._fill(made, cls, arguments, keywords)
            return made
        constructor = member(cls, "__init__")
        if isinstance(constructor, Function):
            self.enter(constructor, arguments, keywords, node, made)
        elif is_module(cls) or not any(True for _ in foreign_bases(cls)):
            pass
        else:
            made.attributes["<arguments>"] = Sequence(elements=[value for value, _ in arguments])
        return made

    def _fill(self, made: Instance, cls: Class, arguments: Several[Given], keywords: dict[str, Given]) -> None:
        for name in cls.fields:
            default = cls.members.get(name)
            if default is not None:
                factory = default.attributes.get("<factory>")
                made.attributes[name] = default if factory is None else self.call(factory, (), {}, cls.node)  # type: ignore[arg-type]
        for name, (value, _) in zip(cls.fields, arguments, strict=False):
            made.attributes[name] = value
        made.attributes |= {key: value for key, (value, _) in keywords.items()}

    def call_instance(
        self, instance: Instance, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """An object is called: its own `__call__`, or the forward of a module."""
        own = member(instance.cls, "__call__")
        if isinstance(own, Function):
            return self.enter(own, arguments, keywords, node, instance)
        return self._forward(instance, arguments, keywords, node)

    def _forward(
        self, instance: Instance, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        forward = instance.attributes.get("forward") or member(instance.cls, "forward")
        if isinstance(forward, Method | Partial) or (isinstance(forward, Function) and forward.owner is None):
            return self.call(forward, arguments, keywords, node)
        if not isinstance(forward, Function):
            value = instance.attributes.setdefault("<unknown>", Value(label=instance.label or instance.cls.label))
            if is_module(instance.cls):
                return self.call_assumed(self.as_layer(value), [*arguments, *keywords.values()], node)
            return self.call_value(value, arguments, keywords, node)
        was, instance.running = instance.running, True
        try:
            value = self.enter(forward, arguments, keywords, node, instance)
            value = self.after_forward(instance, arguments, value, node)
            return self.as_compiled(instance, value, node)
        finally:
            instance.running = was

    def instance_method(  # noqa: C901 # one question after the other
        self, instance: Instance, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """`object.name(...)`."""
        stored = instance.attributes.get(name)
        if stored is not None:
            return self.call(stored, arguments, keywords, node)
        found = member(instance.cls, name)
        if isinstance(found, Function):
            if "classmethod" in found.decorators:
                return self.enter(found, arguments, keywords, node, instance.cls)
            if any(each.endswith(("property", "cached_property")) for each in found.decorators):
                return self.call(self.attribute(instance, name, node), arguments, keywords, node)
            return self.enter(found, arguments, keywords, node, instance)
        if found is not None:
            return self.call(found, arguments, keywords, node)
        if name == "_replace":
            return self.builtin("replace", [(instance, None)], keywords, node) or Value()
        if name == "_make" and arguments and is_named_tuple(instance.cls):
            given: list[Given] = [(each, None) for each in self.elements(arguments[0][0], node)]
            return self.construct(instance.cls, given, {}, node)
        if name == "__call__":
            return self.call_instance(instance, arguments, keywords, node)
        if is_module(instance.cls):
            answer = self.module_method(instance, name, arguments, keywords)
            if answer is not None:
                return answer
        if name == "manual_backward" and arguments:
            return self.backward(arguments[0], arguments[1:], keywords, node)
        return self._foreign_method(instance, name, arguments, keywords, node)

    def _foreign_method(
        self, instance: Instance, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """A method that an unknown base class may have: it may do anything to the object."""
        optimizer = instance.attributes.get("<optimizer>")
        if isinstance(optimizer, Optimizer):
            return self.optimizer_method(optimizer, name, arguments, keywords, node)
        if any(True for _ in foreign_bases(instance.cls)) and name not in ("log", "log_dict", "optimizers"):
            for each in instance.attributes.values():
                for op in ops_of(each):
                    op.doubt = max(op.doubt, LIKELY)
        return self.unknown_call(name, arguments, keywords, node)

    def class_method(
        self, cls: Class, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """`Class.name(...)`."""
        found = member(cls, name)
        if isinstance(found, Function):
            if "classmethod" in found.decorators:
                return self.enter(found, arguments, keywords, node, cls)
            return self.enter(found, arguments, keywords, node)
        if name == "apply" and any(base.endswith("Function") for base in foreign_bases(cls)):
            made = self.result(cls.label or "Function", [*arguments, *keywords.values()], node, saves=True)
            if made.op is not None:
                made.op.inner = inner_pass(cls)
            return Value(op=made.op, made=made.made) if made.op else made
        if found is not None:
            return self.call(found, arguments, keywords, node)
        return self.unknown_call(name, arguments, keywords, node)

    def call_super(self, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        """`super().name(...)`."""
        function, receiver = self.frame.function, self.frame.receiver
        owner = None if function is None else function.owner
        if owner is not None and receiver is not None:
            for base in owner.bases:
                found = member(base, name) if isinstance(base, Class) else None
                if isinstance(found, Function):
                    return self.enter(found, arguments, keywords, node, receiver)
            if name == "__init__":
                return self._foreign_constructor(owner, receiver, arguments, keywords)
            return self.module_method(receiver, name, arguments, keywords) or self.unknown_call(
                name, arguments, keywords, node
            )
        return NONE if name == "__init__" else self.unknown_call(name, arguments, keywords, node)

    def _foreign_constructor(
        self, owner: Class, receiver: Instance, arguments: Several[Given], keywords: dict[str, Given]
    ) -> Value:
        """The constructor of a base class in a library: that of an optimizer takes the parameters."""
        if any(base.startswith("torch.optim.") for base in foreign_bases(owner)):
            optimizer = self.new_optimizer(arguments, keywords)
            optimizer.name = receiver.label or "optimizer"
            receiver.attributes["<optimizer>"] = optimizer
            receiver.attributes["param_groups"] = self.attribute(optimizer, "param_groups", ast.Constant(None))
        return NONE
