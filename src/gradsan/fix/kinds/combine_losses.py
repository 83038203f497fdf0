"""One pass over the sum of the losses: the gradient of a sum is the sum of the gradients."""

from collections.abc import Iterator, Sequence

import libcst as cst

from gradsan.fix.calls import called_name, without_argument
from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import assigned_names, bracketed, call_of, loaded, nodes, simple, small, text
from gradsan.fix.flow import between
from gradsan.fix.program import Place, Program, frames
from gradsan.fix.tree import Statement, Tree
from gradsan.knowledge.effects import accumulates, touches_gradients

_NAMES = ("total_loss", "loss_sum", "summed_loss")


def drafts(program: Program) -> Iterator[Draft]:
    """Two calls in one block become one; a loop that calls backward on every term adds the terms up."""
    diagnosis = program.diagnosis
    if diagnosis.code == "GS304":
        if "parameters_alone" not in diagnosis.evidence:  # else it is not overwritten, but left out of the sum
            yield from _keep_every_term(program)
        return
    if diagnosis.freed is None or diagnosis.used is None:
        return
    apart = program.apart(diagnosis.freed, diagnosis.used)
    if apart is None:
        if frames(diagnosis.freed) == frames(diagnosis.used):
            is_total = diagnosis.code == "GS105"
            yield from (_below if is_total else _after_the_loop)(program.places(diagnosis.used)[-1])
        return
    first, last = program.places(diagnosis.freed)[apart], program.places(diagnosis.used)[apart]
    if first is not None and last is not None:
        yield from _in_one_block(first, last)


def _in_one_block(first: Place, last: Place) -> Iterator[Draft]:
    tree = first.tree
    block = tree.block(first.statement)
    if last.statement not in block or list(block).index(last.statement) < list(block).index(first.statement):
        return
    here = list(block)
    passing = _passes_until_a_step(here[here.index(first.statement) :])
    if last.statement not in passing or any(_steps(each) for each in between(block, first.statement, last.statement)):
        return
    calls = [call for each in passing if (call := call_of(each)) is not None]
    losses = [_loss(call) for call in calls]
    if not all(loss is not None and _is_plain(loss) for loss in losses):
        return
    draft = Draft()
    for each in passing[:-1]:
        draft.remove(tree, each)
    total = " + ".join(text(loss) for loss in losses if loss is not None)
    draft.replace(tree, calls[-1], _with_loss(calls[-1], cst.parse_expression(total)))
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


def _after_the_loop(place: Place | None) -> Iterator[Draft]:
    """Both passes are one line of a loop over losses."""
    loops = [] if place is None else place.tree.loops(place.statement)
    if place is None or not loops or place.statement not in place.tree.block(place.statement):
        return
    tree, loop = place.tree, loops[0]
    call = call_of(place.statement)
    loss = None if call is None else _loss(call)
    if call is None or loss is None or _steps(loop) or not isinstance(loop, cst.For):
        return
    draft = Draft()
    alone = list(loop.body.body) == [place.statement] and loop.orelse is None
    if alone and isinstance(loop.target, cst.Name) and text(loss) == loop.target.value:
        total = cst.parse_expression(f"sum({text(loop.iter)})")
        statement = cst.SimpleStatementLine([cst.Expr(_with_loss(call, total))], leading_lines=loop.leading_lines)
        draft.replace(tree, loop, statement)
    else:
        total_name = _free_name(tree)
        draft.insert_before(tree, loop, f"{total_name} = 0.0")
        draft.replace(tree, place.statement.body[0], small(f"{total_name} = {total_name} + {text(loss)}"))  # type: ignore[index]
        combined = _with_loss(call, cst.Name(total_name))
        draft.insert_after(tree, loop, cst.SimpleStatementLine([cst.Expr(combined)]))
    yield draft


def _below(place: Place | None) -> Iterator[Draft]:
    """What is back-propagated in every round adds up already: once, when the loop is done."""
    loops = [] if place is None else place.tree.loops(place.statement)
    call = None if place is None else call_of(place.statement)
    if place is None or call is None or not loops or _steps(loops[0]):
        return
    draft = Draft()
    draft.remove(place.tree, place.statement)
    once = without_argument(call, "retain_graph")
    draft.insert_after(place.tree, loops[0], cst.SimpleStatementLine([cst.Expr(once)]))
    yield draft


def _keep_every_term(program: Program) -> Iterator[Draft]:
    """`loss = …` in a loop, where only the last one is back-propagated: `loss = loss + …`, from 0."""
    for place in reversed(program.places(program.diagnosis.made)):
        if place is None or not (loops := place.tree.loops(place.statement)):
            continue
        match simple(place.statement):
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value) if not loaded(
                value, name
            ):
                draft = Draft()
                draft.insert_before(place.tree, loops[0], f"{name} = 0.0")
                draft.replace(place.tree, value, cst.parse_expression(f"{name} + {text(bracketed_sum(value))}"))
                yield draft
        return


def bracketed_sum(value: cst.BaseExpression) -> cst.BaseExpression:
    """As a term of a sum."""
    binds_closer = isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Multiply | cst.Divide)
    return value if binds_closer else bracketed(value)


def _loss(call: cst.Call) -> cst.BaseExpression | None:
    """What is back-propagated: `loss.backward()`, `accelerator.backward(loss)`, `scaler.scale(loss).backward()`."""
    if not accumulates(called_name(call)):
        return None
    others = [each for each in call.args if each.keyword is None or each.keyword.value != "retain_graph"]
    if len(others) == 1 and others[0].keyword is None and not others[0].star:
        return others[0].value
    is_its_own = called_name(call) == "backward" and isinstance(call.func, cst.Attribute)
    return call.func.value if is_its_own and not others and isinstance(call.func, cst.Attribute) else None


def _with_loss(call: cst.Call, loss: cst.BaseExpression) -> cst.Call:
    """The same call for another loss, and without a retained graph: it is the only one now."""
    call = without_argument(call, "retain_graph")
    if call.args:
        return call.with_changes(args=[call.args[0].with_changes(value=loss)])
    return call.with_changes(func=call.func.with_changes(value=bracketed(loss)))


def _alike(one: Statement, other: Statement) -> bool:
    """Whether the losses of both can be added up: both losses' own calls, or both of the same wrapper."""
    ours, theirs = call_of(one), call_of(other)
    if ours is None or theirs is None:
        return False
    ours, theirs = without_argument(ours, "retain_graph"), without_argument(theirs, "retain_graph")
    return text(ours.func) == text(theirs.func) if ours.args or theirs.args else True


def _is_plain(loss: cst.BaseExpression) -> bool:
    """Whether evaluating it later gives the same: no call but that of a scaler."""
    calls = [each for each in nodes(loss) if isinstance(each, cst.Call)]
    return all(text(each.func).endswith((".scale", ".mean", ".sum")) for each in calls)


def _steps(statement: cst.CSTNode) -> bool:
    """Whether it uses or clears gradients."""
    return any(
        isinstance(each, cst.Call) and touches_gradients(called_name(each))
        for each in nodes(statement, into_functions=False)
    )


def _free_name(tree: Tree) -> str:
    taken = assigned_names(tree.module) | {each.value for each in nodes(tree.module) if isinstance(each, cst.Name)}
    return next(each for each in (*_NAMES, *(f"total_loss_{n}" for n in range(2, 99))) if each not in taken)
