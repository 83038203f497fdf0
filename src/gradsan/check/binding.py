"""Binding: what a name, an attribute or an item holds from now on, and what a loop gathers in it."""

import ast

from gradsan.check.graph import Label, Op, Site
from gradsan.check.machine import Machine
from gradsan.check.troubles import Collecting, Rebinding
from gradsan.check.values import (
    Const,
    Instance,
    Layer,
    Mapping,
    Optimizer,
    Sequence,
    Tensor,
    Value,
    key_of,
    leaves_of,
    ops_of,
)
from gradsan.check.world import older_round


class Binding(Machine):
    """Targets of assignments."""

    def assign(self, target: ast.expr, value: Value, made_by: ast.expr | None = None) -> None:
        """Bind a name, an attribute, an item, or several of them."""
        match target:
            case ast.Name(name):
                self._christen(name, value)
                self._gather(target, value)
                self._rebind(name, value, target)
                home = self.frame.home_of(name) if name in self.frame.foreign else None
                (home or self.frame).names[name] = value
                self.frame.given.pop(name, None)
                self.world.stores(name)
            case ast.Attribute(owner, name):
                self._gather(target, value)
                self._set_attribute(self.evaluate(owner), name, value, target)
            case ast.Subscript(owner, index):
                self._set_item(self.evaluate(owner), index, value, target)
            case ast.Starred(inner):
                self.assign(inner, value, made_by)
            case ast.Tuple(targets) | ast.List(targets):
                self._unpack(targets, value, target)

    def _unpack(self, targets: list[ast.expr], value: Value, node: ast.expr) -> None:
        if isinstance(value, Sequence) and (value.exact or value.elements):
            self._unpack_sequence(targets, value)
            return
        for position, target in enumerate(targets):
            self.assign(target, self.unpacked(value, position, node))

    def unpacked(self, value: Value, position: int, node: ast.expr) -> Value:
        """One of several values that something unknown was unpacked into."""
        raise NotImplementedError

    def _unpack_sequence(self, targets: list[ast.expr], value: Sequence) -> None:
        starred = next((at for at, each in enumerate(targets) if isinstance(each, ast.Starred)), None)
        elements = list(value.elements)
        if not value.exact:
            elements += [elements[-1]] * max(0, len(targets) - len(elements))
        if starred is not None:
            after = len(targets) - starred - 1
            middle = elements[starred : len(elements) - after]
            rest = Sequence(elements=middle, exact=value.exact, born=self.world.moment)
            elements = [*elements[:starred], rest, *elements[len(elements) - after :]]
        for target, element in zip(targets, elements, strict=False):
            self.assign(target, element)

    def _set_attribute(  # noqa: C901 # one question after the other
        self, owner: Value, name: str, value: Value, node: ast.AST
    ) -> None:
        self.world.stores(name)
        if name == "donated_buffer" and isinstance(value, Const) and not value.value:
            self.world.donates = False
        if name == "grad":
            leaf = owner.leaf if isinstance(owner, Tensor) else None
            if leaf is not None:
                self.world.clear([leaf])
        elif name == "data" and isinstance(owner, Tensor) and owner.leaf is not None:
            self.world.update(owner.leaf, self.site(node), counted=False, certain=not self.frame.assumed)
        elif name == "requires_grad" and isinstance(value, Const):
            for leaf in leaves_of(owner):
                leaf.requires = bool(value.value)
        elif isinstance(owner, Tensor):
            return
        elif isinstance(owner, Layer):
            owner.children = [(own, child) for own, child in owner.children if own != name]
            owner.children.append((name, value))
        else:
            owner.attributes[name] = value
            if isinstance(owner, Instance):
                owner.guessed.discard(name)
        self._christen(f"self.{name}" if isinstance(owner, Instance) else name, value)
        for op in ops_of(value):
            op.escaped = True

    def _set_item(self, owner: Value, index: ast.expr, value: Value, node: ast.AST) -> None:
        match owner:
            case Mapping():
                key = key_of(self.evaluate(index))
                owner.entries[key] = value
                if not isinstance(key, str):
                    self._gather_item(owner, value, node)
            case Sequence():
                self._set_element(owner, index, value)
            case Tensor():
                self._write_into(owner, value, node)
            case _:
                owner.items[key_of(self.evaluate(index))] = value
        for op in ops_of(value):
            op.escaped = True

    def _set_element(self, owner: Sequence, index: ast.expr, value: Value) -> None:
        if isinstance(index, ast.Slice):
            owner.elements = list(value.elements) if isinstance(value, Sequence) else [value]
            return
        at = self.evaluate(index)
        position = at.value if isinstance(at, Const) else None
        if isinstance(position, int) and -len(owner.elements) <= position < len(owner.elements):
            owner.elements[position] = value
        elif owner.elements:
            owner.elements[-1] = value

    def _write_into(self, owner: Tensor, value: Value, node: ast.AST) -> None:
        """`tensor[i] = value`: the tensor takes the history of the value on, beside its own."""
        owner.storage.version += 1
        owner.storage.edited, owner.storage.by = self.site(node), None
        if not (ops_of(value) or leaves_of(value) or owner.op):
            return
        written = self.result("copy_slices", [(owner, None), (value, None)], node, saves=True)
        if written.op is not None:
            owner.op, owner.made = written.op, written.made

    def _christen(self, name: str, value: Value) -> None:
        """The first name that something gets is what it is called."""
        match value:
            case Optimizer() if value.name == "optimizer":
                value.name = name
            case Layer() | Instance():
                for leaf in leaves_of(value):
                    leaf.module = name.removeprefix("self.")
            case Tensor() if value.leaf is not None and value.leaf.name == "?":
                value.leaf.name = value.leaf.module = name
        if value.label is None and not isinstance(value, Const):
            value.label = name
        if value.op is not None:
            value.op.called = value.op.called or name
        elif isinstance(value, Tensor) and value.cut is not None:
            value.cut.name = value.cut.name or name

    def _rebind(self, name: str, value: Value, node: ast.AST) -> None:
        """Note the losses that a loop gives a name."""
        op = value.op
        if op is not None and op.scalar and self.world.moment and op.moment == self.world.moment:
            self.world.rebindings.append(Rebinding(name, op, self.site(node)))

    def _gather(self, target: ast.expr, value: Value) -> None:
        """`total = total + loss`: a name that takes on the history of one more round."""
        op = value.op
        if op is None or not self.world.moment:
            return
        named = [edge for edge in op.edges if edge.label is not None]
        text = ast.unparse(target) if named else ""
        for edge in named:
            if edge.label is not None and edge.label.name == text and older_round(edge.op.moment, self.world.moment):
                self.note_gathering(text, edge.label, op, self.site(target), total=True)

    def _gather_item(self, owner: Mapping, value: Value, node: ast.AST) -> None:
        if isinstance(node, ast.Subscript) and self.still_holds_older(owner):
            name = ast.unparse(node.value)
            for op in ops_of(value)[:1]:
                self.note_gathering(name, Label(name, "item"), op, self.site(node))

    def note_gathering(self, name: str, holder: Label, op: Op, site: Site, *, total: bool = False) -> None:
        """A holder that outlives the round is fed with a history."""
        run, _ = self.world.moment[-1]
        known = self.world.collecting.setdefault(
            (id(site.node), id(run)), Collecting(name, holder, site, op, run, total=total)
        )
        known.ops.append(op)
        known.op = op

    def still_holds_older(self, container: Value) -> bool:
        """Whether a container still holds a history of an earlier round."""
        return bool(self.world.moment) and any(older_round(op.moment, self.world.moment) for op in ops_of(container))
