"""Compute it anew in every round: move the existing lines from before the loop into it, above their first use."""

from collections.abc import Callable, Iterator

import libcst as cst

from gradsan.fix.calls import asks_for_pass, called_name
from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import assigned_names, call_of, loaded_names, simple, text
from gradsan.fix.flow import dependents
from gradsan.fix.program import Place, Program, frames
from gradsan.fix.tree import Statement, Tree
from gradsan.lifecycle.location import Location

_ALLOCATING = frozenset({"zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "full_like"})


def drafts(program: Program) -> Iterator[Draft]:
    """The line that makes it, and the lines before the loop that use what it makes."""
    diagnosis = program.diagnosis
    if diagnosis.code in _OTHERWISE:
        yield from _OTHERWISE[diagnosis.code](program)
        return
    made, used = diagnosis.made, diagnosis.used
    apart = program.apart(made, used)
    if apart is None:
        return
    making, passing = program.places(made)[apart], program.places(used)[apart]
    inner = program.places(used)[apart + 1 : apart + 2]
    if making is None or passing is None or made is None or _constructs(made, apart):
        return
    first = _first(program, making)
    body = _body(first, passing, inner[0] if inner else None)
    if body is None:
        return
    moved, container = body
    uses = next((each for each in container.body if isinstance(each, Statement) and _uses(each, moved)), None)
    if uses is None or not _may_move(making.tree, moved, container):
        return
    draft = Draft()
    for each in moved:
        draft.remove(making.tree, each)
    draft.insert_before(making.tree, uses, *(each.with_changes(leading_lines=_comments(each)) for each in moved))
    yield draft


def _update_into_the_loop(program: Program) -> Iterator[Draft]:
    """Each round made a loss, and the update below the loop saw the last one only."""
    for place in reversed(program.places(program.diagnosis.made)):
        loops = [] if place is None else place.tree.loops(place.statement)
        if place is None or not loops:
            continue
        tree, loop = place.tree, loops[0]
        block = list(tree.block(loop))
        below = block[block.index(loop) + 1 :] if loop in block else []
        update = [each for each in below if _updates(each)]
        losses = assigned_names(place.statement)
        if any(_asks_for_pass(each, losses) for each in update) and isinstance(loop.body, cst.IndentedBlock):
            moved = below[below.index(update[0]) : below.index(update[-1]) + 1]
            draft = Draft()
            for each in moved:
                draft.remove(tree, each)
            last = tree.block(place.statement)[-1]
            draft.insert_after(tree, last, *(each.with_changes(leading_lines=_comments(each)) for each in moved))
            yield draft
        return


def _constructs(made: Location, index: int) -> bool:
    """Whether a constructor made it: moved into the loop, every round would begin with an untrained model."""
    return any(frame.function.endswith("__init__") for frame in frames(made)[index + 1 :])


def _updates(statement: Statement) -> bool:
    call = call_of(statement)
    return call is not None and (asks_for_pass(call) or called_name(call) in {"step", "zero_grad"})


def _asks_for_pass(statement: Statement, losses: set[str]) -> bool:
    call = call_of(statement)
    return call is not None and asks_for_pass(call) and bool(loaded_names(call) & losses)


def _first(program: Program, making: Place) -> Statement:
    """The earliest statement beside the making one that took part in making the graph."""
    tree, lines = making.tree, program.made_graph(making)
    here = [
        each for each in tree.block(making.statement) if any(tree.line(each) <= n <= tree.end_line(each) for n in lines)
    ]
    before = [
        each for each in here if tree.line(each) <= tree.line(making.statement) and not hasattr(each.body, "body")
    ]
    return min([making.statement, *before], key=tree.line)


def _body(first: Statement, passing: Place, inner: Place | None) -> tuple[list[Statement], cst.BaseSuite] | None:
    """What is to be moved, and the block that runs again and again: a loop's, or that of a closure a library calls."""
    tree = passing.tree
    block = list(tree.block(first))
    around = next((each for each in (passing.statement, *tree.above(passing.statement)) if each in block), None)
    if isinstance(around, cst.For | cst.While) and around is not first:
        following = block[block.index(first) + 1 : block.index(around)]
        return dependents(first, following), around.body
    closure = None if inner is None else inner.tree.scope(inner.statement)
    if inner is not None and inner.tree is tree and isinstance(closure, cst.FunctionDef) and closure in block:
        following = block[block.index(first) + 1 : block.index(closure)]
        return dependents(first, following), closure.body
    return None


def _uses(statement: Statement, moved: list[Statement]) -> bool:
    names = set().union(*(assigned_names(each) for each in moved))
    return bool(loaded_names(statement) & names)


def _may_move(tree: Tree, moved: list[Statement], container: cst.BaseSuite) -> bool:
    """Whether the lines mean the same inside: plain assignments, of names that nothing inside binds otherwise."""
    if not all(isinstance(simple(each), cst.Assign | cst.AnnAssign) for each in moved):
        return False
    needed = set().union(*(loaded_names(each) for each in moved)) - set().union(
        *(assigned_names(each) for each in moved)
    )
    owner = tree.parent(container)
    bound = assigned_names(owner) if isinstance(owner, cst.For | cst.While) else assigned_names(container)
    made = set().union(*(assigned_names(each) for each in moved))
    return not (needed | made) & bound


def _comments(statement: Statement) -> list[cst.EmptyLine]:
    return [line for line in statement.leading_lines if line.comment is not None]


def _buffer_into_the_loop(program: Program) -> Iterator[Draft]:
    """What was made once, is written to in every round and never assigned anew: every round begins with a new one."""
    culprit = program.diagnosis.culprit
    for place in reversed(program.places(program.diagnosis.used)):
        loops = [] if place is None else place.tree.loops(place.statement)
        if place is None or culprit is None or not loops:
            continue
        loop, block = loops[-1], list(place.tree.block(loops[-1]))
        above = block[: block.index(loop)] if loop in block else []
        making = [each for each in above if culprit.name in assigned_names(each)]
        is_bound = culprit.name in assigned_names(loop)
        if len(making) == 1 and _allocates(making[0]) and not is_bound and _may_move(place.tree, making, loop.body):
            first = next((each for each in loop.body.body if isinstance(each, Statement)), None)
            if first is not None:
                draft = Draft()
                draft.remove(place.tree, making[0])
                draft.insert_before(place.tree, first, making[0].with_changes(leading_lines=_comments(making[0])))
                yield draft
        return


def _allocates(statement: Statement) -> bool:
    match simple(statement):
        case cst.Assign(targets=[_], value=cst.Call() as call):
            return called_name(call) in _ALLOCATING
    return False


def _context_into_the_loop(program: Program) -> Iterator[Draft]:
    """`with cached():` around a loop: in each of its rounds instead."""
    for place in reversed(program.places(program.diagnosis.made)):
        if place is not None:
            yield from _inside(place)


def _inside(place: Place) -> Iterator[Draft]:
    for node in place.tree.above(place.statement):
        if isinstance(node, cst.With) and any("cache" in text(item.item) for item in node.items):
            if len(node.body.body) == 1 and isinstance(loop := node.body.body[0], cst.For | cst.While):
                draft = Draft()
                inside = node.with_changes(body=loop.body, leading_lines=())
                swapped = loop.with_changes(body=cst.IndentedBlock([inside]), leading_lines=node.leading_lines)
                draft.replace(place.tree, node, swapped)
                yield draft
            return
        if isinstance(node, cst.FunctionDef):
            return


_OTHERWISE: dict[str, Callable[[Program], Iterator[Draft]]] = {
    "GS103": _buffer_into_the_loop,
    "GS109": _context_into_the_loop,
    "GS304": _update_into_the_loop,
}
