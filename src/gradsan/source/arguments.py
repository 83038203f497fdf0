"""A call's text with an argument more, or one less; the others stay as they are written."""

import ast

from gradsan.source.file import Source
from gradsan.source.names import argument
from gradsan.source.splices import Splice, spliced
from gradsan.source.tree import Span, Tree

_PLAIN = ", "


def with_argument(code: str, name: str, value: str) -> str:
    """The call with a keyword argument, added or changed."""
    tree, call = _call(code)
    present = argument(call, name)
    if present is not None:
        return _changed(tree, Splice(*tree.whole(present), value))
    spans = _spans(tree, call)
    new = f"{name}={value}"
    if not spans:
        end = tree.span(call)[1] - 1
        return _changed(tree, Splice(end, end, new))
    return _changed(tree, Splice(spans[-1][1], spans[-1][1], _separator(tree, call, spans) + new))


def without_argument(code: str, name: str) -> str:
    """The call without that keyword argument."""
    tree, call = _call(code)
    spans = _spans(tree, call)
    gone = next((tree.whole(each) for each in call.keywords if each.arg == name), None)
    return code if gone is None else _changed(tree, without(tree, spans, spans.index(gone), tree.span(call)[1] - 1))


def without(tree: Tree, spans: list[Span], index: int, end: int) -> Splice:
    """Of some things with commas between them, all but one; a comma at their `end` goes with the only one."""
    if len(spans) == 1:
        return Splice(spans[0][0], end, "") if tree.source.text[spans[0][0] : end].strip() else Splice(*spans[0], "")
    if index + 1 < len(spans):
        return Splice(spans[index][0], spans[index + 1][0], "")
    return Splice(spans[index - 1][1], spans[index][1], "")


def _separator(tree: Tree, call: ast.Call, spans: list[Span]) -> str:
    """What stands between two arguments: as between the last ones, or as before the only one if a comma follows it."""
    text = tree.source.text
    *others, last = spans
    between = text[others[-1][1] : last[0]] if others else _PLAIN
    if not others and "," in text[last[1] : tree.span(call)[1]]:
        between = "," + text[text.rindex("(", 0, last[0]) + 1 : last[0]]
    return between if "#" not in between else _PLAIN


def _spans(tree: Tree, call: ast.Call) -> list[Span]:
    return sorted(tree.whole(each) for each in (*call.args, *call.keywords))


def _call(code: str) -> tuple[Tree, ast.Call]:
    tree = Tree("", Source("", f"({code}\n)"))  # over several lines, as an argument may be
    match tree.module.body:
        case [ast.Expr(value=ast.Call() as call)]:
            return tree, call
    raise TypeError(f"{code!r} is no call")


def _changed(tree: Tree, splice: Splice) -> str:
    return spliced(tree.source.text, [splice])[1:-2]
