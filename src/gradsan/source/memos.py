"""Lines that fill a memo: they run only where a container has nothing under a key, and what they compute is put there.

if key in memo: return memo[key]      if key not in memo:             found = memo.get(key)
value = compute(key)                      memo[key] = compute(key)    if found is None: memo[key] = compute(key)
memo[key] = value
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from gradsan.source.disk import tree_as_run
from gradsan.source.file_statements import inner_statements
from gradsan.source.names import last_name
from gradsan.source.stores import stores
from gradsan.source.tree import SCOPES, first_line

_LEAVING = (ast.Return, ast.Continue, ast.Raise, ast.Break)
_CATCHING = frozenset({"KeyError", "LookupError", "Exception"})


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is known where a line runs: items that are missing, as text, and what variables were given of such items."""

    missing: frozenset[str] = frozenset()
    variables: Mapping[str, str] = field(default_factory=dict)

    def without(self, items: frozenset[str]) -> "_Asked":
        return replace(self, missing=self.missing | items)


@lru_cache(maxsize=1024)
def memo_filled_at(file: str, line: int) -> str | None:
    """The container that a line computes something for, as it is written there; None: it runs whatever is kept."""
    tree = tree_as_run(file)
    return None if tree is None else _filled(tree.body, line, _Asked())


def _filled(block: Sequence[ast.AST], line: int, asked: _Asked) -> str | None:
    for place, statement in enumerate(block):
        if not _spans(statement, line):
            asked = _after(statement, asked)
            continue
        inner = (_filled(body, line, known) for body, known in _inside(statement, asked))
        return next(filter(None, inner), None) or _stored(block[place:], asked.missing)
    return None


def _spans(node: ast.AST, line: int) -> bool:
    first = first_line(node) if isinstance(node, ast.stmt) else getattr(node, "lineno", line)
    return first <= line <= (getattr(node, "end_lineno", None) or line)


def _stored(statements: Sequence[ast.AST], missing: frozenset[str]) -> str | None:
    """Which container is given one of the missing items."""
    for statement in statements:
        for store in stores(statement) if isinstance(statement, ast.stmt) else ():
            if isinstance(store.target, ast.Subscript) and ast.unparse(store.target) in missing:
                return ast.unparse(store.target.value)
    return None


def _inside(statement: ast.AST, asked: _Asked) -> Iterator[tuple[list[ast.AST], _Asked]]:
    """The blocks of a statement in which a line may be, and what is known there."""
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            yield list(body), asked.without(_missing_if(test, asked, holds=True))
            yield list(orelse), asked.without(_missing_if(test, asked, holds=False))
        case ast.Try(body=body, handlers=handlers):
            tried = frozenset(_items_in(body)) if any(map(_catches_missing, handlers)) else frozenset()
            for handler in handlers:
                yield list(handler.body), asked.without(tried)
            yield [each for each in inner_statements(statement) if each not in handlers], asked
        case _:
            yield list(inner_statements(statement)), _Asked() if isinstance(statement, SCOPES) else asked


def _after(statement: ast.AST, asked: _Asked) -> _Asked:
    """What is known below a statement: one that answers leads out where the item is there."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if (item := _item_asked_for(value)) is not None:
            return replace(asked, variables={**asked.variables, name: item})
        case ast.If(test=test, body=[*_, last], orelse=[]) if isinstance(last, _LEAVING):
            return asked.without(_missing_if(test, asked, holds=False))
        case ast.Try(body=[*_, last] as body, handlers=handlers) if isinstance(last, _LEAVING):
            return asked.without(frozenset(_items_in(body)) if any(map(_catches_missing, handlers)) else frozenset())
    return asked


def _missing_if(test: ast.expr, asked: _Asked, *, holds: bool) -> frozenset[str]:
    """The items that are missing where a question is answered so."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _missing_if(operand, asked, holds=not holds)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == holds:
            return frozenset().union(*(_missing_if(each, asked, holds=holds) for each in values))
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn() as op], comparators=[container]):
            item = f"{ast.unparse(container)}[{ast.unparse(key)}]"
            return frozenset({item} if isinstance(op, ast.NotIn) == holds else ())
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]):
            found = asked.variables.get(left.id) if isinstance(left, ast.Name) else _item_asked_for(left)
            return frozenset({found} if found is not None and isinstance(op, ast.Is) == holds else ())
    return frozenset()


def _item_asked_for(value: ast.expr) -> str | None:
    """The item that `memo.get(key)` gives, if there is one."""
    match value:
        case ast.NamedExpr(value=inner):
            return _item_asked_for(inner)
        case ast.Call(func=ast.Attribute(value=container, attr="get"), args=[key] | [key, ast.Constant(value=None)]):
            return f"{ast.unparse(container)}[{ast.unparse(key)}]"
    return None


def _items_in(body: Sequence[ast.stmt]) -> Iterator[str]:
    nodes = (node for each in body for node in ast.walk(each))
    return (ast.unparse(each) for each in nodes if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Load))


def _catches_missing(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(each is None or last_name(each) in _CATCHING for each in kinds)
