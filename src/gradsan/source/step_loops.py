"""Whether a loop is a part of one training step, as over the views of a batch, or goes over batches of its own."""

import ast

Loop = ast.For | ast.AsyncFor | ast.While
_APART = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


def loops_around(tree: ast.AST, line: int) -> list[Loop]:
    """The loops of the innermost function that has a line, the innermost first."""
    found: list[Loop] = []
    for node in ast.walk(tree):  # from the outside in
        if getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", None) or 0):
            if isinstance(node, _APART):
                found.clear()
            elif isinstance(node, Loop):
                found.insert(0, node)
    return found


def is_of_one_step(inner: Loop, outer: Loop | None) -> bool:
    """Whether what a loop works on is given to it by every iteration of the loop around it.

    `for batch in loader: for view in views(batch)` is, `for epoch in range(9): for batch in loader` is not.
    """
    if outer is None:
        return False
    read, bound = _names(inner, ast.Load), _names(inner, ast.Store)
    return bool(read & (_names(outer, ast.Store) - bound))


def _names(loop: Loop, context: type[ast.expr_context]) -> set[str]:
    return {node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, context)}
