"""Methods of lists, deques, tuples and dicts: what is held, and what a loop gathers."""

import ast
from collections.abc import Sequence as Several

from gradsan.check.binding import Binding
from gradsan.check.graph import Label
from gradsan.check.machine import Given
from gradsan.check.unknown_calls import UnknownCalls
from gradsan.check.values import NONE, Const, Mapping, Sequence, Value, key_of, ops_of


class ContainerCalls(UnknownCalls, Binding):
    """Containers."""

    def sequence_method(
        self, value: Sequence, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """`list.append` and its like."""
        given = [each for each, _ in arguments]
        match name:
            case "append" | "add" | "appendleft" | "put":
                self._append(value, given[0] if given else Value(), node)
            case "extend" | "update":
                value.elements += [each for one in given for each in self.elements(one, node)]
                value.exact = False
            case "insert" if len(given) > 1:
                value.elements.insert(0, given[1])
            case "clear":
                value.elements.clear()
                value.exact = True
            case "pop" | "popleft":
                return self._pop(value, first=name == "popleft" or (bool(given) and _is_zero(given[0])))
            case "copy":
                return Sequence(elements=list(value.elements), exact=value.exact, kind=value.kind)
            case "remove" if value.elements:
                value.elements.pop(0)
            case "index" | "count":
                return Value()
            case _:
                return self.unknown_call(name, arguments, keywords, node, (value, None))
        return NONE

    def _append(self, value: Sequence, element: Value, node: ast.expr) -> None:
        value.elements.append(element)
        if value.longest is not None and len(value.elements) > value.longest:
            value.elements.pop(0)
        for op in ops_of(element):
            op.escaped = True
        if value.longest is None and isinstance(node, ast.Call) and self.still_holds_older(value):
            holder = node.func.value if isinstance(node.func, ast.Attribute) else node
            name = ast.unparse(holder)
            for op in ops_of(element)[:1]:
                label = Label(name, "attribute" if isinstance(holder, ast.Attribute) else "local")
                self.note_gathering(name, label, op, self.site(node))

    def _pop(self, value: Sequence, *, first: bool) -> Value:
        if not value.elements:
            return Value()
        return value.elements.pop(0 if first else -1)

    def mapping_method(
        self, value: Mapping, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """`dict.get` and its like."""
        given = [each for each, _ in arguments]
        match name:
            case "items":
                pairs: list[Value] = [
                    Sequence(elements=[_key(key), each], kind="tuple") for key, each in value.entries.items()
                ]
                return Sequence(elements=pairs, exact=value.exact)
            case "values":
                return Sequence(elements=list(value.entries.values()), exact=value.exact)
            case "keys":
                return Sequence(elements=[_key(key) for key in value.entries], exact=value.exact)
            case "get" | "setdefault" | "pop" if given:
                return self._get(value, name, given)
            case "update":
                for one in given:
                    value.entries |= one.entries if isinstance(one, Mapping) else {}
                    value.exact = value.exact and isinstance(one, Mapping) and one.exact
                value.entries |= {key: each for key, (each, _) in keywords.items()}
                return NONE
            case "clear":
                value.entries.clear()
                value.exact = True
                return NONE
            case "copy":
                return Mapping(entries=dict(value.entries), exact=value.exact, born=self.world.moment)
        return self.unknown_call(name, arguments, keywords, node, (value, None))

    def _get(self, value: Mapping, name: str, given: list[Value]) -> Value:
        key = key_of(given[0])
        default = given[1] if len(given) > 1 else NONE
        found = value.entries.get(key)
        if found is None and value.entries and not isinstance(given[0], Const):
            found = next(reversed(value.entries.values()))
        if name == "setdefault" and found is None:
            value.entries[key] = default
        if name == "pop":
            value.entries.pop(key, None)
        if found is not None:
            return found
        return default if value.exact else Value()


def _key(key: object) -> Value:
    return Const(value=key) if isinstance(key, str | int | float | bool) else Value()


def _is_zero(value: Value) -> bool:
    return isinstance(value, Const) and value.value == 0
