"""Who follows what: one table for each kind of question, in which the handlers enter themselves.

A handler is a function. The kind of what it handles is its key: a class of syntax nodes, or a class of values, where
`Value` itself stands for all kinds that have no handler of their own.
"""

import ast
from collections.abc import Callable
from typing import Any, TypeVar

from gradsan.check.values import Value

Key = TypeVar("Key")
Handler = TypeVar("Handler", bound=Callable[..., object])

STATEMENTS: dict[type[ast.stmt], Callable[..., str | None]] = {}  # (machine, node): how it ended
EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {}  # (machine, node): its value
TARGETS: dict[type[ast.expr], Callable[..., None]] = {}  # (machine, target, value): `target = value`
CALLEES: dict[type[Value], Callable[..., Value]] = {}  # (machine, callee, call): `callee(…)`
RECEIVERS: dict[type[Value], Callable[..., Value]] = {}  # (machine, receiver, call): `receiver.name(…)`
OWNERS: dict[type[Value], Callable[..., Value]] = {}  # (machine, owner, name, node): `owner.name`
WHOLES: dict[type[Value], Callable[..., Value]] = {}  # (machine, whole, key, node): `whole[key]`
ITERABLES: dict[type[Value], Callable[..., list[Value]]] = {}  # (machine, iterable, node): what iterating gives
TORCH: dict[str, Callable[..., Value]] = {}  # (machine, call): a name of torch, with its path or without


def entered(table: dict[Key, Callable[..., Any]], *keys: Key) -> Callable[[Handler], Handler]:
    """Enter a handler under these keys."""

    def enter(handler: Handler) -> Handler:
        table.update(dict.fromkeys(keys, handler))
        return handler

    return enter
