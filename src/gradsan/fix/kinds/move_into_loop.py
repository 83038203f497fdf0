"""Compute it again in every iteration: move the existing lines from before the loop into it, above their first use."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradsan.causes.computed_once import CONSTRUCTORS
from gradsan.facts.location import Location
from gradsan.fix.kinds import Places
from gradsan.fix.reading.flow import calls_for, made_of, only
from gradsan.fix.reading.program import Place, Program, frames
from gradsan.fix.refusals.creating import creates_trained, holds_trained
from gradsan.fix.writing.drafting import Draft
from gradsan.knowledge.effects import does, may_ask_for_pass, touches_gradients
from gradsan.knowledge.tensors import operation
from gradsan.source.names import assigned_names, call_of, called_name, calls, loaded, loaded_names, targets
from gradsan.source.placing import code_of, header, nested
from gradsan.source.tree import For, Function, Loop, Statement, Tree


def into_the_loop(program: Program, *, widely: bool = False) -> Iterator[Draft]:
    """The line that creates it, and the lines before the loop that use what it creates.

    `widely`: whatever those lines are, and although a constructor created it; for whoever tries it.
    """
    made, used = program.diagnosis.made, program.diagnosis.used
    parted, index = program.parted(made, used), program.apart(made, used) or 0
    if parted is None or (_constructs(made, index) and not widely):
        return
    making, passing = parted
    inner = program.at(used, index + 1)
    moved, container = _body(program, _outermost(making, passing) if widely else making, passing, inner)
    if container is None or _create(program, making, moved):
        return
    while uses := _first_use(container.body, moved):
        if not _may_move(moved, container, uses, widely=widely):
            return
        yield _moved(program, making, moved, container, uses)
        if not isinstance(uses, Loop) or uses not in passing.tree.above(passing.statement):
            return
        container = uses  # a loop over batches in a loop over epochs: what is trained may change in each of them


def _moved(
    program: Program, making: Place, moved: list[Statement], container: Loop | Function, uses: Statement
) -> Draft:
    draft = Draft()
    draft.is_partial = program.leaves_some(making, {line for each in moved for line in _lines(making.tree, each)})
    below = _read_below(making, container)
    if isinstance(container, Function):
        below -= _bound_by_the_call(making.tree, container, assigned_names(moved) & below, draft)
    for each in reversed(moved):
        if not assigned_names(each) & below:  # else it stays, too: the loop may not run at all
            draft.remove(making.tree, each)
        else:
            below |= loaded_names(each)
    draft.insert_before(making.tree, uses, *(code_of(making.tree, each) for each in moved))
    return draft


def _update_into_the_loop(program: Program) -> Iterator[Draft]:
    """Each iteration made a loss, and the update below the loop saw the last one only."""
    place = program.in_a_loop(program.diagnosis.made)
    if place is None:
        return
    tree, below = place.tree, place.tree.below(place.loops[0])
    update = [each for each in below if _updates(each)]
    losses = assigned_names(place.statement)
    if any(_asks_for_pass(each, losses) for each in update):
        moved = below[below.index(update[0]) : below.index(update[-1]) + 1]
        yield Draft().move_below(tree, place.block[-1], *moved)


def _constructs(made: Location | None, index: int) -> bool:
    """Whether a constructor created it, as the run has seen."""
    return any(frame.function.endswith(CONSTRUCTORS) for frame in frames(made)[index + 1 :])


def _create(program: Program, making: Place, moved: list[Statement]) -> bool:
    """Whether they create what is trained: moved into the loop, every iteration would begin with an untrained model."""
    is_held = holds_trained(program.live, making.function, assigned_names(moved))
    return is_held or any(creates_trained(making.text(each), making.tree.source) for each in moved)


def _lines(tree: Tree, statement: Statement) -> range:
    return range(tree.line(statement), tree.end_line(statement) + 1)


def _read_below(making: Place, container: Loop | Function) -> set[str]:
    """The names that are read below the loop or the closure, up to the end of the block in which they are created."""
    found: set[str] = set()
    around = [container, *making.tree.above(container)]
    for each in around:
        if isinstance(each, Statement):
            found |= loaded_names(making.tree.below(each))
        if each in making.block:
            break
    return found


def _bound_by_the_call(tree: Tree, closure: Function, wanted: set[str], draft: Draft) -> set[str]:
    """What the closure gives back, through the call that it is given to: `loss = optimizer.step(closure)`."""
    given_back = {tree.text(each.value) for each in only(ast.Return, ast.walk(closure)) if each.value}
    for each in tree.below(closure):
        call = each.value if isinstance(each, ast.Assign) else call_of(each)
        if not isinstance(call, ast.Call) or closure.name not in loaded_names([*call.args, *call.keywords]):
            continue
        if isinstance(each, ast.Expr) and len(given_back) == 1 and given_back <= wanted:
            draft.replace(tree, each, f"{next(iter(given_back))} = {tree.text(each)}")
            return given_back
        return wanted & assigned_names(each)
    return set()


def _updates(statement: Statement) -> bool:
    call = call_of(statement)
    return call is not None and _trains(call)


def _trains(call: ast.Call) -> bool:
    """Whether it is part of an update."""
    return may_ask_for_pass(called_name(call)) or touches_gradients(called_name(call))


def _only_computes(statement: Statement) -> bool:
    """Whether it makes no pass and no step, which are not made again, nor hands something out."""
    leaves = any(isinstance(each, ast.Return | ast.Yield | ast.YieldFrom) for each in ast.walk(statement))
    return not leaves and not any(map(_trains, calls(statement)))


def _asks_for_pass(statement: Statement, losses: set[str]) -> bool:
    call = call_of(statement)
    return call is not None and may_ask_for_pass(called_name(call)) and bool(loaded_names(call) & losses)


def _body(
    program: Program, making: Place, passing: Place, inner: Place | None
) -> tuple[list[Statement], Loop | Function | None]:
    """What is to be moved, and the block that runs again and again: a loop's, or that of a closure a library calls."""
    tree = passing.tree
    block = list(tree.block(making.statement))
    around = next((each for each in (passing.statement, *tree.above(passing.statement)) if each in block), None)
    closure = inner.scope if inner is not None and inner.tree is tree else None
    repeated = next((each for each in (around, closure) if isinstance(each, Loop | Function) and each in block), None)
    if not isinstance(repeated, Loop | Function) or repeated is making.statement:
        return [], None
    return _taking_part(program, making, block[: block.index(repeated)]), repeated


