"""Statements: bindings, branches, loops of two rounds, definitions, imports."""

import ast
from collections.abc import Callable
from collections.abc import Sequence as Statements_
from typing import Any

from gradsan.check.binding import Binding
from gradsan.check.choices import leads_out
from gradsan.check.definitions import class_frame, decorator_names, fields_of, is_plain
from gradsan.check.expressions import LONGEST_UNROLLED, Expressions
from gradsan.check.graph import Cut, LoopRun, redate
from gradsan.check.imports import Imports
from gradsan.check.values import (
    NONE,
    Class,
    Const,
    Context,
    Function,
    Index,
    Instance,
    Layer,
    Mapping,
    Sequence,
    Tensor,
    Value,
    Yielded,
    key_of,
    memory,
)
from gradsan.knowledge.effects import does


class Statements(Imports, Binding, Expressions):
    """What every kind of statement does."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._executors: dict[type[ast.stmt], Callable[[Any], str | None]] = {}

    def execute(self, body: Statements_[ast.stmt]) -> str | None:
        """Follow statements until one of them leads out."""
        for statement in body:
            kind = type(statement)
            handler = self._executors.get(kind)
            if handler is None:
                handler = self._executors[kind] = getattr(self, f"_do_{kind.__name__}", _do_nothing)
            ended = handler(statement)
            if ended is not None:
                return ended
        return None

    def _do_Expr(self, node: ast.Expr) -> None:
        self.evaluate(node.value)

    def _do_Assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.assign(target, value, node.value)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value), node.value)

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        before = self.evaluate(node.target)
        right = self.evaluate(node.value)
        if isinstance(before, Sequence) and isinstance(node.op, ast.Add):
            before.elements += self.elements(right, node.value)
            before.exact = before.exact and isinstance(right, Sequence) and right.exact
            return
        if isinstance(before, Tensor) and before.leaf is not None and before.op is None and not self.world.recording:
            self.world.update(before.leaf, self.site(node), certain=not self.frame.assumed)
            return
        value = self.arithmetic(type(node.op), (before, node.target), (right, node.value), node)
        if isinstance(before, Const | Index) and isinstance(right, Const) and self.world.moment:
            value = _counted(before, node.op)
        if isinstance(before, Tensor) and isinstance(value, Tensor):
            self.edit(before, node)
            value.storage = before.storage
            value.leaf = None if value.op is not None else before.leaf
        self.assign(node.target, value, node.value)

    def _do_Return(self, node: ast.Return) -> str:
        value = NONE if node.value is None else self.evaluate(node.value)
        self.frame.names["<return>"] = value
        return "return"

    def _do_Raise(self, node: ast.Raise) -> str:  # noqa: ARG002
        return "raise"

    def _do_Break(self, node: ast.Break) -> str:  # noqa: ARG002
        return "break"

    def _do_Continue(self, node: ast.Continue) -> str:  # noqa: ARG002
        return "continue"

    def _do_Global(self, node: ast.Global) -> None:
        self.frame.foreign.update(node.names)

    def _do_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.frame.foreign.update(node.names)

    def _do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            match target:
                case ast.Name(name):
                    self.frame.names.pop(name, None)
                case ast.Attribute(value, name):
                    self.evaluate(value).attributes.pop(name, None)
                case ast.Subscript(value, index):
                    self._delete_item(self.evaluate(value), index)

    def _delete_item(self, container: Value, index: ast.expr) -> None:
        match container:
            case Sequence() if isinstance(index, ast.Slice):
                container.elements.clear()
            case Sequence() if container.elements:
                container.elements.pop(0)
            case Mapping():
                container.entries.pop(key_of(self.evaluate(index)), None)

    def _do_If(self, node: ast.If) -> str | None:
        known = self.known(node.test)
        stored = self.world.stored_under.setdefault(id(node), set())
        with self.world.noting(stored):
            if known is not None:
                return self.execute(node.body if known else node.orelse)
            taken = self.condition(node, node.test)
            self.world.assumptions.append((node, self.frame.code, self.world.moment))
            return self._assuming(node.body if taken else node.orelse)

    def _assuming(self, body: list[ast.stmt]) -> str | None:
        """Follow a branch that is taken on an assumption."""
        self.frame.assumed += 1
        try:
            return self.execute(body)
        finally:
            self.frame.assumed -= 1

    def _do_For(self, node: ast.For) -> str | None:
        iterated = self.evaluate(node.iter)
        run = LoopRun(self.site(node))
        elements = self.elements(iterated, node.iter)
        if not _goes_over_modules(elements):
            elements = elements[:LONGEST_UNROLLED]
        for number, element in enumerate(elements, 1):
            with self.round_of(run, number):
                if isinstance(iterated, Yielded) and number <= len(iterated.made_for):
                    for op in iterated.made_for[number - 1]:
                        redate(op, self.world.moment)
                        self.world.made_at[id(op.site.node)].append(self.world.moment)
                self.assign(node.target, element)
                ended = self.execute(node.body)
            if ended == "break":
                return None
            if ended in ("return", "raise"):
                return ended
        return self.execute(node.orelse)

    _do_AsyncFor = _do_For

    def _do_While(self, node: ast.While) -> str | None:
        run = LoopRun(self.site(node))
        for number in (1, 2):
            with self.round_of(run, number):
                if self.known(node.test) is False:
                    break
                ended = self.execute(node.body)
            if ended == "break":
                return None
            if ended in ("return", "raise"):
                return ended
        return self.execute(node.orelse)

    def _do_With(self, node: ast.With) -> str | None:
        before = self.world.recording, self.world.silencer
        for item in node.items:
            context = self.evaluate(item.context_expr)
            if isinstance(context, Context) and context.enables is not None:
                self.world.recording = context.enables
                self.world.silencer = None if context.enables else Cut(self.site(item.context_expr), context.how)
            if item.optional_vars is not None:
                given = context.given if isinstance(context, Context) and context.given is not None else context
                self.assign(item.optional_vars, given)
        try:
            return self.execute(node.body)
        finally:
            self.world.recording, self.world.silencer = before

    _do_AsyncWith = _do_With

    def _do_Try(self, node: ast.Try) -> str | None:
        fallback = next((each.body for each in node.handlers if not leads_out(each.body)), None)
        if fallback is not None and self.choices.raises_now(self.world.moment):
            self.world.assumptions.append((node, self.frame.code, self.world.moment))
            ended = self._assuming(fallback)
            return self.execute(node.finalbody) or ended
        ended = self.execute(node.body)
        if ended is None:
            ended = self.execute(node.orelse)
        return self.execute(node.finalbody) or ended

    _do_TryStar = _do_Try

    def _do_Match(self, node: ast.Match) -> str | None:
        self.evaluate(node.subject)
        return self._assuming(node.cases[0].body)

    def _do_FunctionDef(self, node: ast.FunctionDef) -> None:
        decorators = decorator_names(node)
        function = Function(node=node, source=self.frame.source, outer=self.frame, decorators=decorators)
        for name, default in _defaults(node.args):
            function.defaults[name] = self.evaluate(default)
        if any(does(each, "caches") for each in decorators):
            function.remembered = {}
        self.frame.names[node.name] = function

    _do_AsyncFunctionDef = _do_FunctionDef

    def _do_ClassDef(self, node: ast.ClassDef) -> None:
        bases = tuple(self._base(each) for each in node.bases)
        made = Class(node=node, source=self.frame.source, bases=bases, label=node.name)
        inner = class_frame(self.frame, node)
        with self.within(inner):
            self.execute(node.body)
        made.members = inner.names
        for each in made.members.values():
            if isinstance(each, Function) and each.outer is inner:
                each.owner, each.outer = made, self.frame
        made.fields = fields_of(made)
        made.plain = is_plain(made)
        self.frame.names[node.name] = made

    def _base(self, node: ast.expr) -> Value:
        value = self.evaluate(node)
        if type(value) is Value and value.label is None:
            value.label = ast.unparse(node)
        return value

    def edit(self, value: Tensor, node: ast.AST) -> None:
        """A tensor is changed in place."""
        storage = memory(value)
        if storage is not None:
            storage.version += 1
            storage.edited, storage.by = self.site(node), None


def _goes_over_modules(elements: list[Value]) -> bool:
    """Modules are gone through to the last: what is done to one of them is done to all."""
    return bool(elements) and all(isinstance(each, Layer | Instance) for each in elements)


def _do_nothing(_: ast.stmt) -> None:
    return None


def _counted(before: Const | Index, operator: ast.operator) -> Value:
    """A counter in a loop: two rounds show that it is no longer 0, and nothing else about the rounds to come."""
    was = before.position if isinstance(before, Index) else before.value
    if isinstance(operator, ast.Add) and isinstance(was, int) and was >= 0:
        return Index(position=was + 1)
    return Value()


def _defaults(arguments: ast.arguments) -> list[tuple[str, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    found = [
        (argument.arg, default) for argument, default in zip(positional[::-1], arguments.defaults[::-1], strict=False)
    ]
    found += [
        (argument.arg, default)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is not None
    ]
    return found
