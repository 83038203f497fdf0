"""One pass over the sum of the losses: the gradient of a sum is the sum of the gradients."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from gradsan.fix.kinds import Places
from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import bracketed, free_name
from gradsan.knowledge.effects import accumulates, touches_gradients
from gradsan.source.arguments import without_argument
from gradsan.source.names import call_of, called_name, calls, loaded, loaded_names, nodes
from gradsan.source.tree import For, Loop, Statement, Tree, same

_NAMES = ("total_loss", "loss_sum", "summed_loss")


@dataclass(frozen=True, slots=True)
class _Asking:
    """A statement that asks for a pass, and of what."""

    statement: Statement
    call: ast.Call
    loss: ast.expr


def _in_one_block(program: Program) -> Iterator[Draft]:
    """Calls in one block become one."""
    parted = program.parted(program.diagnosis.freed, program.diagnosis.used)
    if parted is None:
        return
    first, last = parted
    asking = _until_a_step([first.statement, *first.below])
    if last.statement not in [each.statement for each in asking] or not all(_is_plain(each.loss) for each in asking):
        return
    *others, only = asking
    total = " + ".join(first.text(each.loss) for each in asking)
    draft = Draft().remove(first.tree, *(each.statement for each in others))
    yield draft.replace(first.tree, only.call, _with_loss(first.tree, only.call, total))


def _until_a_step(statements: Sequence[Statement]) -> list[_Asking]:
    """The calls of one kind that follow one another in a block, before anything is done with the gradients."""
    before = takewhile(lambda each: not _steps(each), statements)
    asking = list(filter(None, map(_asking, before)))
    return [each for each in asking if _alike(asking[0].call, each.call)]


def _repeated(program: Program) -> tuple[Place, Loop, ast.Call] | None:
    """The statement of a loop that asks for both passes, where the loop does nothing with the gradients."""
    place = program.asking_for_both
    call = None if place is None else call_of(place.statement)
    if place is None or call is None or not place.loops or _steps(place.loops[0]):
        return None
    is_crowded = program.apart(program.diagnosis.freed, program.diagnosis.used) is not None
    return None if is_crowded else (place, place.loops[0], call)


def _after_the_loop(program: Program) -> Iterator[Draft]:
    """Both passes are one line of a loop over losses: it adds them up instead."""
    repeated = _repeated(program)
    if repeated is None:
        return
    place, loop, call = repeated
    loss = _loss(call)
    if loss is None or not isinstance(loop, For):
        return
    if _only_asks_of_each(loop, place, loss):
        yield Draft().rewrite(place.tree, loop, _with_loss(place.tree, call, f"sum({place.text(loop.iter)})"))
        return
    total = free_name(place.tree.module, _NAMES)
    draft = Draft().insert_before(place.tree, loop, f"{total} = 0.0")
    draft.replace(place.tree, place.statement, f"{total} = {total} + {place.text(loss)}")
    yield draft.insert_after(place.tree, loop, _with_loss(place.tree, call, total))


def _of_a_comprehension(program: Program) -> Iterator[Draft]:
    """`[loss.backward() for loss in losses]`: one pass over the sum of what it goes through."""
    place = program.asking_for_both
    match place, place and place.statement:
        case Place(), ast.Expr(value=ast.ListComp(elt=ast.Call() as call) as listing):
            loss = _loss(call)
            if loss is not None:
                total = _with_loss(place.tree, call, _sum_over(place, listing, loss))
                yield Draft().replace(place.tree, listing, total)


def _sum_over(place: Place, listing: ast.ListComp, loss: ast.expr) -> str:
    """The losses that a comprehension asks of, added up."""
    match listing.generators:
        case [ast.comprehension(target=ast.Name(id=name), iter=losses, ifs=[])] if place.text(loss) == name:
            return f"sum({place.text(losses)})"
    inside = place.text(listing)[1:-1].strip()
    return f"sum({place.text(loss)}{inside.removeprefix(place.text(listing.elt))})"


def _of_each(program: Program) -> Iterator[Draft]:
    """One line asks for all passes, in a loop or in a comprehension."""
    yield from _after_the_loop(program)
    yield from _of_a_comprehension(program)


def _only_asks_of_each(loop: For, place: Place, loss: ast.expr) -> bool:
    """`for loss in losses: loss.backward()`."""
    is_alone = loop.body == [place.statement] and not loop.orelse
    return is_alone and isinstance(loop.target, ast.Name) and place.text(loss) == loop.target.id


def _below(program: Program) -> Iterator[Draft]:
    """What is back-propagated in every iteration adds up already: once, when the loop is done."""
    repeated = _repeated(program)
    if repeated is not None:
        place, loop, call = repeated
        draft = Draft().remove(place.tree, place.statement)
        yield draft.insert_after(place.tree, loop, without_argument(place.text(call), "retain_graph"))


def _keep_every_term(program: Program) -> Iterator[Draft]:
    """`loss = …` in a loop, where only the last one is back-propagated: `loss = loss + …`, from 0."""
    place = program.in_a_loop(program.diagnosis.made)
    match place, place and place.statement:
        case Place(), ast.Assign(targets=[ast.Name(id=name)], value=value) if not loaded(value, name):
            draft = Draft().insert_before(place.tree, place.loops[0], f"{name} = 0.0")
            yield draft.replace(place.tree, value, f"{name} + {_term(place.tree, value)}")


def _term(tree: Tree, value: ast.expr) -> str:
    """As a term of a sum."""
    binds_closer = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult | ast.Div)
    return tree.text(value) if binds_closer else bracketed(tree.text(value))


def _asking(statement: Statement) -> _Asking | None:
    call = call_of(statement)
    loss = None if call is None else _loss(call)
    return None if call is None or loss is None else _Asking(statement, call, loss)


def _loss(call: ast.Call) -> ast.expr | None:
    """What is back-propagated: `loss.backward()`, `accelerator.backward(loss)`, `scaler.scale(loss).backward()`."""
    others = [*call.args, *(each for each in call.keywords if each.arg != "retain_graph")]
    match others, call.func:
        case _ if not accumulates(called_name(call)):
            return None
        case [ast.expr() as only], _ if not isinstance(only, ast.Starred):
            return only
        case [], ast.Attribute(value=loss, attr="backward"):
            return loss
    return None


def _with_loss(tree: Tree, call: ast.Call, loss: str) -> str:
    """The same call for another loss, and without a retained graph: it is the only one now."""
    if call.args:
        return f"{tree.text(call.func)}({loss})"
    owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    asked = tree.text(call).removeprefix(tree.text(owner))
    return without_argument(f"{bracketed(loss)}{asked}", "retain_graph")


def _alike(one: ast.Call, other: ast.Call) -> bool:
    """Whether the losses of both can be added up: both losses' own calls, or both of the same wrapper."""
    return not (one.args or other.args) or same(one.func, other.func)


