"""What objects have under a name or an index."""

import ast

from gradsan.check.graph import DOUBTFUL, LIKELY, Op
from gradsan.check.objects import Objects
from gradsan.check.values import (
    Class,
    Const,
    Context,
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
    is_module,
    member,
)
from gradsan.knowledge.hints import OUTPUT_WORDS
from gradsan.knowledge.tensors import operation
from gradsan.source.disk import locate_import


class Attributes(Objects):
    """Attributes and parts."""

    def attribute(self, value: Value, name: str, node: ast.expr) -> Value:
        """What an object has under a name."""
        match value:
            case Library():
                return self._library_attribute(value, name)
            case Instance():
                return self._instance_attribute(value, name, node)
            case Class():
                return member(value, name) or Method(receiver=value, name=name)
            case Layer():
                return self.layer_attribute(value, name, node)
            case Tensor():
                return self.tensor_attribute(value, name, node)
            case Optimizer() if name == "param_groups":
                owned: list[Value] = [Tensor(leaf=leaf) for leaf in value.owned]
                group = Mapping(entries={"params": Sequence(elements=owned, exact=value.complete)}, exact=False)
                return Sequence(elements=[group], exact=False)
            case Sequence() | Mapping() | Optimizer() | Scaler() | Distribution():
                return value.attributes.get(name) or Method(receiver=value, name=name)
        of = value.attributes.get("<of>")
        if of is not None and (name == "saved_tensors" or name.startswith("_saved_")):
            return self.read_saved(of, node)
        return self._unknown_attribute(value, name, node)

    def _library_attribute(self, library: Library, name: str) -> Value:
        inner = f"{library.path}.{name}"
        if library.file is None:
            return library.attributes.get(name) or Library(path=inner)
        found = self.name_in(library.file, name)
        return found or Library(path=inner, file=locate_import(library.file, name, 1))

    def _instance_attribute(self, instance: Instance, name: str, node: ast.expr) -> Value:
        known = instance.attributes.get(name)
        if known is not None:
            return known
        found = member(instance.cls, name)
        if isinstance(found, Function):
            if any(each.endswith(("property", "cached_property")) for each in found.decorators):
                value = self.enter(found, (), {}, node, instance)
                if any(each.endswith("cached_property") for each in found.decorators):
                    instance.attributes[name] = value
                return value
            return Method(function=found, receiver=instance, name=name)
        if found is not None:
            return found
        if name == "training" and is_module(instance.cls):
            return Const(value=True)  # as long as nobody calls `eval()`
        if name.startswith("__"):
            return instance.cls if name == "__class__" else Value()
        value = instance.attributes[name] = Value(label=f"self.{name}", made=self.site(node))
        instance.guessed.add(name)
        return value

    def _unknown_attribute(self, value: Value, name: str, node: ast.expr) -> Value:
        known = value.attributes.get(name)
        if known is not None:
            return known
        if isinstance(value, Const | Context | Function | Method | Partial):
            return Method(receiver=value, name=name)
        if value.op is not None:
            if name == "grad_fn":
                return Value(attributes={"<of>": value})
            if operation(name).graph == "describes":
                return Value()
            if name in ("data", "grad"):  # of a tensor, or of something that only has such a name
                return Value(opaque=True)
            return self.part(value, name, node)
        label = f"{value.label}.{name}" if value.label else name
        made = value.attributes[name] = Value(label=label, made=self.site(node))
        return made

    def part(self, value: Value, key: object, node: ast.expr) -> Value:
        """A part of something that is one op: of a tensor, or of what a call returned."""
        if isinstance(value, Tensor):
            return Tensor(op=value.op, leaf=value.leaf, cut=value.cut, storage=value.storage, made=value.made)
        if isinstance(value, Const):
            return Value()
        if isinstance(value, Layer):
            return self.layer_item(value, key)
        if isinstance(value, Instance):
            fields = value.cls.fields
            if isinstance(key, int) and value.cls.plain and 0 <= key < len(fields):
                return value.attributes.get(fields[key]) or Value()
            getter = member(value.cls, "__getitem__")
            if isinstance(getter, Function):
                argument = Const(value=key) if isinstance(key, str | int) else Value()
                return self.enter(getter, [(argument, None)], {}, node, value)
            return Value()
        known = value.items.get(key)
        if known is None:
            known = value.items[key] = Value(op=self._part_of(value, key, node), made=self.site(node))
        return known

    def _part_of(self, value: Value, key: object, node: ast.expr) -> Op | None:
        """One output of an unknown module may have little in common with another."""
        op = value.op
        if op is None or op.doubt == 0:
            return op
        likely = not isinstance(key, str) or any(word in key for word in OUTPUT_WORDS)
        doubt = LIKELY if likely else DOUBTFUL
        return self.result(str(key), [(value, None)], node, saves=False, doubt=doubt, scalar=op.scalar).op or op

    def unpacked(self, value: Value, position: int, node: ast.expr) -> Value:
        """One of several values that something unknown was unpacked into."""
        return self.part(value, position, node)
