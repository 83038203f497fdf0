"""What is computed for all iterations of a loop above it, computed in each of them instead."""

import ast
from collections.abc import Iterator

from gradsan.fix.reading.program import Program
from gradsan.fix.writing.drafting import Draft
from gradsan.source.names import call_of, called_name, loaded, nodes
from gradsan.source.placing import code_of
from gradsan.source.tree import For, Loop, Statement, Tree, same_as

_TAKE_IN_TURN = ("zip", "enumerate", "iter")


def when_it_is_taken(program: Program) -> Iterator[Draft]:
    """A list that one loop goes over is not filled before it: a generator, or the loops become one."""
    seen: set[Statement] = set()
    for place in (*program.apart_from_the_pass(program.diagnosis.made), *program.graph_places()):
        if place.statement in seen:
            continue
        seen.add(place.statement)
        for node in nodes(place.statement, into_functions=False):
            if isinstance(node, ast.ListComp | ast.DictComp):
                yield from _as_generator(place.tree, node)
        for loop in place.loops:
            yield from _as_one_loop(place.tree, loop)


def _as_generator(tree: Tree, listed: ast.ListComp | ast.DictComp) -> Iterator[Draft]:
    """`[f(x) for x in xs]` in round brackets, where a single loop takes its items in turn."""
    draft = Draft()
    taken: ast.expr = listed
    match tree.parent(listed):
        case ast.Assign(targets=[target]):
            reads = loaded(tree.scope(listed), tree.text(target))
            if len(reads) != 1:
                return
            taken = reads[0]
    if isinstance(listed, ast.DictComp):
        pairs = _pairs_of(tree, taken)
        if pairs is None:
            return
        draft.replace(tree, pairs, tree.text(taken))
        taken = pairs
    if _is_gone_over(tree, taken):
        draft.replace(tree, listed, _lazy(tree, listed))
        yield draft


def _pairs_of(tree: Tree, mapping: ast.expr) -> ast.Call | None:
    """The call of `.items()` of it."""
    match tree.parent(mapping):
        case ast.Attribute(attr="items") as method if isinstance(call := tree.parent(method), ast.Call):
            return call
    return None


def _lazy(tree: Tree, listed: ast.ListComp | ast.DictComp) -> str:
    start, end = tree.span(listed)
    inner = tree.source.text[start + 1 : end - 1]
    if isinstance(listed, ast.ListComp):
        return f"({inner})"
    rest = tree.source.text[tree.whole(listed.value)[1] : end - 1]
    return f"(({tree.text(listed.key)}, {tree.text(listed.value)}){rest})"


def _is_gone_over(tree: Tree, taken: ast.expr) -> bool:
    """Whether a loop goes over it once, alone or beside others."""
    around = tree.parent(taken)
    while isinstance(around, ast.Call) and called_name(around) in _TAKE_IN_TURN:
        taken, around = around, tree.parent(around)
    return isinstance(around, For | ast.comprehension) and around.iter is taken


def _as_one_loop(tree: Tree, filling: Loop) -> Iterator[Draft]:
    """The body of the loop that goes over a list, in the place where the loop above puts an item into it."""
    for put in filling.body:
        match call_of(put):
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item]):
                pass
            case _:
                continue
        taking = [each for each in tree.below(filling) if isinstance(each, For) and same_as(each.iter, name)]
        if len(taking) == 1 and not _jumps(taking[0]):
            draft = Draft()
            codes = [code_of(tree, each, blanks=True) for each in taking[0].body]
            draft.insert_after(tree, put, f"{tree.text(taking[0].target)} = {tree.text(item)}", *codes)
            draft.remove(tree, taking[0])
            yield draft


def _jumps(loop: For) -> bool:
    """Whether it may end before all items are taken, or goes on with something else then."""
    inside = nodes(loop.body, into_functions=False)
    return bool(loop.orelse) or any(isinstance(each, ast.Break | ast.Continue | ast.Return) for each in inside)