def _is_plain(loss: ast.expr) -> bool:
    """Whether evaluating it later gives the same: no call but that of a scaler."""
    called = (each.func for each in only(ast.Call, nodes(loss)))
    return all(isinstance(each, ast.Attribute) and each.attr in {"scale", "mean", "sum"} for each in called)


def _steps(statement: ast.AST) -> bool:
    """Whether it uses or clears gradients."""
    return any(touches_gradients(called_name(each)) for each in calls(statement))


def _of_the_total(program: Program) -> Iterator[Draft]:
    """`task.backward()` below `loss = task + 0.1 * penalty`: the pass is asked of the sum instead."""
    asking, made = (program.innermost(each) for each in (program.diagnosis.used, program.diagnosis.made))
    if asking is None or made is None or asking.scope is not made.scope or made.targets != [program.name]:
        return
    terms = loaded_names(made.statement)
    found = _asking(asking.statement)
    read = [] if found is None else only(ast.Name, nodes(found.loss))
    taken = [each for each in read if each.id in terms]
    if made.line < asking.line and len(taken) == 1:
        yield Draft().replace(asking.tree, taken[0], made.targets[0])


PLACES: Places = {
    "pass of a term": _of_the_total,
    "block": _in_one_block,
    "losses": _of_each,
    "total": _below,
    "loop": _keep_every_term,
}