def _taking_part(program: Program, making: Place, above: list[Statement]) -> list[Statement]:
    """Of the statements above the loop, those that created the graph, what they begin with, and what uses them."""
    tree, lines = making.tree, program.created_graph(making)
    creating = (each for each in above if lines & set(_lines(tree, each)) and _is_plain(each))
    taken = made_of(set(), above, also=[making.statement, *creating])
    # A loop goes on from where it left off, unless what it begins with comes along.
    begins = {each.lineno: _read_first(each) for each in taken if isinstance(each, For)}
    return [
        each
        for each in above
        if each in taken or any(each.lineno < line and assigned_names(each) & begun for line, begun in begins.items())
    ]


def _read_first(loop: For) -> set[str]:
    """The names of its own that some iteration of a loop reads before it binds them."""
    bound, carried = assigned_names(loop.target), set[str]()
    for each in loop.body:
        carried |= loaded_names(each) - bound
        bound |= assigned_names(each)
    return carried & assigned_names(loop.body)


def _is_plain(statement: Statement) -> bool:
    """Whether it can be moved as it is: an assignment, or a loop of nothing but assignments."""
    if isinstance(statement, For):
        return not statement.orelse and all(map(_is_plain, statement.body))
    return isinstance(statement, ast.Assign | ast.AnnAssign)


def _first_use(inside: Sequence[Statement], moved: list[Statement]) -> Statement | None:
    """The statement above which they belong; where they change objects, anything that is called may read these."""
    if any(call_of(each) or not all(isinstance(target, ast.Name) for target in targets(each)) for each in moved):
        return inside[0]
    names = assigned_names(moved)
    return next((each for each in inside if loaded_names(each) & names), None)


def _outermost(making: Place, passing: Place) -> Place:
    """The same with the statement around it that stands in a block with what is around the pass."""
    around = set(passing.around[1:])
    outer = (each for each in making.around if around & set(making.tree.block(each)))
    return replace(making, statement=next(outer, making.statement))


