"""One pass over the sum of the losses: the gradient of a sum is the sum of the gradients."""

import ast
from collections.abc import Iterator, Sequence

from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import bracketed
from gradsan.fix.flow import between
from gradsan.fix.kinds import Places
from gradsan.fix.program import Place, Program, frames
from gradsan.knowledge.effects import accumulates, touches_gradients
from gradsan.source.arguments import without_argument
from gradsan.source.names import call_of, called_name, calls, loaded, nodes
from gradsan.source.tree import For, Statement, Tree, same

_NAMES = ("total_loss", "loss_sum", "summed_loss")


def _in_one_block(program: Program) -> Iterator[Draft]:
    """Calls in one block become one."""
    freed, used = program.diagnosis.freed, program.diagnosis.used
    apart = program.apart(freed, used)
    first, last = (None, None) if apart is None else (program.places(freed)[apart], program.places(used)[apart])
    if first is None or last is None:
        return
    tree = first.tree
    block = tree.block(first.statement)
    if last.statement not in block or list(block).index(last.statement) < list(block).index(first.statement):
        return
    here = list(block)
    passing = _passes_until_a_step(here[here.index(first.statement) :])
    if last.statement not in passing or any(_steps(each) for each in between(block, first.statement, last.statement)):
        return
    asking = [call for each in passing if (call := call_of(each)) is not None]
    losses = [_loss(call) for call in asking]
    if not all(loss is not None and _is_plain(loss) for loss in losses):
        return
    draft = Draft()
    for each in passing[:-1]:
        draft.remove(tree, each)
    total = " + ".join(tree.text(loss) for loss in losses if loss is not None)
    draft.replace(tree, asking[-1], _with_loss(tree, asking[-1], total))
    yield draft


def _passes_until_a_step(statements: Sequence[Statement]) -> list[Statement]:
    """The calls of one kind that follow one another in a block, before anything is done with the gradients."""
    found: list[Statement] = []
    for each in statements:
        if _steps(each):
            break
        call = call_of(each)
        if call is not None and _loss(call) is not None and (not found or _alike(found[0], each)):
            found.append(each)
    return found


def _asking_for_both(program: Program) -> Place | None:
    """The statement of a loop that asks for both passes."""
    freed, used = program.diagnosis.freed, program.diagnosis.used
    if freed is None or used is None or frames(freed) != frames(used) or program.apart(freed, used) is not None:
        return None
    return program.places(used)[-1]


def _after_the_loop(program: Program) -> Iterator[Draft]:
    """Both passes are one line of a loop over losses: it adds them up instead."""
    place = _asking_for_both(program)
    loops = [] if place is None else place.tree.loops(place.statement)
    if place is None or not loops or place.statement not in place.tree.block(place.statement):
        return
    tree, loop = place.tree, loops[0]
    call = call_of(place.statement)
    loss = None if call is None else _loss(call)
    if call is None or loss is None or _steps(loop) or not isinstance(loop, For):
        return
    draft = Draft()
    alone = loop.body == [place.statement] and not loop.orelse
    if alone and isinstance(loop.target, ast.Name) and tree.text(loss) == loop.target.id:
        draft.rewrite(tree, loop, _with_loss(tree, call, f"sum({tree.text(loop.iter)})"))
    else:
        total_name = _free_name(tree)
        draft.insert_before(tree, loop, f"{total_name} = 0.0")
        draft.replace(tree, place.statement, f"{total_name} = {total_name} + {tree.text(loss)}")
        draft.insert_after(tree, loop, _with_loss(tree, call, total_name))
    yield draft


def _below(program: Program) -> Iterator[Draft]:
    """What is back-propagated in every iteration adds up already: once, when the loop is done."""
    place = _asking_for_both(program)
    loops = [] if place is None else place.tree.loops(place.statement)
    call = None if place is None else call_of(place.statement)
    if place is None or call is None or not loops or _steps(loops[0]):
        return
    draft = Draft()
    draft.remove(place.tree, place.statement)
    draft.insert_after(place.tree, loops[0], without_argument(place.tree.text(call), "retain_graph"))
    yield draft


def _keep_every_term(program: Program) -> Iterator[Draft]:
    """`loss = …` in a loop, where only the last one is back-propagated: `loss = loss + …`, from 0."""
    for place in reversed(program.places(program.diagnosis.made)):
        if place is None or not (loops := place.tree.loops(place.statement)):
            continue
        match place.statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not loaded(value, name):
                draft = Draft()
                draft.insert_before(place.tree, loops[0], f"{name} = 0.0")
                draft.replace(place.tree, value, f"{name} + {_term(place.tree, value)}")
                yield draft
        return


def _term(tree: Tree, value: ast.expr) -> str:
    """As a term of a sum."""
    binds_closer = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult | ast.Div)
    return tree.text(value) if binds_closer else bracketed(tree.text(value))


def _loss(call: ast.Call) -> ast.expr | None:
    """What is back-propagated: `loss.backward()`, `accelerator.backward(loss)`, `scaler.scale(loss).backward()`."""
    if not accumulates(called_name(call)):
        return None
    others = [each for each in (*call.args, *call.keywords) if getattr(each, "arg", "") != "retain_graph"]
    if others:
        only = others[0]
        is_plain = len(others) == 1 and isinstance(only, ast.expr) and not isinstance(only, ast.Starred)
        return only if is_plain and isinstance(only, ast.expr) else None
    return call.func.value if called_name(call) == "backward" and isinstance(call.func, ast.Attribute) else None


def _with_loss(tree: Tree, call: ast.Call, loss: str) -> str:
    """The same call for another loss, and without a retained graph: it is the only one now."""
    if call.args:
        return f"{tree.text(call.func)}({loss})"
    owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    asked = tree.text(call).removeprefix(tree.text(owner))
    return without_argument(f"{bracketed(loss)}{asked}", "retain_graph")


def _alike(one: Statement, other: Statement) -> bool:
    """Whether the losses of both can be added up: both losses' own calls, or both of the same wrapper."""
    ours, theirs = call_of(one), call_of(other)
    if ours is None or theirs is None:
        return False
    return same(ours.func, theirs.func) if ours.args or theirs.args else True


def _is_plain(loss: ast.expr) -> bool:
    """Whether evaluating it later gives the same: no call but that of a scaler."""
    made = [each for each in nodes(loss) if isinstance(each, ast.Call)]
    return all(isinstance(each.func, ast.Attribute) and each.func.attr in {"scale", "mean", "sum"} for each in made)


def _steps(statement: ast.AST) -> bool:
    """Whether it uses or clears gradients."""
    return any(touches_gradients(called_name(each)) for each in calls(statement))


def _free_name(tree: Tree) -> str:
    taken = {each.id for each in nodes(tree.module) if isinstance(each, ast.Name)}
    return next(each for each in (*_NAMES, *(f"total_loss_{n}" for n in range(2, 99))) if each not in taken)


PLACES: Places = {
    "block": _in_one_block,
    "losses": _after_the_loop,
    "total": _below,
    "loop": _keep_every_term,
}
