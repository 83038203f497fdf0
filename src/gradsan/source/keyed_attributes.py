"""Attributes that are reached by a key and not by a dot: `getattr(x, key)`, `vars(x)[key]`, `x._buffers[key]`."""

import ast
from functools import lru_cache

COMPUTED = "*"  # in place of a name that only the running program knows
_NAMESPACES = frozenset({"__dict__", "_buffers", "_parameters"})


@lru_cache(maxsize=4096)
def as_attribute(node: ast.expr) -> ast.Attribute | None:
    """What an expression reads or writes, as if it were written with a dot; None: it is nothing of the kind."""
    match node:
        case ast.Subscript(value=ast.Attribute(value=owner, attr=namespace), slice=key) if namespace in _NAMESPACES:
            return keyed(owner, key)
        case ast.Subscript(value=ast.Call(func=ast.Name(id="vars"), args=[owner]), slice=key):
            return keyed(owner, key)
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, key, *_]):
            return keyed(owner, key)
    return None


def keyed(owner: ast.expr, key: ast.expr) -> ast.Attribute:
    """The attribute of an object that a key stands for."""
    name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else COMPUTED
    return ast.copy_location(ast.Attribute(value=owner, attr=name, ctx=ast.Load()), key)
