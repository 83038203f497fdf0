"""Built-in functions and the standard library, as far as histories pass through them."""

import ast
from collections.abc import Callable
from collections.abc import Sequence as Several

from gradsan.check.container_calls import ContainerCalls
from gradsan.check.copies import deep_copy, shallow_copy
from gradsan.check.holding import held
from gradsan.check.machine import Given
from gradsan.check.values import (
    NONE,
    Class,
    Const,
    Context,
    Index,
    Instance,
    Layer,
    Library,
    Mapping,
    Partial,
    Sequence,
    Tensor,
    Value,
    Yielded,
    ops_of,
)
from gradsan.knowledge.effects import does, paths

REVEALING = "__revealed__"  # `__revealed__(state)` is worth what `state` is worth, and tells what that may be
_NO_TENSORS = frozenset("Number Real int float str bool list tuple dict".split())
_TENSORS = ("Tensor", "Variable")
_NUMBERS = ("float", "int", "Number", "Real")
_TYPES = {"list": "list", "tuple": "tuple", "dict": "dict", "set": "set"}


class BuiltinCalls(ContainerCalls):
    """`len`, `zip`, `sum`, `isinstance`, `partial`, `deque` and the like."""

    def builtin(self, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value | None:
        """The result of a built-in; None: nothing special is known of it."""
        handler: Callable[[list[Given], dict[str, Given], ast.expr], Value] | None = getattr(
            self, f"_builtin_{name}", None
        )
        if handler is not None:
            return handler(list(arguments), keywords, node)
        if does(name, "converts") and arguments:
            value = arguments[0][0]
            if isinstance(value, Const) and name in ("int", "float") and isinstance(value.value, int | float):
                return value
            if not isinstance(value, Tensor) and not ops_of(value):
                return Value()
            number = self.cut(value, f"`{name}()`", node)
            number.plain = "number"
            return number
        if f"builtins.{name}" in paths("collects"):
            return self._collected(name, list(arguments), node)
        return None

    def _collected(self, name: str, arguments: list[Given], node: ast.expr) -> Sequence:
        kind = name if name in ("tuple", "set") else "list"
        if not arguments:
            return Sequence(kind=kind, born=self.world.moment)
        value = arguments[0][0]
        exact = isinstance(value, Sequence) and value.exact
        elements = self.elements(value, node)
        if isinstance(value, Yielded):
            return Yielded(elements=elements, exact=exact, kind=kind, born=self.world.moment, made_for=[])
        return Sequence(
            elements=elements[::-1] if name == "reversed" else elements, exact=exact, kind=kind, born=self.world.moment
        )

    def _builtin___revealed__(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        """What `rereading` puts around an expression to learn what it may be."""
        self.world.revealed.append(held(arguments[0][0]))
        return arguments[0][0]

    def _builtin_dict(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        made = Mapping(entries={key: value for key, (value, _) in keywords.items()}, born=self.world.moment)
        if arguments and isinstance(arguments[0][0], Mapping):
            made.entries = arguments[0][0].entries | made.entries
            made.exact = arguments[0][0].exact
        elif arguments:
            made.exact = False
        return made

    _builtin_OrderedDict = _builtin_dict

    def _builtin_defaultdict(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        return Mapping(missing=arguments[0][0] if arguments else None, born=self.world.moment)

    def _builtin_deque(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        longest = keywords.get("maxlen", arguments[1] if len(arguments) > 1 else (NONE, None))[0]
        made = self._collected("list", arguments[:1], node)
        made.kind = "deque"
        if not (isinstance(longest, Const) and longest.value is None):
            known = longest.value if isinstance(longest, Const) and isinstance(longest.value, int) else 2
            made.longest = max(1, min(known, 8))
            made.attributes["maxlen"] = longest
        return made

    def _builtin_range(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        bounds = [value.value for value, _ in arguments if isinstance(value, Const) and isinstance(value.value, int)]
        if len(bounds) == len(arguments) and bounds and (len(bounds) < 3 or bounds[2] != 0):  # noqa: PLR2004
            length = len(range(*bounds))
            start = bounds[0] if len(bounds) > 1 else 0
            rounds: list[Value] = [Index(position=start + at) for at in range(min(length, 2))]
            return Sequence(elements=rounds, exact=length <= 2)  # noqa: PLR2004 # as many as are gone through
        start_known = len(arguments) < 2 or _is_zero(arguments[0][0])  # noqa: PLR2004
        first: list[Value] = [Index(position=0), Index(position=1)] if start_known else [Value(), Value()]
        return Sequence(elements=first, exact=False)

    def _builtin_enumerate(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        value = arguments[0][0] if arguments else Value()
        start = len(arguments) > 1 or "start" in keywords
        pairs: list[Value] = [
            Sequence(elements=[Value() if start else Index(position=at), each], kind="tuple")
            for at, each in enumerate(self.elements(value, node))
        ]
        return _like(value, pairs)

    def _builtin_zip(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        columns = [self.elements(value, node) for value, _ in arguments]
        exact = all(isinstance(value, Sequence) and value.exact for value, _ in arguments)
        longest = min(map(len, columns), default=0) if exact else max(map(len, columns), default=0)
        padded = [column + column[-1:] * (longest - len(column)) for column in columns if column]
        rows: list[Value] = [Sequence(elements=list(row), kind="tuple") for row in zip(*padded, strict=False)]
        lazy = next((value for value, _ in arguments if isinstance(value, Yielded)), None)
        made = _like(lazy, rows) if lazy is not None else Sequence(elements=rows)
        made.exact = exact
        return made

    def _builtin_map(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        if len(arguments) != 2:  # noqa: PLR2004 # a function and one iterable
            return Value()
        function, iterable = arguments[0][0], arguments[1][0]
        results = [self.call(function, [(each, None)], {}, node) for each in self.elements(iterable, node)]
        return Sequence(elements=results, exact=isinstance(iterable, Sequence) and iterable.exact)

    def _builtin_filter(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        return arguments[1][0] if len(arguments) > 1 else Value()

    def _builtin_chain(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        elements = [each for value, _ in arguments for each in self.elements(value, node)]
        return Sequence(
            elements=elements, exact=all(isinstance(value, Sequence) and value.exact for value, _ in arguments)
        )

    def _builtin_next(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        value = arguments[0][0] if arguments else Value()
        if isinstance(value, Sequence) and value.elements:
            return value.elements[0]
        return Value(op=value.op, made=self.site(node))

    def _builtin_sum(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        value = arguments[0][0] if arguments else Value()
        expression = arguments[0][1] if arguments else None
        if not ops_of(value):
            cut = next((each.cut for each in self.elements(value, node) if isinstance(each, Tensor) and each.cut), None)
            return Value() if cut is None else Tensor(cut=cut, made=self.site(node))
        scalar = isinstance(value, Sequence) and all(each.op is None or each.op.scalar for each in value.elements)
        return self.result("add", [(value, expression)], node, form="linear" if scalar else "other", scalar=scalar)

    def _builtin_len(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        value = arguments[0][0] if arguments else Value()
        if isinstance(value, Sequence) and value.exact and value.born == self.world.moment:
            return Const(value=len(value.elements))
        if isinstance(value, Sequence | Mapping) and value.exact:
            count = len(value.elements if isinstance(value, Sequence) else value.entries)
            return Const(value=0) if count == 0 else Value()
        return Value()

    def _builtin_isinstance(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        if len(arguments) < 2:  # noqa: PLR2004
            return Value()
        kinds = arguments[1][0]
        outcomes = [
            _is_a(arguments[0][0], each) for each in (kinds.elements if isinstance(kinds, Sequence) else [kinds])
        ]
        if True in outcomes:
            return Const(value=True)
        return Value() if None in outcomes else Const(value=False)

    def _builtin_type(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        match arguments[0][0] if arguments else None:
            case Instance(cls=cls):
                return cls
            case Sequence(kind=kind):
                return Library(path=f"builtins.{kind if kind in _TYPES else 'list'}")
            case Mapping():
                return Library(path="builtins.dict")
            case Tensor():
                return Library(path="torch.Tensor")
        return Value()

    def _builtin_getattr(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        if len(arguments) > 1 and isinstance(arguments[1][0], Const) and isinstance(arguments[1][0].value, str):
            owner, name = arguments[0][0], arguments[1][0].value
            if len(arguments) > 2 and isinstance(owner, Instance) and not self._has(owner, name):  # noqa: PLR2004
                return arguments[2][0]
            return self.attribute(owner, name, node)
        return Value()

    def _builtin_hasattr(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        match [value for value, _ in arguments]:
            case [Instance() as owner, Const(value=str() as name)]:
                return Const(value=True) if self._has(owner, name) else Value()
        return Value()

    def _builtin_setattr(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        match [value for value, _ in arguments]:
            case [owner, Const(value=str() as name), value]:
                owner.attributes[name] = value
        return NONE

    def _has(self, owner: Instance, name: str) -> bool:
        from gradsan.check.values import member

        return name in owner.attributes or member(owner.cls, name) is not None

    def _builtin_partial(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        if not arguments:
            return Value()
        function, *given = [value for value, _ in arguments]
        return Partial(
            function=function, arguments=given, keywords={key: value for key, (value, _) in keywords.items()}
        )

    def _builtin_namedtuple(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        named = arguments[1][0] if len(arguments) > 1 else Value()
        fields: list[str] = []
        if isinstance(named, Sequence):
            fields = [str(each.value) for each in named.elements if isinstance(each, Const)]
        elif isinstance(named, Const) and isinstance(named.value, str):
            fields = named.value.replace(",", " ").split()
        return Class(fields=tuple(fields), plain=True, bases=(Library(path="typing.NamedTuple"),))

    def _builtin_deepcopy(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        return deep_copy(arguments[0][0], {}) if arguments else Value()

    def _builtin_replace(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        value = shallow_copy(arguments[0][0]) if arguments else Value()
        for key, (each, _) in keywords.items():
            value.attributes[key] = each
        return value

    def _builtin_field(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        made = Value()
        if "default_factory" in keywords:
            made.attributes["<factory>"] = keywords["default_factory"][0]
        return keywords["default"][0] if "default" in keywords else made

    def _builtin_nullcontext(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        return Context(given=arguments[0][0] if arguments else None)

    def _builtin_super(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        return Library(path="builtins.super")

    def _builtin_print(self, arguments: list[Given], keywords: dict[str, Given], node: ast.expr) -> Value:  # noqa: ARG002
        return NONE


def _like(value: Value | None, elements: list[Value]) -> Sequence:
    """A sequence that is gone through in step with another one."""
    if isinstance(value, Yielded):
        return Yielded(elements=elements, exact=value.exact, made_for=value.made_for)
    return Sequence(elements=elements, exact=isinstance(value, Sequence) and value.exact)


def _is_zero(value: Value) -> bool:
    return isinstance(value, Const) and value.value == 0


def _is_instance(value: Value, kind: Class) -> bool | None:
    """Whether a value is an object of a class of the user's; None: not known."""
    if not isinstance(value, Instance):
        return False if isinstance(value, Const | Sequence | Mapping | Tensor) else None
    bases = [base for base in value.cls.bases if isinstance(base, Class)]
    return value.cls is kind or any(_is_instance(Instance(cls=base), kind) for base in bases)


def _is_a(value: Value, kind: Value) -> bool | None:
    """Whether a value is of a kind; None: not known."""
    if isinstance(kind, Class):
        return _is_instance(value, kind)
    name = kind.path.rsplit(".", 1)[-1] if isinstance(kind, Library) else ""
    if value.op is not None and name in _NO_TENSORS:
        return False
    if type(value) is Value and value.op is not None and name in _TENSORS:
        return True  # what is one op is taken for a tensor everywhere
    match value:
        case Tensor(plain="number"):
            return name in _NUMBERS
        case Tensor(plain=None):
            return name in _TENSORS or (name == "Parameter" and value.leaf is not None)
        case Sequence(kind=own):
            return name in (own, "Sequence", "Iterable", "Collection")
        case Mapping():
            return name in ("dict", "Mapping", "OrderedDict", "MutableMapping")
        case Const(value=known):
            return name == type(known).__name__ or (name in ("Number", "Real") and isinstance(known, int | float))
        case Layer(kind=own) if not value.assumed:
            return name in (own, "Module")
    return None