def _may_move(
    moved: list[Statement], container: Loop | Function, uses: Statement | None = None, *, widely: bool = False
) -> bool:
    """Whether the lines mean the same inside: what they need is bound nowhere in there, what they make not above."""
    if not all(_is_plain(each) or (widely and _only_computes(each)) for each in moved):
        return False
    made = assigned_names(moved)
    needed = loaded_names(moved) - made
    inside = container.body
    bound = assigned_names(inside) | assigned_names(container if isinstance(container, Loop) else [])
    above = inside[: inside.index(uses)] if uses in inside else inside
    heads = bound - assigned_names(inside)  # what the loop itself binds
    return not needed & bound and not made & (heads | assigned_names(above))


def _buffer_into_the_loop(program: Program) -> Iterator[Draft]:
    """What was created once, is written to in every iteration and never assigned: each begins with a new one."""
    place, name = program.in_a_loop(program.diagnosis.used), program.name
    if place is None or name is None:
        return
    yield from _weights_into_the_loop(place, name)
    loop = place.loops[-1]
    making = _assigned_above(place.tree, loop, name)
    if len(making) == 1 and _allocates(making[0]) and name not in assigned_names(loop) and _may_move(making, loop):
        yield Draft().move_above(place.tree, loop.body[0], making[0])


def _weights_into_the_loop(place: Place, name: str) -> Iterator[Draft]:
    """Weights that begin as a network's parameters and are adapted in a loop begin again in each of its iterations.

    To carry trained weights on is an optimizer's work; what an iteration adapts is for that iteration.
    """
    tree, loops = place.tree, place.loops
    adapting = next((each for each in loops if name in assigned_names(each.body)), None)
    if adapting is None:
        return
    around = loops[loops.index(adapting) :]
    making = next(filter(None, (_assigned_above(tree, each, name) for each in around)), [])
    if len(making) != 1 or not _lists_parameters(making[0]):
        return
    first = adapting.body[0]
    if _may_move(making, adapting, first):
        draft = Draft()
        if len(loaded(tree.scope(place.statement), name)) == len(loaded(adapting, name)):
            draft.remove(tree, making[0])  # else it stays, too: others read it
        draft.insert_before(tree, first, code_of(tree, making[0], comments=False))
        yield draft


def _assigned_above(tree: Tree, loop: Loop, name: str) -> list[Statement]:
    """The statements right above a loop, in its block, that assign a name."""
    block = list(tree.block(loop))
    return [each for each in block[: block.index(loop)] if name in assigned_names(each)]


def _lists_parameters(statement: Statement) -> bool:
    """Whether it assigns all parameters of a network, or copies of them."""
    return isinstance(statement, ast.Assign) and _are_parameters(statement.value)


def _are_parameters(value: ast.expr) -> bool:
    match value:
        case ast.Call() if does(called_name(value), "lists parameters"):
            return True
        case ast.Call(args=[inner]) if does(called_name(value), "collects"):
            return _are_parameters(inner)
        case (
            ast.ListComp(elt=each, generators=[listing])
            | ast.GeneratorExp(elt=each, generators=[listing])
            | ast.DictComp(value=each, generators=[listing])
        ):
            is_itself = isinstance(each, ast.Name) or (isinstance(each, ast.Call) and called_name(each) == "clone")
            return is_itself and _are_parameters(listing.iter)
    return False


def _allocates(statement: Statement) -> bool:
    match statement:
        case ast.Assign(targets=[_], value=ast.Call() as call):
            return operation(called_name(call)).graph == "creates"
    return False


def _context_into_the_loop(program: Program) -> Iterator[Draft]:
    """`with cached():` around a loop: in each of its iterations instead."""
    for place in program.inward(program.diagnosis.made):
        yield from _inside(place)


def _inside(place: Place) -> Iterator[Draft]:
    tree = place.tree
    for node in tree.above(place.statement):
        if isinstance(node, ast.With) and calls_for(node.items, "caches"):
            if len(node.body) == 1 and isinstance(loop := node.body[0], Loop):
                yield Draft().rewrite(tree, node, _swapped(tree, node, loop))
            return
        if isinstance(node, Function):
            return


def _swapped(tree: Tree, context: ast.With, loop: Loop) -> str:
    """The context inside of the loop that it is around."""
    inside = nested(tree, header(tree, context), *(code_of(tree, each, blanks=True) for each in loop.body))
    return nested(tree, header(tree, loop), inside)


PLACES: Places = {
    "creation": into_the_loop,
    "buffer": _buffer_into_the_loop,
    "context": _context_into_the_loop,
    "update": _update_into_the_loop,
}
