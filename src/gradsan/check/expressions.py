"""Expressions: names, literals, operators, comprehensions; calls and attributes stand in files of their own."""

import ast
from collections.abc import Callable, Iterator
from typing import Any

from gradsan.check.choices import leads_out
from gradsan.check.graph import LoopRun
from gradsan.check.holding import field_values, is_named_tuple
from gradsan.check.machine import OutOfPatienceError
from gradsan.check.operators import Operators
from gradsan.check.values import (
    NONE,
    Const,
    Function,
    Index,
    Instance,
    Layer,
    Library,
    Mapping,
    Sequence,
    Tensor,
    Value,
    Yielded,
    key_of,
    leaves_of,
    ops_of,
)

_BUILTIN_CONSTANTS = {"True": True, "False": False, "None": None, "__debug__": True}
LONGEST_UNROLLED = 4  # elements of a known list that are gone through one by one


class Expressions(Operators):
    """The value of every kind of expression."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._evaluators: dict[type[ast.expr], Callable[[Any], Value]] = {}

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        self.patience -= 1
        if self.patience < 0:
            raise OutOfPatienceError
        kind = type(node)
        handler = self._evaluators.get(kind)
        if handler is None:
            handler = self._evaluators[kind] = getattr(self, f"_eval_{kind.__name__}", self._eval_unknown)
        return handler(node)

    def _eval_unknown(self, node: ast.expr) -> Value:
        return Value(made=self.site(node))

    def _eval_Constant(self, node: ast.Constant) -> Value:
        return NONE if node.value is None else Const(value=node.value)

    def _eval_Name(self, node: ast.Name) -> Value:
        home = self.frame.home_of(node.id)
        known = None if home is None else self.name(home, node.id)
        if known is None and home is None:
            known = self._starred(node.id)
        if known is not None:
            return known
        if node.id in _BUILTIN_CONSTANTS:
            return Const(value=_BUILTIN_CONSTANTS[node.id])
        return Library(path=f"builtins.{node.id}")

    def _starred(self, name: str) -> Value | None:
        frame = self.modules.get(self.frame.source.path)
        return self.name(frame, name) if frame is not None and frame.stars else None

    def _eval_Attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(self.evaluate(node.value), node.attr, node)

    def _eval_BinOp(self, node: ast.BinOp) -> Value:
        left = (self.evaluate(node.left), node.left)
        return self.arithmetic(type(node.op), left, (self.evaluate(node.right), node.right), node)

    def _eval_UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            known = self.truth(value)
            return Value() if known is None else Const(value=not known)
        if isinstance(value, Const):
            return Const(value=-value.value) if isinstance(value.value, int | float) else Value()
        if isinstance(node.op, ast.USub) and (ops_of(value) or leaves_of(value)):
            scalar = value.op is not None and value.op.scalar
            return self.result(
                "neg", [(value, node.operand)], node, form="linear" if scalar else "other", scalar=scalar
            )
        return value

    def _eval_BoolOp(self, node: ast.BoolOp) -> Value:
        stops_at = isinstance(node.op, ast.Or)
        for each in node.values[:-1]:
            value = self.evaluate(each)
            known = self.truth(value)
            if known is None:
                if isinstance(node.op, ast.Or) and (ops_of(value) or isinstance(value, Tensor)):
                    return value
                return Value(made=self.site(node))
            if known == stops_at:
                return value
        return self.evaluate(node.values[-1])

    def _eval_Compare(self, node: ast.Compare) -> Value:
        left = self.evaluate(node.left)
        outcome: bool | None = True
        tensors: list[Value] = [left]
        for kind, each in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(each)
            tensors.append(right)
            held = self.compare(left, kind, right)
            outcome = False if held is False or outcome is False else (None if held is None else outcome)
            left = right
        if outcome is not None:
            return Const(value=outcome)
        with_history = next((each for each in tensors if isinstance(each, Tensor)), None)
        return Value() if with_history is None else self.cut(with_history, "a comparison", node)

    def _eval_IfExp(self, node: ast.IfExp) -> Value:
        known = self.condition(node, node.test)
        return self.evaluate(node.body if known else node.orelse)

    def condition(self, node: ast.AST, test: ast.expr) -> bool:
        """Which way a condition goes: as it is known, or as the policy says."""
        known = self.known(test)
        if known is not None:
            return known
        unlikely = isinstance(node, ast.If) and leads_out(node.body) and not leads_out(node.orelse)
        if isinstance(node, ast.IfExp):  # `0.0 if done else value`: the constant is the exception
            unlikely = isinstance(node.body, ast.Constant) and not isinstance(node.orelse, ast.Constant)
        return self.choices.choose(
            node, test, unlikely=unlikely, moment=self.world.moment, code=(self.frame.code, self.frame.depth)
        )

    def known(self, test: ast.expr) -> bool | None:
        """Whether a condition holds; None: not known."""
        match test:
            case ast.BoolOp(ast.And(), values):
                outcomes = [self.known(each) for each in values]
                return False if False in outcomes else (None if None in outcomes else True)
            case ast.BoolOp(ast.Or(), values):
                outcomes = [self.known(each) for each in values]
                return True if True in outcomes else (None if None in outcomes else False)
            case ast.UnaryOp(ast.Not(), operand):
                known = self.known(operand)
                return None if known is None else not known
        return self.truth(self.evaluate(test))

    def _eval_Tuple(self, node: ast.Tuple) -> Value:
        return self._sequence(node.elts, "tuple")

    def _eval_List(self, node: ast.List) -> Value:
        return self._sequence(node.elts, "list")

    def _eval_Set(self, node: ast.Set) -> Value:
        return self._sequence(node.elts, "set")

    def _sequence(self, nodes: list[ast.expr], kind: str) -> Sequence:
        elements: list[Value] = []
        exact = True
        for each in nodes:
            if isinstance(each, ast.Starred):
                inner = self.evaluate(each.value)
                elements += self.elements(inner, each)
                exact = exact and isinstance(inner, Sequence) and inner.exact
            else:
                elements.append(self.evaluate(each))
        return Sequence(elements=elements, exact=exact, kind=kind, born=self.world.moment)

    def _eval_Dict(self, node: ast.Dict) -> Value:
        made = Mapping(born=self.world.moment)
        for key, each in zip(node.keys, node.values, strict=True):
            value = self.evaluate(each)
            if key is None:
                made.exact = made.exact and isinstance(value, Mapping) and value.exact
                made.entries |= value.entries if isinstance(value, Mapping) else {}
            else:
                made.entries[key_of(self.evaluate(key))] = value
        return made

    def _eval_Lambda(self, node: ast.Lambda) -> Value:
        return Function(node=node, source=self.frame.source, outer=self.frame)

    def _eval_NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.assign(node.target, value, node.value)
        return value

    def _eval_Await(self, node: ast.Await) -> Value:
        return self.evaluate(node.value)

    def _eval_Starred(self, node: ast.Starred) -> Value:
        return self.evaluate(node.value)

    def _eval_Yield(self, node: ast.Yield) -> Value:
        self.frame.yielded.append(NONE if node.value is None else self.evaluate(node.value))
        self.frame.marks.append(len(self.world.log[-1]) if self.world.log else 0)
        return Value()

    def _eval_YieldFrom(self, node: ast.YieldFrom) -> Value:
        self.frame.yielded += self.elements(self.evaluate(node.value), node)
        return Value()

    def _eval_JoinedStr(self, node: ast.JoinedStr) -> Value:
        for each in node.values:
            if isinstance(each, ast.FormattedValue) and not isinstance(each.value, ast.Name | ast.Constant):
                self.evaluate(each.value)
        return Value(made=self.site(node))

    def _eval_Slice(self, node: ast.Slice) -> Value:
        return Value(made=self.site(node))

    def _eval_Subscript(self, node: ast.Subscript) -> Value:
        return self.item(self.evaluate(node.value), node.slice, node)

    def item(self, value: Value, index: ast.expr, node: ast.expr) -> Value:
        """What stands in a container at an index, or a part of a tensor."""
        match value:
            case Sequence():
                return self._element(value, index)
            case Mapping():
                return self._entry(value, self.evaluate(index))
        if isinstance(index, ast.Slice):
            return value
        return self.part(value, key_of(self.evaluate(index)), node)

    def _element(self, value: Sequence, index: ast.expr) -> Value:
        if isinstance(index, ast.Slice):
            return self._slice(value, index)
        at = self.evaluate(index)
        position = at.value if isinstance(at, Const) else at.position if isinstance(at, Index) else None
        if isinstance(position, int) and -len(value.elements) <= position < len(value.elements):
            return value.elements[position]
        return value.elements[-1] if value.elements else Value()

    def _slice(self, value: Sequence, index: ast.Slice) -> Value:
        bounds = [self.evaluate(each) if each is not None else NONE for each in (index.lower, index.upper, index.step)]
        known = [each.value for each in bounds if isinstance(each, Const) and isinstance(each.value, int | None)]
        if value.exact and len(known) == len(bounds) and known[2] != 0:
            elements = value.elements[slice(*known)]
        else:
            elements = list(value.elements)
        return Sequence(elements=elements, exact=value.exact and len(known) == len(bounds), kind=value.kind)

    def _entry(self, value: Mapping, key: Value) -> Value:
        found = value.entries.get(key_of(key))
        if found is not None:
            return found
        if value.missing is not None:
            made = self.call(value.missing, (), {}, ast.Constant(None))
            value.entries[key_of(key)] = made
            return made
        if isinstance(key, Const) or not value.entries:
            return Value()
        return next(reversed(value.entries.values()))  # some entry: the last that was written is as good as any

    def _eval_ListComp(self, node: ast.ListComp) -> Value:
        return self._comprehension(node, node.elt, "list")

    def _eval_SetComp(self, node: ast.SetComp) -> Value:
        return self._comprehension(node, node.elt, "set")

    def _eval_GeneratorExp(self, node: ast.GeneratorExp) -> Value:
        return self._comprehension(node, node.elt, "generator")

    def _eval_DictComp(self, node: ast.DictComp) -> Value:
        made = Mapping(born=self.world.moment)
        for exact in self._rounds(node, node.generators):
            made.exact = made.exact and exact
            made.entries[key_of(self.evaluate(node.key))] = self.evaluate(node.value)
        return made

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, element: ast.expr, kind: str
    ) -> Sequence:
        made = Sequence(kind=kind, born=self.world.moment)
        for exact in self._rounds(node, node.generators):
            made.exact = made.exact and exact
            made.elements.append(self.evaluate(element))
        return made

    def _rounds(self, node: ast.expr, generators: list[ast.comprehension]) -> Iterator[bool]:
        """The rounds of a comprehension; each says whether all of them are known. Its names are its own."""
        before = dict(self.frame.names)
        bound = {each.id for one in generators for each in ast.walk(one.target) if isinstance(each, ast.Name)}
        try:
            yield from self._nested(node, generators)
        finally:
            for name in bound:
                if name in before:
                    self.frame.names[name] = before[name]
                else:
                    self.frame.names.pop(name, None)

    def _nested(self, node: ast.expr, generators: list[ast.comprehension]) -> Iterator[bool]:
        first, *rest = generators
        iterated = self.evaluate(first.iter)
        exact = isinstance(iterated, Sequence) and iterated.exact and len(iterated.elements) <= LONGEST_UNROLLED
        run = LoopRun(self.site(node))
        for number, element in enumerate(self.elements(iterated, first.iter)[:LONGEST_UNROLLED], 1):
            with self.round_of(run, number):
                self.assign(first.target, element)
                outcomes = [self.known(each) for each in first.ifs]
                if False in outcomes:
                    continue
                all_known = exact and None not in outcomes
                if rest:
                    yield from (inner and all_known for inner in self._nested(node, rest))
                else:
                    yield all_known

    def elements(self, value: Value, node: ast.expr) -> list[Value]:
        """What iterating gives: all elements where they are known, two where not."""
        match value:
            case Yielded():
                return value.elements
            case Sequence():
                return list(value.elements)
            case Mapping():
                return [Const(value=key) if isinstance(key, str | int) else Value() for key in value.entries]
            case Layer(kind="ModuleDict" | "ParameterDict", children=children):
                return [Const(value=name) for name, _ in children]
            case Layer(children=children) if not value.assumed:
                return [child for _, child in children]
            case Tensor():
                return [self.part(value, number, node) for number in range(2)]
            case Instance() if is_named_tuple(value.cls):
                return field_values(value)
        return [self.part(value, ("element", number), node) for number in range(2)] if value.op else [Value(), Value()]
